//! One HTTP request on its way into `rmcp`: stateless, with `Host` and `Origin` held against the desk's own address.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use url::{Host, Url};

use super::desk::Desk;

/// What a request is about, told to whoever does not read its body.
const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The names of this machine for itself. A desk known by one of them answers to all.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The protocol for one caller and one request. It keeps nothing that outlives the request.
pub(super) struct Transport {
    service: StreamableHttpService<Desk, NeverSessionManager>,
    headers: HeaderMap,
}

impl Transport {
    /// For this caller, with the request's headers.
    pub(super) fn new(desk: Desk, headers: HeaderMap) -> Self {
        let config = config(&desk.engine.catalogue().server.public_url);
        let service = StreamableHttpService::new(
            move || Ok(desk.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        Self { service, headers }
    }

    /// The request's headers.
    pub(super) const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The answer to one message.
    pub(super) async fn carry(&self, message: &Value) -> Response {
        let mut request = self.request(Method::POST, message.to_string());
        name_task(message, request.headers_mut());
        self.hand_over(request).await
    }

    /// The refusal of a request from a page or for a name that is not the desk's, before its body is looked at.
    pub(super) async fn refused_origin(&self) -> Option<Response> {
        // Without a session there is no GET: what gets past the check of the headers is 405.
        let response = self.hand_over(self.request(Method::GET, String::new())).await;
        (response.status() != StatusCode::METHOD_NOT_ALLOWED).then_some(response)
    }

    fn request(&self, method: Method, body: String) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.headers_mut() = self.headers.clone();
        request
    }

    async fn hand_over(&self, request: Request<Full<Bytes>>) -> Response {
        self.service.handle(request).await.map(Body::new).into_response()
    }
}

/// Names the task of a `tasks/…` request in `Mcp-Name` where its client does not. A client has to (SEP-2663), so that a
/// proxy can find the node that keeps the task; widespread ones forget it, and here every node has every task. A name
/// that is there and is another one is refused all the same.
fn name_task(message: &Value, headers: &mut HeaderMap) {
    let is_about_task = message["method"].as_str().is_some_and(|method| method.starts_with("tasks/"));
    let id = message["params"]["taskId"].as_str().filter(|_| is_about_task);
    if let Some(value) = id.and_then(|id| HeaderValue::from_str(id).ok()) {
        headers.entry(MCP_NAME).or_insert(value);
    }
}

/// What the protocol is told about the desk.
fn config(public_url: &Url) -> StreamableHttpServerConfig {
    let names = names(public_url);
    let port = public_url.port_or_known_default().unwrap_or_default();
    let origins = names.iter().map(|name| format!("{}://{name}:{port}", public_url.scheme()));
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_origins(origins)
        .with_allowed_hosts(names)
        .enforce_origin_validation()
}

/// The names that the desk answers to.
fn names(public_url: &Url) -> Vec<String> {
    let loopback = match public_url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unspecified(),
        None => false,
    };
    let own = public_url.host_str().map(str::to_owned);
    let others = LOOPBACK.iter().filter(|_| loopback).map(|name| (*name).to_owned());
    own.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> StreamableHttpServerConfig {
        config(&Url::parse(url).expect("an address"))
    }

    #[test]
    fn a_public_desk_answers_to_its_own_name_alone() {
        let config = of("https://desk.example/");
        assert_eq!(config.allowed_hosts, ["desk.example"]);
        assert_eq!(config.allowed_origins, ["https://desk.example:443"]);
    }

    #[test]
    fn a_desk_on_loopback_answers_to_every_name_of_this_machine() {
        let config = of("http://127.0.0.1:8087");
        assert!(config.allowed_hosts.contains(&"localhost".to_owned()));
        assert!(config.allowed_origins.contains(&"http://localhost:8087".to_owned()));
        assert!(config.allowed_origins.iter().all(|origin| origin.ends_with(":8087")));
    }
}
