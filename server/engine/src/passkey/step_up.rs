//! The proof that an action with `step_up` asks of whoever confirms a call of it: a passkey's answer to a challenge that was
//! made for this person, session, call and preview, not long before.

use model::{PasskeyId, Refusal, Time};

use super::{Answered, Assertion, TO_CONFIRM, unfit};
use crate::actor::Decider;
use crate::engine::Engine;
use crate::store::{Bound, CallRow, ChallengePurpose, Tx};

/// What whoever confirms has proved anew who they are with.
#[derive(Debug, Clone)]
pub struct StepUp {
    /// The passkey's answer.
    pub assertion: Assertion,
    /// The session that it was given in, by the hash of its id.
    pub session: [u8; 32],
}

/// A proof that holds, and is still to be spent.
#[derive(Debug, Clone)]
pub(crate) struct Verified {
    answered: Answered,
    session: [u8; 32],
    /// When it came: asking a service afresh in between makes it no older.
    came_at: Time,
}

impl Verified {
    /// The passkey.
    pub(crate) const fn passkey(&self) -> PasskeyId {
        self.answered.passkey.id
    }
}

impl Engine {
    /// Looks at the proof, where one is needed or given. `None`: neither.
    ///
    /// # Errors
    /// `StepUpRequired` without a proof where one is needed; `PasskeyRefused` for one that does not hold; `Denied` without a live
    /// session.
    pub(crate) async fn looked_at_proof(
        &self,
        decider: &Decider,
        row: &CallRow,
        proof: Option<&StepUp>,
    ) -> Result<Option<Verified>, Refusal> {
        let Some(proof) = proof else {
            return if self.wants_step_up(row) { Err(self.step_up_required(row)) } else { Ok(None) };
        };
        decider.actor().in_person()?;
        let answered = self.answered(decider.id(), &proof.assertion, ChallengePurpose::Confirm).await?;
        Ok(Some(Verified { answered, session: proof.session, came_at: self.now() }))
    }

    /// Whether confirming this call takes a passkey: it was held so, or the catalogue says so now.
    pub(crate) fn wants_step_up(&self, row: &CallRow) -> bool {
        row.step_up || self.catalogue().action(&row.action).is_some_and(|action| action.step_up)
    }

    /// Where such a call is confirmed.
    pub(crate) fn step_up_required(&self, row: &CallRow) -> Refusal {
        Refusal::StepUpRequired { approve_url: self.url(&format!("/inbox/{}", row.id)) }
    }

    /// Spends the proof in the transaction of what it was given for. What this refuses is undone with everything else.
    ///
    /// # Errors
    /// `PasskeyRefused`: it was made for something else, is too old, or was spent.
    pub(crate) async fn spend_proof(
        &self,
        tx: &mut Tx,
        decider: &Decider,
        row: &CallRow,
        version: &str,
        proof: &Verified,
    ) -> Result<Spent, Refusal> {
        let bound = Bound {
            purpose: ChallengePurpose::Confirm,
            person: decider.id(),
            session: proof.session,
            shown: Some((row.id, version)),
        };
        if !tx
            .spend_challenge(proof.answered.challenge, &bound, proof.came_at.plus_seconds(-TO_CONFIRM))
            .await?
        {
            tracing::warn!(person = %decider.id(), call = %row.id, "a passkey's answer was for something else, too old, or used before");
            return Err(unfit());
        }
        let used = tx.use_passkey(proof.answered.used(), self.now()).await?;
        Ok(if used { Spent::Whole } else { Spent::WentBack })
    }

    /// The passkey's count went back: tells the journal, once the transaction is undone.
    pub(crate) async fn proof_went_back(&self, proof: &Verified) -> Result<Refusal, Refusal> {
        self.went_back(&proof.answered.passkey).await
    }
}

/// How spending a proof came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spent {
    /// It is spent.
    Whole,
    /// The passkey's count of signatures went back: undo everything, then [`Engine::proof_went_back`].
    WentBack,
}
