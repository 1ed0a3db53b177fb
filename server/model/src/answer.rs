//! What a caller gets for a call that was not refused.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::words::words;
use crate::{CallId, Passed, Preview, ReceiptId, Time};

/// What a caller gets for a call that was not refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Answer {
    /// Answered from the receipt; nothing was sent. Stands first: it too has the status `done`.
    Replayed(Replayed),
    /// It was done.
    Done(Done),
    /// A request was passed on as it was, and this came back (fetch and via).
    Passed(Passed),
    /// A dry run: what would be sent.
    Preview(DryRun),
    /// The caller itself has to confirm, with a token.
    Prompt(Prompt),
    /// It waits for a person, or in the queue.
    Waiting(Waiting),
}

words! { /// The one status of `Done` and `Replayed`.
DoneStatus { /// Done.
    Done = "done" } }
words! { /// The one status of `DryRun`.
DryRunStatus { /// A preview.
    Preview = "preview" } }
words! { /// The one status of `Prompt`.
PromptStatus { /// The caller has to confirm.
    ConfirmationRequired = "confirmation_required" } }
words! { /// The statuses of `Waiting`.
WaitingStatus { /// For a person.
    Held = "held", /// In the queue.
    Queued = "queued" } }
words! { /// Why a prompt was made again.
PromptReason { /// The values changed since the last preview.
    Changed = "changed" } }

/// It was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Done {
    /// `done`.
    pub status: DoneStatus,
    /// `true`.
    pub executed: bool,
    /// What the action answered, cut to its declared output.
    #[schema(value_type = Object, nullable)]
    pub result: Value,
    /// The answer in words for the model.
    pub reply: Option<String>,
    /// The receipt; `null` for a read that needed no approval.
    pub receipt_id: Option<ReceiptId>,
}

/// A dry run: what would be sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DryRun {
    /// `preview`.
    pub status: DryRunStatus,
    /// `false`.
    pub executed: bool,
    /// What would be sent.
    pub preview: Preview,
}

/// The caller itself has to confirm, with a token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Prompt {
    /// `confirmation_required`.
    pub status: PromptStatus,
    /// `false`.
    pub executed: bool,
    /// To be given back as the argument `confirm_token`, once.
    pub confirm_token: String,
    /// What would be sent.
    pub preview: Preview,
    /// When the token lapses.
    pub expires_at: Time,
    /// Why the caller is asked again.
    pub reason: Option<PromptReason>,
}

/// It waits for a person, or in the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Waiting {
    /// `held` or `queued`.
    pub status: WaitingStatus,
    /// `false`.
    pub executed: bool,
    /// The call.
    pub call_id: CallId,
    /// The page where a person decides.
    pub approve_url: String,
    /// Where to ask how it stands.
    pub poll: String,
    /// When it lapses.
    pub expires_at: Option<Time>,
    /// For the model: nothing has been done, and what to do next.
    pub message: String,
}

/// Answered from the receipt; nothing was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Replayed {
    /// `true`.
    pub replayed: bool,
    /// The first call's receipt.
    pub receipt_id: Option<ReceiptId>,
    /// What the upstream answered then; `null` when a person settled it.
    pub original_status: Option<u16>,
    /// `done`.
    pub status: DoneStatus,
    /// The stored result, as long as it is kept and could be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub result: Option<Value>,
}
