//! What a token may be used for.

use crate::Effect;
use crate::words::words;

words! {
    /// What a token may be used for.
    Ability {
        /// Call actions that read.
        ActionsRead = "actions:read",
        /// Call actions that write.
        ActionsWrite = "actions:write",
        /// Call actions whose effect leaves the house.
        ActionsExternal = "actions:external",
        /// Call actions that cannot be put back.
        ActionsDestructive = "actions:destructive",
        /// List receipts and events.
        ReceiptsRead = "receipts:read",
        /// Decide held calls. Never on an agent's key.
        ApprovalsDecide = "approvals:decide",
        /// Manage agents.
        AgentsManage = "agents:manage",
    }
}

impl Ability {
    /// What a new agent's key may do when nothing is said.
    pub const AGENT_DEFAULT: &'static [Ability] =
        &[Ability::ActionsRead, Ability::ActionsWrite, Ability::ActionsExternal, Ability::ActionsDestructive];

    /// The ability that calling an action of this effect takes.
    pub const fn for_effect(effect: Effect) -> Ability {
        match effect {
            Effect::Read => Ability::ActionsRead,
            Effect::Write => Ability::ActionsWrite,
            Effect::External => Ability::ActionsExternal,
            Effect::Destructive => Ability::ActionsDestructive,
        }
    }
}
