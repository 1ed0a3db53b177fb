//! Which of the caller's headers go along, and which of the answer's come back.

use std::collections::HashSet;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, SET_COOKIE, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Headers that say how a message is framed or are meant for the next hop alone (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [&str; 11] = [
    "connection",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that egress writes itself, or that would speak in somebody else's name.
const OURS: [&str; 7] =
    ["accept-encoding", "authorization", "content-length", "cookie", "cookie2", "host", "idempotency-key"];

/// Headers by which some servers replace the method, the path or the host that was checked.
const OVERRIDES: [&str; 8] = [
    "x-forwarded-host",
    "x-host",
    "x-http-host-override",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
];

/// The caller's headers that may go along with a request, in their order; `own` is the credential's header.
pub(super) fn keep_for_request(
    headers: Vec<(HeaderName, HeaderValue)>,
    own: Option<&HeaderName>,
) -> Vec<(HeaderName, HeaderValue)> {
    let own = own.map(plain_name);
    let listed = listed_in_connection(headers.iter().map(|(name, value)| (name, value)));
    headers
        .into_iter()
        .filter(|(name, _)| {
            let name = plain_name(name);
            let dropped = HOP_BY_HOP.contains(&name.as_str())
                || OURS.contains(&name.as_str())
                || OVERRIDES.contains(&name.as_str())
                || listed.contains(&name)
                || own.as_ref() == Some(&name);
            !dropped
        })
        .collect()
}

/// The answer's headers that may come back: no cookies, nothing that was meant for the connection, and no length of
/// a body that is no longer as it came. `length_stands` where the length describes no body (HEAD, 304).
pub(super) fn keep_for_answer(headers: &HeaderMap, length_stands: bool) -> HeaderMap {
    let listed = listed_in_connection(headers);
    headers
        .iter()
        .filter(|(name, _)| {
            let plain = plain_name(name);
            let dropped = HOP_BY_HOP.contains(&plain.as_str())
                || listed.contains(&plain)
                || plain.starts_with("countersign-")
                || *name == SET_COOKIE
                || plain == "set-cookie2"
                || (*name == CONTENT_LENGTH && !length_stands);
            !dropped
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Whether the body is still in a coding, although `identity` was asked for: then nobody can look into it.
pub(super) fn is_encoded(headers: &HeaderMap) -> bool {
    let codings = |name| {
        headers
            .get_all(name)
            .into_iter()
            .flat_map(|value: &HeaderValue| value.as_bytes().split(|b| *b == b','))
    };
    let known = |coding: &[u8], plain: &[u8]| coding.is_empty() || coding.eq_ignore_ascii_case(plain);
    !codings(CONTENT_ENCODING).all(|coding| known(coding.trim_ascii(), b"identity"))
        || !codings(TRANSFER_ENCODING).all(|coding| known(coding.trim_ascii(), b"chunked"))
}

/// Whether a header of this name frames the request, so that it can never carry a secret.
pub(super) fn frames(name: &HeaderName) -> bool {
    *name == header::HOST
        || *name == CONTENT_LENGTH
        || HOP_BY_HOP.contains(&name.as_str()) && *name != header::PROXY_AUTHORIZATION
}

/// The name as a CGI-like server knows it: `_` and `-` are one there, so `x_http_method` is `x-http-method`.
fn plain_name(name: &HeaderName) -> String {
    name.as_str().replace('_', "-")
}

/// The names that the `Connection` headers declare as meant for this hop.
fn listed_in_connection<'h>(
    headers: impl IntoIterator<Item = (&'h HeaderName, &'h HeaderValue)>,
) -> HashSet<String> {
    headers
        .into_iter()
        .filter(|(name, _)| **name == header::CONNECTION)
        .flat_map(|(_, value)| value.as_bytes().split(|byte| *byte == b','))
        .map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase().replace('_', "-"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(headers: &[(&str, &str)]) -> Vec<(HeaderName, HeaderValue)> {
        headers
            .iter()
            .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
            .collect()
    }

    fn map(headers: &[(&str, &str)]) -> HeaderMap {
        list(headers).into_iter().collect()
    }

    #[test]
    fn only_what_may_go_along_goes_along() {
        let dropped = [
            ("Host", "evil.example"),
            ("Content-Length", "7"),
            ("Transfer-Encoding", "chunked"),
            ("Connection", "close, X-Hop, x_other"),
            ("X-Hop", "1"),
            ("X-Other", "1"),
            ("Keep-Alive", "timeout=5"),
            ("TE", "trailers"),
            ("Trailer", "x"),
            ("Upgrade", "websocket"),
            ("Expect", "100-continue"),
            ("Proxy-Authorization", "x"),
            ("Proxy-Connection", "x"),
            ("Cookie", "a=b"),
            ("Authorization", "Bearer x"),
            ("Idempotency-Key", "k"),
            ("Idempotency_Key", "k"),
            ("Accept-Encoding", "gzip"),
            ("X-HTTP-Method-Override", "DELETE"),
            ("X_HTTP_Method_Override", "DELETE"),
            ("X-HTTP-Method", "DELETE"),
            ("X-Method-Override", "DELETE"),
            ("X-Original-URL", "/admin"),
            ("X-Rewrite-URL", "/admin"),
            ("X-Forwarded-Host", "evil.example"),
            ("X-Api-Key", "mine"),
            ("x_api_key", "mine"),
        ];
        let kept = [("Content-Type", "a/b"), ("X-Twice", "1"), ("X-Twice", "2"), ("Accept", "*/*")];
        let own = HeaderName::from_static("x-api-key");
        let all = [&kept[..2], &dropped[..], &kept[2..]].concat();
        assert_eq!(keep_for_request(list(&all), Some(&own)), list(&kept));
    }

    #[test]
    fn only_what_may_come_back_comes_back() {
        let answer = map(&[
            ("content-type", "a/b"),
            ("content-length", "3"),
            ("set-cookie", "a=b"),
            ("set-cookie", "c=d"),
            ("set-cookie2", "c=d"),
            ("connection", "close, x-hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("location", "https://elsewhere.example/"),
        ]);
        let kept = [("content-type", "a/b"), ("location", "https://elsewhere.example/")];
        assert_eq!(keep_for_answer(&answer, false), map(&kept));
        assert_eq!(
            keep_for_answer(&answer, true).get("content-length"),
            Some(&HeaderValue::from_static("3"))
        );
    }

    #[test]
    fn encodings() {
        for (headers, encoded) in [
            (vec![], false),
            (vec![("content-encoding", "identity")], false),
            (vec![("content-encoding", "")], false),
            (vec![("transfer-encoding", "Chunked")], false),
            (vec![("content-encoding", "gzip")], true),
            (vec![("content-encoding", "identity, br")], true),
            (vec![("content-encoding", "identity"), ("content-encoding", "zstd")], true),
            (vec![("transfer-encoding", "gzip, chunked")], true),
        ] {
            assert_eq!(is_encoded(&map(&headers)), encoded, "{headers:?}");
        }
    }

    #[test]
    fn a_secret_cannot_stand_in_a_framing_header() {
        for (name, framing) in [
            ("host", true),
            ("content-length", true),
            ("transfer-encoding", true),
            ("connection", true),
            ("authorization", false),
            ("cookie", false),
            ("proxy-authorization", false),
            ("x-api-key", false),
        ] {
            assert_eq!(frames(&HeaderName::from_static(name)), framing, "{name}");
        }
    }
}
