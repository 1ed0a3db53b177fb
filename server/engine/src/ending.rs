//! The end of a process: nobody is kept waiting, and what is being sent comes to its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::engine::Engine;

/// What has to end before a process may.
#[derive(Debug)]
pub(crate) struct Ending {
    underway: Arc<watch::Sender<usize>>,
    over: watch::Sender<bool>,
}

/// A call or a send under way; it counts until this is dropped.
#[derive(Debug)]
pub(crate) struct Underway(Arc<watch::Sender<usize>>);

impl Ending {
    pub(crate) fn new() -> Self {
        Self { underway: Arc::new(watch::Sender::new(0)), over: watch::Sender::new(false) }
    }

    /// A call or a send begins.
    pub(crate) fn begin(&self) -> Underway {
        self.underway.send_modify(|count| *count += 1);
        Underway(self.underway.clone())
    }

    /// Returns when the process is told to end.
    pub(crate) async fn over(&self) {
        // A closed channel would say that the engine is gone.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }

    /// Whether whoever waits is to be answered with what is known.
    pub(crate) fn waits_are_over(&self) -> bool {
        *self.over.borrow()
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Engine {
    /// From now on no wait lasts: whoever waits is answered within a second with what is known.
    pub fn stop_waiting(&self) {
        self.ending().over.send_replace(true);
    }

    /// Waits until no call and no send is under way, at most that long. `false`: some were not finished; what they had
    /// begun to send becomes in doubt when their lease has run out.
    pub async fn drain(&self, at_most: Duration) -> bool {
        let mut underway = self.ending().underway.subscribe();
        // A closed channel would say that the engine is gone, and then nothing is under way either.
        tokio::time::timeout(at_most, underway.wait_for(|count| *count == 0)).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_counts_until_it_ends() {
        let ending = Ending::new();
        let (one, other) = (ending.begin(), ending.begin());
        assert_eq!(*ending.underway.borrow(), 2);
        drop(one);
        drop(other);
        assert_eq!(*ending.underway.borrow(), 0);
    }
}
