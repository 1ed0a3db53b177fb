//! The body of a request: one JSON object of at most 1 MiB.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use model::Refusal;
use serde_json::{Map, Value};

use super::strict_json;
use crate::problem::Rejected;

/// The most bytes a body may have.
pub(crate) const BODY_LIMIT: usize = 1024 * 1024;

/// How much of a body that is too large is still read and thrown away, so that its sender gets to read the answer
/// instead of a reset connection.
const DRAIN_LIMIT: usize = 8 * BODY_LIMIT;

/// How long a sender may take over its body.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);

/// The body's object.
#[derive(Debug)]
pub(crate) struct JsonObject(pub(crate) Map<String, Value>);

impl<S: Sync> FromRequest<S> for JsonObject {
    type Rejection = Rejected;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Rejected> {
        Ok(Self(strict_json::object(&json(request).await?)?))
    }
}

/// Every byte of a body that says it is JSON.
///
/// # Errors
/// When it says something else, is too large or does not arrive.
pub(crate) async fn json(request: Request) -> Result<Bytes, Refusal> {
    json_up_to(request, BODY_LIMIT).await
}

/// The same, up to another limit.
pub(crate) async fn json_up_to(request: Request, limit: usize) -> Result<Bytes, Refusal> {
    let (parts, body) = request.into_parts();
    let bytes = bytes(&parts.headers, body, limit).await?;
    if bytes.is_empty() || is_json(&parts.headers) { Ok(bytes) } else { Err(Refusal::UnsupportedMediaType) }
}

/// Every byte of a body, whatever it is.
///
/// # Errors
/// When it is too large or does not arrive.
pub(crate) async fn bytes(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, Refusal> {
    tokio::time::timeout(BODY_TIME, read(headers, body, limit))
        .await
        .unwrap_or(Err(Refusal::Malformed("The body did not arrive in time.")))
}

async fn read(headers: &HeaderMap, mut body: Body, limit: usize) -> Result<Bytes, Refusal> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::Malformed("The body was cut off."))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            drain(headers, body).await;
            return Err(Refusal::TooLarge(limit));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

/// Throws the rest of a body away, as long as that is no work worth refusing.
async fn drain(headers: &HeaderMap, mut body: Body) {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > DRAIN_LIMIT) {
        return;
    }
    let mut left = DRAIN_LIMIT;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        if length > left {
            return;
        }
        left -= length;
    }
}

/// Whether the body says that it is JSON: `application/json` or `…+json`, in UTF-8 if it names a charset.
fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let Ok(text) = value.to_str() else { return false };
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    let json =
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"));
    json && parts.all(|parameter| is_harmless(&parameter.to_ascii_lowercase()))
}

/// Whether a parameter of the media type does not say that the bytes are something else than UTF-8.
fn is_harmless(parameter: &str) -> bool {
    match parameter.strip_prefix("charset=") {
        Some(charset) => matches!(charset.trim_matches('"'), "utf-8" | "utf8" | "us-ascii"),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn taken(content_type: &'static str) -> bool {
        is_json(&HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]))
    }

    #[test]
    fn json_is_json() {
        assert!(taken("application/json"));
        assert!(taken("Application/JSON; charset=UTF-8"));
        assert!(taken("application/json;charset=\"utf-8\""));
        assert!(taken("application/merge-patch+json"));
    }

    #[test]
    fn everything_else_is_not() {
        assert!(!taken("text/plain"));
        assert!(!taken("text/json"));
        assert!(!taken("application/x-www-form-urlencoded"));
        assert!(!taken("application/jsonp"));
        assert!(!taken("application/json; charset=latin1"));
        assert!(!taken(""));
        assert!(!is_json(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn a_body_may_fill_the_limit_and_no_more() {
        let read =
            async |length: usize| read(&HeaderMap::new(), Body::from(vec![b' '; length]), BODY_LIMIT).await;
        assert_eq!(read(BODY_LIMIT).await.map(|bytes| bytes.len()), Ok(BODY_LIMIT));
        assert_eq!(read(BODY_LIMIT + 1).await, Err(Refusal::TooLarge(BODY_LIMIT)));
    }
}
