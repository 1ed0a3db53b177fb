//! Somebody with a token, on a connection of their own that they keep.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::request::Builder;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

pub(crate) struct Bearer {
    sender: SendRequest<Full<Bytes>>,
    host: String,
    authorization: String,
}

/// An answer, and how long until it was there.
pub(crate) struct Told {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
    pub(crate) took: Duration,
}

impl Bearer {
    pub(crate) async fn new(address: SocketAddr, token: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a handshake");
        tokio::spawn(connection);
        Self { sender, host: address.to_string(), authorization: format!("Bearer {token}") }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Told {
        self.exchange(Request::get(path), String::new()).await
    }

    /// Posts JSON, and waits for so many seconds for how it ends.
    pub(crate) async fn post(&mut self, path: &str, body: &Value, wait: Option<u32>) -> Told {
        let mut request = Request::post(path).header(CONTENT_TYPE, "application/json");
        if let Some(seconds) = wait {
            request = request.header("prefer", format!("wait={seconds}"));
        }
        self.exchange(request, body.to_string()).await
    }

    async fn exchange(&mut self, request: Builder, body: String) -> Told {
        let request = request
            .header(HOST, &self.host)
            .header(AUTHORIZATION, &self.authorization)
            .body(Full::new(Bytes::from(body)))
            .expect("a request");
        let begun = Instant::now();
        self.sender.ready().await.expect("a connection");
        let response = self.sender.send_request(request).await.expect("an answer");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let took = begun.elapsed();
        Told { status, body: serde_json::from_slice(&body).unwrap_or_default(), took }
    }
}

impl Told {
    /// The body of an answer with this status.
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self.body
    }
}
