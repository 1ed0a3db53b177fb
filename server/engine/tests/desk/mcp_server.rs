//! A real MCP server on loopback, of each revision, that counts, remembers, and misbehaves when told to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::upstream::{Seen, read};

/// How the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// 2026-07-28 alone.
    Stateless,
    /// 2025-06-18, without sessions.
    Plain,
    /// 2025-06-18, and nothing goes without a session.
    Sessions,
}

/// What the server does with the call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Answers with this result.
    Result(Value),
    /// The same in an event stream behind other messages; the stream is never ended.
    Streamed(Value),
    /// Answers with a JSON-RPC error of this code, under this status.
    Error(u16, i64),
    /// Answers with this status and no message.
    Status(u16),
    /// Closes without an answer.
    Cut,
    /// Begins an event stream and closes it without the response.
    BrokenStream,
}

pub struct McpServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: tokio::task::JoinHandle<()>,
}

struct Shared {
    speaks: Speaks,
    tools: Mutex<Vec<Value>>,
    ending: Mutex<Ending>,
    seen: Mutex<Vec<Seen>>,
}

const SESSION: &str = "session-7";

impl McpServer {
    pub async fn start(speaks: Speaks, tools: Vec<Value>) -> Self {
        Self::start_at("127.0.0.1:0".parse().expect("an address"), speaks, tools).await
    }

    pub async fn start_at(address: SocketAddr, speaks: Speaks, tools: Vec<Value>) -> Self {
        let listener = TcpListener::bind(address).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let result = json!({ "content": [{ "type": "text", "text": "It is closed." }], "structuredContent": { "id": 7 } });
        let shared = Arc::new(Shared {
            speaks,
            tools: Mutex::new(tools),
            ending: Mutex::new(Ending::Result(result)),
            seen: Mutex::default(),
        });
        let serving = shared.clone();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = serving.clone();
                tokio::spawn(async move { serve(stream, &shared).await });
            }
        });
        Self { address, shared, accepting }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn set_tools(&self, tools: Vec<Value>) {
        *self.shared.tools.lock().expect("lock") = tools;
    }

    pub fn end_with(&self, ending: Ending) {
        *self.shared.ending.lock().expect("lock") = ending;
    }

    /// Every call of a tool that came in.
    pub fn calls(&self) -> Vec<Seen> {
        self.of_method("tools/call")
    }

    /// Every request of this method of the protocol that came in.
    pub fn of_method(&self, method: &str) -> Vec<Seen> {
        let seen = self.shared.seen.lock().expect("lock");
        let is = |seen: &&Seen| {
            serde_json::from_str::<Value>(&seen.body).is_ok_and(|body| body["method"] == method)
        };
        seen.iter().filter(is).cloned().collect()
    }

    /// The arguments of the calls that came in.
    pub fn arguments(&self) -> Vec<Value> {
        let body = |seen: &Seen| {
            serde_json::from_str::<Value>(&seen.body).expect("JSON")["params"]["arguments"].clone()
        };
        self.calls().iter().map(body).collect()
    }

    /// Answers nobody any more.
    pub fn stop(self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, shared: &Shared) {
    let Some(seen) = read(&mut stream).await else { return };
    shared.seen.lock().expect("lock").push(seen.clone());
    let message: Value = serde_json::from_str(&seen.body).unwrap_or_default();
    let head = seen.head.to_lowercase();
    let method = message["method"].as_str().unwrap_or_default();
    if !is_understood(shared.speaks, method, &head, &message) {
        return answer(&mut stream, 400, "", &error(&message, -32_600).to_string()).await;
    }
    match method {
        "initialize" => {
            let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "x", "version": "1" } });
            let session = if shared.speaks == Speaks::Sessions {
                format!("Mcp-Session-Id: {SESSION}\r\n")
            } else {
                String::new()
            };
            answer(&mut stream, 200, &session, &response(&message, &result).to_string()).await;
        }
        "notifications/initialized" | "" => answer(&mut stream, 202, "", "").await,
        "tools/list" => {
            let page = page(&shared.tools.lock().expect("lock"), message["params"]["cursor"].as_str());
            answer(&mut stream, 200, "", &response(&message, &page).to_string()).await;
        }
        _ => {
            let ending = shared.ending.lock().expect("lock").clone();
            end(&mut stream, &message, ending).await;
        }
    }
}

/// Whether the server takes the message at all.
fn is_understood(speaks: Speaks, method: &str, head: &str, message: &Value) -> bool {
    let stateless = head.contains("mcp-protocol-version: 2026-07-28")
        && head.contains(&format!("mcp-method: {method}"))
        && message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        && message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_object()
        && (method != "tools/call" || head.contains("mcp-name: "));
    match speaks {
        Speaks::Stateless => stateless,
        _ if head.contains("2026-07-28") => false,
        Speaks::Plain => true,
        Speaks::Sessions => method == "initialize" || head.contains(&format!("mcp-session-id: {SESSION}")),
    }
}

/// Two tools a page.
fn page(tools: &[Value], cursor: Option<&str>) -> Value {
    let first: usize = cursor.map_or(0, |cursor| cursor.parse().expect("our cursor"));
    let page: Vec<_> = tools.iter().skip(first).take(2).cloned().collect();
    let next = (first + 2 < tools.len()).then(|| (first + 2).to_string());
    json!({ "resultType": "complete", "tools": page, "nextCursor": next })
}

fn response(message: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })
}

fn error(message: &Value, code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": code, "message": "secret words of the server" } })
}

async fn end(stream: &mut TcpStream, message: &Value, ending: Ending) {
    match ending {
        Ending::Result(result) => answer(stream, 200, "", &response(message, &result).to_string()).await,
        Ending::Error(status, code) => answer(stream, status, "", &error(message, code).to_string()).await,
        Ending::Status(status) => answer(stream, status, "", "").await,
        Ending::Cut => {}
        Ending::BrokenStream => begin_stream(stream, ": hello\n\n").await,
        Ending::Streamed(result) => {
            let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} });
            let text =
                format!("data: {progress}\n\nevent: message\ndata: {}\n\n", response(message, &result));
            begin_stream(stream, &text).await;
            // The client is expected to leave.
            let _ = tokio::io::AsyncReadExt::read(stream, &mut [0; 16]).await;
        }
    }
}

async fn begin_stream(stream: &mut TcpStream, text: &str) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let _ = stream.write_all(format!("{head}{:x}\r\n{text}\r\n", text.len()).as_bytes()).await;
    let _ = stream.flush().await;
}

async fn answer(stream: &mut TcpStream, status: u16, headers: &str, body: &str) {
    let text = format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}
