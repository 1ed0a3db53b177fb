//! Making a grant: in the transaction that records the Confirm it goes with.

use model::{AgentId, ApprovalId, CallId, Decision, PersonId, Refusal, Surface, Time, Verdict};

use super::offer::{Offered, host};
use super::{GrantWanted, LONGEST, MOST_USES, SHORTEST};
use crate::actor::Decider;
use crate::decision::Along;
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::pipeline::{self, Head, Ready};
use crate::seal::Purpose;
use crate::store::CallRow;

/// A grant to be stored.
#[derive(Debug, Clone)]
pub struct NewGrant {
    pub(crate) id: ApprovalId,
    pub(crate) call: CallId,
    pub(crate) grantor: PersonId,
    pub(crate) agent: AgentId,
    pub(crate) action: String,
    pub(crate) title: String,
    pub(crate) surface: Surface,
    pub(crate) credential: Option<String>,
    pub(crate) method: String,
    pub(crate) host: String,
    pub(crate) pin: [u8; 32],
    pub(crate) scope: Vec<u8>,
    pub(crate) uses: u32,
    pub(crate) made_at: Time,
    pub(crate) expires_at: Time,
    /// Who may decide such calls; the grantor has to be among them when it is stored.
    pub(crate) approvers: Vec<String>,
}

impl Engine {
    /// Confirms a held call as [`Engine::decide`] does, and lets through more like it: both, or neither.
    ///
    /// # Errors
    /// Those of [`Engine::decide`]; `Denied` without a live session; `Invalid` on `/uses`, `/lasts` and `/vary`, and on
    /// `/grant` when such calls cannot be let through, or not by this person. Nothing was confirmed then.
    pub async fn confirm_and_grant(
        &self,
        decider: &Decider,
        id: CallId,
        preview_version: String,
        wanted: GrantWanted,
    ) -> Result<model::Call, Refusal> {
        decider.actor().in_person()?;
        let faults = wanted.faults();
        if !faults.is_empty() {
            return Err(Refusal::Invalid(faults));
        }
        let decision =
            Decision { decision: Verdict::Confirm, preview_version: Some(preview_version), reason: None };
        self.decide_along(decider, id, decision, Along::Grant(wanted)).await
    }

    /// The grant that goes with a Confirm of this call, to be stored with it.
    pub(crate) async fn new_grant(
        &self,
        decider: &Decider,
        row: &CallRow,
        (head, ready, outgoing): (&Head, &Ready, &Outgoing),
        wanted: &GrantWanted,
    ) -> Result<NewGrant, Refusal> {
        if !self.is_grantable(row, head, ready, outgoing).await? {
            return Err(not_covered());
        }
        if !self.may_grant(decider.actor(), head).await? {
            return Err(not_theirs());
        }
        let offered = Offered::of(&head.action, head.tenant.as_deref(), &ready.arguments, outgoing)
            .ok_or_else(|| refused("This call has too many parts to let through more like it."))?;
        let scope = offered
            .bound(&wanted.vary)
            .ok_or_else(|| Refusal::invalid("/vary", "The call has no such part. Look at it again."))?;
        let id = ApprovalId::from_uuid(self.ambient().uuid());
        let plain =
            serde_json::to_vec(&scope).unwrap_or_else(|_| unreachable!("plain data always serializes"));
        let made_at = self.now();
        Ok(NewGrant {
            id,
            call: row.id,
            grantor: decider.id(),
            agent: row.agent_id.ok_or(Refusal::NotFound)?,
            action: row.action.clone(),
            title: head.action.title.clone(),
            surface: row.surface,
            credential: head.action.credential.as_ref().map(|credential| credential.name.clone()),
            method: outgoing.method.to_string(),
            host: host(outgoing),
            pin: head.action.pin(),
            scope: self.sealer().seal(Purpose::Grant, &id.to_string(), &plain),
            uses: wanted.uses,
            made_at,
            expires_at: made_at.plus_seconds(self.seconds(wanted.lasts)),
            approvers: pipeline::approvers_of(head),
        })
    }
}

impl GrantWanted {
    fn faults(&self) -> Vec<model::FieldError> {
        let mut faults = Vec::new();
        if !(1..=MOST_USES).contains(&self.uses) {
            faults.push(model::FieldError::new("/uses", "This has to be a whole number from 1 to 100."));
        }
        if !(SHORTEST..=LONGEST).contains(&self.lasts) {
            faults
                .push(model::FieldError::new("/lasts", "This has to be a time from one minute to 8 hours."));
        }
        faults
    }
}

/// Why no grant was made, and so nothing confirmed.
fn refused(message: &str) -> Refusal {
    Refusal::invalid("/grant", message)
}

/// Nobody lets such calls through in advance.
pub(crate) fn not_covered() -> Refusal {
    refused("Calls like this one are decided one by one, so no more of them can be let through.")
}

/// Somebody else lends them the right to decide, or they have it no more.
fn not_theirs() -> Refusal {
    refused("You cannot let through more like this: you do not decide such calls by a right of your own.")
}

/// It could not be stored any more.
pub(crate) fn not_made() -> Refusal {
    refused(
        "You may not decide such calls any more, or the agent has as many standing grants as it may have (20). Look at them, and try again.",
    )
}
