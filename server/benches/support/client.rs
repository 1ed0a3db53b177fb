//! A client with one connection that it keeps.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
}

impl Client {
    /// Asks this, again and again; with a key it is a call of an action without arguments.
    pub(crate) async fn new(address: SocketAddr, method: &str, path: &str, key: Option<&str>) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a handshake");
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path).header(HOST, address.to_string());
        if let Some(key) = key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = if key.is_some() { "{}" } else { "" };
        Self {
            sender,
            request: request.body(Full::new(Bytes::from_static(body.as_bytes()))).expect("a request"),
        }
    }

    /// Asks once: how long until the whole answer was there.
    pub(crate) async fn exchange(&mut self) -> Duration {
        let request = self.request.clone();
        // The answer may be whole before the connection is free again.
        self.sender.ready().await.expect("a connection that stays open");
        let begun = Instant::now();
        let response = self.sender.send_request(request).await.expect("an answer");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let took = begun.elapsed();
        assert_eq!(status, StatusCode::OK, "{}", String::from_utf8_lossy(&body));
        took
    }
}
