//! What a call of an action does: send a request that the catalogue describes, run a handler written in Rust, call a tool
//! of an MCP server, ask one for a prompt or a resource, or pass on a request that its caller wrote.

use std::sync::Arc;

use super::preview::PreviewTemplate;
use super::refusals::RefusalRule;
use super::request::RequestTemplate;
use super::template::Template;
use super::tool::ToolCall;
use super::upstream::Upstream;
use crate::handler::Named;

/// What a call of an action does.
#[derive(Debug)]
pub(super) enum Work {
    /// Sends a request of the catalogue.
    Described(Box<Described>),
    /// Runs a handler written in Rust.
    Handled(Box<Handled>),
    /// Calls a tool of an MCP server.
    Tool(Box<ToolCall>),
    /// Asks an MCP server for a prompt, a resource or a list of them.
    Question(Arc<Upstream>),
    /// Passes on the request that is its input (fetch and via).
    PassedOn,
}

/// A request of the catalogue, and what is made of it and of its answer.
#[derive(Debug)]
pub(super) struct Described {
    /// What is sent.
    pub(super) request: RequestTemplate,
    /// What is asked before, to see what would happen.
    pub(super) dry_run: Option<RequestTemplate>,
    /// What the upstream's refusals mean.
    pub(super) refusals: Vec<RefusalRule>,
    /// What people and models are told.
    pub(super) telling: Telling,
}

/// A handler, and what is made of its answer.
#[derive(Debug)]
pub(super) struct Handled {
    /// What is run.
    pub(super) handler: Named,
    /// What people and models are told.
    pub(super) telling: Telling,
}

/// What people are shown before, and callers are told afterwards.
#[derive(Debug)]
pub(super) struct Telling {
    /// The JSON Pointers into the dry run's answer that a confirmation is bound to; empty: all of it.
    pub(super) fingerprint: Vec<String>,
    /// What a person is shown.
    pub(super) preview: PreviewTemplate,
    /// The fields of the answer that the caller gets; `None`: all.
    pub(super) output: Option<Vec<String>>,
    /// The answer in words for the model.
    pub(super) reply: Option<Template>,
}

impl Work {
    /// The catalogue's request, where there is one.
    pub(super) fn described(&self) -> Option<&Described> {
        match self {
            Self::Described(described) => Some(described),
            Self::Handled(_) | Self::Tool(_) | Self::Question(_) | Self::PassedOn => None,
        }
    }

    /// What is told of a call, where the catalogue says it.
    pub(super) fn telling(&self) -> Option<&Telling> {
        match self {
            Self::Described(described) => Some(&described.telling),
            Self::Handled(handled) => Some(&handled.telling),
            Self::Tool(tool) => Some(&tool.telling),
            Self::Question(_) | Self::PassedOn => None,
        }
    }
}
