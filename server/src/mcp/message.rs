//! What stands in a POST: one JSON-RPC 2.0 message, or a batch of them from a client of 2025-03-26.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use model::Refusal;
use rmcp::model::ClientJsonRpcMessage;
use serde_json::{Value, json};

use crate::api::strict_json;

/// The most messages of a batch.
const BATCH_LIMIT: usize = 20;

/// The one revision that has batches; it is also the one that is meant when a client names none.
const WITH_BATCHES: &str = "2025-03-26";

/// What was sent.
#[derive(Debug, PartialEq)]
pub(super) enum Sent {
    /// One message.
    One(Value),
    /// A batch.
    Several(Vec<Value>),
}

/// Why something is no message; the wire gets it as a JSON-RPC error with HTTP status 400.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    id: Value,
    code: i32,
    message: &'static str,
}

/// JSON-RPC 2.0, section 5.1.
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

impl Fault {
    /// Not a request as the protocol knows it.
    pub(super) fn invalid(message: &'static str) -> Self {
        Self { id: Value::Null, code: INVALID_REQUEST, message }
    }

    /// The error as a JSON-RPC message.
    pub(super) fn to_json(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": self.code, "message": self.message } })
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        (StatusCode::BAD_REQUEST, Json(self.to_json())).into_response()
    }
}

/// Reads a body.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(bytes: &[u8], headers: &HeaderMap) -> Result<Sent, Fault> {
    let value = strict_json::value(bytes).map_err(|refusal| Fault {
        id: Value::Null,
        code: PARSE_ERROR,
        message: if let Refusal::Malformed(words) = refusal { words } else { "The body cannot be read." },
    })?;
    match value {
        Value::Array(_) if !has_batches(headers) => {
            Err(Fault::invalid("Batches are taken from clients of 2025-03-26 alone. Nothing was done."))
        }
        Value::Array(messages) if messages.is_empty() || messages.len() > BATCH_LIMIT => {
            Err(Fault::invalid("A batch has 1 to 20 messages. Nothing was done."))
        }
        Value::Array(messages) => Ok(Sent::Several(messages)),
        message => check(&message).map(|()| Sent::One(message)),
    }
}

/// Whether this is a message at all.
///
/// # Errors
/// When it is none, with its id where that can be told.
pub(super) fn check(message: &Value) -> Result<(), Fault> {
    let id = message.get("id");
    let usable = id.is_none_or(|id| id.is_string() || id.is_i64() || id.is_u64());
    let read = serde_json::from_value::<ClientJsonRpcMessage>(message.clone());
    if usable && read.is_ok() {
        return Ok(());
    }
    let id = id.filter(|_| usable).cloned().unwrap_or_default();
    Err(Fault { id, ..Fault::invalid("This is no JSON-RPC 2.0 message of the protocol. Nothing was done.") })
}

fn has_batches(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_none_or(|version| version == WITH_BATCHES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn of(body: &str, version: Option<&'static str>) -> Result<Sent, Fault> {
        let version = version.map(|version| {
            (http::HeaderName::from_static("mcp-protocol-version"), HeaderValue::from_static(version))
        });
        read(body.as_bytes(), &version.into_iter().collect())
    }

    fn code(result: Result<Sent, Fault>) -> i32 {
        result.expect_err("a fault").code
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    #[test]
    fn a_message_is_taken_as_it_is() {
        assert!(matches!(of(PING, None), Ok(Sent::One(_))));
        assert!(matches!(of(PING, Some("2026-07-28")), Ok(Sent::One(_))));
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(of(notification, None).is_ok());
    }

    #[test]
    fn batches_are_of_one_revision_alone() {
        let batch = format!("[{PING}]");
        assert!(matches!(of(&batch, None), Ok(Sent::Several(_))));
        assert!(matches!(of(&batch, Some("2025-03-26")), Ok(Sent::Several(_))));
        for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
            assert_eq!(code(of(&batch, Some(version))), INVALID_REQUEST, "{version}");
        }
        assert_eq!(code(of("[]", None)), INVALID_REQUEST);
        assert_eq!(code(of(&format!("[{}]", [PING; 21].join(",")), None)), INVALID_REQUEST);
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for body in ["", "{", "{\"a\":1,\"a\":2}", "{\"n\":1e400}"] {
            assert_eq!(code(of(body, None)), PARSE_ERROR, "{body}");
        }
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request_with_its_id() {
        let bodies = [
            ("1", Value::Null),
            ("{}", Value::Null),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, json!(7)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":"a","method":3}"#, json!("a")),
        ];
        for (body, id) in bodies {
            let fault = of(body, None).expect_err(body);
            assert_eq!((fault.code, fault.id), (INVALID_REQUEST, id), "{body}");
        }
    }
}
