//! What was done: facts only. There is no field for a body, a query, a header or a key, so none can leak.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;
use crate::{AgentId, ApprovalId, PersonId, ReceiptId, Surface, Time};

words! {
    /// What allowed a call.
    ApprovalKind {
        /// A person confirmed it.
        Person = "person",
        /// The caller confirmed it with a token.
        ConfirmToken = "confirm_token",
        /// A standing grant of a person.
        Grant = "grant",
        /// An operator overrode the approvers.
        Override = "override",
        /// Nobody had to.
        None = "none",
    }
}

words! {
    /// How a send ended, as far as anybody knows.
    Outcome {
        /// The upstream answered.
        Done = "done",
        /// Bytes may have left and no answer was seen.
        InDoubt = "in_doubt",
        /// A person found that it happened.
        SettledHappened = "settled_happened",
        /// A person found that it did not happen.
        SettledDidNotHappen = "settled_did_not_happen",
    }
}

/// What allowed a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// The approval's id, of a standing grant the grant's; `null` when nobody had to approve.
    pub id: Option<ApprovalId>,
    /// What it was.
    pub kind: ApprovalKind,
    /// The people who confirmed; of an override who overrode; of a standing grant who made it.
    pub by: Vec<PersonId>,
    /// For each of `by` the one in whose place they confirmed while a delegation ran; `null`: they did by their own right.
    /// Only there when somebody confirmed in another's place.
    #[serde(default, skip_serializing_if = "all_for_themselves")]
    pub r#for: Vec<Option<PersonId>>,
    /// The words of whoever overrode; of no other kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When the last of them did; of a standing grant when it was made.
    pub at: Option<Time>,
}

fn all_for_themselves(voices: &[Option<PersonId>]) -> bool {
    voices.iter().all(Option::is_none)
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// The receipt's id.
    pub id: ReceiptId,
    /// When it was written.
    pub at: Time,
    /// For whom; `null` for a public call.
    pub person_id: Option<PersonId>,
    /// The agent that called, if one did.
    pub agent_id: Option<AgentId>,
    /// The agent's session.
    pub session: Option<String>,
    /// The name of the credential used.
    pub credential: Option<String>,
    /// The action's name.
    pub action: String,
    /// Where the call came in.
    pub surface: Surface,
    /// Upper-case method; `RUN` when the action is done by a handler written in Rust.
    pub method: String,
    /// The address, without query and user info; of a handler `handler:NAME`.
    pub url: String,
    /// Bytes of the body sent; of a handler, of its input as canonical JSON.
    pub body_size: u64,
    /// SHA-256 of the body sent, lower-case hex.
    pub body_sha256: String,
    /// What allowed it.
    pub approval: Approval,
    /// What the upstream answered; `null` while nobody knows, and for a handler.
    pub upstream_status: Option<u16>,
    /// How it ended.
    pub outcome: Outcome,
}

/// What of a receipt a person is shown and an export holds: less than the receipt, without the digest, and with names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReceiptFacts {
    /// The receipt's id.
    pub id: ReceiptId,
    /// When it was written.
    pub at: Time,
    /// For whom; `null` for a public call.
    pub person_id: Option<PersonId>,
    /// Their name.
    pub person: Option<String>,
    /// The agent that called, if one did.
    pub agent_id: Option<AgentId>,
    /// Its name.
    pub agent: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The name of the credential used.
    pub credential: Option<String>,
    /// The action's name.
    pub action: String,
    /// Where the call came in.
    pub surface: Surface,
    /// Upper-case method; `RUN` when the action is done by a handler written in Rust.
    pub method: String,
    /// The address, without query and user info; of a handler `handler:NAME`.
    pub url: String,
    /// Bytes of the body sent; of a handler, of its input as canonical JSON.
    pub body_size: u64,
    /// What allowed it.
    pub approval: Approval,
    /// The names of the people who confirmed, in the order of `approval.by`.
    pub approved_by: Vec<String>,
    /// The names of those in whose place they confirmed, in the order of `approval.for`; `null`: by their own right.
    pub approved_for: Vec<Option<String>>,
    /// What the upstream answered; `null` while nobody knows, and for a handler.
    pub upstream_status: Option<u16>,
    /// How it ended.
    pub outcome: Outcome,
}

impl ReceiptFacts {
    /// Host and path, without scheme; of a handler its name.
    pub fn host_and_path(&self) -> &str {
        self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest)
    }
}
