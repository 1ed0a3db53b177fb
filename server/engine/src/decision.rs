//! A person's word on a held call.
//!
//! A Confirm walks the whole path again, takes the fingerprint afresh, and only then spends the row, in one statement
//! that nobody else can win too.

use model::{
    ApprovalId, CallId, CallStatus, Decision, EventId, EventType, FieldError, Preview, Refusal, Surface,
    Time, Verdict,
};

use crate::actor::{Actor, Decider};
use crate::arrival::Arrival;
use crate::engine::Engine;
use crate::pipeline::{self, Head, Showing, Stop};
use crate::seal::Purpose;
use crate::sending;
use crate::status::too_late;
use crate::store::{CallRow, NewDecision, StoreError, Tx};
use crate::stored_request::StoredRequest;

/// The most a person may say, in characters.
const LONGEST_REASON: usize = 2_000;

impl Engine {
    /// Records a decision and answers with the call. It does not wait for the send.
    ///
    /// # Errors
    /// `NotFound` for whoever may not decide; `PreviewChanged`, `AlreadyDecided`, `Expired`, `Withdrawn`;
    /// `UpstreamFailed` or `UpstreamUnreachable` when the fresh dry run fails, and the call stays held.
    pub async fn decide(
        &self,
        decider: &Decider,
        id: CallId,
        decision: Decision,
    ) -> Result<model::Call, Refusal> {
        let row = self.row_to_decide(decider, id).await?;
        let reason = checked_reason(decision.reason.as_deref())?;
        if let Some(refusal) = too_late(row.state.status()) {
            return Err(refusal);
        }
        match decision.decision {
            Verdict::Decline => self.decline(decider, &row, reason).await?,
            Verdict::Confirm => {
                let version = decision.preview_version.as_deref().ok_or_else(|| {
                    Refusal::invalid(
                        "/preview_version",
                        "To confirm, name the version of the preview that was shown.",
                    )
                })?;
                self.confirm(decider, &row, version, reason).await?;
            }
        }
        self.nudges().tell(id);
        let row = self.store().call(id).await?.ok_or(Refusal::NotFound)?;
        self.call_of(&row, true)
    }

    /// Takes a Confirm back while the undo window is open: the call is held again.
    ///
    /// # Errors
    /// `NotFound` for whoever may not decide; `NotHeld` when the window has closed.
    pub async fn undo(&self, decider: &Decider, id: CallId) -> Result<model::Call, Refusal> {
        let row = self.row_to_decide(decider, id).await?;
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !tx.undo(id, now).await? {
            return Err(Refusal::NotHeld);
        }
        tx.void_decisions(id, now).await?;
        tx.insert_event(&row.event(self.event_id(), now, EventType::Undone, CallStatus::Held)).await?;
        tx.commit().await?;
        self.nudges().tell(id);
        let row = self.store().call(id).await?.ok_or(Refusal::NotFound)?;
        self.call_of(&row, true)
    }

    async fn row_to_decide(&self, decider: &Decider, id: CallId) -> Result<CallRow, Refusal> {
        let seen = self.store().call_seen_by(decider.id(), id).await?;
        seen.filter(|(_, standing)| standing.decides).map(|(row, _)| row).ok_or(Refusal::NotFound)
    }

    async fn decline(&self, decider: &Decider, row: &CallRow, reason: Option<&str>) -> Result<(), Refusal> {
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !tx.end_unsent(row.id, CallStatus::Held, CallStatus::Declined, now, reason, None).await? {
            return Err(self.lost_race(row.id).await?);
        }
        self.insert_decision(&mut tx, decider, row, Verdict::Decline, reason, now).await?;
        if let Some(slot) = row.claim_slot {
            tx.free_claim(slot, row.id).await?;
        }
        tx.insert_event(&row.event(self.event_id(), now, EventType::Decided, CallStatus::Declined)).await?;
        tx.insert_event(&row.event(self.event_id(), now, EventType::Declined, CallStatus::Declined)).await?;
        Ok(tx.commit().await?)
    }

    async fn confirm(
        &self,
        decider: &Decider,
        row: &CallRow,
        version: &str,
        reason: Option<&str>,
    ) -> Result<(), Refusal> {
        if row.preview_version.as_deref() != Some(version) {
            return Err(Refusal::PreviewChanged(Some(Box::new(self.preview_of(row)?))));
        }
        let (head, ready) = match self.walk_again(row).await? {
            Ok(allowed) => allowed.into_parts(),
            Err(refusal) => return self.refuse_held(row, refusal).await,
        };
        let showing = pipeline::show(self, &head, &ready).await.map_err(stays_held)?;
        if row.fingerprint != Some(showing.fingerprint) {
            let fresh = pipeline::sealed_row(self, &head, &ready, showing.clone());
            return Err(self.show_changed(row, &fresh, showing).await?);
        }
        self.spend(decider, row, &head, version, reason).await
    }

    /// The whole path again, with the rights the caller has now. The inner error is a step's no.
    async fn walk_again(
        &self,
        row: &CallRow,
    ) -> Result<Result<pipeline::Call<pipeline::Allowed>, Refusal>, Refusal> {
        let blob = row.input.as_deref().ok_or(Refusal::AlreadyDecided)?;
        let stored = StoredRequest::open(self.sealer(), row.id, blob)?;
        let Some(actor) = self.caller_again(row).await? else { return Ok(Err(Refusal::Denied)) };
        let arrival = Arrival {
            actor,
            surface: row.surface,
            action: row.action.clone(),
            input: stored.arguments,
            key_header: stored.key.into_iter().collect(),
            session: row.session.clone(),
            tenant: row.tenant.clone(),
            reason: stored.reason,
        };
        let call = match pipeline::reopen(self, row.id, arrival) {
            Ok(call) => call,
            Err(refusal) => return Ok(Err(refusal)),
        };
        match pipeline::allow(self, call).await {
            Ok(allowed) => Ok(Ok(allowed)),
            Err(Stop::Refused(Refusal::Unavailable)) => Err(Refusal::Unavailable),
            Err(Stop::Refused(refusal) | Stop::Ended(refusal)) => Ok(Err(refusal)),
            Err(Stop::Answered(_)) => unreachable!("steps 2 to 9 answer nothing"),
        }
    }

    /// The caller of a held call as it stands now; `None` when it may call no more.
    async fn caller_again(&self, row: &CallRow) -> Result<Option<Actor>, Refusal> {
        match (row.key_id, row.person_id) {
            (Some(key), _) => match self.store().key(key, self.now()).await? {
                Some(key) => self.actor_of(key).await,
                None => Ok(None),
            },
            (None, Some(person)) => Ok(self.visitor(person).await?.map(Actor::Person)),
            (None, None) if row.surface == Surface::Code => Ok(Some(Actor::System)),
            (None, None) => Ok(Some(Actor::Public { client: None })),
        }
    }

    /// Ends a held call whose caller may no longer do this.
    async fn refuse_held(&self, row: &CallRow, refusal: Refusal) -> Result<(), Refusal> {
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !tx.end_unsent(row.id, CallStatus::Held, CallStatus::Refused, now, None, Some(&refusal)).await? {
            return Err(self.lost_race(row.id).await?);
        }
        if let Some(slot) = row.claim_slot {
            tx.free_claim(slot, row.id).await?;
        }
        tx.insert_event(&row.event(self.event_id(), now, EventType::Refused, CallStatus::Refused)).await?;
        Ok(tx.commit().await?)
    }

    /// What was shown is not what would be sent: the row gets the fresh preview, and earlier votes are void.
    async fn show_changed(
        &self,
        row: &CallRow,
        fresh: &CallRow,
        showing: Showing,
    ) -> Result<Refusal, Refusal> {
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !tx.lock_held(row.id, row.preview_version.as_deref(), now).await? {
            return self.lost_race(row.id).await;
        }
        tx.replace_preview(row.id, fresh).await?;
        tx.void_decisions(row.id, now).await?;
        tx.commit().await?;
        self.nudges().tell(row.id);
        Ok(Refusal::PreviewChanged(Some(Box::new(showing.preview))))
    }

    /// Decision, and when it is the last one needed the durable intent, in one transaction.
    async fn spend(
        &self,
        decider: &Decider,
        row: &CallRow,
        head: &Head,
        version: &str,
        reason: Option<&str>,
    ) -> Result<(), Refusal> {
        let now = self.now();
        let undo_window = head.action.undo_window;
        let mut tx = self.store().begin().await?;
        if !tx.lock_held(row.id, Some(version), now).await? {
            drop(tx);
            return Err(self.lost_race(row.id).await?);
        }
        self.insert_decision(&mut tx, decider, row, Verdict::Confirm, reason, now).await?;
        let enough = tx.count_confirmations(row.id).await? >= row.quorum;
        let send_at = now.plus_millis(i64::try_from(undo_window.as_millis()).unwrap_or(i64::MAX));
        let status = match (enough, undo_window.is_zero()) {
            (false, _) => CallStatus::Held,
            (true, false) if tx.approve(row.id, now, send_at).await? => CallStatus::Approved,
            (true, true) if tx.start_sending(row.id, now, self.node(), self.lease_end()).await? => {
                CallStatus::Sending
            }
            _ => return Err(Refusal::AlreadyDecided),
        };
        tx.insert_event(&row.event(self.event_id(), now, EventType::Decided, status)).await?;
        tx.commit().await?;
        let (engine, id) = (self.clone(), row.id);
        match status {
            CallStatus::Sending => {
                drop(self.spawn(async move { sending::send_confirmed(&engine, id).await }));
            }
            // Not a thing to wait for at a shutdown: what is approved is durable and goes out after the next start.
            CallStatus::Approved => drop(tokio::spawn(async move {
                tokio::time::sleep(undo_window).await;
                engine.send_when_due(id).await;
            })),
            _ => {}
        }
        Ok(())
    }

    /// The durable intent of a confirmed call whose undo window has passed, then the send. Whoever comes second does
    /// nothing.
    pub(crate) async fn send_when_due(&self, id: CallId) {
        match self.start_due(id).await {
            Ok(true) => {
                let engine = self.clone();
                // In a task that a shutdown waits for.
                drop(self.spawn(async move { sending::send_confirmed(&engine, id).await }));
            }
            Ok(false) => {}
            // The call stays approved; the job that looks for such calls comes again.
            Err(error) => tracing::warn!(%error, call = %id, "a confirmed call could not be started yet"),
        }
    }

    async fn start_due(&self, id: CallId) -> Result<bool, StoreError> {
        let mut tx = self.store().begin().await?;
        let started = tx.start_due(id, self.now(), self.node(), self.lease_end()).await?;
        tx.commit().await?;
        if started {
            self.nudges().tell(id);
        }
        Ok(started)
    }

    async fn insert_decision(
        &self,
        tx: &mut Tx,
        decider: &Decider,
        row: &CallRow,
        verdict: Verdict,
        reason: Option<&str>,
        at: Time,
    ) -> Result<(), Refusal> {
        let decision = NewDecision {
            id: ApprovalId::from_uuid(self.ambient().uuid()),
            call: row.id,
            person: decider.id(),
            verdict,
            preview_version: row.preview_version.as_deref(),
            reason,
            at,
        };
        tx.insert_decision(&decision)
            .await
            .map_err(|error| if error.is_taken() { Refusal::AlreadyDecided } else { error.into() })
    }

    /// Somebody else moved the call meanwhile: how that is told.
    async fn lost_race(&self, id: CallId) -> Result<Refusal, Refusal> {
        let row = self.store().call(id).await?.ok_or(Refusal::NotFound)?;
        Ok(match too_late(row.state.status()) {
            Some(refusal) => refusal,
            None if row.expires_at.is_some_and(|expires_at| expires_at <= self.now()) => Refusal::Expired,
            None => Refusal::PreviewChanged(Some(Box::new(self.preview_of(&row)?))),
        })
    }

    /// The stored preview of a call that has one.
    pub(crate) fn preview_of(&self, row: &CallRow) -> Result<Preview, Refusal> {
        let blob = row.preview.as_deref().ok_or(Refusal::AlreadyDecided)?;
        let plain = self.sealer().open(Purpose::Preview, &row.id.to_string(), blob)?;
        serde_json::from_slice(&plain).map_err(|_| Refusal::from(crate::seal::DoesNotOpen))
    }

    pub(crate) fn event_id(&self) -> EventId {
        EventId::from_uuid(self.ambient().uuid())
    }
}

/// A person's words: trimmed, `None` when there are none.
pub(crate) fn checked_reason(reason: Option<&str>) -> Result<Option<&str>, Refusal> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    match reason {
        Some(words) if words.chars().count() > LONGEST_REASON || words.contains('\0') => {
            Err(Refusal::Invalid(vec![FieldError::new(
                "/reason",
                "The reason has to be at most 2,000 characters, without the character NUL.",
            )]))
        }
        reason => Ok(reason),
    }
}

/// A fresh dry run that fails decides nothing: nothing runs and the call stays held.
fn stays_held(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Refused { upstream_status, .. } => Refusal::UpstreamFailed(upstream_status),
        Refusal::Invalid(_) => Refusal::UpstreamFailed(None),
        other => other,
    }
}
