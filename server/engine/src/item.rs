//! A call as its page shows it.

use model::{Call, Finding, Preview, Time};

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
    /// Those who decided.
    pub decided_by: Vec<DecidedBy>,
    /// What the upstream answered, if it did.
    pub upstream_status: Option<u16>,
    /// Where a call in doubt went, to look there: for who may settle it.
    pub sent: Option<Whereabouts>,
    /// What somebody found out about a call that was in doubt.
    pub settled: Option<Settled>,
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
