//! A JSON-RPC request of the protocol as an HTTP request: one POST, nothing before it and nothing after it.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method};
use serde_json::{Map, Value, json};
use url::Url;

use super::dialect::Dialect;
use super::param_header::{ParamHeader, header_value};
use crate::outgoing::Outgoing;

/// The id of every request: there is one on a connection.
pub(super) const ID: u64 = 1;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What a request is about.
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The session that a request belongs to.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Who asks. The version is the catalogue's, not the program's: a newer desk sends what an older one has shown.
pub(super) fn client() -> Value {
    json!({ "name": "countersign", "version": "1" })
}

/// The call of a tool.
pub(crate) fn call_request(
    url: &Url,
    dialect: &Dialect,
    tool: &str,
    arguments: Value,
    headers: &[ParamHeader],
) -> Outgoing {
    let in_headers: Vec<_> = headers.iter().filter_map(|header| header.write(&arguments)).collect();
    let params =
        Map::from_iter([("name".to_owned(), Value::from(tool)), ("arguments".to_owned(), arguments)]);
    let mut outgoing = request(url, dialect, "tools/call", params);
    if matches!(dialect, Dialect::Stateless) {
        outgoing.headers.extend(header_value(tool).map(|name| (NAME, name)));
        outgoing.headers.extend(in_headers);
    }
    outgoing
}

/// A request that has an answer.
pub(super) fn request(
    url: &Url,
    dialect: &Dialect,
    method: &'static str,
    mut params: Map<String, Value>,
) -> Outgoing {
    if matches!(dialect, Dialect::Stateless) {
        params.insert("_meta".to_owned(), meta(dialect.revision()));
    }
    post(url, dialect, method, &json!({ "jsonrpc": "2.0", "id": ID, "method": method, "params": params }))
}

/// A message that has none.
pub(super) fn notification(url: &Url, dialect: &Dialect, method: &'static str) -> Outgoing {
    post(url, dialect, method, &json!({ "jsonrpc": "2.0", "method": method }))
}

/// The end of a session.
pub(super) fn farewell(url: &Url, dialect: &Dialect) -> Outgoing {
    let headers = vec![version(dialect)];
    Outgoing { method: Method::DELETE, url: url.clone(), values_encoded: false, headers, body: None }
}

fn post(url: &Url, dialect: &Dialect, method: &'static str, message: &Value) -> Outgoing {
    let mut headers = vec![
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
        version(dialect),
    ];
    if matches!(dialect, Dialect::Stateless) {
        headers.push((METHOD, HeaderValue::from_static(method)));
    }
    let body = Some(Bytes::from(message.to_string()));
    Outgoing { method: Method::POST, url: url.clone(), values_encoded: false, headers, body }
}

fn version(dialect: &Dialect) -> (HeaderName, HeaderValue) {
    let value = HeaderValue::try_from(dialect.revision());
    (VERSION, value.unwrap_or_else(|_| unreachable!("a revision is a date")))
}

fn meta(revision: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": client(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stateless_call_says_everything_by_itself() {
        let url = Url::parse("https://tickets.example/mcp").expect("a URL");
        let outgoing = call_request(&url, &Dialect::Stateless, "close", json!({ "id": 7 }), &[]);
        let header = |name: &str| {
            let found = outgoing.headers.iter().find(|(known, _)| known.as_str() == name);
            found.map(|(_, value)| value.to_str().expect("text"))
        };
        assert_eq!(header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!((header("mcp-method"), header("mcp-name")), (Some("tools/call"), Some("close")));
        let body: Value = serde_json::from_slice(outgoing.body.as_deref().expect("a body")).expect("JSON");
        assert_eq!(body["params"]["arguments"], json!({ "id": 7 }));
        assert_eq!(body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    }

    #[test]
    fn an_older_call_has_none_of_that() {
        let url = Url::parse("https://tickets.example/mcp").expect("a URL");
        let outgoing = call_request(&url, &Dialect::Plain("2025-06-18".to_owned()), "close", json!({}), &[]);
        assert!(outgoing.headers.iter().all(|(name, _)| name != "mcp-method"));
        let body = String::from_utf8(outgoing.body.expect("a body").to_vec()).expect("text");
        assert_eq!(
            body,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"close","arguments":{}}}"#
        );
    }
}
