//! A person's word on a held call.
//!
//! A Confirm walks the whole path again, takes the fingerprint afresh, looks once more for calls that this one looks
//! like, and only then spends the row, in one statement that nobody else can win too.

use std::time::Duration;

use model::visible::{Piece, Place, visible};
use model::{
    ApprovalId, CallId, CallStatus, Decision, Event, EventId, EventType, FieldError, PersonId, Preview,
    Proof, Refusal, Surface, Time, Verdict,
};

use serde_json::{Map, Value};

use crate::actor::{Actor, Decider};
use crate::arrival::Arrival;
use crate::catalogue::{Action, CallerKind};
use crate::engine::{Engine, note_call};
use crate::fail_point;
use crate::grant::{self, GrantEnd, GrantWanted, NewGrant};
use crate::idempotency::quoted;
use crate::likeness::Likeness;
use crate::passkey::{Spent, StepUp, Verified};
use crate::pipeline::{self, Head, Showing, Stop};
use crate::seal::Purpose;
use crate::sending;
use crate::status::too_late;
use crate::store::{CallRow, CallState, GrantsOf, NewDecision, StoreError, Tx, Unsent};
use crate::stored_request::StoredRequest;
use crate::unsent::UnsentEnd;

/// The most a person may say, in characters.
const LONGEST_REASON: usize = 2_000;

/// What one person says, and on what.
#[derive(Clone, Copy)]
struct Word<'a> {
    verdict: Verdict,
    /// The version of the preview that was shown.
    version: Option<&'a str>,
    reason: Option<&'a str>,
    /// What it is said with, where that is more than a session.
    proof: Option<&'a Verified>,
}

/// What comes along with a decision. A grant and a proof never do both: what takes a proof is decided one by one.
pub(crate) enum Along {
    /// Nothing.
    Nothing,
    /// What whoever confirms has proved anew who they are with.
    Proof(Box<StepUp>),
    /// That more like it is let through.
    Grant(GrantWanted),
}

impl Engine {
    /// Records a decision and answers with the call. It does not wait for the send.
    ///
    /// It runs in a task of its own: what was begun for somebody who hangs up comes to its end.
    ///
    /// # Errors
    /// `NotFound` for whoever may not decide; `PreviewChanged`, `AlreadyDecided`, `Expired`, `Withdrawn`; `Paused` for a
    /// Confirm while its caller or everything is paused; `UpstreamFailed` or `UpstreamUnreachable` when the fresh dry run
    /// fails, and the call stays held.
    pub async fn decide(
        &self,
        decider: &Decider,
        id: CallId,
        decision: Decision,
    ) -> Result<model::Call, Refusal> {
        self.decide_with(decider, id, decision, None).await
    }

    /// The same with what whoever decides has proved anew who they are with: a Confirm of an action with `step_up` takes
    /// it, and is not recorded without. It is spent with the decision, and good for no other.
    ///
    /// # Errors
    /// Beside the others: `StepUpRequired` where it is missing, `PasskeyRefused` where it does not hold.
    pub async fn decide_with(
        &self,
        decider: &Decider,
        id: CallId,
        decision: Decision,
        proof: Option<StepUp>,
    ) -> Result<model::Call, Refusal> {
        let along = proof.map_or(Along::Nothing, |proof| Along::Proof(Box::new(proof)));
        self.decide_along(decider, id, decision, along).await
    }

    /// The same with what comes along.
    pub(crate) async fn decide_along(
        &self,
        decider: &Decider,
        id: CallId,
        decision: Decision,
        along: Along,
    ) -> Result<model::Call, Refusal> {
        note_call(id);
        let (engine, decider) = (self.clone(), decider.clone());
        let deciding =
            self.spawn(async move { engine.record_decision(&decider, id, decision, &along).await });
        deciding.await.unwrap_or_else(|error| {
            tracing::error!(%error, call = %id, "a decision ended in a fault of the desk");
            // It may have been recorded before the fault.
            Err(Refusal::AlreadyDecided)
        })
    }

    async fn record_decision(
        &self,
        decider: &Decider,
        id: CallId,
        decision: Decision,
        along: &Along,
    ) -> Result<model::Call, Refusal> {
        let row = self.row_to_decide(decider, id).await?;
        let reason = checked_reason(decision.reason.as_deref())?;
        if let Some(refusal) = too_late(row.state.status()) {
            return Err(refusal);
        }
        let status = match decision.decision {
            Verdict::Decline => self.decline(decider, &row, reason).await?,
            Verdict::Confirm => {
                // Before the service is asked anything about it.
                if self.store().is_paused(row.agent_id).await? {
                    return Err(Refusal::Paused);
                }
                let version = decision.preview_version.as_deref().ok_or_else(|| {
                    Refusal::invalid(
                        "/preview_version",
                        "To confirm, name the version of the preview that was shown.",
                    )
                })?;
                self.confirm(decider, &row, version, reason, along).await?
            }
        };
        self.metrics().decided(decision.decision, self.now().micros() - row.created_at.micros());
        self.nudges().tell(id);
        self.told_after(row, status).await
    }

    /// Takes a Confirm back while the undo window is open, or while a pause keeps the call from being sent: it is held
    /// again. While it still waits for others of a quorum, the person's own vote is taken back.
    ///
    /// # Errors
    /// `NotFound` for whoever may not decide; `NotHeld` when there is nothing to take back any more.
    pub async fn undo(&self, decider: &Decider, id: CallId) -> Result<model::Call, Refusal> {
        let row = self.row_to_undo(decider, id).await?;
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if tx.undo(id, now).await? {
            tx.void_decisions(id, now).await?;
            self.end_grants(&mut tx, GrantsOf::Call(id), GrantEnd::Undone, Some(decider.id())).await?;
        } else if !(tx.lock_held(id, decider.id(), None, now).await?
            && tx.void_decision_of(id, decider.id(), now).await?)
        {
            return Err(Refusal::NotHeld);
        }
        tx.insert_event(&row.event(self.event_id(), now, EventType::Undone, CallStatus::Held)).await?;
        tx.commit().await?;
        self.nudges().tell(id);
        self.told_after(row, CallStatus::Held).await
    }

    /// The call after something about it was recorded. What is recorded stands: when the call cannot be read again
    /// just now, it is told from the row that was read before.
    pub(crate) async fn told_after(&self, row: CallRow, status: CallStatus) -> Result<model::Call, Refusal> {
        match self.store().call(row.id).await {
            Ok(Some(row)) => self.call_of(&row, true),
            _ => self.call_of(&row, false).map(|call| model::Call {
                status,
                executed: status.executed(),
                ..call
            }),
        }
    }

    /// Whether this person is among those who decide the call, however it stands.
    ///
    /// # Errors
    /// `NotFound` for everybody else.
    pub async fn decides(&self, decider: &Decider, id: CallId) -> Result<(), Refusal> {
        self.row_to_decide(decider, id).await.map(drop)
    }

    async fn row_to_decide(&self, decider: &Decider, id: CallId) -> Result<CallRow, Refusal> {
        let now = self.now();
        let seen = if decider.overrides() {
            self.store().call_to_override(decider.id(), id, now).await?
        } else {
            let seen = self.store().call_seen_by(decider.id(), id, now).await?;
            seen.filter(|(_, standing)| standing.decides)
        };
        seen.map(|(row, _)| row).ok_or(Refusal::NotFound)
    }

    /// Whoever overrode may take that back too, though they are none of those who decide.
    async fn row_to_undo(&self, decider: &Decider, id: CallId) -> Result<CallRow, Refusal> {
        let seen = self.store().call_seen_by(decider.id(), id, self.now()).await?;
        let (row, standing) = seen.ok_or(Refusal::NotFound)?;
        if standing.decides || self.store().has_overridden(id, decider.id()).await? {
            Ok(row)
        } else {
            Err(Refusal::NotFound)
        }
    }

    /// Takes the row of a held call for whoever decides it here ([`Tx::lock_held`], [`Tx::lock_to_override`]).
    async fn lock_held(
        &self,
        tx: &mut Tx,
        decider: &Decider,
        row: &CallRow,
        version: Option<&str>,
        now: Time,
    ) -> Result<bool, StoreError> {
        if decider.overrides() {
            tx.lock_to_override(row.id, decider.id(), version, now).await
        } else {
            tx.lock_held(row.id, decider.id(), version, now).await
        }
    }

    async fn decline(
        &self,
        decider: &Decider,
        row: &CallRow,
        reason: Option<&str>,
    ) -> Result<CallStatus, Refusal> {
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !tx.lock_held(row.id, decider.id(), None, now).await? {
            drop(tx);
            return Err(self.lost_race(decider, row.id).await?);
        }
        // Whoever has confirmed may still say no, as long as the call waits for others.
        tx.void_decision_of(row.id, decider.id(), now).await?;
        let word =
            Word { verdict: Verdict::Decline, version: row.preview_version.as_deref(), reason, proof: None };
        self.insert_decision(&mut tx, decider, row, word, now).await?;
        tx.insert_event(&row.event(self.event_id(), now, EventType::Decided, CallStatus::Declined)).await?;
        let plain = UnsentEnd::plain(Unsent::Held, CallStatus::Declined, EventType::Declined);
        if !self.end_unsent(&mut tx, row, UnsentEnd { reason, ..plain }).await? {
            return Err(Refusal::Expired);
        }
        tx.commit().await?;
        Ok(CallStatus::Declined)
    }

    async fn confirm(
        &self,
        decider: &Decider,
        row: &CallRow,
        version: &str,
        reason: Option<&str>,
        along: &Along,
    ) -> Result<CallStatus, Refusal> {
        let Some(seen) = named_by(version, row) else { return Err(self.preview_changed(row).await?) };
        // Before the service is asked anything about it.
        let proof = match along {
            Along::Grant(_) if self.wants_step_up(row) => return Err(grant::not_covered()),
            Along::Proof(proof) => self.looked_at_proof(decider, row, Some(proof)).await?,
            Along::Nothing | Along::Grant(_) => self.looked_at_proof(decider, row, None).await?,
        };
        let (head, ready) = match self.walk_again(row).await? {
            Ok(allowed) => allowed.into_parts(),
            Err(refusal) => return self.refuse_held(decider, row, refusal).await,
        };
        let row = &self.ruled_by(decider, row, &head.action).await?;
        if proof.is_none() && (row.step_up || head.action.step_up) {
            return Err(self.step_up_required(row));
        }
        let showing = match pipeline::show(self, &head, &ready).await {
            Ok(showing) => showing,
            Err(refusal) => return self.not_shown(row, refusal).await,
        };
        if row.fingerprint != Some(showing.fingerprint) {
            let fresh = pipeline::sealed_row(self, &head, &ready, showing.clone());
            return Err(self.show_changed(decider, row, &fresh, showing).await?);
        }
        // Looked up last: the dry run may have taken a while.
        if !seen.covers(self.likeness_of(row).await?) {
            return Err(self.preview_changed(row).await?);
        }
        let grant = match along {
            Along::Grant(wanted) => {
                Some(self.new_grant(decider, row, (&head, &ready, &showing.outgoing), wanted).await?)
            }
            Along::Nothing | Along::Proof(_) => None,
        };
        let word = Word { verdict: Verdict::Confirm, version: Some(version), reason, proof: proof.as_ref() };
        self.spend(decider, row, &head, word, grant.as_ref()).await
    }

    /// The preview that this version of it showed, with what it told then; `None`: it is another one by now.
    ///
    /// # Errors
    /// `NotFound` for whoever may not decide.
    pub async fn preview_shown(
        &self,
        decider: &Decider,
        id: CallId,
        version: &str,
    ) -> Result<Option<Preview>, Refusal> {
        let row = self.row_to_decide(decider, id).await?;
        let Some(seen) = named_by(version, &row).filter(|_| row.preview.is_some()) else { return Ok(None) };
        Ok(Some(seen.on(self.stored_preview(&row)?)))
    }

    /// The call under the stricter of what held when it was held and what the catalogue says now: a larger quorum, the
    /// owner barred, the approvers that are named now. `NotFound` for whoever may decide it no more.
    async fn ruled_by(&self, decider: &Decider, row: &CallRow, action: &Action) -> Result<CallRow, Refusal> {
        let named = pipeline::named_approvers(action);
        if self.store().is_ruled(row, action.quorum, action.self_approval, action.step_up, &named).await? {
            return Ok(row.clone());
        }
        let mut tx = self.store().begin().await?;
        let tightened = tx.tighten(row.id, action.quorum, action.self_approval, action.step_up).await?;
        if tx.name_approvers(row.id, &named).await? || tightened {
            tx.hand_over_orphans(Some(row.id)).await?;
            tx.commit().await?;
            self.nudges().tell(row.id);
        }
        self.row_to_decide(decider, row.id).await
    }

    /// The whole path again, with the rights the caller has now. The inner error is a step's no.
    pub(crate) async fn walk_again(
        &self,
        row: &CallRow,
    ) -> Result<Result<pipeline::Call<pipeline::Allowed>, Refusal>, Refusal> {
        let blob = row.input.as_deref().ok_or(Refusal::AlreadyDecided)?;
        let stored = StoredRequest::open(self.sealer(), row.id, blob)?;
        let Some(actor) = self.caller_again(row, &stored).await? else { return Ok(Err(Refusal::Denied)) };
        // A request that is passed on has no field for its key.
        let (input, key_header) = if row.surface.takes_requests() {
            let key = stored.key.as_deref().map(quoted);
            (stored.arguments, key.into_iter().collect())
        } else {
            (with_key(stored.arguments, stored.key), Vec::new())
        };
        let arrival = Arrival {
            actor,
            surface: row.surface,
            action: row.action.clone(),
            input,
            key_header,
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
    async fn caller_again(&self, row: &CallRow, stored: &StoredRequest) -> Result<Option<Actor>, Refusal> {
        let by_code = stored.caller.as_ref().is_some_and(|caller| caller.kind == CallerKind::System);
        match (row.key_id, row.person_id) {
            (Some(key), _) => match self.store().key(key, self.now()).await? {
                Some(key) => self.actor_of(key).await,
                None => Ok(None),
            },
            (None, Some(person)) => Ok(self.visitor(person).await?.map(Actor::Person)),
            (None, None) if by_code => Ok(Some(Actor::System)),
            (None, None) => Ok(Some(Actor::Public { client: stored.client.clone() })),
        }
    }

    /// What was shown cannot be shown again: the call stays held, unless just that has ended it (its tool was set
    /// aside).
    async fn not_shown(&self, row: &CallRow, refusal: Refusal) -> Result<CallStatus, Refusal> {
        let now = self.store().call(row.id).await?.map(|row| row.state.status());
        if now == Some(CallStatus::Refused) { Ok(CallStatus::Refused) } else { Err(stays_held(refusal)) }
    }

    /// Ends a held call whose caller may no longer do this.
    async fn refuse_held(
        &self,
        decider: &Decider,
        row: &CallRow,
        refusal: Refusal,
    ) -> Result<CallStatus, Refusal> {
        if !self.end_unsent_now(row, UnsentEnd::refused(Unsent::Held, &refusal)).await? {
            return Err(self.lost_race(decider, row.id).await?);
        }
        Ok(CallStatus::Refused)
    }

    /// What was shown is not what would be sent: the row gets the fresh preview, and earlier votes are void.
    async fn show_changed(
        &self,
        decider: &Decider,
        row: &CallRow,
        fresh: &CallRow,
        showing: Showing,
    ) -> Result<Refusal, Refusal> {
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !self.lock_held(&mut tx, decider, row, row.preview_version.as_deref(), now).await? {
            drop(tx);
            return self.lost_race(decider, row.id).await;
        }
        tx.replace_preview(row.id, fresh).await?;
        tx.void_decisions(row.id, now).await?;
        tx.commit().await?;
        self.nudges().tell(row.id);
        let fresh = self.likeness_of(row).await.unwrap_or_default().on(showing.preview);
        Ok(Refusal::PreviewChanged(Some(Box::new(fresh))))
    }

    /// Decision, and when it is the last one needed the durable intent or the place in the queue, in one transaction.
    async fn spend(
        &self,
        decider: &Decider,
        row: &CallRow,
        head: &Head,
        word: Word<'_>,
        grant: Option<&NewGrant>,
    ) -> Result<CallStatus, Refusal> {
        let now = self.now();
        let undo_window = head.action.undo_window;
        let lease_until = self.lease_end();
        // Opened before the intent: what cannot be opened is not begun.
        let stored = self.stored_request(row)?;
        let mut tx = self.store().begin().await?;
        // Before anything is locked, as everywhere: whoever waits for a pause then keeps nobody waiting.
        if tx.is_paused(row.agent_id).await? {
            return Err(Refusal::Paused);
        }
        tx.hold_person(decider.id()).await?;
        if !self.lock_held(&mut tx, decider, row, row.preview_version.as_deref(), now).await? {
            drop(tx);
            return Err(self.lost_race(decider, row.id).await?);
        }
        // As it is under the lock: another process may have read a stricter catalogue meanwhile.
        let (quorum, step_up) = tx.rule_of(row.id).await?;
        if step_up && word.proof.is_none() {
            return Err(self.step_up_required(row));
        }
        tx.void_decisions_of_others(row.id, now).await?;
        if let (Some(proof), Some(version)) = (word.proof, word.version)
            && self.spend_proof(&mut tx, decider, row, version, proof).await? == Spent::WentBack
        {
            drop(tx);
            return Err(self.proof_went_back(proof).await?);
        }
        self.insert_decision(&mut tx, decider, row, word, now).await?;
        let enough = decider.overrides() || tx.count_confirmations(row.id).await? >= quorum;
        let status = if enough {
            self.go_on(&mut tx, row, undo_window, now, lease_until).await?.ok_or(Refusal::AlreadyDecided)?
        } else {
            CallStatus::Held
        };
        let event = self.decided(decider, row, now, status);
        tx.insert_event(&Event { proof: word.proof.map(|_| Proof::Passkey), ..event }).await?;
        if let Some(new) = grant {
            // The last word of the transaction: a Confirm that asks for it stands with it or not at all.
            if status == CallStatus::Held || !tx.insert_grant(new).await? {
                return Err(grant::not_made());
            }
            tx.insert_event(&row.event(self.event_id(), now, EventType::GrantMade, status)).await?;
        }
        fail_point::reach("decision-uncommitted").await;
        tx.commit().await?;
        fail_point::reach("decided").await;
        match status {
            CallStatus::Sending => {
                let row = CallRow { state: CallState::Sending { lease_until }, ..row.clone() };
                let (engine, action) = (self.clone(), head.action.clone());
                drop(self.spawn(async move { sending::carry_out(&engine, &row, &action, &stored).await }));
            }
            CallStatus::Queued => self.queue().ring(),
            CallStatus::Approved => self.send_after(row.id, undo_window),
            _ => {}
        }
        Ok(status)
    }

    /// What becomes of a call that enough have confirmed. `None`: it was moved meanwhile.
    async fn go_on(
        &self,
        tx: &mut Tx,
        row: &CallRow,
        undo_window: Duration,
        now: Time,
        lease_until: Time,
    ) -> Result<Option<CallStatus>, StoreError> {
        let send_at = now.plus_millis(i64::try_from(undo_window.as_millis()).unwrap_or(i64::MAX));
        let (moved, status) = if !undo_window.is_zero() {
            (tx.approve(row.id, now, send_at).await?, CallStatus::Approved)
        } else if row.surface == Surface::Queue {
            (tx.queue_confirmed(row.id, now).await?, CallStatus::Queued)
        } else {
            (tx.start_sending(row.id, now, self.node(), lease_until).await?, CallStatus::Sending)
        };
        Ok(moved.then_some(status))
    }

    /// Sends a confirmed call when its undo window has passed. Nothing that a shutdown waits for: what is approved is
    /// durable, and goes out after the next start.
    fn send_after(&self, id: CallId, undo_window: Duration) {
        let engine = self.clone();
        drop(tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(undo_window) => engine.send_when_due(id).await,
                () = engine.ending().over() => {}
            }
        }));
    }

    /// The durable intent of a confirmed call whose undo window has passed, and the send, in one task that a shutdown
    /// waits for; or its place in the queue. Whoever comes second does nothing.
    pub(crate) async fn send_when_due(&self, id: CallId) {
        if self.ending().waits_are_over() {
            return;
        }
        let engine = self.clone();
        let started = self.spawn(async move { engine.start_and_send(id).await }).await;
        if let Ok(Err(refusal)) = started {
            // The call stays approved; the job that looks for such calls comes again.
            tracing::warn!(call = %id, code = %refusal.problem().code, "a confirmed call could not be started yet");
        }
    }

    async fn start_and_send(&self, id: CallId) -> Result<(), Refusal> {
        let Some(row) =
            self.store().call(id).await?.filter(|row| matches!(row.state, CallState::Approved { .. }))
        else {
            return Ok(());
        };
        let stored = self.stored_request(&row)?;
        let action = self.catalogue().action_for(row.surface, &row.action, &stored.arguments);
        let Some(action) = action else {
            self.end_unsent_now(&row, UnsentEnd::refused(Unsent::Any, &sending::action_is_gone())).await?;
            return Ok(());
        };
        if self.store().is_of_ended(id, self.now()).await? {
            // Whoever ended its caller was stopped before the call was withdrawn.
            self.take_back(&row, Unsent::Any).await?;
            return Ok(());
        }
        let (now, lease_until) = (self.now(), self.lease_end());
        let mut tx = self.store().begin().await?;
        if tx.is_paused(row.agent_id).await? {
            // It stays approved; the job that looks for such calls finds it when somebody has resumed.
            return Ok(());
        }
        if !tx.lock_due(id, now).await? {
            return Ok(());
        }
        if !self.is_still_confirmed(&mut tx, &row, now).await? {
            tx.commit().await?;
            self.nudges().tell(id);
            return Ok(());
        }
        let queued = tx.queue_due(id, now).await?;
        let started = !queued && tx.start_due(id, now, self.node(), lease_until).await?;
        fail_point::reach("intent-uncommitted").await;
        tx.commit().await?;
        fail_point::reach("intended").await;
        if queued {
            self.queue().ring();
        }
        if queued || started {
            self.nudges().tell(id);
        }
        if started {
            let row = CallRow { state: CallState::Sending { lease_until }, ..row };
            let engine = self.clone();
            // The send itself is waited for by the end of the process, not by whoever looks for the next call.
            drop(self.spawn(async move { sending::carry_out(&engine, &row, &action, &stored).await }));
        }
        Ok(())
    }

    /// Whether enough of those who confirmed a call that is due may decide it still. If not, it is held again, for those who may.
    async fn is_still_confirmed(&self, tx: &mut Tx, row: &CallRow, now: Time) -> Result<bool, StoreError> {
        tx.void_decisions_of_others(row.id, now).await?;
        let (quorum, _) = tx.rule_of(row.id).await?;
        if tx.is_confirmed(row.id, quorum).await? {
            return Ok(true);
        }
        tx.hold_again(row.id).await?;
        self.end_grants(tx, GrantsOf::Call(row.id), GrantEnd::Undone, None).await?;
        tx.insert_event(&row.event(self.event_id(), now, EventType::Undone, CallStatus::Held)).await?;
        Ok(false)
    }

    /// What is kept of a call that has not been sent.
    pub(crate) fn stored_request(&self, row: &CallRow) -> Result<StoredRequest, Refusal> {
        let blob = row.input.as_deref().ok_or(Refusal::AlreadyDecided)?;
        Ok(StoredRequest::open(self.sealer(), row.id, blob)?)
    }

    /// The journal's line of a Confirm, or of an override.
    fn decided(&self, decider: &Decider, row: &CallRow, now: Time, status: CallStatus) -> Event {
        let id = self.event_id();
        if decider.overrides() {
            Event { by: Some(decider.id()), ..row.event(id, now, EventType::Overridden, status) }
        } else {
            row.event(id, now, EventType::Decided, status)
        }
    }

    /// In whose place this person decides: `None`: by their own right. A delegation stays as it is until the transaction ends, and
    /// what was said in the place of somebody who now speaks for themselves is void.
    async fn voice(
        &self,
        tx: &mut Tx,
        decider: &Decider,
        row: &CallRow,
        now: Time,
    ) -> Result<Option<PersonId>, Refusal> {
        if decider.overrides() {
            return Ok(None);
        }
        let voice = tx.voice_of(row.id, decider.id(), now).await?.ok_or(Refusal::NotFound)?;
        if voice == decider.id() {
            tx.void_decisions_for(row.id, voice, now).await?;
            return Ok(None);
        }
        if tx.hold_delegation(voice, decider.id(), now).await? {
            Ok(Some(voice))
        } else {
            Err(Refusal::NotFound)
        }
    }

    async fn insert_decision(
        &self,
        tx: &mut Tx,
        decider: &Decider,
        row: &CallRow,
        word: Word<'_>,
        at: Time,
    ) -> Result<(), Refusal> {
        let r#for = self.voice(tx, decider, row, at).await?;
        let rights = if decider.overrides() {
            Vec::new()
        } else {
            tx.rights_of(row.id, r#for.unwrap_or(decider.id())).await?
        };
        let decision = NewDecision {
            id: ApprovalId::from_uuid(self.ambient().uuid()),
            call: row.id,
            person: decider.id(),
            r#for,
            rights: &rights,
            is_override: decider.overrides(),
            verdict: word.verdict,
            preview_version: word.version,
            reason: word.reason,
            at,
            passkey: word.proof.map(Verified::passkey),
        };
        tx.insert_decision(&decision)
            .await
            .map_err(|error| if error.is_taken() { Refusal::AlreadyDecided } else { error.into() })
    }

    /// Somebody else moved the call meanwhile: how that is told.
    async fn lost_race(&self, decider: &Decider, id: CallId) -> Result<Refusal, Refusal> {
        // Whoever lost the right to decide meanwhile is told what everybody without it is told.
        let row = self.row_to_decide(decider, id).await?;
        Ok(match too_late(row.state.status()) {
            Some(refusal) => refusal,
            None if row.expires_at.is_some_and(|expires_at| expires_at <= self.now()) => Refusal::Expired,
            None => self.preview_changed(&row).await?,
        })
    }

    /// What is shown of the call by now.
    async fn preview_changed(&self, row: &CallRow) -> Result<Refusal, Refusal> {
        let preview = self.likeness_of(row).await?.on(self.stored_preview(row)?);
        Ok(Refusal::PreviewChanged(Some(Box::new(preview))))
    }

    /// The stored preview of a call that has one: what is shown but for what the call looks like just now.
    pub(crate) fn stored_preview(&self, row: &CallRow) -> Result<Preview, Refusal> {
        let blob = row.preview.as_deref().ok_or(Refusal::AlreadyDecided)?;
        let plain = self.sealer().open(Purpose::Preview, &row.id.to_string(), blob)?;
        serde_json::from_slice(&plain).map_err(|_| Refusal::from(crate::seal::DoesNotOpen))
    }

    pub(crate) fn event_id(&self) -> EventId {
        EventId::from_uuid(self.ambient().uuid())
    }
}

/// What this version told beside the preview as it is stored now; `None`: it is the version of another one.
fn named_by(version: &str, row: &CallRow) -> Option<Likeness> {
    Likeness::named_by(version, row.preview_version.as_deref()?)
}

/// A person's words: trimmed, `None` when there are none.
pub(crate) fn checked_reason(reason: Option<&str>) -> Result<Option<&str>, Refusal> {
    // Words that nobody can see are none.
    let is_seen = |reason: &&str| {
        visible(reason, Place::Body).iter().any(|piece| match piece {
            Piece::Plain(plain) => !plain.trim().is_empty(),
            Piece::Chip(chip) => chip.shown.is_some(),
        })
    };
    let reason = reason.map(str::trim).filter(is_seen);
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

/// The arguments with the key as the field it would be: the bare key, however it once came.
fn with_key(mut arguments: Map<String, Value>, key: Option<String>) -> Map<String, Value> {
    if let Some(key) = key {
        arguments.insert("idempotency_key".to_owned(), Value::String(key));
    }
    arguments
}

/// A fresh dry run that fails decides nothing: nothing runs and the call stays held.
fn stays_held(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Refused { upstream_status, .. } => Refusal::UpstreamFailed(upstream_status),
        Refusal::Invalid(_) => Refusal::UpstreamFailed(None),
        other => other,
    }
}
