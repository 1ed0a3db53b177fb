//! The pipeline types that the engine, the server functions and the pages share.
//!
//! Values and serde only: nothing here reads a clock, a socket, a file or a database.

pub mod words;

pub mod ability;
pub mod action;
pub mod answer;
pub mod call;
pub mod decision;
pub mod effect;
pub mod event;
pub mod id;
pub mod indent;
pub mod listing;
pub mod passed;
pub mod person;
pub mod preview;
pub mod problem;
pub mod receipt;
pub mod refusal;
pub mod settlement;
pub mod surface;
pub mod time;
pub mod visible;

pub use ability::Ability;
pub use action::OfferedAction;
pub use answer::Answer;
pub use call::{Attempt, Call, CallStatus, HeldCall};
pub use decision::{Decision, Verdict};
pub use effect::Effect;
pub use event::{Event, EventType, Proof};
pub use id::{
    AgentId, ApprovalId, BrowserId, BrowserSessionId, CallId, DelegationId, EventId, InvitationId, KeyId,
    NoticeId, PasskeyId, PauseId, PersonId, ReceiptId, TenantId,
};
pub use listing::Listing;
pub use passed::Passed;
pub use person::{Person, Role};
pub use preview::Preview;
pub use problem::{FieldError, Problem, ProblemCode};
pub use receipt::{Approval, ApprovalKind, Outcome, Receipt, ReceiptFacts};
pub use refusal::Refusal;
pub use settlement::{Finding, Settlement};
pub use surface::Surface;
pub use time::Time;
