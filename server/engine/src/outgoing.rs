//! A request as it would leave the desk, before the credential's secret is put in.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use url::Url;

/// A request as it would leave the desk. `Host`, `Content-Length`, the idempotency key and the credential's own header
/// are not in it: egress adds them.
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
