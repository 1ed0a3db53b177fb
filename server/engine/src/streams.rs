//! Answers whose bodies go to their callers as they arrive (`/via`).
//!
//! A caller says before its call that it takes the body that way. Whoever sends the call (the call's own task, or that
//! of the person who confirms it) finds it here. The receipt is written when the head of the answer has come: from then
//! on it is known what the service said, whatever becomes of the body. A body that is cut off later ends the transfer
//! with an error, as it would have between the caller and the service.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use model::{Answer, CallId, ReceiptId, Refusal};
use tokio::sync::{mpsc, oneshot};

use crate::arrival::Arrival;
use crate::egress::{AnswerBody, BrokenOff, Response};
use crate::engine::Engine;

/// How long a body may go on when the process is told to end.
const LAST_TIME: Duration = Duration::from_secs(10);

/// The answer to a call whose caller takes its body as it arrives.
#[derive(Debug)]
pub enum Answering {
    /// The service has answered; its body is on its way.
    Streamed(Streamed),
    /// Anything else.
    Whole(Box<Answer>),
}

/// A service's answer whose body is on its way.
#[derive(Debug)]
pub struct Streamed {
    /// Its status.
    pub status: u16,
    /// Its headers, as far as they may come back.
    pub headers: HeaderMap,
    /// The receipt, where there is one.
    pub receipt_id: Option<ReceiptId>,
    /// The body. Dropped, the rest of it is not fetched.
    pub body: mpsc::Receiver<Result<Bytes, BrokenOff>>,
}

/// Callers that take the body as it arrives, by their calls.
#[derive(Debug, Default)]
pub(crate) struct Streams(Mutex<HashMap<CallId, oneshot::Sender<Streamed>>>);

/// One such caller; dropped, it takes nothing any more.
struct Taker {
    streams: Arc<Streams>,
    id: CallId,
}

impl Streams {
    fn add(self: &Arc<Self>, id: CallId) -> (Taker, oneshot::Receiver<Streamed>) {
        let (tell, told) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, tell);
        (Taker { streams: self.clone(), id }, told)
    }

    /// Whether the caller is there and takes the body as it arrives.
    pub(crate) fn is_awaited(&self, id: CallId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&id)
    }

    fn take(&self, id: CallId) -> Option<oneshot::Sender<Streamed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        drop(self.streams.take(self.id));
    }
}

impl Engine {
    /// The same as `call`, for a caller that takes the body of the service's answer as it arrives.
    pub async fn call_streamed(
        &self,
        arrival: Arrival,
        wait: Option<Duration>,
    ) -> Result<Answering, Refusal> {
        let id = CallId::from_uuid(self.ambient().uuid());
        let (_taker, told) = self.streams().add(id);
        tokio::select! {
            biased;
            Ok(streamed) = told => Ok(Answering::Streamed(streamed)),
            answer = self.call_as(id, arrival, Vec::new(), wait) => answer.map(|answer| Answering::Whole(Box::new(answer))),
        }
    }

    /// Hands the answer to the caller that takes it, and goes on with its body beside everything else. Nobody there:
    /// the body is not fetched.
    pub(crate) fn hand_over(&self, id: CallId, opened: Opened, receipt_id: Option<ReceiptId>) {
        let Some(tell) = self.streams().take(id) else { return };
        // One piece at a time: a slow caller slows the service down, and nothing piles up here.
        let (feed, body) = mpsc::channel(1);
        let streamed = Streamed { status: opened.status, headers: opened.headers, receipt_id, body };
        if tell.send(streamed).is_ok() {
            drop(tokio::spawn(pass_on(self.clone(), id, opened.body, feed)));
        }
    }
}

/// The head of an answer, and its body on its way.
pub(crate) struct Opened {
    status: u16,
    headers: HeaderMap,
    body: AnswerBody,
}

impl Opened {
    pub(crate) fn new(response: &Response, body: AnswerBody) -> Self {
        Self { status: response.status, headers: response.headers.clone(), body }
    }
}

async fn pass_on(
    engine: Engine,
    id: CallId,
    mut body: AnswerBody,
    feed: mpsc::Sender<Result<Bytes, BrokenOff>>,
) {
    let stopping = async {
        engine.ending().over().await;
        tokio::time::sleep(LAST_TIME).await;
    };
    let passing = async {
        while let Some(piece) = body.next().await {
            if let Err(why) = &piece {
                tracing::warn!(call = %id, %why, "the body of an answer was not passed on to its end");
            }
            if feed.send(piece).await.is_err() {
                // The caller hung up. What was done is recorded.
                return;
            }
        }
    };
    tokio::select! {
        () = passing => {}
        () = feed.closed() => {}
        () = stopping => drop(feed.try_send(Err(BrokenOff::Stopping))),
    }
}
