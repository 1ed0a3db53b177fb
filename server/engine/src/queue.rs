//! The durable queue: workers take what passed the gate, walk its path again and run it, each call once.
//!
//! The queue is the rows in the state `queued`; nothing else has to survive. In-process there is only a bell, which says
//! that looking is worth it, and a bound on how much this process runs at once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::{Attempt, CallId, CallStatus, EventType, Refusal};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::engine::Engine;
use crate::sending;
use crate::store::{CallRow, CallState, StoreError, Unsent};
use crate::stored_request::StoredRequest;
use crate::unsent::UnsentEnd;

/// How many queued calls one process runs at once.
const WORKERS: usize = 8;

/// How many calls are looked up at once.
const BATCH: i64 = 100;

/// How long the bell alone is trusted: what another process queued, or left when it ended, is found after this time.
const RESCAN: Duration = Duration::from_secs(1);

/// How often a read is run whose process ended under it, before that is taken for its fault.
const READ_ATTEMPTS: usize = 3;

/// What this process knows of the queue.
#[derive(Debug)]
pub(crate) struct Queue {
    bell: Notify,
    places: Arc<Semaphore>,
    /// So that a call that is looked at is not looked at twice. Who runs it is decided by the database.
    in_hand: Arc<Mutex<HashSet<CallId>>>,
}

/// A worker's place, with the call it is for. Given back when dropped.
struct Place {
    id: CallId,
    in_hand: Arc<Mutex<HashSet<CallId>>>,
    _permit: OwnedSemaphorePermit,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self { bell: Notify::new(), places: Arc::new(Semaphore::new(WORKERS)), in_hand: Arc::default() }
    }

    /// Something was queued.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits for a place. `None`: this process has the call in hand already.
    async fn place(&self, id: CallId) -> Option<Place> {
        let permit = self.places.clone().acquire_owned().await.ok()?;
        let fresh = self.in_hand.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        fresh.then(|| Place { id, in_hand: self.in_hand.clone(), _permit: permit })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Engine {
    /// Runs the queue until the process is told to end.
    pub(crate) async fn work_queue(self) {
        while !self.ending().waits_are_over() {
            if let Err(error) = self.run_queue().await {
                tracing::error!(%error, "the queue could not be read; it is read again at the next turn");
            }
            // Whether it was the bell or the time, the database is read again.
            let _ = tokio::time::timeout(RESCAN, self.queue().bell.notified()).await;
        }
    }

    /// Hands everything that is queued to a worker, oldest first, and returns when the last one has begun.
    pub async fn run_queue(&self) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let batch = self.store().queued_calls(after, BATCH).await?;
            for id in &batch {
                let Some(place) = self.queue().place(*id).await else { continue };
                if self.ending().waits_are_over() {
                    return Ok(());
                }
                let (engine, id) = (self.clone(), *id);
                drop(self.spawn(async move {
                    let _place = place;
                    engine.run_queued(id).await;
                }));
            }
            match batch.last() {
                Some(last) => after = Some(*last),
                None => return Ok(()),
            }
        }
    }

    /// Never fails: what cannot be begun now stays queued, and what cannot be recorded is recovered.
    async fn run_queued(&self, id: CallId) {
        if let Err(refusal) = self.take_and_run(id).await {
            tracing::error!(call = %id, code = %refusal.problem().code, "a queued call could not be run yet");
        }
    }

    async fn take_and_run(&self, id: CallId) -> Result<(), Refusal> {
        let row = self.store().call(id).await?;
        let Some(mut row) = row.filter(|row| row.state == CallState::Queued) else { return Ok(()) };
        let head = match self.walk_again(&row).await? {
            Ok(allowed) => allowed.into_parts().0,
            Err(refusal) => return self.refuse_queued(&row, refusal).await,
        };
        let blob = row.input.as_deref().ok_or(Refusal::NotFound)?;
        let stored = StoredRequest::open(self.sealer(), id, blob)?;
        if self.start_queued(&mut row).await? {
            sending::carry_out(self, &row, &head.action, &stored).await;
        }
        Ok(())
    }

    /// The durable intent. `false`: somebody else has the call, it was taken back, or its caller is paused.
    async fn start_queued(&self, row: &mut CallRow) -> Result<bool, StoreError> {
        let lease_until = self.lease_end();
        let state =
            if row.effect.is_write() { CallState::Sending { lease_until } } else { CallState::Running };
        let mut tx = self.store().begin().await?;
        if tx.is_paused(row.agent_id).await? {
            return Ok(false);
        }
        let started = tx.start_queued(row.id, state.status(), self.now(), self.node(), lease_until).await?;
        tx.commit().await?;
        if started {
            row.state = state;
            self.nudges().tell(row.id);
        }
        Ok(started)
    }

    /// Ends a queued call that its caller may make no more, or whose action is gone.
    async fn refuse_queued(&self, row: &CallRow, refusal: Refusal) -> Result<(), Refusal> {
        let is_gone = self.catalogue().action(&row.action).is_none();
        let refusal = if is_gone { sending::action_is_gone() } else { refusal };
        self.end_unsent_now(row, UnsentEnd::refused(Unsent::Queued, &refusal)).await?;
        Ok(())
    }

    /// Reads that a process left when it ended are run again: a read changes nothing, so it may. Writes never are.
    pub async fn recover_reads(&self) -> Result<(), StoreError> {
        for id in self.store().reads_with_lapsed_lease(self.now(), BATCH).await? {
            let Some(row) = self.store().call(id).await? else { continue };
            let now = self.now();
            let mut attempts = row.attempts.clone();
            attempts.push(Attempt { at: now, upstream_status: None });
            let mut tx = self.store().begin().await?;
            let put_back = tx.requeue_read(id, now, &attempts).await?;
            tx.commit().await?;
            if put_back && attempts.len() >= READ_ATTEMPTS {
                let refusal = Refusal::UpstreamFailed(None);
                let failed = UnsentEnd {
                    problem: Some(&refusal),
                    ..UnsentEnd::plain(Unsent::Queued, CallStatus::Failed, EventType::Failed)
                };
                self.end_unsent_now(&row, failed).await?;
            }
            self.queue().ring();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_is_in_one_hand_and_places_come_back() {
        let queue = Queue::new();
        let id = CallId::from_uuid(uuid::Uuid::from_u128(1));
        let place = queue.place(id).await;
        assert!(place.is_some());
        assert!(queue.place(id).await.is_none(), "it is in hand");
        assert_eq!(queue.places.available_permits(), WORKERS - 1);
        drop(place);
        assert_eq!(queue.places.available_permits(), WORKERS);
        assert!(queue.place(id).await.is_some());
    }
}
