//! What of a server's tools was taken: one row a tool.

use model::{Effect, Time};

use super::definition::Definition;
use super::dialect::Dialect;

/// A definition that was taken, and how its server is spoken to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pin {
    /// The server's name in the catalogue.
    pub(crate) upstream: String,
    /// What an operator took.
    pub(crate) definition: Definition,
    /// Its hash.
    pub(crate) hash: String,
    pub(crate) dialect: Dialect,
}

/// What is known of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolRow {
    pub(crate) upstream: String,
    pub(crate) tool: String,
    /// What was taken; `None`: nothing yet.
    pub(crate) taken: Option<Definition>,
    pub(crate) taken_at: Option<Time>,
    /// What was found in its place and waits for an operator.
    pub(crate) found: Option<Definition>,
    pub(crate) found_at: Option<Time>,
    /// Since when its server has it no more.
    pub(crate) gone_at: Option<Time>,
}

/// How a tool stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// It can be called.
    Pinned,
    /// It came after its server had been taken, and waits for an operator.
    New,
    /// Its definition has changed, and it waits for an operator.
    SetAside,
    /// Its server has it no more.
    Gone,
}

/// A tool as an operator sees it.
#[derive(Debug, Clone)]
pub struct ToolLine {
    /// The tool's name at its server.
    pub tool: String,
    /// How it stands.
    pub stand: Stand,
    /// What can be called with it; empty when nothing can.
    pub actions: Vec<String>,
    /// Why it is no action by itself, where it could be one.
    pub unfit: Option<String>,
    /// Its effect by the definition that counts, or that waits.
    pub effect: Effect,
    /// The definition that counts.
    pub taken: Option<Definition>,
    /// Since when.
    pub taken_at: Option<Time>,
    /// The definition that waits for an operator.
    pub found: Option<Definition>,
    /// Since when.
    pub found_at: Option<Time>,
}

impl Stand {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::New => "new",
            Self::SetAside => "set_aside",
            Self::Gone => "gone",
        }
    }

    /// Whether an operator is asked for a word on it.
    pub const fn waits(self) -> bool {
        matches!(self, Self::New | Self::SetAside)
    }
}

impl ToolRow {
    pub(crate) const fn stand(&self) -> Stand {
        match (&self.taken, &self.found) {
            (Some(_), Some(_)) => Stand::SetAside,
            (None, _) => Stand::New,
            (Some(_), None) if self.gone_at.is_some() => Stand::Gone,
            (Some(_), None) => Stand::Pinned,
        }
    }
}
