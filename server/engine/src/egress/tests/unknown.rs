//! Sends of which nobody knows whether they were carried out.

use std::time::Duration;

use futures::future::join_all;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::upstream::{PATIENT, Upstream, read_request};
use crate::egress::{Egress, Limits, Sent, Unknown};

fn unknown(sent: Sent) -> Unknown {
    match sent {
        Sent::Unknown(why) => why,
        other => panic!("not unknown: {other:?}"),
    }
}

#[tokio::test]
async fn reset_before_anything_was_read() {
    let mut upstream = Upstream::doing(|stream: TcpStream| async move {
        stream.peek(&mut [0]).await.ok()?;
        None // closes with unread bytes: the system resets the connection
    })
    .await;
    assert_eq!(unknown(upstream.get().await), Unknown::Cut);
    assert_eq!(upstream.connections().await, 1);
}

#[tokio::test]
async fn read_and_closed_without_a_word() {
    let mut upstream = Upstream::saying("").await;
    assert_eq!(unknown(upstream.get().await), Unknown::Cut);
    assert_eq!(upstream.connections().await, 1);
}

#[tokio::test]
async fn only_informational_answers() {
    let upstream = Upstream::saying("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n").await;
    assert_eq!(unknown(upstream.get().await), Unknown::Cut);
}

#[tokio::test]
async fn something_that_is_no_answer() {
    for answer in [
        "SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP/2 200\r\n\r\n",
        "<html>\r\n",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "\u{0}\u{1}\u{2}",
        "HTTP/1.1 600 Odd\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n",
    ] {
        let mut upstream = Upstream::saying(answer).await;
        assert_eq!(unknown(upstream.get().await), Unknown::Unreadable, "{answer:?}");
        assert_eq!(upstream.connections().await, 1);
    }
}

#[tokio::test]
async fn no_answer_in_time() {
    let egress = Egress::new(Limits { answer: Duration::from_secs(1), ..PATIENT }).expect("egress");
    let starts = ["", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 20"];
    join_all(starts.map(async |start| {
        let mut upstream = Upstream::doing(move |mut stream| async move {
            read_request(&mut stream).await?;
            stream.write_all(start.as_bytes()).await.ok()?;
            std::future::pending().await
        })
        .await;
        let sent = upstream.send(&egress, upstream.outgoing("GET", "/")).await;
        assert_eq!(unknown(sent), Unknown::TimedOut, "{start:?}");
        assert_eq!(upstream.connections().await, 1);
    }))
    .await;
}

#[tokio::test]
async fn half_a_large_request_may_have_done_it() {
    let limits = Limits { request_body: 32 * 1024 * 1024, ..PATIENT };
    let egress = Egress::new(limits).expect("egress");
    let mut upstream = Upstream::doing(|stream: TcpStream| async move {
        stream.peek(&mut [0]).await.ok()?;
        None
    })
    .await;
    let mut outgoing = upstream.outgoing("POST", "/upload");
    outgoing.body = Some(vec![b'x'; limits.request_body].into());
    assert_eq!(unknown(upstream.send(&egress, outgoing).await), Unknown::Cut);
    assert_eq!(upstream.connections().await, 1);
}
