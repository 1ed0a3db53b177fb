//! The end of a call of which nothing has been sent: declined, expired, withdrawn, or refused.

use model::{CallStatus, EventType, Refusal};

use crate::engine::Engine;
use crate::store::{CallRow, StoreError, Tx, Unsent};

/// How a call ends of which nothing has been sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnsentEnd<'a> {
    /// Where it has to stand.
    pub(crate) from: Unsent,
    /// How it ends.
    pub(crate) to: CallStatus,
    /// The event that says so.
    pub(crate) event: EventType,
    /// A declining person's words.
    pub(crate) reason: Option<&'a str>,
    /// What its caller is told.
    pub(crate) problem: Option<&'a Refusal>,
}

impl<'a> UnsentEnd<'a> {
    /// Without words and without a problem of its own.
    pub(crate) const fn plain(from: Unsent, to: CallStatus, event: EventType) -> Self {
        Self { from, to, event, reason: None, problem: None }
    }

    /// Refused, with what its caller is told.
    pub(crate) const fn refused(from: Unsent, problem: &'a Refusal) -> Self {
        Self {
            from,
            to: CallStatus::Refused,
            event: EventType::Refused,
            reason: None,
            problem: Some(problem),
        }
    }
}

impl Engine {
    /// Ends the call in this transaction: its state, its key and its event. `false`: it stands elsewhere by now, and
    /// nothing was changed.
    pub(crate) async fn end_unsent(
        &self,
        tx: &mut Tx,
        row: &CallRow,
        end: UnsentEnd<'_>,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        if !tx.end_unsent(row.id, end.from, end.to, now, end.reason, end.problem).await? {
            return Ok(false);
        }
        if let Some(slot) = row.claim_slot {
            tx.free_claim(slot, row.id).await?;
        }
        tx.insert_event(&row.event(self.event_id(), now, end.event, end.to)).await?;
        Ok(true)
    }

    /// The same in a transaction of its own.
    pub(crate) async fn end_unsent_now(&self, row: &CallRow, end: UnsentEnd<'_>) -> Result<bool, StoreError> {
        let mut tx = self.store().begin().await?;
        let ended = self.end_unsent(&mut tx, row, end).await?;
        if ended {
            tx.commit().await?;
            self.nudges().tell(row.id);
        }
        Ok(ended)
    }
}
