//! A real HTTP server on loopback that counts, remembers, and misbehaves when told to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the upstream does with the next writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers with this status and body.
    Answer(u16, String),
    /// Reads the request and closes without an answer.
    Cut,
    /// Reads the request and answers when it is told to.
    Wait,
    /// The same, and answers with this status then.
    WaitThen(u16),
    /// The same, and closes without an answer then.
    WaitThenCut,
}

/// One request as it came in.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Method and path with query.
    pub line: String,
    /// The whole head, as it was sent.
    pub head: String,
    /// The body.
    pub body: String,
}

pub struct Upstream {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    seen: Mutex<Vec<Seen>>,
    behaviour: Mutex<Behaviour>,
    quota: Mutex<i64>,
    /// What every read is answered with instead of 200.
    read_status: Mutex<Option<u16>>,
    release: watch::Sender<u32>,
}

impl Upstream {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            seen: Mutex::default(),
            behaviour: Mutex::new(Behaviour::Answer(200, r#"{"id":"m1","secret_note":"s"}"#.to_owned())),
            quota: Mutex::new(5),
            read_status: Mutex::default(),
            release: watch::channel(0).0,
        });
        let accepting = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = accepting.clone();
                tokio::spawn(async move { serve(stream, shared).await });
            }
        });
        Self { address, shared }
    }

    pub fn address(&self) -> String {
        self.address.to_string()
    }

    pub fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().expect("lock") = behaviour;
    }

    /// Changes what a dry run answers.
    pub fn set_quota(&self, quota: i64) {
        *self.shared.quota.lock().expect("lock") = quota;
    }

    /// Answers every read, and so every dry run, with this status; `None`: as usual.
    pub fn fail_reads(&self, status: Option<u16>) {
        *self.shared.read_status.lock().expect("lock") = status;
    }

    /// Lets waiting answers go out.
    pub fn release(&self) {
        self.shared.release.send_modify(|turn| *turn += 1);
    }

    /// Every write that came in.
    pub fn writes(&self) -> Vec<Seen> {
        let seen = self.shared.seen.lock().expect("lock");
        seen.iter().filter(|seen| !seen.line.starts_with("GET ")).cloned().collect()
    }

    /// How many requests came in, reads and writes.
    pub fn requests(&self) -> usize {
        self.shared.seen.lock().expect("lock").len()
    }

    /// Waits until that many writes have come in.
    pub async fn until_writes(&self, count: usize) {
        for _ in 0..400 {
            if self.writes().len() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{} writes came in, {count} were awaited", self.writes().len());
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let Some(seen) = read(&mut stream).await else { return };
    let is_write = !seen.line.starts_with("GET ");
    let mut turn = shared.release.subscribe();
    shared.seen.lock().expect("lock").push(seen.clone());
    let read_status = *shared.read_status.lock().expect("lock");
    let behaviour = if is_write {
        shared.behaviour.lock().expect("lock").clone()
    } else if let Some(status) = read_status {
        Behaviour::Answer(status, "{}".to_owned())
    } else if seen.line.contains("/missing") {
        Behaviour::Answer(404, "{}".to_owned())
    } else {
        Behaviour::Answer(
            200,
            format!(r#"{{"name":"Northwind","quota":{}}}"#, shared.quota.lock().expect("lock")),
        )
    };
    match behaviour {
        Behaviour::Answer(status, body) => answer(&mut stream, status, &body).await,
        Behaviour::Cut => {}
        Behaviour::Wait => {
            if turn.changed().await.is_ok() {
                answer(&mut stream, 200, r#"{"id":"late"}"#).await;
            }
        }
        Behaviour::WaitThenCut => drop(turn.changed().await),
        Behaviour::WaitThen(status) => {
            if turn.changed().await.is_ok() {
                answer(&mut stream, status, r#"{"id":"late"}"#).await;
            }
        }
    }
}

pub async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = head
        .lines()
        .find_map(|line| {
            line.to_lowercase().strip_prefix("content-length:").and_then(|text| text.trim().parse().ok())
        })
        .unwrap_or(0);
    while bytes.len() < head_end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
    Some(Seen { line, body: String::from_utf8_lossy(&bytes[head_end + 4..]).into_owned(), head })
}

async fn answer(stream: &mut TcpStream, status: u16, body: &str) {
    let text = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}
