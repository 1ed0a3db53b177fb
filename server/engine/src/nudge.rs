//! Nudges: "something about this call changed". Only hints; whoever hears one reads the database again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::CallId;
use tokio::sync::broadcast;

/// Tells waiters of this process that a call changed.
#[derive(Debug, Clone)]
pub struct Nudges {
    sender: broadcast::Sender<CallId>,
    waits_are_over: Arc<AtomicBool>,
}

impl Nudges {
    /// A waiter that falls behind by more than this reads everything again.
    const BACKLOG: usize = 1_024;

    /// Nobody listens yet.
    pub fn new() -> Self {
        Self { sender: broadcast::channel(Self::BACKLOG).0, waits_are_over: Arc::default() }
    }

    /// Something about the call changed.
    pub fn tell(&self, call: CallId) {
        // An error only says that nobody listens.
        let _ = self.sender.send(call);
    }

    /// Hears everything from now on. Subscribe before reading, or a change in between is missed.
    pub fn listen(&self) -> broadcast::Receiver<CallId> {
        self.sender.subscribe()
    }

    /// Tells waiters to wait no longer. They look each time they read the database again.
    pub fn end_waits(&self) {
        self.waits_are_over.store(true, Ordering::Relaxed);
    }

    /// Whether whoever waits is to be answered with what is known.
    pub fn waits_are_over(&self) -> bool {
        self.waits_are_over.load(Ordering::Relaxed)
    }
}

impl Default for Nudges {
    fn default() -> Self {
        Self::new()
    }
}
