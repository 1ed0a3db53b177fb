//! One request on its way through the pipeline, as its caller and its deciders see it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::words::words;
use crate::{AgentId, CallId, Effect, PersonId, Preview, Problem, ReceiptId, Surface, Time};

words! {
    /// Where a call stands.
    CallStatus {
        /// In the durable queue.
        Queued = "queued",
        /// Waiting for a person.
        Held = "held",
        /// Confirmed, not yet sent: it can still be undone.
        Approved = "approved",
        /// Bytes may be on their way.
        Sending = "sending",
        /// A handler written in Rust is at work.
        Running = "running",
        /// Done.
        Done = "done",
        /// The upstream or the action said no.
        Refused = "refused",
        /// A person said no.
        Declined = "declined",
        /// Nobody answered in time.
        Expired = "expired",
        /// The agent or its owner took it back.
        Withdrawn = "withdrawn",
        /// The upstream failed or was not reached.
        Failed = "failed",
        /// Nobody knows whether it happened.
        InDoubt = "in_doubt",
    }
}

impl CallStatus {
    /// Whether nothing more happens to the call by itself. In doubt counts: only a person or a late answer moves it.
    pub const fn is_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Held | Self::Approved | Self::Sending | Self::Running)
    }

    /// Whether the write happened: yes, no, or (`None`) nobody can tell now.
    pub const fn executed(self) -> Option<bool> {
        match self {
            Self::Done => Some(true),
            Self::Sending | Self::Running | Self::InDoubt => None,
            _ => Some(false),
        }
    }
}

/// Where a call stands: the answer of `GET /v1/calls/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Call {
    /// The call's id.
    pub id: CallId,
    /// Where it stands.
    pub status: CallStatus,
    /// Whether the write happened; `null` while nobody can tell.
    pub executed: Option<bool>,
    /// The action's name.
    pub action: String,
    /// What it does to the world.
    pub effect: Effect,
    /// Where it came in.
    pub surface: Surface,
    /// The agent that called, if one did.
    pub agent_id: Option<AgentId>,
    /// Whose call it is; `null` for a public one.
    pub person_id: Option<PersonId>,
    /// The agent's session.
    pub session: Option<String>,
    /// When it came in.
    pub created_at: Time,
    /// When it lapses, while it is held.
    pub expires_at: Option<Time>,
    /// When a person decided.
    pub decided_at: Option<Time>,
    /// The declining person's words.
    pub decline_reason: Option<String>,
    /// The receipt, once there is one.
    pub receipt_id: Option<ReceiptId>,
    /// What the action answered, as long as it is kept.
    #[schema(value_type = Object, nullable)]
    pub result: Option<Value>,
    /// The answer in words for the model, as long as it is kept.
    pub reply: Option<String>,
    /// Why it did not end as done.
    pub problem: Option<Problem>,
    /// Earlier sends of this call that are known not to have happened.
    pub attempts: Vec<Attempt>,
}

/// One try to send a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// When it ended.
    pub at: Time,
    /// What the upstream answered; `null` when it was not reached.
    pub upstream_status: Option<u16>,
}

/// A held call with what its decider is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HeldCall {
    /// The call.
    #[serde(flatten)]
    pub call: Call,
    /// It is confirmed with a passkey, in the browser: `approve_url` of the answer to its caller. Declined anywhere.
    pub step_up: bool,
    /// What would be sent.
    pub preview: Preview,
    /// The person in whose place this one decides it while a delegation runs; not there: by their own right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#for: Option<PersonId>,
}
