//! What a server answers: one JSON-RPC response, as JSON or within an event stream.

use serde_json::{Map, Value};

use super::dialect::STATELESS;
use super::message::ID;

/// The response to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// It was carried out, as far as the protocol goes.
    Result(Map<String, Value>),
    /// It was not.
    Error {
        /// Why (JSON-RPC 2.0, section 5.1).
        code: i64,
        /// The server says that it speaks the revision without sessions all the same.
        speaks_stateless: bool,
    },
}

/// The response in a text of JSON; `None`: it holds none to our request.
pub(super) fn of_json(bytes: &[u8]) -> Option<Reply> {
    let message: Value = serde_json::from_slice(bytes).ok()?;
    match message {
        // 2025-03-26 may answer with a batch.
        Value::Array(messages) => messages.iter().find_map(reply),
        message => reply(&message),
    }
}

/// The response in a message; `None`: it is another message, or a response to something else.
fn reply(message: &Value) -> Option<Reply> {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") || message.get("method").is_some() {
        return None;
    }
    let error = message.get("error").filter(|error| !error.is_null());
    let id = message.get("id").unwrap_or(&Value::Null);
    // An error may come without the id, when the server could not read it.
    if id.as_u64() != Some(ID) && !(error.is_some() && id.is_null()) {
        return None;
    }
    match (message.get("result"), error) {
        (Some(Value::Object(result)), None) => Some(Reply::Result(result.clone())),
        (_, Some(error)) => Some(of_error(error)),
        _ => None,
    }
}

fn of_error(error: &Value) -> Reply {
    let supported = error.get("data").and_then(|data| data.get("supported")?.as_array());
    Reply::Error {
        code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
        speaks_stateless: supported.is_some_and(|all| all.iter().any(|one| one == STATELESS)),
    }
}

/// Looks for the response in an event stream, as it comes (HTML, section 9.2.6). Notifications and requests of the
/// server are passed over: the desk has told it that it can do nothing for it.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

impl Events {
    /// Takes the next bytes; the response, when they complete it.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<Reply> {
        for byte in bytes {
            let follows_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => {
                    if let Some(found) = self.end_line() {
                        return Some(found);
                    }
                }
                other => self.line.push(*other),
            }
        }
        None
    }

    fn end_line(&mut self) -> Option<Reply> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return if std::mem::take(&mut self.has_data) { of_json(&data) } else { None };
        }
        if let Some(rest) = line.strip_prefix(b"data:") {
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(rest.strip_prefix(b" ").unwrap_or(rest));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#;

    fn streamed(text: &str) -> Option<Reply> {
        let whole = Events::default().push(text.as_bytes());
        let mut byte_by_byte = Events::default();
        let single = text.as_bytes().iter().find_map(|byte| byte_by_byte.push(&[*byte]));
        assert_eq!(whole, single, "{text:?}");
        whole
    }

    #[test]
    fn a_response_is_found_among_other_messages() {
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
        let other = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
        let asks = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert!(matches!(of_json(RESULT.as_bytes()), Some(Reply::Result(_))));
        assert!(of_json(format!("[{progress},{RESULT}]").as_bytes()).is_some());
        for none in [
            "",
            "{}",
            "[]",
            progress,
            other,
            asks,
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":3}"#,
        ] {
            assert_eq!(of_json(none.as_bytes()), None, "{none}");
        }
        let stream = format!(
            ": hi\nevent: message\nid: 4\ndata:\n\ndata: {progress}\r\n\r\ndata: {asks}\n\ndata: {RESULT}\n\n"
        );
        assert!(matches!(streamed(&stream), Some(Reply::Result(_))));
        assert_eq!(streamed(&format!("data: {RESULT}\n")), None, "an event that does not end is none");
        let split = RESULT.replacen(',', ",\ndata: ", 1);
        assert!(streamed(&format!("data: {split}\n\n")).is_some());
        assert!(streamed(&format!("data:{RESULT}\r\r")).is_some());
    }

    #[test]
    fn an_error_is_an_error_also_without_an_id() {
        let error = |rest: &str| of_json(format!("{{\"jsonrpc\":\"2.0\",{rest}}}").as_bytes());
        let expected = Some(Reply::Error { code: -32_602, speaks_stateless: false });
        assert_eq!(error(r#""id":1,"error":{"code":-32602,"message":"m"}"#), expected);
        assert_eq!(error(r#""id":null,"error":{"code":-32602}"#), expected);
        let supported = r#""id":1,"error":{"code":-32022,"data":{"supported":["2026-07-28"]}}"#;
        assert_eq!(error(supported), Some(Reply::Error { code: -32_022, speaks_stateless: true }));
        assert_eq!(of_json(br#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#), None);
    }
}
