//! A person tells how a call ended whose outcome was not known.

use model::{Attempt, CallId, CallStatus, EventType, Finding, Outcome, ReceiptId, Refusal, Settlement};

use crate::actor::{Actor, PersonActor};
use crate::decision::checked_reason;
use crate::engine::Engine;
use crate::store::{Amendment, CallRow, CallState};

impl Engine {
    /// Settles a call that is in doubt and answers with it. Settled as happened, its key replays; settled as not
    /// happened, its key is free.
    ///
    /// A process that has lost the lease of a send may still hold its connection. As long as it does, it takes no
    /// settlement of that call: what the service says is better than what a person found. Another process cannot see
    /// the connection; there a late answer overrides the settlement.
    ///
    /// # Errors
    /// `NotFound` for whoever could not decide the call and is no operator; `AlreadyDecided` when it is not in doubt;
    /// `StillSending` while its connection is open.
    pub async fn settle(
        &self,
        person: &PersonActor,
        id: CallId,
        settlement: Settlement,
    ) -> Result<model::Call, Refusal> {
        let seen = self.seen_by(&Actor::Person(person.clone()), id).await?;
        let may = |decides: bool| decides || person.person().is_operator();
        let (row, standing) = seen.filter(|(_, standing)| may(standing.decides)).ok_or(Refusal::NotFound)?;
        let reason = checked_reason(settlement.reason.as_deref())?.map(str::to_owned);
        if row.state != CallState::InDoubt {
            return Err(Refusal::AlreadyDecided);
        }
        if self.open_sends().has(id) {
            return Err(Refusal::StillSending);
        }
        self.record_settlement(person, &row, settlement.outcome, reason).await?;
        self.nudges().tell(id);
        let row = self.store().call(id).await?.ok_or(Refusal::NotFound)?;
        self.call_of(&row, standing.owns || standing.decides)
    }

    async fn record_settlement(
        &self,
        person: &PersonActor,
        row: &CallRow,
        finding: Finding,
        reason: Option<String>,
    ) -> Result<(), Refusal> {
        let now = self.now();
        let happened = finding == Finding::Happened;
        let status = if happened { CallStatus::Done } else { CallStatus::Failed };
        let problem = (!happened).then_some(Refusal::UpstreamFailed(None));
        let mut attempts = row.attempts.clone();
        if !happened {
            attempts.push(Attempt { at: now, upstream_status: row.upstream_status });
        }
        let mut tx = self.store().begin().await?;
        if !tx.settle(row.id, status, now, problem.as_ref(), &attempts).await? {
            return Err(Refusal::AlreadyDecided);
        }
        if let Some(receipt) = row.receipt_id {
            let outcome = if happened { Outcome::SettledHappened } else { Outcome::SettledDidNotHappen };
            let id = ReceiptId::from_uuid(self.ambient().uuid());
            let settled = Amendment {
                id,
                receipt,
                at: now,
                outcome,
                upstream_status: None,
                person: Some(person.id()),
                reason,
            };
            tx.insert_amendment(&settled).await?;
        }
        if let (Some(slot), false) = (row.claim_slot, happened) {
            tx.free_claim(slot, row.id).await?;
        }
        let mut event = row.event(self.event_id(), now, EventType::Settled, status);
        event.receipt_id = row.receipt_id;
        tx.insert_event(&event).await?;
        Ok(tx.commit().await?)
    }
}
