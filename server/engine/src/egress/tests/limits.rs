//! Bodies that are too large.

use std::fmt::Write as _;

use super::upstream::{PATIENT, Upstream, answered, whole};
use crate::egress::BodyRead;

#[tokio::test]
async fn answers_are_taken_up_to_the_limit() {
    let limit = PATIENT.response_body;
    for (size, taken) in [(limit - 1, true), (limit, true), (limit + 1, false), (4 * limit, false)] {
        let body = "x".repeat(size);
        let mut chunked = String::new();
        for chunk in body.as_bytes().chunks(10_000) {
            let text = str::from_utf8(chunk).expect("text");
            write!(chunked, "{:x}\r\n{text}\r\n", chunk.len()).expect("written");
        }
        for answer in [
            format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n{body}"),
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunked}0\r\n\r\n"),
            format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
        ] {
            let response = answered(Upstream::saying(answer).await.get().await);
            assert_eq!(response.status, 200);
            if taken {
                assert_eq!(whole(response.body).len(), size);
            } else {
                assert_eq!(response.body, BodyRead::TooLarge { limit });
            }
        }
    }
}

#[tokio::test]
async fn an_announced_length_takes_no_memory_and_overflows_nothing() {
    for length in ["99999999999", "18446744073709551615"] {
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\nhello");
        let response = answered(Upstream::saying(answer).await.get().await);
        assert_eq!((response.status, response.body), (200, BodyRead::Cut));
    }
}
