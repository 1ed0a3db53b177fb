//! A call as its page shows it.

use model::{Call, Preview, Time};

/// A call as its page shows it to one person.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The call.
    pub call: Call,
    /// The preview's title while the call is open; the action's title after its end.
    pub title: String,
    /// What would be sent. Only for who may decide the call or owns it, and only until the call ends.
    pub preview: Option<Preview>,
    /// The agent's name.
    pub agent: Option<String>,
    /// The name of the person the call is for.
    pub person: Option<String>,
    /// Whether this person may decide the call now.
    pub may_decide: bool,
    /// Until when a Confirm can be taken back.
    pub undo_until: Option<Time>,
    /// The names of those who decided.
    pub decided_by: Vec<String>,
    /// What the upstream answered, if it did.
    pub upstream_status: Option<u16>,
}
