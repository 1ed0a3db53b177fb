//! The end of a process: nobody is kept waiting, and what is being sent comes to its end.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use crate::engine::Engine;

/// What has to end before a process may.
#[derive(Debug)]
pub(crate) struct Ending {
    sends: watch::Sender<usize>,
    waits_are_over: AtomicBool,
}

/// A send under way; it counts until this is dropped.
pub(crate) struct SendUnderWay<'a>(&'a Ending);

impl Ending {
    pub(crate) fn new() -> Self {
        Self { sends: watch::Sender::new(0), waits_are_over: AtomicBool::new(false) }
    }

    /// A send begins.
    pub(crate) fn send_begins(&self) -> SendUnderWay<'_> {
        self.sends.send_modify(|sends| *sends += 1);
        SendUnderWay(self)
    }

    /// Whether whoever waits is to be answered with what is known.
    pub(crate) fn waits_are_over(&self) -> bool {
        self.waits_are_over.load(Ordering::Relaxed)
    }
}

impl Drop for SendUnderWay<'_> {
    fn drop(&mut self) {
        self.0.sends.send_modify(|sends| *sends -= 1);
    }
}

impl Engine {
    /// From now on no wait lasts: whoever waits is answered within a second with what is known.
    pub fn stop_waiting(&self) {
        self.ending().waits_are_over.store(true, Ordering::Relaxed);
    }

    /// Returns when nothing is being sent, and how every send ended stands in the database.
    pub async fn sends_ended(&self) {
        let mut sends = self.ending().sends.subscribe();
        // An error would say that the engine is gone, and then nothing is being sent either.
        let _ = sends.wait_for(|sends| *sends == 0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_counts_until_it_ends() {
        let ending = Ending::new();
        let (one, other) = (ending.send_begins(), ending.send_begins());
        assert_eq!(*ending.sends.borrow(), 2);
        drop(one);
        drop(other);
        assert_eq!(*ending.sends.borrow(), 0);
    }
}
