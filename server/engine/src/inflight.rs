//! What this process has under way, so that a shutdown can wait for it.

use std::sync::Arc;

use tokio::sync::watch;

/// Counts what is under way.
#[derive(Debug, Clone)]
pub(crate) struct Inflight {
    count: Arc<watch::Sender<usize>>,
}

/// One thing under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Underway {
    count: Arc<watch::Sender<usize>>,
}

impl Inflight {
    pub(crate) fn new() -> Self {
        Self { count: Arc::new(watch::channel(0).0) }
    }

    /// One more.
    pub(crate) fn begin(&self) -> Underway {
        self.count.send_modify(|count| *count += 1);
        Underway { count: self.count.clone() }
    }

    /// Waits until nothing is under way.
    pub(crate) async fn settled(&self) {
        // The sender lives as long as `self`, so the wait cannot fail.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
    }
}
