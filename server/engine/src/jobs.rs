//! Background jobs. They take no input, are bounded and can be repeated at any time, on any node.

use std::time::Duration;

use model::{CallId, CallStatus, EventType, Outcome, Refusal};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::completion::new_receipt;
use crate::engine::Engine;
use crate::fail_point;
use crate::notice::Channel;
use crate::store::{CallRow, NewReceipt, StoreError, Unsent};
use crate::stored_request::StoredRequest;
use crate::unsent::UnsentEnd;

/// The most a job takes on at once; the rest is taken at its next turn.
const BATCH: i64 = 100;

/// How many batches one turn of the erasing jobs does at most, so that none keeps writers waiting for long.
const BATCHES: u32 = 20;

/// How often the head of the ledger is signed, when it is another than before.
const CHECKPOINT_PAUSE: Duration = Duration::from_mins(1);

/// Within this time a process that runs seals with a key that was put first in its key file.
pub const KEYS_TAKEN_ON: Duration = Duration::from_secs(2);

/// The running jobs; dropped, they stop.
pub struct Jobs {
    engine: Engine,
    tasks: JoinSet<()>,
}

impl Engine {
    /// Starts the jobs of this process.
    #[must_use = "the jobs stop when this is dropped"]
    pub fn start_jobs(&self) -> Jobs {
        let mut tasks = JoinSet::new();
        let lease = self.catalogue().server.lease;
        let often = Duration::from_millis(500);
        tasks.spawn(self.clone().work_queue());
        tasks.spawn(keep_push_key_ready(self.clone(), Duration::from_secs(5)));
        tasks.spawn(keep_checkpoints(self.clone(), CHECKPOINT_PAUSE));
        tasks.spawn(repeat(self.clone(), often, |engine| async move { engine.send_due_calls().await }));
        tasks.spawn(repeat(self.clone(), Duration::from_secs(1), |engine| async move {
            engine.expire_calls().await
        }));
        tasks.spawn(repeat(
            self.clone(),
            (lease / 4).clamp(often, Duration::from_secs(5)),
            |engine| async move {
                engine.recover_reads().await?;
                engine.recover_sends().await
            },
        ));
        tasks.spawn(repeat(
            self.clone(),
            Duration::from_secs(5),
            |engine| async move { engine.erase().await },
        ));
        tasks.spawn(repeat(self.clone(), Duration::from_secs(5), |engine| async move {
            engine.place_events().await
        }));
        tasks.spawn(repeat(self.clone(), Duration::from_secs(5), |engine| async move {
            engine.withdraw_of_ended().await
        }));
        tasks.spawn(repeat(self.clone(), KEYS_TAKEN_ON, |engine| async move { engine.load_tools().await }));
        tasks.spawn(repeat(
            self.clone(),
            KEYS_TAKEN_ON,
            |engine| async move { engine.end_dead_grants().await },
        ));
        tasks.spawn(repeat(self.clone(), KEYS_TAKEN_ON, |engine| async move {
            engine.check_due_upstreams().await
        }));
        tasks.spawn(repeat(self.clone(), Duration::from_secs(5), |engine| async move {
            engine.plan_notices().await
        }));
        // A job a way: none waits for another, and planning waits for none.
        for channel in Channel::ALL {
            tasks.spawn(repeat(self.clone(), Duration::from_secs(2), move |engine| async move {
                engine.begin_notices(channel).await.map(drop)
            }));
        }
        tasks.spawn(repeat(self.clone(), KEYS_TAKEN_ON, |engine| async move {
            if engine.sealer().refresh() {
                tracing::info!("the sealing keys were read again");
            }
            Ok(())
        }));
        Jobs { engine: self.clone(), tasks }
    }

    /// Confirmed calls whose undo window has passed go out; most were started by the process that took the decision.
    pub async fn send_due_calls(&self) -> Result<(), StoreError> {
        for id in self.store().calls_to_send(self.now(), BATCH).await? {
            self.send_when_due(id).await;
        }
        Ok(())
    }

    /// Held calls that nobody decided in time lapse.
    pub async fn expire_calls(&self) -> Result<(), StoreError> {
        for id in self.store().calls_to_expire(self.now(), BATCH).await? {
            let lapse = UnsentEnd::plain(Unsent::Lapsed, CallStatus::Expired, EventType::Expired);
            let expired = match self.store().call(id).await {
                Ok(Some(row)) => self.end_unsent_now(&row, lapse).await.map(|_| ()),
                other => other.map(|_| ()),
            };
            // One row that cannot be read does not keep the others waiting.
            if let Err(error) = expired {
                tracing::error!(%error, call = %id, "a lapsed call could not be ended");
            }
        }
        Ok(())
    }

    /// Calls that nobody may make any more are withdrawn: their owner was disabled, or their agent or key revoked, while they came
    /// in, or by a process that was stopped before it had withdrawn them.
    pub async fn withdraw_of_ended(&self) -> Result<(), StoreError> {
        let calls = self.store().unsent_calls_of_ended(self.now(), BATCH).await?;
        self.withdraw_all(&calls).await
    }

    /// Sends whose process answers for them no more become in doubt. They are never sent again.
    pub async fn recover_sends(&self) -> Result<(), StoreError> {
        for id in self.store().calls_with_lapsed_lease(self.now(), BATCH).await? {
            if let Err(refusal) = self.give_up(id).await {
                tracing::error!(call = %id, code = %refusal.problem().code, "a lapsed send could not be recorded as in doubt");
            }
        }
        Ok(())
    }

    async fn give_up(&self, id: CallId) -> Result<(), Refusal> {
        let Some(row) = self.store().call(id).await? else { return Ok(()) };
        let now = self.now();
        let receipt = self.receipt_of_doubt(&row).await?;
        let receipt_id = receipt.as_ref().map(|new| new.receipt.id);
        let mut tx = self.store().begin().await?;
        if !tx.give_up_lapsed(id, now, receipt_id).await? {
            return Ok(());
        }
        if let Some(receipt) = &receipt {
            tx.insert_receipt(receipt).await?;
        }
        let mut event = row.event(self.event_id(), now, EventType::InDoubt, CallStatus::InDoubt);
        event.receipt_id = receipt_id;
        tx.insert_event(&event).await?;
        fail_point::reach("doubt-uncommitted").await;
        tx.commit().await?;
        fail_point::reach("given-up").await;
        self.nudges().tell(id);
        Ok(())
    }

    /// What may have been sent. `None`, and a word in the log, when that cannot be read any more (its sealing key is
    /// gone): the call is in doubt all the same.
    async fn receipt_of_doubt(&self, row: &CallRow) -> Result<Option<NewReceipt>, StoreError> {
        let stored = row.input.as_deref().map(|blob| StoredRequest::open(self.sealer(), row.id, blob));
        let Some(Ok(stored)) = stored else {
            tracing::error!(call = %row.id, "what was sent cannot be read any more: the call has no receipt");
            return Ok(None);
        };
        new_receipt(self, row, &stored, Outcome::InDoubt, None, self.now()).await.map(Some)
    }

    /// What has been kept long enough is erased.
    pub async fn erase(&self) -> Result<(), StoreError> {
        let (store, now) = (self.store(), self.now());
        in_batches(|| store.erase_results(now, BATCH)).await?;
        in_batches(|| store.erase_answers(now, BATCH)).await?;
        in_batches(|| store.delete_expired_sessions(now, BATCH)).await?;
        in_batches(|| store.delete_old_prompts(now, BATCH)).await?;
        in_batches(|| self.delete_old_notices(BATCH)).await?;
        in_batches(|| self.forget_old_tries(BATCH)).await?;
        in_batches(|| self.forget_old_challenges(BATCH)).await?;
        in_batches(|| store.delete_old_invitations(now, BATCH)).await?;
        in_batches(|| self.forget_receipts()).await
    }

    /// Receipts that have passed their retention are forgotten, a batch of them; how many. Their keys stay used.
    async fn forget_receipts(&self) -> Result<u64, StoreError> {
        let (days, now) = (self.catalogue().server.receipt_retention_days, self.now());
        if days == 0 {
            return Ok(0);
        }
        // What has no leaf yet is not forgotten.
        self.sequence().await?;
        let before = now.plus_seconds(-86_400 * i64::from(days));
        let old = self.store().receipts_to_forget(before, BATCH).await?;
        if old.is_empty() {
            return Ok(0);
        }
        let mut forgotten = 0;
        let mut tx = self.store().begin().await?;
        for receipt in old {
            forgotten += u64::from(tx.forget_receipt(receipt, now).await?);
        }
        tx.commit().await?;
        Ok(forgotten)
    }
}

impl Jobs {
    /// Stops the jobs, each at the end of its turn: none is cut off between a commit and what follows from it. A send
    /// that one of them started goes on.
    pub async fn stop(mut self) {
        self.engine.stop_waiting();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Does the same bounded statement until it finds no full batch any more, and no more often than that in one turn.
async fn in_batches<T>(batch: impl Fn() -> T) -> Result<(), StoreError>
where
    T: Future<Output = Result<u64, StoreError>>,
{
    for _ in 0..BATCHES {
        if batch().await? < BATCH.unsigned_abs() {
            break;
        }
    }
    Ok(())
}

/// Makes the push key ready, and tries again after a pause when that fails.
async fn keep_push_key_ready(engine: Engine, pause: Duration) {
    while let Err(refusal) = engine.prepare_push().await {
        tracing::error!(code = %refusal.problem().code, "the key for push services could not be made; it is tried again");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = engine.ending().over() => return,
        }
    }
}

/// Signs the head of the ledger again and again. At first, and after whatever was wrong, the tree is built anew of all leaves.
async fn keep_checkpoints(engine: Engine, pause: Duration) {
    let mut turns = tokio::time::interval(pause);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut whole = true;
    loop {
        tokio::select! {
            _ = turns.tick() => {}
            () = engine.ending().over() => return,
        }
        whole = match engine.checkpoint(whole).await {
            Ok(_) => false,
            Err(error) => {
                tracing::error!(%error, "no checkpoint was signed or written; it is tried again");
                true
            }
        };
    }
}

/// Does a job again and again. A turn that fails is told to the log; the next one comes all the same.
async fn repeat<F, T>(engine: Engine, pause: Duration, job: F)
where
    F: Fn(Engine) -> T + Send,
    T: Future<Output = Result<(), StoreError>> + Send,
{
    let mut turns = tokio::time::interval(pause);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = turns.tick() => {}
            () = engine.ending().over() => return,
        }
        if let Err(error) = job(engine.clone()).await {
            tracing::error!(%error, "a job failed; it is done again at its next turn");
        }
    }
}
