//! The id every answer carries in `X-Request-Id`, and the log line that goes with it.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use engine::ambient::Ambient;
use http::header::{HeaderName, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue};
use tracing::Instrument;

/// `X-Request-Id`.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is taken from a caller.
const MAX_LENGTH: usize = 128;

/// Names the request, writes one log line about it, and puts the id on the answer. Query, headers and body never reach
/// the log: they may hold what nobody else should read.
pub(crate) async fn carry(request: Request, next: Next) -> Response {
    let id = taken(request.headers()).unwrap_or_else(made);
    let method = request.method().clone();
    let path = logged(request.uri().path());
    // The engine notes which call the request was about: by it the journal and the receipt are found.
    let span =
        tracing::info_span!("request", id = id.to_str().unwrap_or_default(), call = tracing::field::Empty);
    let started = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    span.in_scope(|| tracing::info!(%method, path, status = response.status().as_u16(), millis));
    response.headers_mut().insert(X_REQUEST_ID, id);
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// The caller's own id: given once, not long, and nothing in it that a log or a shell could take for more than text.
fn taken(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut values = headers.get_all(X_REQUEST_ID).iter();
    let value = values.next()?;
    let sane = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(byte);
    let fits = !value.is_empty() && value.len() <= MAX_LENGTH && value.as_bytes().iter().all(sane);
    (fits && values.next().is_none()).then(|| value.clone())
}

/// A fresh id.
fn made() -> HeaderValue {
    let id = Ambient::system().uuid().to_string();
    HeaderValue::from_str(&id).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

/// A path as the log may hold it: a confirm token or a link stands in some of them, and an agent's input in those that are passed
/// on, of which the credential's name alone is left.
fn logged(path: &str) -> String {
    const CONFIRMATIONS: &str = "/v1/confirmations/";
    const INVITATION: &str = "/invitation/";
    const SET_UP: &str = "/set-up/";
    const VIA: &str = "/via/";
    for secret in [CONFIRMATIONS, INVITATION, SET_UP] {
        if path.starts_with(secret) {
            return format!("{secret}…");
        }
    }
    match path.strip_prefix(VIA).and_then(|rest| rest.split_once('/')) {
        Some((credential, rest)) if !rest.is_empty() => format!("{VIA}{credential}/…"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&'static str]) -> HeaderMap {
        values.iter().map(|value| (X_REQUEST_ID, HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_sane_id_is_kept() {
        assert_eq!(taken(&headers(&["req-1.2_3"])), Some(HeaderValue::from_static("req-1.2_3")));
    }

    #[test]
    fn anything_else_is_replaced() {
        assert_eq!(taken(&headers(&[])), None);
        assert_eq!(taken(&headers(&[""])), None);
        assert_eq!(taken(&headers(&["two words"])), None);
        assert_eq!(taken(&headers(&["\"quoted\""])), None);
        assert_eq!(taken(&headers(&["a", "b"])), None);
        let long = HeaderValue::from_str(&"a".repeat(129)).expect("a header value");
        assert_eq!(taken(&HeaderMap::from_iter([(X_REQUEST_ID, long)])), None);
        assert_eq!(made().len(), 36);
    }

    #[test]
    fn what_callers_say_in_a_path_is_not_logged() {
        for (path, shown) in [
            ("/v1/calls/call_1", "/v1/calls/call_1"),
            ("/v1/confirmations/cft_secret", "/v1/confirmations/…"),
            ("/invitation/cin_secret", "/invitation/…"),
            ("/set-up/cin_secret", "/set-up/…"),
            ("/via/mail/v1/people/ann", "/via/mail/…"),
            ("/via/mail/", "/via/mail/"),
            ("/via/mail", "/via/mail"),
        ] {
            assert_eq!(logged(path), shown);
        }
    }
}
