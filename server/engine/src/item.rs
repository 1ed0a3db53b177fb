//! A call as its page shows it.

use model::{Call, Finding, PersonId, Preview, Time};

use crate::delegation::Delegation;
use crate::pause::Pause;
use crate::store::DecidedBy;

/// A call as its page shows it to one person.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "what one may do here is one right beside the other")]
pub struct Item {
    /// The call.
    pub call: Call,
    /// The preview's title while the call is open or in doubt; the action's title after its end.
    pub title: String,
    /// The action's title.
    pub action_title: String,
    /// The tenant the call was made in: its name or id, as the caller gave it.
    pub tenant: Option<String>,
    /// What would be sent, or was: only for who may decide the call or owns it, and only until the call ends; in doubt,
    /// until it is settled.
    pub preview: Option<Preview>,
    /// The agent's name.
    pub agent: Option<String>,
    /// The name of the person the call is for.
    pub person: Option<String>,
    /// Whether this person may decide the call now.
    pub may_decide: bool,
    /// Whether confirming it, or overriding those who do, takes a passkey.
    pub step_up: bool,
    /// Whether this person may override those who decide the call now.
    pub may_override: bool,
    /// By which delegation this person decides the call, when it is in another's place.
    pub stands_in_for: Option<Delegation>,
    /// Delegations that run and pass on a right to decide the held call: for its owner and those who decide it.
    pub delegations: Vec<Delegation>,
    /// Whether this person may tell how the call ended.
    pub may_settle: bool,
    /// Whether this person may take the call back.
    pub may_withdraw: bool,
    /// Until when a Confirm can be taken back.
    pub undo_until: Option<Time>,
    /// What keeps the call from being confirmed, or from being sent once it was: the call's own page tells it.
    pub pause: Option<Pause>,
    /// Those who decided; of a held call, those who have confirmed it so far. Not of every list.
    pub decided_by: Vec<DecidedBy>,
    /// How many people have to confirm it.
    pub quorum: u32,
    /// Whether this person decides it as an operator because those who would are fewer than it takes.
    pub for_too_few: bool,
    /// What the upstream answered, if it did.
    pub upstream_status: Option<u16>,
    /// Where a call in doubt went, to look there: for who may settle it.
    pub sent: Option<Whereabouts>,
    /// What somebody found out about a call that was in doubt.
    pub settled: Option<Settled>,
}

/// How the votes on a held call bear on one person's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote<'a> {
    /// Nobody has spoken by their voice.
    Open,
    /// They have voted.
    Cast(&'a DecidedBy),
    /// Somebody has voted in their place; their own word replaces that.
    CastForThem(&'a DecidedBy),
    /// Of one who decides in another's place: that one has voted, or somebody else has in that place.
    Spoken(&'a DecidedBy),
}

impl Item {
    /// How the votes on it bear on this person's own.
    pub fn vote(&self, me: PersonId) -> Vote<'_> {
        let voice = self.stands_in_for.as_ref().map_or(me, |one| one.delegator);
        if let Some(own) = self.decided_by.iter().find(|one| one.person == me) {
            return Vote::Cast(own);
        }
        match self.decided_by.iter().find(|one| one.voice == voice) {
            None => Vote::Open,
            Some(one) if voice == me => Vote::CastForThem(one),
            Some(one) => Vote::Spoken(one),
        }
    }

    /// Whether this person can decide it now: they may, and their word is not there yet.
    pub fn takes_word_of(&self, me: PersonId) -> bool {
        self.may_decide && matches!(self.vote(me), Vote::Open | Vote::CastForThem(_))
    }
}

/// Where a request went and when, without anything of what was in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    /// The method.
    pub method: String,
    /// The address without its query.
    pub url: String,
    /// When the receipt was written.
    pub at: Time,
}

/// What somebody found out about a call that was in doubt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Whether the write happened.
    pub finding: Finding,
    /// When they said so.
    pub at: Time,
    /// Their name.
    pub by: Option<String>,
    /// How they know, in their words.
    pub reason: Option<String>,
}
