//! An agent and its keys, as an operator sees them.

use model::{Ability, AgentId, KeyId, PersonId, Time};

use crate::pause::Pause;

/// One agent with its newest key, without anything secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLine {
    /// The agent's id.
    pub id: AgentId,
    /// Its name.
    pub name: String,
    /// The owner's id.
    pub owner_id: PersonId,
    /// The owner's name.
    pub owner: String,
    /// The owner's address.
    pub owner_email: String,
    /// Every write of its key goes to the approval queue.
    pub requires_approval: bool,
    /// What its key may be used for.
    pub abilities: Vec<Ability>,
    /// The actions it may see; `None`: all.
    pub toolset: Option<Vec<String>>,
    /// When one of its keys was last used.
    pub last_used_at: Option<Time>,
    /// Set when it can no longer call: it was revoked, or every key of it.
    pub revoked_at: Option<Time>,
    /// The agent itself was revoked, and not its keys alone: there is no way back.
    pub is_revoked: bool,
    /// How many of its calls are held.
    pub held: u64,
    /// How many of its calls wait to be sent, those that are held among them: what revoking it withdraws.
    pub unsent: u64,
    /// Its own pause, when one is in force.
    pub pause: Option<Pause>,
}

/// One key of an agent, without anything secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLine {
    /// The key's id.
    pub id: KeyId,
    /// Every write of it goes to the approval queue.
    pub requires_approval: bool,
    /// What it may be used for.
    pub abilities: Vec<Ability>,
    /// The actions it may see; `None`: all.
    pub toolset: Option<Vec<String>>,
    /// The one session it is bound to.
    pub session: Option<String>,
    /// When it was made.
    pub created_at: Time,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Time>,
    /// When it stops being taken.
    pub expires_at: Option<Time>,
    /// When it was revoked.
    pub revoked_at: Option<Time>,
    /// How many calls made with it wait to be sent: what revoking it withdraws.
    pub unsent: u64,
}
