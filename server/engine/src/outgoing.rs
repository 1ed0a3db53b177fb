//! A request as it would leave the desk, before the credential's secret is put in; or what a handler is given.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use serde_json::Value;
use url::Url;

/// A request as it would leave the desk. `Host`, `Content-Length`, the idempotency key and the credential's own header
/// are not in it: egress adds them.
///
/// What a handler is given is written in the same form, so that it is shown, bound, sealed and recorded in the same way:
/// `RUN handler:NAME`, with the input as canonical JSON. It never comes to egress, which would not let its scheme out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The method.
    pub method: Method,
    /// The address, parsed; its serialization is what is sent.
    pub url: Url,
    /// The address was made by a template that encodes every value whole, so an encoded slash is a part of a value and
    /// no disguise.
    pub values_encoded: bool,
    /// Headers in order.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body; `None` when there is none.
    pub body: Option<Bytes>,
}

/// The scheme of what stays in the house.
const HANDLER: &str = "handler";

impl Outgoing {
    /// What the handler of this name is given.
    pub(crate) fn to_handler(name: &str, input: &Value) -> Self {
        let url = Url::parse(&format!("{HANDLER}:{name}"));
        let body = serde_json_canonicalizer::to_vec(input);
        Self {
            method: Method::from_bytes(b"RUN").unwrap_or_else(|_| unreachable!("it is a token")),
            url: url.unwrap_or_else(|_| unreachable!("a name of letters, digits and _ is a path")),
            values_encoded: true,
            headers: Vec::new(),
            body: Some(body.unwrap_or_else(|_| unreachable!("plain data always serializes")).into()),
        }
    }

    /// The name of the handler that this is for; `None`: it is a request.
    pub fn handler(&self) -> Option<&str> {
        (self.url.scheme() == HANDLER).then(|| self.url.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_handler_is_given_is_canonical() {
        let outgoing = Outgoing::to_handler("restart_service", &json!({ "b": 1, "a": "x" }));
        assert_eq!(outgoing.handler(), Some("restart_service"));
        assert_eq!((outgoing.method.as_str(), outgoing.url.as_str()), ("RUN", "handler:restart_service"));
        assert_eq!(outgoing.body.as_deref(), Some(&br#"{"a":"x","b":1}"#[..]));
    }
}
