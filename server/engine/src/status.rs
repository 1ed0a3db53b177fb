//! Where a call stands, for those who may see it, and waiting for it to end.

use std::time::Duration;

use model::answer::{Done, DoneStatus, Waiting};
use model::{Answer, Call, CallId, CallStatus, Problem, Refusal};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use crate::actor::Actor;
use crate::engine::Engine;
use crate::seal::Purpose;
use crate::store::{CallRow, CallState, Standing};
use crate::stored_result::StoredResult;
use crate::{passing_on, pipeline};

/// How long a waiter trusts the nudges alone: a change made by another process is seen after this time.
const RESCAN: Duration = Duration::from_secs(1);

impl Engine {
    /// Where a call stands; with `wait`, after it has ended or the time is up.
    ///
    /// # Errors
    /// `NotFound` for everybody but the agent, its owner, who may decide it, and operators.
    pub async fn call_status(
        &self,
        actor: &Actor,
        id: CallId,
        wait: Option<Duration>,
    ) -> Result<Call, Refusal> {
        let (mut row, standing) = self.seen_by(actor, id).await?.ok_or(Refusal::NotFound)?;
        if let Some(wait) = wait
            && !row.state.status().is_ended()
        {
            row = self.until_ended(id, wait).await?.ok_or(Refusal::NotFound)?;
        }
        let shows_result = standing.owns || standing.decides;
        let call = self.call_of(&row, shows_result)?;
        if call.result.is_some() && standing.owns {
            self.delivered(id).await?;
        }
        Ok(call)
    }

    /// Waits for the end of a call that was answered "held" or "queued", and gives the final answer, or how it stands.
    /// A database that is away meanwhile changes nothing about the call: then the first answer is given again.
    pub(crate) async fn wait_for_end(&self, waiting: Waiting, wait: Duration) -> Result<Answer, Refusal> {
        let id = waiting.call_id;
        let Ok(Some(row)) = self.until_ended(id, wait).await else { return Ok(Answer::Waiting(waiting)) };
        if row.result.is_some()
            && let Err(refusal) = self.delivered(id).await
        {
            tracing::warn!(call = %id, code = %refusal.problem().code, "a delivery could not be noted");
        }
        match self.final_answer(&row) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Ok(Answer::Waiting(pipeline::waiting(self, &row))),
            // A result that cannot be opened: the call is done all the same, and its status tells so.
            Err(Refusal::Unavailable) => Ok(Answer::Waiting(waiting)),
            Err(refusal) => Err(refusal),
        }
    }

    /// Waits until a call has ended or the time is up: how it stands then. Being told is only a nudge: the database is
    /// read again.
    pub(crate) async fn until_ended(&self, id: CallId, wait: Duration) -> Result<Option<CallRow>, Refusal> {
        let mut nudges = self.nudges().listen();
        let deadline = Instant::now() + wait;
        loop {
            let row = self.store().call(id).await?;
            let ended = row.as_ref().is_none_or(|row| row.state.status().is_ended());
            if ended || Instant::now() >= deadline || self.ending().waits_are_over() {
                return Ok(row);
            }
            let rescan = (Instant::now() + RESCAN).min(deadline);
            loop {
                match tokio::time::timeout_at(rescan, nudges.recv()).await {
                    Ok(Ok(told)) if told != id => {}
                    Ok(Err(RecvError::Closed)) => tokio::time::sleep_until(rescan).await,
                    _ => break,
                }
            }
        }
    }

    /// The call, if the actor may see it, and how they stand to it.
    pub(crate) async fn seen_by(
        &self,
        actor: &Actor,
        id: CallId,
    ) -> Result<Option<(CallRow, Standing)>, Refusal> {
        Ok(match actor {
            Actor::Agent(agent) => {
                let row = self.store().call_of_agent(id, agent.agent).await?;
                row.map(|row| (row, Standing { owns: true, ..Standing::default() }))
            }
            Actor::Person(person) => self.store().call_seen_by(person.id(), id, self.now()).await?,
            Actor::System => {
                let row = self.store().call(id).await?;
                row.map(|row| (row, Standing { owns: true, ..Standing::default() }))
            }
            Actor::Public { .. } => None,
        })
    }

    /// The call as it is told. The result goes to those alone who own or decide the call.
    pub(crate) fn call_of(&self, row: &CallRow, shows_result: bool) -> Result<Call, Refusal> {
        let status = row.state.status();
        let stored = match row.result.as_deref().filter(|_| shows_result) {
            Some(blob) => Some(StoredResult::open(self.sealer(), Purpose::Result, row.id, blob)?),
            None => None,
        };
        let (result, reply) = stored.map_or((None, None), |stored| (Some(stored.result), stored.reply));
        let decline_reason = match &row.state {
            CallState::Declined { reason } => reason.clone(),
            _ => None,
        };
        Ok(Call {
            id: row.id,
            status,
            executed: status.executed(),
            action: row.action.clone(),
            effect: row.effect,
            surface: row.surface,
            agent_id: row.agent_id,
            person_id: row.person_id,
            session: row.session.clone(),
            created_at: row.created_at,
            expires_at: row.expires_at,
            decided_at: row.decided_at,
            decline_reason,
            receipt_id: row.receipt_id,
            result,
            reply,
            problem: problem_of(row),
            attempts: row.attempts.clone(),
        })
    }

    /// The final answer of a call that has ended; `None` while it has not.
    fn final_answer(&self, row: &CallRow) -> Result<Option<Answer>, Refusal> {
        if row.surface.takes_requests() {
            let call = self.call_of(row, true)?;
            let passed = passing_on::answer(row.surface, call.status, call.result.as_ref(), call.receipt_id);
            if let Some(passed) = passed {
                return passed.map(Some);
            }
        }
        match refusal_of(row) {
            Some(refusal) => Err(refusal),
            None if row.state == CallState::Done => {
                let call = self.call_of(row, true)?;
                Ok(Some(Answer::Done(Done {
                    status: DoneStatus::Done,
                    executed: true,
                    result: call.result.unwrap_or_default(),
                    reply: call.reply,
                    receipt_id: call.receipt_id,
                })))
            }
            None => Ok(None),
        }
    }

    /// From the first delivery on, a result is kept for `result_ttl`.
    async fn delivered(&self, id: CallId) -> Result<(), Refusal> {
        let now = self.now();
        let erase_at = now.plus_seconds(self.seconds(self.catalogue().server.result_ttl));
        Ok(self.store().mark_delivered(id, now, erase_at).await?)
    }
}

/// Why a call that has ended did not end as done.
pub(crate) fn refusal_of(row: &CallRow) -> Option<Refusal> {
    match &row.state {
        CallState::Declined { reason } => Some(Refusal::Declined(reason.clone())),
        CallState::Expired => Some(Refusal::Expired),
        CallState::Withdrawn => Some(Refusal::Withdrawn),
        CallState::InDoubt => Some(Refusal::OutcomeUnknown(row.id)),
        CallState::Failed => {
            Some(row.problem.clone().unwrap_or(Refusal::UpstreamFailed(row.upstream_status)))
        }
        CallState::Refused => Some(row.problem.clone().unwrap_or(Refusal::Refused {
            status: 409,
            message: None,
            upstream_status: row.upstream_status,
        })),
        _ => None,
    }
}

fn problem_of(row: &CallRow) -> Option<Problem> {
    refusal_of(row).map(|refusal| refusal.problem())
}

/// Whether a decision on a call in this state comes too late, and how that is told.
pub(crate) const fn too_late(status: CallStatus) -> Option<Refusal> {
    match status {
        CallStatus::Held => None,
        CallStatus::Expired => Some(Refusal::Expired),
        CallStatus::Withdrawn => Some(Refusal::Withdrawn),
        _ => Some(Refusal::AlreadyDecided),
    }
}
