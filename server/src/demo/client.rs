//! What the demo's agent calls with: plain HTTP to the desk, one connection a request.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// Why there is no answer.
pub(super) type ClientError = Box<dyn std::error::Error + Send + Sync>;

/// A desk and a key to it.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) desk: SocketAddr,
    pub(super) key: String,
}

/// A request to the desk.
#[derive(Debug, Default)]
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, &'a str)>,
    pub(super) body: Option<&'a Value>,
}

/// The desk's answer.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) body: Value,
}

impl Client {
    /// Asks and waits for the answer.
    pub(super) async fn ask(&self, ask: Ask<'_>) -> Result<Told, ClientError> {
        let stream = TcpStream::connect(self.desk).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        let response = sender.send_request(self.request(ask)?).await?;
        let status = response.status().as_u16();
        let bytes = response.into_body().collect().await?.to_bytes();
        connection.abort();
        Ok(Told { status, body: serde_json::from_slice(&bytes)? })
    }

    fn request(&self, ask: Ask<'_>) -> Result<Request<Full<Bytes>>, ClientError> {
        let mut request = Request::builder()
            .method(ask.method)
            .uri(ask.path)
            .header(HOST, self.desk.to_string())
            .header(AUTHORIZATION, format!("Bearer {}", self.key));
        for (name, value) in ask.headers {
            request = request.header(name, value);
        }
        let body = match ask.body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                serde_json::to_vec(body)?
            }
            None => Vec::new(),
        };
        Ok(request.body(Full::new(Bytes::from(body)))?)
    }
}
