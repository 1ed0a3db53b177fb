//! A journal line: ids and status only.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;
use crate::{AgentId, CallId, CallStatus, EventId, PersonId, ReceiptId, Surface, Time};

words! {
    /// What happened to a call.
    EventType {
        /// It waits for a person.
        Held = "call.held",
        /// A person said yes or no.
        Decided = "call.decided",
        /// An operator looked at what is in a call that others decide.
        Opened = "call.opened",
        /// An operator overrode those who decide it.
        Overridden = "call.overridden",
        /// A person took a yes back in time.
        Undone = "call.undone",
        /// A person told how a call with an unknown outcome ended.
        Settled = "call.settled",
        /// Done.
        Completed = "action.completed",
        /// The desk or the upstream said no.
        Refused = "action.refused",
        /// The upstream failed or was not reached.
        Failed = "action.failed",
        /// Answered from the receipt.
        Replayed = "action.replayed",
        /// A person said no.
        Declined = "action.declined",
        /// Nobody answered in time.
        Expired = "action.expired",
        /// The agent or its owner took the call back.
        Withdrawn = "action.withdrawn",
        /// Nobody knows whether it happened.
        InDoubt = "action.in_doubt",
        /// With this call a person let through more like it.
        GrantMade = "grant.made",
        /// A standing grant let this call through.
        GrantUsed = "grant.used",
        /// The standing grant that was made with this call has ended.
        GrantEnded = "grant.ended",
        /// Somebody revoked the standing grant that was made with this call.
        GrantRevoked = "grant.revoked",
    }
}

words! {
    /// What a person has proved anew who they are with, for one decision.
    Proof {
        /// A passkey, bound to that call and to the preview that was shown.
        Passkey = "passkey",
    }
}

/// A journal line: ids and status only, never an input value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// The event's id; ids sort by time.
    pub id: EventId,
    /// When it happened.
    pub at: Time,
    /// What happened.
    pub r#type: EventType,
    /// The call it happened to.
    pub call_id: CallId,
    /// The action's name.
    pub action: String,
    /// Where the call came in.
    pub surface: Surface,
    /// Whose call it is; `null` for a public one.
    pub person_id: Option<PersonId>,
    /// The agent that called, if one did.
    pub agent_id: Option<AgentId>,
    /// The agent's session.
    pub session: Option<String>,
    /// Where the call stands after this.
    pub status: CallStatus,
    /// What the upstream answered, if it did.
    pub upstream_status: Option<u16>,
    /// The receipt, if one was written.
    pub receipt_id: Option<ReceiptId>,
    /// Who did it: of `call.opened` and `call.overridden`, and of no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PersonId>,
    /// What whoever decided has proved anew who they are with, where the action asks for it (`step_up`).
    pub proof: Option<Proof>,
}
