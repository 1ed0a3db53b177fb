//! A socket that stops half-way where a test wants it to (`fail_point`). Tests alone have it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::fail_point;

/// A socket that may stop: after half of what is written first, when the answer begins, or behind its first line.
#[derive(Debug)]
pub(super) struct Halting<S> {
    socket: S,
    deaf: bool,
    mute: bool,
    /// The first line was read: from then on bytes come as they are.
    passed: bool,
}

impl<S> Halting<S> {
    pub(super) const fn new(socket: S) -> Self {
        Self { socket, deaf: false, mute: false, passed: false }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Halting<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.mute {
            return Poll::Pending;
        }
        if bytes.len() > 1 && fail_point::stops("half-sent") {
            self.mute = true;
            return Pin::new(&mut self.socket).poll_write(cx, &bytes[..bytes.len() / 2]);
        }
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Halting<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.deaf {
            return Poll::Pending;
        }
        if self.passed {
            return Pin::new(&mut self.socket).poll_read(cx, buffer);
        }
        // One byte at a time, so that the end of the first line is a place where one can stop.
        let mut byte = [0];
        let mut one = ReadBuf::new(&mut byte);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut one))?;
        let Some(byte) = one.filled().first().copied() else { return Poll::Ready(Ok(())) };
        if fail_point::stops("answer-begun") {
            self.deaf = true;
            return Poll::Pending;
        }
        buffer.put_slice(&[byte]);
        self.passed = byte == b'\n';
        self.deaf = self.passed && fail_point::stops("status-line-read");
        Poll::Ready(Ok(()))
    }
}
