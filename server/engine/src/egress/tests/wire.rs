//! What an upstream gets to see, byte for byte.

use bytes::Bytes;
use http::{HeaderName, HeaderValue};

use super::credential::{SECRET, local, secret};
use super::upstream::{Fixed, Upstream, answered, egress, named};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn header(name: &'static str, value: &'static str) -> (HeaderName, HeaderValue) {
    (HeaderName::from_static(name), HeaderValue::from_static(value))
}

#[tokio::test]
async fn a_read() {
    let mut upstream = Upstream::saying(OK).await;
    let outgoing = upstream.outgoing("GET", "/v1/a%20b;c?d=%2F&e");
    answered(upstream.send(&egress(), outgoing).await);
    assert_eq!(
        upstream.request().await,
        format!(
            "GET /v1/a%20b;c?d=%2F&e HTTP/1.1\r\n\
             host: 127.0.0.1:{}\r\n\
             user-agent: countersign/{VERSION}\r\n\
             accept-encoding: identity\r\n\
             authorization: Bearer {SECRET}\r\n\
             \r\n",
            upstream.port()
        )
    );
}

#[tokio::test]
async fn a_write_with_everything_the_caller_should_not_say() {
    let mut upstream = Upstream::saying(OK).await;
    let mut outgoing = upstream.outgoing("POST", "/v1/messages");
    outgoing.headers = vec![
        header("content-type", "application/json"),
        header("host", "evil.example"),
        header("content-length", "3"),
        header("transfer-encoding", "chunked"),
        header("connection", "keep-alive, x-hop"),
        header("x-hop", "1"),
        header("cookie", "a=b"),
        header("authorization", "Bearer mine"),
        header("idempotency-key", "mine"),
        header("x-http-method-override", "DELETE"),
        header("expect", "100-continue"),
        header("accept-encoding", "gzip"),
        header("user-agent", "agent/1"),
        header("x-twice", "1"),
        header("x-twice", "2"),
    ];
    outgoing.body = Some(Bytes::from_static(b"{\"to\":\"ann\"}"));
    let egress = egress();
    let checked = egress.check(Some(&upstream.credential()), outgoing).expect("allowed");
    answered(egress.send(checked, Some(&secret()), Some("key-1")).await);
    assert_eq!(
        upstream.request().await,
        format!(
            "POST /v1/messages HTTP/1.1\r\n\
             host: 127.0.0.1:{}\r\n\
             content-type: application/json\r\n\
             user-agent: agent/1\r\n\
             x-twice: 1\r\n\
             x-twice: 2\r\n\
             accept-encoding: identity\r\n\
             content-length: 12\r\n\
             idempotency-key: key-1\r\n\
             authorization: Bearer {SECRET}\r\n\
             \r\n\
             {{\"to\":\"ann\"}}",
            upstream.port()
        )
    );
}

#[tokio::test]
async fn lengths_are_said_where_a_server_waits_for_them() {
    for (method, body, expected) in [
        ("POST", None, Some("0")),
        ("PUT", None, Some("0")),
        ("PATCH", None, Some("0")),
        ("DELETE", None, None),
        ("GET", None, None),
        ("OPTIONS", None, None),
        ("QUERY", Some("q"), Some("1")),
        ("DELETE", Some("xyz"), Some("3")),
        ("GET", Some("xyz"), Some("3")),
        ("POST", Some(""), Some("0")),
    ] {
        let mut upstream = Upstream::saying(OK).await;
        let mut outgoing = upstream.outgoing(method, "/");
        outgoing.body = body.map(Bytes::from);
        answered(upstream.send(&egress(), outgoing).await);
        let request = upstream.request().await;
        let length = request.lines().find_map(|line| line.strip_prefix("content-length: "));
        assert_eq!(length, expected, "{request}");
        assert!(!request.contains("transfer-encoding"), "{request}");
        assert!(request.ends_with(&format!("\r\n\r\n{}", body.unwrap_or_default())), "{request}");
    }
}

#[tokio::test]
async fn a_secret_in_a_header_of_its_own() {
    let mut upstream = Upstream::saying(OK).await;
    let mut credential = upstream.credential();
    credential.header = HeaderName::from_static("x-api-key");
    credential.value = "{secret}".into();
    let mut outgoing = upstream.outgoing("GET", "/");
    outgoing.headers = vec![header("x-api-key", "mine"), header("x_api_key", "mine")];
    let egress = egress();
    let checked = egress.check(Some(&credential), outgoing).expect("allowed");
    answered(egress.send(checked, Some(&secret()), None).await);
    let request = upstream.request().await;
    assert!(request.contains(&format!("\r\nx-api-key: {SECRET}\r\n")), "{request}");
    assert!(!request.contains("mine") && !request.contains("authorization"), "{request}");
}

#[tokio::test]
async fn a_name_is_resolved_once_and_stands_in_the_host_header() {
    let mut upstream = Upstream::saying(OK).await;
    let resolver = Fixed::to(&["127.0.0.1"]);
    let egress = egress().with_resolver(resolver.clone());
    let port = upstream.port();
    let outgoing = named("GET", &format!("http://api.test:{port}/x"));
    let checked = egress.check(Some(&local("api.test", port)), outgoing).expect("allowed");
    answered(egress.send(checked, Some(&secret()), None).await);
    let request = upstream.request().await;
    assert!(request.starts_with(&format!("GET /x HTTP/1.1\r\nhost: api.test:{port}\r\n")), "{request}");
    assert_eq!((resolver.asked(), upstream.connections().await), (1, 1));
}
