//! The secret goes out in one header, and comes back in nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::credential::{SECRET, secret};
use super::upstream::{Upstream, answered, egress, whole};

/// An upstream that answers with what it got, as debugging endpoints do.
#[tokio::test]
async fn an_echo() {
    let base64 = STANDARD.encode(format!("user:{SECRET}"));
    let percent = utf8_percent_encode(SECRET, NON_ALPHANUMERIC).to_string();
    let json = SECRET.replace('/', "\\/");
    let body = format!("{{\"a\":\"Bearer {SECRET}\",\"b\":\"{percent}\",\"c\":\"{json}\"}}");
    let answer = format!(
        "HTTP/1.1 401 No\r\nwww-authenticate: Bearer error=\"{SECRET}\"\r\nx-echo: Basic {base64}\r\n\
         x-percent: {percent}\r\nx-kept: 1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let response = answered(Upstream::saying(answer).await.get().await);
    assert_eq!(response.headers.keys().map(http::HeaderName::as_str).collect::<Vec<_>>(), ["x-kept"]);
    let expected = r#"{"a":"Bearer [redacted]","b":"[redacted]","c":"[redacted]"}"#;
    assert_eq!(whole(response.body), expected);
}

/// It was asked for the plain text; what is coded all the same cannot be searched, and does not come back.
#[tokio::test]
async fn a_coded_answer_is_withheld() {
    let answer = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nxyz";
    let response = answered(Upstream::saying(answer).await.get().await);
    assert_eq!((response.status, response.headers.len()), (200, 0));
    assert_eq!(whole(response.body), "[redacted]");
}

#[tokio::test]
async fn nothing_that_can_be_printed_tells_it() {
    let upstream = Upstream::saying(format!("HTTP/1.1 200 OK\r\nx-echo: {SECRET}\r\n\r\n{SECRET}")).await;
    let egress = egress();
    let checked = egress.check(Some(&upstream.credential()), upstream.outgoing("GET", "/")).expect("allowed");
    let secret = secret();
    let before = format!("{egress:?} {checked:?} {secret:?}");
    let printed = format!("{before} {:?}", egress.send(checked, Some(&secret), None).await);
    assert!(!printed.contains("sk-test"), "{printed}");
}
