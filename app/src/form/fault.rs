//! What was wrong with a form.

use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use model::{FieldError, Preview, Refusal};
use serde::{Deserialize, Serialize};

/// What was wrong with a form, as the page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// The HTTP status.
    pub status: u16,
    /// What happened, what was or was not done, and what to do next.
    pub message: String,
    /// Every field that is at fault.
    pub errors: Vec<FieldError>,
    /// Seconds after which a repeat is worth it.
    pub retry_after: Option<u32>,
    /// The preview that was on the screen when it was confirmed, when it has changed since.
    pub shown: Option<Box<Preview>>,
}

impl Fault {
    /// A fault of the whole form.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), errors: Vec::new(), retry_after: None, shown: None }
    }

    /// A fault of one field.
    pub fn of_field(pointer: &str, message: &str, sentence: &str) -> Self {
        Self { errors: vec![FieldError::new(pointer, message)], ..Self::new(422, sentence) }
    }

    /// The form did not come as the page has it.
    pub fn unreadable() -> Self {
        Self::new(422, "This form did not arrive whole. Nothing was done. Fill it in again.")
    }

    /// Somebody has to sign in first.
    pub fn signed_out() -> Self {
        Self::new(401, "You are signed out. Nothing was done. Sign in and try again.")
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let problem = refusal.problem();
        let retry_after = refusal.retry_after();
        if matches!(refusal, Refusal::Invalid(_)) {
            let sentence = "Nothing was done: some fields are at fault. Mend them and try again.";
            return Self { errors: problem.errors, ..Self::new(problem.status, sentence) };
        }
        Self { errors: problem.errors, retry_after, ..Self::new(problem.status, problem.detail) }
    }
}

impl FromServerFnError for Fault {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(_: ServerFnErrorErr) -> Self {
        Self::unreadable()
    }
}
