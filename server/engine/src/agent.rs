//! An agent, as an operator sees it.

use model::{Ability, AgentId, Time};

/// One agent with its newest key, without anything secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLine {
    /// The agent's id.
    pub id: AgentId,
    /// Its name.
    pub name: String,
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
    /// When its key was last used.
    pub last_used_at: Option<Time>,
    /// Set when it can no longer call.
    pub revoked_at: Option<Time>,
}
