//! One send is one connection and one request, whatever happens.

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;

use super::credential::{local, secret};
use super::upstream::{Fixed, Upstream, answered, egress, named, read_request};
use crate::egress::{NeverLeft, Resolver, Sent};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// An address that refuses the connection has got nothing, so the next may be tried: the request is still sent once.
#[tokio::test]
async fn a_dead_address_is_passed_over() {
    let mut upstream = Upstream::saying(OK).await;
    let port = upstream.port();
    let egress = egress().with_resolver(Fixed::to(&["127.0.0.2", "127.0.0.1", "127.0.0.3"]));
    let request = named("POST", &format!("http://api.test:{port}/"));
    let checked = egress.check(Some(&local("api.test", port)), request).expect("allowed");
    assert_eq!(answered(egress.send(checked, Some(&secret()), None).await).status, 200);
    assert_eq!(upstream.connections().await, 1);
}

/// A name that turns to another address once it was checked (DNS rebinding): what was checked is what is connected to.
#[tokio::test]
async fn a_name_that_turns_is_asked_once() {
    struct Turning(AtomicBool);
    #[async_trait]
    impl Resolver for Turning {
        async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            let turned = self.0.swap(true, Ordering::SeqCst);
            Ok(vec![IpAddr::from(if turned { [169, 254, 169, 254] } else { [127, 0, 0, 1] })])
        }
    }
    let mut upstream = Upstream::saying(OK).await;
    let port = upstream.port();
    let egress = egress().with_resolver(Turning(AtomicBool::new(false)));
    let check = || {
        let request = named("POST", &format!("http://api.test:{port}/"));
        egress.check(Some(&local("api.test", port)), request).expect("allowed")
    };
    assert_eq!(answered(egress.send(check(), Some(&secret()), None).await).status, 200);
    // The next send asks again, and does not go where the name leads by now.
    let next = egress.send(check(), Some(&secret()), None).await;
    assert!(matches!(next, Sent::NeverLeft(NeverLeft::Blocked(_))), "{next:?}");
    assert_eq!(upstream.connections().await, 1);
}

/// Two sends share nothing, not even a connection that could be kept alive.
#[tokio::test]
async fn connections_are_not_kept() {
    let mut upstream = Upstream::doing(|mut stream| async move {
        use tokio::io::AsyncWriteExt;
        let request = read_request(&mut stream).await?;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n")
            .await
            .ok()?;
        let rest = stream.read(&mut [0; 1]).await.ok()?;
        (rest == 0).then_some(request)
    })
    .await;
    let egress = egress();
    for _ in 0..2 {
        answered(upstream.send(&egress, upstream.outgoing("GET", "/")).await);
        upstream.request().await;
    }
    assert_eq!(upstream.connections().await, 2);
}

/// A caller that stops waiting closes the connection, so nothing more of the request leaves behind its back.
#[tokio::test]
async fn a_dropped_send_closes_its_connection() {
    let (closed, wait) = oneshot::channel();
    let (read, has_read) = oneshot::channel();
    let once = std::sync::Mutex::new(Some((read, closed)));
    let upstream = Upstream::doing(move |mut stream| {
        let once = once.lock().expect("unpoisoned").take();
        async move {
            let (read, closed) = once?;
            read_request(&mut stream).await?;
            read.send(()).ok()?;
            let rest = stream.read(&mut [0; 1]).await;
            closed.send(matches!(rest, Ok(0) | Err(_))).ok()?;
            None
        }
    })
    .await;
    let egress = egress();
    let checked = egress.check(Some(&upstream.credential()), upstream.outgoing("GET", "/")).expect("allowed");
    let sending = tokio::spawn(async move { egress.send(checked, Some(&secret()), None).await });
    has_read.await.expect("the request was read");
    sending.abort();
    assert_eq!(wait.await, Ok(true));
}
