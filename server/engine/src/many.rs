//! One word on many held calls: each is decided by itself, by the same steps as one alone.

use std::collections::HashSet;
use std::time::Duration;

use futures::future::join_all;
use model::{CallId, CallStatus, Decision, Effect, Refusal, Verdict};

use crate::actor::Decider;
use crate::decision::checked_reason;
use crate::engine::Engine;
use crate::view_token::ViewFault;

/// How many calls are declined at once at most.
pub const MOST_DECLINED: usize = 100;

/// How many calls are confirmed at once at most.
pub const MOST_CONFIRMED: usize = 20;

/// How long the end of confirmed calls is waited for, so that it can be told.
const PATIENCE: Duration = Duration::from_secs(4);

/// One call as it was shown to whoever confirms it among others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The call.
    pub call: CallId,
    /// The version of the preview that was shown.
    pub version: String,
    /// The proof that it was.
    pub view_token: String,
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The call.
    pub id: CallId,
    /// What it was named by before; `None`: not for this person.
    pub title: Option<String>,
    /// How it stands, or why it was not decided.
    pub outcome: Result<CallStatus, Refusal>,
}

/// Why nothing of many was done.
#[derive(Debug, Clone, PartialEq)]
pub enum ManyFault {
    /// None was chosen.
    None,
    /// More than may be decided at once.
    TooMany(usize),
    /// Some are `external` or `destructive`, or no writes: each of these is confirmed by itself.
    Dangerous,
    /// Some are confirmed with a passkey, each by itself.
    StepUp,
    /// They are calls of more than one action.
    Mixed,
    /// The page that showed them.
    View(ViewFault),
    /// The words, or the database.
    Refused(Refusal),
}

impl From<Refusal> for ManyFault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Engine {
    /// Declines each of these calls with the same words. One that cannot be declined any more keeps none of the others.
    ///
    /// # Errors
    /// Nothing was done: none, or more than `MOST_DECLINED`, or the words are at fault.
    pub async fn decline_many(
        &self,
        decider: &Decider,
        ids: &[CallId],
        reason: Option<&str>,
    ) -> Result<Vec<Step>, ManyFault> {
        let ids = bounded(ids, MOST_DECLINED)?;
        let reason = checked_reason(reason)?.map(str::to_owned);
        let mut steps = self.steps(decider, &ids).await?;
        for step in &mut steps {
            let decision =
                Decision { decision: Verdict::Decline, preview_version: None, reason: reason.clone() };
            step.outcome = self.decide(decider, step.id, decision).await.map(|call| call.status);
        }
        Ok(steps)
    }

    /// Whether these calls may be confirmed together: `write` calls of one action, not too many.
    ///
    /// # Errors
    /// Why not.
    pub async fn may_confirm_many(&self, decider: &Decider, ids: &[CallId]) -> Result<(), ManyFault> {
        let ids = bounded(ids, MOST_CONFIRMED)?;
        let lines = self.inbox_lines(decider.actor(), &ids).await?;
        if lines.iter().any(|line| line.call.effect != Effect::Write) {
            return Err(ManyFault::Dangerous);
        }
        if lines.iter().any(|line| line.step_up) {
            return Err(ManyFault::StepUp);
        }
        let actions: HashSet<_> = lines.iter().map(|line| &line.call.action).collect();
        if actions.len() > 1 { Err(ManyFault::Mixed) } else { Ok(()) }
    }

    /// Confirms each of these calls as it was shown, one after the other, and waits a little for what becomes of them. One
    /// that has changed, or was decided meanwhile, is told and keeps none of the others.
    ///
    /// # Errors
    /// Nothing was done: they may not be confirmed together, or a view token is too young or of something else.
    pub async fn confirm_many(&self, decider: &Decider, shown: &[Shown]) -> Result<Vec<Step>, ManyFault> {
        let ids: Vec<_> = shown.iter().map(|shown| shown.call).collect();
        self.may_confirm_many(decider, &ids).await?;
        for one in shown {
            self.view_token_fits(&one.view_token, decider.actor(), one.call, &one.version)
                .map_err(ManyFault::View)?;
        }
        let ids = bounded(&ids, MOST_CONFIRMED)?;
        let mut steps = self.steps(decider, &ids).await?;
        for step in &mut steps {
            let version = shown.iter().find(|one| one.call == step.id).map(|one| one.version.clone());
            let decision = Decision { decision: Verdict::Confirm, preview_version: version, reason: None };
            step.outcome = self.decide(decider, step.id, decision).await.map(|call| call.status);
        }
        self.see_ends(&mut steps).await;
        Ok(steps)
    }

    /// What there is to decide, by the names that it will not have any more once it is.
    async fn steps(&self, decider: &Decider, ids: &[CallId]) -> Result<Vec<Step>, Refusal> {
        let lines = self.inbox_lines(decider.actor(), ids).await?;
        let title = |id: CallId| lines.iter().find(|line| line.call.id == id).map(|line| line.title.clone());
        let step = |id: &CallId| Step { id: *id, title: title(*id), outcome: Err(Refusal::NotFound) };
        Ok(ids.iter().map(step).collect())
    }

    /// How confirmed calls stand after a while. One that has not ended by then is told as it stands.
    async fn see_ends(&self, steps: &mut [Step]) {
        let moving = |step: &&mut Step| matches!(step.outcome, Ok(CallStatus::Sending | CallStatus::Queued));
        let ends = steps.iter_mut().filter(moving).map(async |step| {
            // A database that is away meanwhile changes nothing about what was decided.
            if let Ok(Some(row)) = self.until_ended(step.id, PATIENCE).await {
                step.outcome = Ok(row.state.status());
            }
        });
        join_all(ends).await;
    }
}

/// Each once, in their order.
fn bounded(ids: &[CallId], most: usize) -> Result<Vec<CallId>, ManyFault> {
    let mut seen = HashSet::new();
    let ids: Vec<_> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
    match ids.len() {
        0 => Err(ManyFault::None),
        count if count > most => Err(ManyFault::TooMany(most)),
        _ => Ok(ids),
    }
}
