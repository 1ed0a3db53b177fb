//! Nudges: "something about this call changed". Only hints; whoever hears one reads the database again.

use model::CallId;
use tokio::sync::broadcast;

/// Tells waiters of this process that a call changed.
#[derive(Debug, Clone)]
pub struct Nudges {
    sender: broadcast::Sender<CallId>,
}

impl Nudges {
    /// A waiter that falls behind by more than this reads everything again.
    const BACKLOG: usize = 1_024;

    /// Nobody listens yet.
    pub fn new() -> Self {
        Self { sender: broadcast::channel(Self::BACKLOG).0 }
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
}

impl Default for Nudges {
    fn default() -> Self {
        Self::new()
    }
}
