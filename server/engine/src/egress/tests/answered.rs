//! Sends that were answered: a final status line was seen.

use bytes::Bytes;
use http::HeaderMap;
use tokio::io::AsyncWriteExt;

use super::upstream::{PATIENT, Upstream, answered, egress, read_head, read_request, whole};
use crate::egress::{BodyRead, Egress, Limits, Sent};

fn said(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nx-name: v\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn every_final_status_is_an_answer() {
    for status in
        [200, 201, 301, 302, 303, 307, 308, 400, 401, 404, 409, 413, 425, 429, 500, 502, 503, 504, 599]
    {
        let mut upstream = Upstream::saying(said(&format!("{status} Said"), "body")).await;
        let response = answered(upstream.get().await);
        assert_eq!(response.status, status);
        assert_eq!(response.headers["x-name"], "v");
        assert_eq!(whole(response.body), "body");
        assert_eq!(upstream.connections().await, 1, "{status}");
    }
}

#[tokio::test]
async fn a_redirect_is_the_answer_and_is_not_followed() {
    let mut elsewhere = Upstream::saying(said("200 OK", "elsewhere")).await;
    let metadata = "http://169.254.169.254/latest/meta-data/".to_owned();
    for location in [format!("http://127.0.0.1:{}/", elsewhere.port()), metadata] {
        for status in [301, 302, 303, 307, 308] {
            let redirect =
                format!("HTTP/1.1 {status} X\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            let mut upstream = Upstream::saying(redirect).await;
            let response = answered(upstream.get().await);
            let told = (response.status, response.headers["location"].as_bytes());
            assert_eq!(told, (status, location.as_bytes()));
            assert_eq!(upstream.connections().await, 1, "{status} to {location}");
        }
    }
    assert_eq!(elsewhere.connections().await, 0);
}

#[tokio::test]
async fn informational_answers_are_passed_over() {
    let early = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
    let upstream = Upstream::saying(format!("{early}{}", said("201 Created", "made"))).await;
    let response = answered(upstream.get().await);
    assert_eq!((response.status, response.headers.get("link")), (201, None));
    assert_eq!(whole(response.body), "made");
}

#[tokio::test]
async fn answers_without_a_body_are_whole() {
    for (method, answer, length) in [
        ("HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", Some("5")),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n", None),
        ("GET", "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", Some("5")),
        ("GET", "HTTP/1.1 200 OK\r\n\r\n", None),
        ("GET", "HTTP/1.0 200 OK\r\n\r\n", None),
    ] {
        let upstream = Upstream::saying(answer).await;
        let response = answered(upstream.send(&egress(), upstream.outgoing(method, "/")).await);
        assert_eq!(response.headers.get("content-length").map(|v| v.to_str().expect("text")), length);
        assert_eq!(whole(response.body), "", "{answer}");
    }
}

#[tokio::test]
async fn bodies_are_framed_in_three_ways() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\n\r\nhello",
    ] {
        let response = answered(Upstream::saying(answer).await.get().await);
        assert_eq!(response.headers, HeaderMap::new());
        assert_eq!(whole(response.body), "hello", "{answer}");
    }
}

#[tokio::test]
async fn what_comes_behind_the_answer_is_not_read() {
    let two = [said("200 OK", "first"), said("500 No", "second")].concat();
    let response = answered(Upstream::saying(two).await.get().await);
    assert_eq!((response.status, whole(response.body)), (200, Bytes::from_static(b"first")));
}

/// The answer is cut after each of its bytes in turn. Once its status line is whole it counts.
#[tokio::test]
async fn cut_anywhere() {
    for answer in [
        "HTTP/1.1 201 Created\r\ncontent-length: 4\r\n\r\nmade",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n4\r\nmade\r\n0\r\n\r\n",
    ] {
        let line_ends = answer.find("Created\r\n").expect("a status line") + "Created\r\n".len();
        for end in 0..=answer.len() {
            let mut upstream = Upstream::saying(&answer[..end]).await;
            match upstream.get().await {
                Sent::Unknown(_) => assert!(end < line_ends, "{:?}", &answer[..end]),
                Sent::Answered(response) => {
                    assert!(end >= line_ends, "{:?}", &answer[..end]);
                    assert_eq!(response.status, 201);
                    let whole = BodyRead::Whole(Bytes::from_static(b"made"));
                    assert_eq!(response.body == whole, end == answer.len(), "{:?}", &answer[..end]);
                    assert!(response.body == whole || response.body == BodyRead::Cut);
                }
                Sent::NeverLeft(why) => panic!("{why}"),
            }
            assert_eq!(upstream.connections().await, 1);
        }
    }
}

#[tokio::test]
async fn a_head_that_cannot_be_read_still_has_a_status() {
    for answer in [
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx".to_owned(),
        format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(1000)),
    ] {
        let response = answered(Upstream::saying(answer).await.get().await);
        assert_eq!((response.status, response.body, response.headers.len()), (200, BodyRead::Cut, 0));
    }
}

/// The upstream refuses while most of the request has not been written, and closes: the rest cannot be written any
/// more, and the answer still counts.
#[tokio::test]
async fn an_answer_before_the_request_is_read() {
    let limits = Limits { request_body: 32 * 1024 * 1024, ..PATIENT };
    let egress = Egress::new(limits).expect("egress");
    let mut upstream = Upstream::doing(|mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(said("413 Too Large", "too large").as_bytes()).await.ok()?;
        None // closes with unread bytes: the system resets the connection
    })
    .await;
    let mut outgoing = upstream.outgoing("POST", "/upload");
    outgoing.body = Some(Bytes::from(vec![b'x'; limits.request_body]));
    let response = answered(upstream.send(&egress, outgoing).await);
    assert_eq!((response.status, whole(response.body)), (413, Bytes::from_static(b"too large")));
    assert_eq!(upstream.connections().await, 1);
}

#[tokio::test]
async fn an_answer_while_the_upstream_never_reads_on() {
    let limits = Limits { request_body: 32 * 1024 * 1024, ..PATIENT };
    let egress = Egress::new(limits).expect("egress");
    let upstream = Upstream::doing(|mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(said("401 No", "").as_bytes()).await.ok()?;
        std::future::pending().await
    })
    .await;
    let mut outgoing = upstream.outgoing("POST", "/upload");
    outgoing.body = Some(Bytes::from(vec![b'x'; limits.request_body]));
    assert_eq!(answered(upstream.send(&egress, outgoing).await).status, 401);
}

#[tokio::test]
async fn cookies_and_hop_by_hop_headers_do_not_come_back() {
    let answer = "HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nSet-Cookie: c=d\r\nconnection: close, x-hop\r\nx-hop: 1\r\n\
                  keep-alive: timeout=5\r\ncontent-length: 2\r\nx-kept: 1\r\n\r\nok";
    let response = answered(Upstream::saying(answer).await.get().await);
    assert_eq!(response.headers.keys().map(http::HeaderName::as_str).collect::<Vec<_>>(), ["x-kept"]);
}

#[tokio::test]
async fn a_body_that_stops_in_time_is_cut() {
    let egress =
        Egress::new(Limits { answer: std::time::Duration::from_secs(2), ..PATIENT }).expect("egress");
    let upstream = Upstream::doing(|mut stream| async move {
        read_request(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nx-name: v\r\n\r\nhalf").await.ok()?;
        std::future::pending().await
    })
    .await;
    let response = answered(upstream.send(&egress, upstream.outgoing("GET", "/")).await);
    assert_eq!((response.status, response.body), (200, BodyRead::Cut));
    assert_eq!(response.headers["x-name"], "v");
}
