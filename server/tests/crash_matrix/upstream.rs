//! A service on a bare socket that does what it is told to, and counts what it did.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the service does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// Does it and says so.
    Answers,
    /// Does it and says so after the lease has run out.
    AnswersLate,
    /// Does it not, and says that it cannot.
    Refuses,
    /// Does it not, and says that it failed.
    Fails,
    /// Resets the connection without having read anything.
    ResetsUnread,
    /// Resets it when it has read the head.
    ResetsAfterHead,
    /// Does it, and resets the connection.
    ResetsAfterBody,
    /// Does it, and resets the connection half-way through the status line.
    HalfStatusLine,
    /// Does it and says nothing.
    Hangs,
}

impl Behaviour {
    pub(crate) const ALL: [Self; 9] = [
        Self::Answers,
        Self::AnswersLate,
        Self::Refuses,
        Self::Fails,
        Self::ResetsUnread,
        Self::ResetsAfterHead,
        Self::ResetsAfterBody,
        Self::HalfStatusLine,
        Self::Hangs,
    ];

    /// Whether what was asked is done when the whole request comes in.
    pub(crate) const fn acts(self) -> bool {
        !matches!(self, Self::Refuses | Self::Fails | Self::ResetsUnread | Self::ResetsAfterHead)
    }

    /// Whether there is an answer with a status line.
    pub(crate) const fn answers(self) -> bool {
        matches!(self, Self::Answers | Self::AnswersLate | Self::Refuses | Self::Fails)
    }
}

/// Longer than the lease of a test's desk, and shorter than it waits for an answer.
const LATE: Duration = Duration::from_millis(2_500);

pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    counts: Arc<Counts>,
}

struct Counts {
    behaviour: Behaviour,
    effects: AtomicUsize,
    /// Requests of which any byte was seen.
    requests: watch::Sender<usize>,
    /// Requests that came in whole.
    whole: watch::Sender<usize>,
    released: watch::Sender<bool>,
}

impl Upstream {
    pub(crate) async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let counts = Arc::new(Counts {
            behaviour,
            effects: AtomicUsize::new(0),
            requests: watch::Sender::new(0),
            whole: watch::Sender::new(0),
            released: watch::Sender::new(false),
        });
        let serving = counts.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let counts = serving.clone();
                // Whatever becomes of one connection is what is tested.
                tokio::spawn(async move { drop(serve(stream, &counts).await) });
            }
        });
        Self { address, counts }
    }

    /// How often it was done.
    pub(crate) fn effects(&self) -> usize {
        self.counts.effects.load(Ordering::SeqCst)
    }

    /// How many requests came in, in part or whole.
    pub(crate) fn requests(&self) -> usize {
        *self.counts.requests.borrow()
    }

    /// Returns when a whole request has come in.
    pub(crate) async fn until_whole(&self) {
        let mut whole = self.counts.whole.subscribe();
        whole.wait_for(|count| *count > 0).await.expect("the service is there");
    }

    /// Lets a hanging answer go out.
    pub(crate) fn release(&self) {
        self.counts.released.send_replace(true);
    }
}

async fn serve(mut stream: TcpStream, counts: &Counts) -> std::io::Result<()> {
    if stream.peek(&mut [0]).await? == 0 {
        return Ok(());
    }
    counts.requests.send_modify(|count| *count += 1);
    let behaviour = counts.behaviour;
    if behaviour == Behaviour::ResetsUnread {
        return stream.set_zero_linger();
    }
    let (mut bytes, head) = read_head(&mut stream).await?;
    if behaviour == Behaviour::ResetsAfterHead {
        return stream.set_zero_linger();
    }
    read_body(&mut stream, &mut bytes, head).await?;
    if behaviour.acts() {
        counts.effects.fetch_add(1, Ordering::SeqCst);
    }
    counts.whole.send_modify(|count| *count += 1);
    match behaviour {
        Behaviour::AnswersLate => tokio::time::sleep(LATE).await,
        Behaviour::Hangs => {
            let mut released = counts.released.subscribe();
            released.wait_for(|released| *released).await.map_err(std::io::Error::other)?;
        }
        Behaviour::HalfStatusLine => stream.write_all(b"HTTP/1.1 20").await?,
        _ => {}
    }
    match behaviour {
        Behaviour::ResetsAfterBody | Behaviour::HalfStatusLine => stream.set_zero_linger(),
        Behaviour::Refuses => answer(&mut stream, "404 Not Found").await,
        Behaviour::Fails => answer(&mut stream, "500 Internal Server Error").await,
        _ => answer(&mut stream, "201 Created").await,
    }
}

async fn answer(stream: &mut TcpStream, status: &str) -> std::io::Result<()> {
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: 10\r\nconnection: close\r\n\r\n{{\"id\":\"1\"}}"
    );
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}

/// The bytes read so far, and the length of the head among them.
async fn read_head(stream: &mut TcpStream) -> std::io::Result<(Vec<u8>, usize)> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            return Ok((bytes, end + 4));
        }
        more(stream, &mut bytes).await?;
    }
}

async fn read_body(stream: &mut TcpStream, bytes: &mut Vec<u8>, head: usize) -> std::io::Result<()> {
    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    while bytes.len() < head + length.unwrap_or(0) {
        more(stream, bytes).await?;
    }
    Ok(())
}

async fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}
