//! An upstream on this machine that does what a test tells it, down to the byte.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::credential::{local, outgoing, secret};
use crate::credential::Credential;
use crate::egress::{BodyRead, Egress, Limits, Resolver, Response, Sent, parse_url};
use crate::outgoing::Outgoing;

/// Long enough that only a send that hangs for good meets it.
pub(super) const PATIENT: Limits = Limits {
    request_body: 1024 * 1024,
    response_body: 64 * 1024,
    connect: Duration::from_secs(30),
    answer: Duration::from_secs(30),
};

/// The egress of most tests.
pub(super) fn egress() -> Egress {
    static EGRESS: LazyLock<Egress> = LazyLock::new(|| Egress::new(PATIENT).expect("egress"));
    EGRESS.clone()
}

/// A listening upstream. It is gone when it is dropped.
pub(super) struct Upstream {
    address: SocketAddr,
    peers: mpsc::UnboundedReceiver<SocketAddr>,
    requests: mpsc::UnboundedReceiver<Vec<u8>>,
    task: JoinHandle<()>,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Upstream {
    /// Does this with every connection.
    pub(super) async fn doing<F, D>(behaviour: F) -> Self
    where
        F: Fn(TcpStream) -> D + Send + 'static,
        D: Future<Output = Option<Vec<u8>>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (met, peers) = mpsc::unbounded_channel();
        let (heard, requests) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            while let Ok((stream, peer)) = listener.accept().await {
                let heard = heard.clone();
                let done = behaviour(stream);
                tokio::spawn(async move { done.await.map(|request| heard.send(request)) });
                if met.send(peer).is_err() {
                    break;
                }
            }
        });
        Self { address, peers, requests, task }
    }

    /// Reads each request whole, says this, and closes.
    pub(super) async fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Arc<[u8]> = answer.into().into();
        Self::doing(move |mut stream| {
            let answer = answer.clone();
            async move {
                let request = read_request(&mut stream).await;
                stream.write_all(&answer).await.ok()?;
                stream.shutdown().await.ok()?;
                request
            }
        })
        .await
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn credential(&self) -> Credential {
        local("127.0.0.1", self.port())
    }

    pub(super) fn outgoing(&self, method: &str, path: &str) -> Outgoing {
        outgoing(method, &format!("http://{}{path}", self.address))
    }

    /// Sends this with the credential for this upstream.
    pub(super) async fn send(&self, egress: &Egress, outgoing: Outgoing) -> Sent {
        let checked = egress.check(Some(&self.credential()), outgoing).expect("allowed");
        egress.send(checked, Some(&secret()), None).await
    }

    /// Sends a GET.
    pub(super) async fn get(&self) -> Sent {
        self.send(&egress(), self.outgoing("GET", "/x")).await
    }

    /// The next request that was read whole.
    pub(super) async fn request(&mut self) -> String {
        String::from_utf8(self.requests.recv().await.expect("a request")).expect("text")
    }

    /// How many connections there were: those that were accepted before one that is made now.
    pub(super) async fn connections(&mut self) -> usize {
        let last = TcpStream::connect(self.address).await.expect("connected");
        let last = last.local_addr().expect("an address");
        let mut count = 0;
        while self.peers.recv().await.expect("a connection") != last {
            count += 1;
        }
        count
    }
}

/// Reads a head and as much body as it announces. `None` when the other side stops before.
pub(super) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut request = read_head(stream).await?;
    let head = String::from_utf8_lossy(&request).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a number"))];
    stream.read_exact(&mut body).await.ok()?;
    request.append(&mut body);
    Some(request)
}

/// Reads up to the empty line, and not one byte more.
pub(super) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(head)
}

/// The answer, when there is one.
pub(super) fn answered(sent: Sent) -> Response {
    match sent {
        Sent::Answered(response) => response,
        other => panic!("not answered: {other:?}"),
    }
}

/// The body, when all of it came.
pub(super) fn whole(body: BodyRead) -> Bytes {
    match body {
        BodyRead::Whole(bytes) => bytes,
        other => panic!("not whole: {other:?}"),
    }
}

/// A resolver that knows one answer, and counts how often it is asked.
#[derive(Clone)]
pub(super) struct Fixed {
    addresses: Arc<[IpAddr]>,
    asked: Arc<AtomicUsize>,
}

impl Fixed {
    pub(super) fn to(addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().expect("an address")).collect();
        Self { addresses, asked: Arc::default() }
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Resolver for Fixed {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.addresses.to_vec())
    }
}

/// A request to a name, which a test's resolver knows.
pub(super) fn named(method: &str, url: &str) -> Outgoing {
    Outgoing { url: parse_url(url).expect("a URL"), ..outgoing(method, url) }
}
