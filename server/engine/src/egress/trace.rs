//! What went over a connection: enough to tell whether a request can have left and whether it was answered.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use std::io;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::status_line;

/// More than the head of any answer the HTTP parser would take.
const HEAD_LIMIT: usize = 512 * 1024;

/// The shared notes about one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace(Arc<Notes>);

#[derive(Debug, Default)]
struct Notes {
    /// Set when the connection is ready for the request: what was written before was the TLS handshake.
    open: AtomicBool,
    /// A byte of the request was handed to the connection.
    offered: AtomicBool,
    /// The operating system took a byte after the connection was ready.
    taken: AtomicBool,
    /// The start of what the server said.
    head: Mutex<Vec<u8>>,
}

impl Trace {
    /// From here on the request may leave.
    pub(super) fn open(&self) {
        self.0.open.store(true, Ordering::Release);
    }

    /// Whether a byte of the request may have left. It takes both notes: after the handshake TLS writes records of its
    /// own (a close, an alert) that the wire cannot tell from the request; and what was handed to TLS has not left
    /// when the operating system took nothing.
    pub(super) fn may_have_left(&self) -> bool {
        self.0.offered.load(Ordering::Acquire) && self.0.taken.load(Ordering::Acquire)
    }

    /// The status of the final answer, when its whole status line has come.
    pub(super) fn final_status(&self) -> Option<u16> {
        status_line::final_status(&self.0.head.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_open(&self) -> bool {
        self.0.open.load(Ordering::Acquire)
    }

    fn heard(&self, bytes: &[u8]) {
        let mut head = self.0.head.lock().unwrap_or_else(PoisonError::into_inner);
        let room = HEAD_LIMIT.saturating_sub(head.len()).min(bytes.len());
        head.extend_from_slice(&bytes[..room]);
    }
}

/// The socket itself, below TLS: notes what the operating system takes.
///
/// Once the connection is open a failed write is swallowed, and so is everything written after it. A server that
/// answers early and closes makes the rest of the request fail to write while its answer is waiting to be read; what
/// the answer was then decides, not the failed write. A connection that is really dead ends the read side as well.
#[derive(Debug)]
pub(super) struct Wire<S> {
    socket: S,
    trace: Trace,
    broken: bool,
}

impl<S> Wire<S> {
    pub(super) const fn new(socket: S, trace: Trace) -> Self {
        Self { socket, trace, broken: false }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.broken {
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = ready!(Pin::new(&mut self.socket).poll_write(cx, bytes));
        match written {
            Ok(count) => {
                if count > 0 && self.trace.is_open() {
                    self.trace.0.taken.store(true, Ordering::Release);
                }
                Poll::Ready(Ok(count))
            }
            Err(_) if self.trace.is_open() => {
                self.broken = true;
                Poll::Ready(Ok(bytes.len()))
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.broken { Poll::Ready(Ok(())) } else { Pin::new(&mut self.socket).poll_flush(cx) }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

/// The connection as HTTP sees it, above TLS: notes that the request was handed over, and how the answer begins.
#[derive(Debug)]
pub(super) struct Tap<S> {
    stream: S,
    trace: Trace,
}

impl<S> Tap<S> {
    pub(super) const fn new(stream: S, trace: Trace) -> Self {
        Self { stream, trace }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tap<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // Noted before the write: what happens inside of it may be half done when it fails.
        if !bytes.is_empty() {
            self.trace.0.offered.store(true, Ordering::Release);
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tap<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.trace.heard(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// A socket that takes nothing, and still has something to say.
    struct Deaf(&'static [u8]);

    impl AsyncWrite for Deaf {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncRead for Deaf {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            buffer.put_slice(std::mem::take(&mut self.0));
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn a_write_that_fails_has_not_left_and_does_not_hide_the_answer() {
        let trace = Trace::default();
        trace.open();
        let mut stream = Tap::new(Wire::new(Deaf(b"HTTP/1.1 413 No\r\n\r\n"), trace.clone()), trace.clone());
        stream.write_all(b"POST / HTTP/1.1\r\n").await.expect("swallowed");
        stream.flush().await.expect("swallowed");
        stream.read_to_end(&mut Vec::new()).await.expect("read");
        assert!(!trace.may_have_left());
        assert_eq!(trace.final_status(), Some(413));
    }

    #[tokio::test]
    async fn the_handshake_is_no_request_and_its_failures_are_told() {
        let trace = Trace::default();
        let (ours, theirs) = tokio::io::duplex(64);
        let mut wire = Wire::new(ours, trace.clone());
        wire.write_all(b"hello").await.expect("written");
        trace.open();
        drop(theirs);
        Tap::new(wire, trace.clone()).write_all(b"GET / HTTP/1.1\r\n").await.expect("swallowed");
        assert!(!trace.may_have_left());

        let trace = Trace::default();
        assert!(Wire::new(Deaf(b""), trace).write_all(b"hello").await.is_err());
    }

    #[tokio::test]
    async fn a_record_of_tls_alone_is_no_request() {
        let trace = Trace::default();
        trace.open();
        let (ours, _theirs) = tokio::io::duplex(64);
        let mut wire = Wire::new(ours, trace.clone());
        wire.write_all(b"close_notify").await.expect("written");
        assert!(!trace.may_have_left());
        Tap::new(wire, trace.clone()).write_all(b"G").await.expect("written");
        assert!(trace.may_have_left());
    }
}
