//! What a receipt tells: what became of one call, step by step, in words that need nothing of what was in it.

use model::{
    ApprovalId, ApprovalKind, CallId, Finding, PersonId, ReceiptFacts, ReceiptId, Refusal, Role, Time,
};

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::records::sees_all;

/// A receipt and what led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// The receipt.
    pub receipt: ReceiptFacts,
    /// The call it is of.
    pub call: CallId,
    /// The action's title.
    pub title: String,
    /// What happened, in its order.
    pub steps: Vec<Step>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When; `None`: nobody wrote it down.
    pub at: Option<Time>,
    /// What.
    pub happened: Happened,
}

/// What can happen to a call that has a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// Somebody asked for it.
    Asked,
    /// It was held, and shown to those who may decide it.
    Held,
    /// A person confirmed it.
    Confirmed {
        /// Who.
        by: PersonId,
        /// Their name.
        name: String,
        /// In whose place: that one's name. `None`: by their own right.
        r#for: Option<String>,
        /// What made them, or the one in whose place they did, one who decides, as it was just then. Empty: nobody wrote it down,
        /// and they are none any more.
        rights: Vec<Right>,
        /// It was taken back, or the preview changed.
        voided: bool,
        /// It is void because the one in whose place they did spoke for themselves.
        replaced: bool,
        /// They proved with a passkey, for this call, who they are.
        with_passkey: bool,
    },
    /// Somebody who does not decide it overrode those who do.
    Overridden {
        /// Who.
        by: PersonId,
        /// Their name.
        name: String,
        /// Why, in their words.
        reason: String,
        /// It was taken back.
        voided: bool,
        /// They proved with a passkey, for this call, who they are.
        with_passkey: bool,
    },
    /// A standing grant let it through.
    Granted {
        /// The grant.
        id: Option<ApprovalId>,
        /// Who made it.
        by: Option<PersonId>,
        /// Their name.
        name: String,
        /// When they did.
        made_at: Option<Time>,
    },
    /// It went on without a person.
    Passed(ApprovalKind),
    /// It was sent.
    Sent,
    /// The upstream answered.
    Answered(Option<u16>),
    /// The answer was lost.
    Unanswered,
    /// Somebody found out how it had ended.
    Settled {
        /// Their name.
        by: Option<String>,
        /// What they found.
        finding: Finding,
        /// How they know, in their words.
        reason: Option<String>,
    },
    /// The answer came after all.
    AnsweredLate(Option<u16>),
}

/// What makes a person one who decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Right {
    /// The call was theirs or their agent's.
    Owner,
    /// The action names them.
    Named,
    /// The action, or the desk, names this role.
    Role(Role),
    /// The action names this group.
    Group(String),
}

impl Right {
    /// Of a subject, as approvers are stored.
    pub(crate) fn of(subject: &str) -> Option<Self> {
        match subject.split_once(':')? {
            ("id", _) => Some(Self::Owner),
            ("person", _) => Some(Self::Named),
            ("role", role) => role.parse().ok().map(Self::Role),
            ("group", name) => Some(Self::Group(name.to_owned())),
            _ => None,
        }
    }
}

impl Engine {
    /// A receipt and what led to it; `None`: there is none for this person.
    pub async fn story(&self, person: &PersonActor, id: ReceiptId) -> Result<Option<Story>, Refusal> {
        let owner = if sees_all(person)? { None } else { Some(person.id()) };
        let Some(receipt) = self.store().receipt_facts(owner, id).await? else { return Ok(None) };
        Ok(self.store().story(receipt).await?)
    }
}
