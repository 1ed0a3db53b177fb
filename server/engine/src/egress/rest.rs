//! What follows the head of an answer: read whole, or passed on as it arrives.

use std::pin::Pin;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};

use super::Limits;
use super::connection::Stream;
use super::scrub::{REDACTED, Running};
use super::sent::BodyRead;

/// The longest that one answer is passed on, however steadily it comes.
const LONGEST: Duration = Duration::from_hours(1);

/// A connection on its way; polled, it goes on.
type Driving = Pin<Box<Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>>>;

/// The body of an answer, and the connection it comes over; dropped, the connection is closed.
pub(super) struct Rest {
    pub(super) body: Incoming,
    /// `None`: it has ended, and has handed over all it knows.
    pub(super) connection: Option<Driving>,
    /// Without it the connection would end as soon as it is idle.
    pub(super) _sender: SendRequest<Full<Bytes>>,
}

impl Rest {
    /// Reads all of it, up to the limit.
    pub(super) async fn whole(&mut self, limit: usize) -> BodyRead {
        let mut whole = BytesMut::new();
        while let Some(data) = self.data().await {
            let Ok(data) = data else { return BodyRead::Cut };
            if whole.len() + data.len() > limit {
                return BodyRead::TooLarge { limit };
            }
            whole.extend_from_slice(&data);
        }
        BodyRead::Whole(whole.freeze())
    }

    /// The next bytes; `None`: that was all.
    async fn data(&mut self) -> Option<Result<Bytes, hyper::Error>> {
        loop {
            let frame = match &mut self.connection {
                None => self.body.frame().await,
                Some(connection) => tokio::select! {
                    frame = self.body.frame() => frame,
                    _ = connection => {
                        self.connection = None;
                        continue;
                    }
                },
            };
            match frame?.map(hyper::body::Frame::into_data) {
                Ok(Ok(data)) => return Some(Ok(data)),
                Ok(Err(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Why the body of an answer ends before its end. What the answer said had happened by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BrokenOff {
    /// It is larger than is passed on.
    #[error("the answer was cut off: it is larger than {0} bytes")]
    TooLarge(usize),
    /// The connection broke.
    #[error("the answer broke off")]
    Broke,
    /// Nothing came for too long, or it went on for too long.
    #[error("the answer was cut off: it did not come in time")]
    TooSlow,
    /// The desk is being stopped.
    #[error("the answer was cut off: the desk is stopping")]
    Stopping,
}

/// The body of an answer that is passed on as it arrives, without the secret.
pub struct AnswerBody {
    rest: Rest,
    limit: usize,
    left: usize,
    pause: Duration,
    until: Instant,
    scrubbing: Option<Running>,
    /// Nobody can look into it, so nothing of it is passed on.
    withheld: bool,
    over: bool,
}

impl AnswerBody {
    pub(super) fn new(rest: Rest, limits: &Limits, scrubbing: Option<Running>, withheld: bool) -> Self {
        let (limit, pause) = (limits.response_body, limits.answer);
        let until = Instant::now() + LONGEST;
        Self { rest, limit, left: limit, pause, until, scrubbing, withheld, over: false }
    }

    /// What can be passed on next; `None`: that was all. Behind an error nothing comes.
    pub async fn next(&mut self) -> Option<Result<Bytes, BrokenOff>> {
        while !self.over {
            match self.read().await {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Some(Ok(bytes)),
                Err(why) => {
                    self.over = true;
                    return Some(Err(why));
                }
            }
        }
        None
    }

    /// All of it, after all.
    pub async fn collect(mut self) -> BodyRead {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next().await {
            match piece {
                Ok(piece) => whole.extend_from_slice(&piece),
                Err(BrokenOff::TooLarge(limit)) => return BodyRead::TooLarge { limit },
                Err(_) => return BodyRead::Cut,
            }
        }
        BodyRead::Whole(whole.freeze())
    }

    async fn read(&mut self) -> Result<Bytes, BrokenOff> {
        let deadline = self.until.min(Instant::now() + self.pause);
        let data = timeout_at(deadline, self.rest.data()).await.map_err(|_| BrokenOff::TooSlow)?;
        let Some(data) = data else {
            self.over = true;
            return Ok(self.scrubbing.as_mut().map(Running::finish).unwrap_or_default());
        };
        let data = data.map_err(|_| BrokenOff::Broke)?;
        self.left = self.left.checked_sub(data.len()).ok_or(BrokenOff::TooLarge(self.limit))?;
        if self.withheld && !data.is_empty() {
            self.over = true;
            return Ok(Bytes::from_static(REDACTED));
        }
        Ok(match &mut self.scrubbing {
            Some(scrubbing) => scrubbing.push(&data),
            None => data,
        })
    }
}

impl std::fmt::Debug for AnswerBody {
    /// How much is left alone: bodies do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AnswerBody(at most {} bytes more)", self.left)
    }
}
