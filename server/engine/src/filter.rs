//! What a list is narrowed to.

use model::{AgentId, Effect, EventType, Outcome, PersonId, Time};

/// Which page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageAsked {
    /// 1 to 500; `None`: 50.
    pub limit: Option<u32>,
    /// What the page before gave as `next_cursor`.
    pub cursor: Option<String>,
}

/// Which held calls, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxFilter {
    /// The agent's name.
    pub agent: Option<String>,
    /// The action's name.
    pub action: Option<String>,
    /// What it would do to the world.
    pub effect: Option<Effect>,
    /// What comes first.
    pub order: InboxOrder,
}

/// Which held call comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InboxOrder {
    /// The one that came in last.
    #[default]
    Newest,
    /// The one that lapses first.
    Lapsing,
}

/// Which receipts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiptFilter {
    /// One person's. For somebody who is no operator, another person's id gives an empty list.
    pub person: Option<PersonId>,
    /// The agent's name or id.
    pub agent: Option<String>,
    /// The action's name.
    pub action: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Not before this time.
    pub from: Option<Time>,
    /// Before this time.
    pub to: Option<Time>,
}

/// Which lines of the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// What happened.
    pub kind: Option<EventType>,
    /// The agent.
    pub agent: Option<AgentId>,
    /// The action's name.
    pub action: Option<String>,
}
