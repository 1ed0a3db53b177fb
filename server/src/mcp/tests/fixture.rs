//! A desk with a house to write to, a person, and agents of each kind; and a client that speaks raw JSON-RPC.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::routing::{get, post};
use axum::{Json, Router};
use engine::ambient::Ambient;
use engine::catalogue::Catalogue;
use engine::registry::{AgentWanted, PersonWanted};
use engine::seal::Sealer;
use engine::{Engine, OpenOptions};
use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use model::Ability;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::serve;

const CATALOGUE: &str = include_str!("catalogue.toml");

/// The revisions that have `initialize`.
pub(super) const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

/// The revision without sessions.
pub(super) const NEWEST: &str = "2026-07-28";

/// A server whose prompts and resources are open, and which was never reached.
pub(super) const UNREACHED: &str = "[[upstream]]\nname = \"t\"\nurl = \"http://UPSTREAM/mcp\"\ncredential = \"house\"\nprompts = true\nresources = [\"tickets:\"]\n";

pub(super) struct House {
    pub(super) engine: Engine,
    pub(super) app: Router,
    writes: Arc<AtomicUsize>,
    /// All its writes need a person.
    pub(super) careful: String,
    /// Its dangerous calls need a token.
    pub(super) quick: String,
    /// It sees one action.
    pub(super) narrow: String,
    /// Ann's own token.
    ann: String,
    catalogue: String,
    key: String,
    folder: TempDir,
}

impl House {
    pub(super) async fn open() -> Self {
        Self::open_with("").await
    }

    /// With more lines at the end of the catalogue.
    pub(super) async fn open_with(more: &str) -> Self {
        let (upstream, writes) = upstream().await;
        let folder = tempfile::tempdir().expect("a folder");
        let catalogue = format!("{CATALOGUE}\n{more}").replace("UPSTREAM", &upstream);
        let key = Sealer::generate(&Ambient::system());
        let engine = engine(&catalogue, &key, &folder).await;
        let email = "ann@house.test".to_owned();
        let ann = PersonWanted { email, name: "Ann".to_owned(), roles: vec![], password: None };
        engine.add_person(ann).await.expect("a person");
        let abilities = vec![Ability::ApprovalsDecide, Ability::ReceiptsRead];
        let (_, token) = engine.add_token("ann@house.test", abilities).await.expect("a token");
        Self {
            app: serve::app(&engine),
            writes,
            careful: agent(&engine, "careful", true, None).await,
            quick: agent(&engine, "quick", false, None).await,
            narrow: agent(&engine, "narrow", false, Some("count")).await,
            ann: token.reveal().to_owned(),
            engine,
            catalogue,
            key,
            folder,
        }
    }

    /// Another node of the same desk.
    pub(super) async fn second_node(&self) -> Router {
        serve::app(&engine(&self.catalogue, &self.key, &self.folder).await)
    }

    /// How many writes reached the upstream.
    pub(super) fn writes(&self) -> usize {
        self.writes.load(Ordering::SeqCst)
    }

    /// A client with this key and these capabilities.
    pub(super) fn client(&self, key: &str, version: &'static str, capabilities: Value) -> Client {
        Client { app: self.app.clone(), key: key.to_owned(), version, capabilities }
    }

    /// A client of the newest revision that can do nothing.
    pub(super) fn plain(&self, key: &str) -> Client {
        self.client(key, NEWEST, json!({}))
    }

    /// Ann confirms a call over the API and waits until it has ended.
    pub(super) async fn confirm(&self, call: &str) {
        let held = self.api("GET", "/v1/approvals", Value::Null).await;
        let held = held["items"].as_array().expect("a list").iter().find(|held| held["id"] == call);
        let version = held.expect("a held call")["preview"]["version"].clone();
        self.decide(call, json!({ "decision": "confirm", "preview_version": version })).await;
    }

    /// Ann declines a call.
    pub(super) async fn decline(&self, call: &str, reason: &str) {
        self.decide(call, json!({ "decision": "decline", "reason": reason })).await;
    }

    async fn decide(&self, call: &str, decision: Value) {
        let decided = self.api("POST", &format!("/v1/calls/{call}/decision"), decision).await;
        assert_eq!(decided["id"], call, "{decided}");
    }

    /// How a call stands, as Ann sees it.
    pub(super) async fn call(&self, call: &str) -> Value {
        self.api("GET", &format!("/v1/calls/{call}"), Value::Null).await
    }

    async fn api(&self, method: &str, path: &str, body: Value) -> Value {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {}", self.ann))
            .header("content-type", "application/json")
            // A decision is answered when the call has ended; looking at a call is answered at once.
            .header("prefer", if method == "POST" { "wait=10" } else { "" })
            .body(Body::from(if body.is_null() { String::new() } else { body.to_string() }));
        send(&self.app, request.expect("a request")).await.json
    }
}

/// One client of the protocol. Every request stands for itself.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) app: Router,
    pub(super) key: String,
    version: &'static str,
    capabilities: Value,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
    /// `null` where the answer is no JSON.
    pub(super) json: Value,
}

impl Client {
    /// The same client, led to another node.
    pub(super) fn at(self, app: Router) -> Self {
        Self { app, ..self }
    }

    /// The result of a request that is answered with one.
    pub(super) async fn result(&self, method: &str, params: Value) -> Value {
        let reply = self.ask(method, params).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(reply.json["result"].is_object(), "{}", reply.text);
        reply.json["result"].clone()
    }

    /// The result of a tool.
    pub(super) async fn tool(&self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    /// A request with everything its revision wants.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Reply {
        self.send(&self.message(method, params), &self.headers(method)).await
    }

    /// The message of a request.
    pub(super) fn message(&self, method: &str, mut params: Value) -> Value {
        if self.version == NEWEST {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
    }

    /// The headers of a request beside those of every request.
    pub(super) fn headers(&self, method: &str) -> Vec<(&'static str, String)> {
        let mut headers = vec![("mcp-protocol-version", self.version.to_owned())];
        if self.version == NEWEST {
            headers.push(("mcp-method", method.to_owned()));
        }
        headers
    }

    /// This message with these headers, and the name of what it is about where its revision wants one.
    pub(super) async fn send(&self, message: &Value, headers: &[(&'static str, String)]) -> Reply {
        let about = ["name", "taskId", "uri"].iter().find_map(|key| message["params"][key].as_str());
        let named = about.filter(|_| self.version == NEWEST).map(|name| ("mcp-name", name.to_owned()));
        let headers: Vec<_> = headers.iter().cloned().chain(named).collect();
        self.send_unnamed(message, &headers).await
    }

    /// This message with these headers and those that every request has.
    pub(super) async fn send_unnamed(&self, message: &Value, headers: &[(&'static str, String)]) -> Reply {
        let mut request = Request::post("/mcp")
            .header("host", "127.0.0.1:8087")
            .header("authorization", format!("Bearer {}", self.key))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (header, value) in headers {
            request = request.header(*header, value);
        }
        send(&self.app, request.body(Body::from(message.to_string())).expect("a request")).await
    }
}

pub(super) async fn send(app: &Router, request: Request<Body>) -> Reply {
    let response = app.clone().oneshot(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let json = serde_json::from_str(&text).unwrap_or_default();
    Reply { status: parts.status.as_u16(), headers: parts.headers, text, json }
}

async fn engine(catalogue: &str, key: &str, folder: &TempDir) -> Engine {
    let catalogue = Catalogue::parse(catalogue, "catalogue.toml").unwrap_or_else(|faults| panic!("{faults}"));
    let ambient = Ambient::system();
    let options = OpenOptions {
        catalogue,
        database_url: "sqlite:desk.db".to_owned(),
        base: folder.path().to_owned(),
        sealer: Sealer::parse(key, ambient.clone()).expect("a key"),
        ambient,
        roots: None,
    };
    Engine::open(options).await.expect("the engine opens")
}

async fn agent(engine: &Engine, name: &str, requires_approval: bool, tool: Option<&str>) -> String {
    let wanted = AgentWanted {
        name: name.to_owned(),
        owner: "ann@house.test".to_owned(),
        requires_approval,
        abilities: Ability::AGENT_DEFAULT.to_vec(),
        toolset: tool.map(|tool| vec![tool.to_owned()]),
        session: None,
    };
    engine.add_agent(wanted).await.expect("an agent").1.reveal().to_owned()
}

/// A house that counts the mails it gets.
async fn upstream() -> (String, Arc<AtomicUsize>) {
    let writes = Arc::new(AtomicUsize::new(0));
    let (counting, counted) = (writes.clone(), writes.clone());
    let app = Router::new()
        .route("/count", get(async move || Json(json!({ "count": counted.load(Ordering::SeqCst) }))))
        .route("/list", get(async || Json(json!(["a", "b"]))))
        .route(
            "/mails",
            post(async move || {
                let number = counting.fetch_add(1, Ordering::SeqCst) + 1;
                Json(json!({ "id": format!("m{number}"), "inner": "secret" }))
            }),
        );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    (address.to_string(), writes)
}
