//! The journal's writer, for calls that leave no row of their own: reads, previews, replays and refusals.
//!
//! Such a line is written beside the answer, not before it, and together with what else is waiting: a durable write
//! costs more than the rest of such a call, and its time would tell an action that is hidden from one that is not
//! there. A process that is killed can therefore lose the lines of its last moments, never those of a write.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::Event;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::engine::Engine;
use crate::store::StoreError;

/// How many lines may wait to be written; whoever comes next waits with its call.
const MOST_WAITING: usize = 4_096;

/// How many lines one transaction writes.
const BATCH: usize = 256;

/// How often a batch is tried, with pauses that grow from 50 ms to 12 s.
const TRIES: usize = 7;

/// Lines on their way into the journal.
pub(crate) struct Journal {
    waiting: Mutex<Waiting>,
    room: Arc<Semaphore>,
    /// How many lines have left the queue for good.
    written: watch::Sender<u64>,
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<Line>,
    /// How many lines were ever put in.
    noted: u64,
    /// Somebody is writing.
    is_written: bool,
}

struct Line {
    event: Event,
    /// For operators alone.
    is_withheld: bool,
    _room: Option<OwnedSemaphorePermit>,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::default(),
            room: Arc::new(Semaphore::new(MOST_WAITING)),
            written: watch::Sender::new(0),
        }
    }

    /// Puts a line into the queue. `true`: nobody is writing yet.
    fn put(&self, line: Line) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.lines.push_back(line);
        waiting.noted += 1;
        !std::mem::replace(&mut waiting.is_written, true)
    }

    /// The oldest lines. Nothing: whoever asks stops writing.
    fn take(&self) -> Vec<Line> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waiting.lines.len().min(BATCH);
        waiting.is_written = count > 0;
        waiting.lines.drain(..count).collect()
    }

    fn noted(&self) -> u64 {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).noted
    }
}

impl Engine {
    /// Writes a line into the journal, soon. The end of the process waits for it.
    pub(crate) async fn note(&self, event: Event) {
        self.note_line(event, false).await;
    }

    /// The same for operators alone: its caller was told that there is nothing.
    pub(crate) async fn note_withheld(&self, event: Event) {
        self.note_line(event, true).await;
    }

    async fn note_line(&self, event: Event, is_withheld: bool) {
        // A closed semaphore would say that the engine is gone.
        let room = self.journal().room.clone().acquire_owned().await.ok();
        if self.journal().put(Line { event, is_withheld, _room: room }) {
            let engine = self.clone();
            drop(self.spawn(async move { write_all(&engine).await }));
        }
    }

    /// Returns when every line that was noted until now is in the journal, so that a reader finds its own calls.
    pub(crate) async fn journal_is_written(&self) {
        let noted = self.journal().noted();
        // A closed channel would say that the engine is gone.
        let _ = self.journal().written.subscribe().wait_for(|written| *written >= noted).await;
    }
}

/// Writes until nothing waits.
async fn write_all(engine: &Engine) {
    loop {
        let lines = engine.journal().take();
        if lines.is_empty() {
            return;
        }
        write(engine, &lines).await;
        let count = lines.len() as u64;
        engine.journal().written.send_modify(|written| *written += count);
        for line in &lines {
            engine.nudges().tell(line.event.call_id);
        }
    }
}

/// Writes a batch. A database that is away is asked again for a while, then the log is told what is missing.
async fn write(engine: &Engine, lines: &[Line]) {
    let mut pause = Duration::from_millis(50);
    for _ in 0..TRIES {
        match try_write(engine, lines).await {
            Ok(()) => return,
            // A batch is written whole or not at all: it was written, and only the word of it was lost.
            Err(error) if error.is_taken() => return,
            Err(error) => tracing::error!(%error, "the journal could not be written yet"),
        }
        tokio::time::sleep(pause).await;
        pause *= 3;
    }
    for Line { event, .. } in lines {
        tracing::error!(call = %event.call_id, r#type = %event.r#type, "a line of the journal was lost");
    }
}

async fn try_write(engine: &Engine, lines: &[Line]) -> Result<(), StoreError> {
    let mut tx = engine.store().begin().await?;
    for line in lines {
        tx.insert_event(&line.event).await?;
        if line.is_withheld {
            tx.withhold_event(line.event.id).await?;
        }
    }
    tx.commit().await
}
