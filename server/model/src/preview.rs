//! What a person is shown before a call is sent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Effect;
use crate::words::words;

words! {
    /// What the preview rests on.
    Checked {
        /// A dry run against the upstream, just before.
        DryRun = "dry_run",
        /// The stored request alone.
        Rendered = "rendered",
    }
}

/// What a person is shown before a call is sent: written by the server from the stored request and the action's
/// template. Every field is whole; secrets never appear in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    /// Names exactly this preview; a Confirm must name the newest.
    pub version: String,
    /// Verb, object, target.
    pub title: String,
    /// One sentence more, may be empty.
    pub summary: String,
    /// The values that matter, with what they were before where the action can read it.
    pub fields: Vec<PreviewField>,
    /// What a person types to confirm a destructive call.
    pub target: Option<String>,
    /// What the call does to the world.
    pub effect: Effect,
    /// What exactly is sent.
    pub request: PreviewRequest,
    /// The agent's own reason: its words, checked by nobody.
    pub agent_words: Option<String>,
    /// What a person should notice before deciding.
    pub warnings: Vec<String>,
    /// What the preview rests on.
    pub checked: Checked,
}

/// One value of a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PreviewField {
    /// The field's name as people say it.
    pub label: String,
    /// The value as it would be.
    pub value: String,
    /// The value as it is now, where the action can read it.
    pub before: Option<String>,
}

/// What exactly is sent, less the credential's own header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PreviewRequest {
    /// Upper-case method; `RUN` when a handler written in Rust is run, and nothing is sent.
    pub method: String,
    /// Host, with its port when that is not the scheme's default; empty for a handler.
    pub host: String,
    /// Path as sent, percent-encoded; of a handler its name.
    pub path: String,
    /// Query as sent, without the question mark; empty when there is none.
    pub query: String,
    /// Headers as sent, in order.
    pub headers: Vec<PreviewHeader>,
    /// The body when it is UTF-8 text; of a handler its input as canonical JSON; `null` when there is none or it is binary.
    pub body: Option<String>,
    /// The name of the credential whose secret is put in when it is sent.
    pub credential: Option<String>,
}

/// One header of a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PreviewHeader {
    /// Lower-case name.
    pub name: String,
    /// Value as sent.
    pub value: String,
}
