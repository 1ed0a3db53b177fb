//! What comes after a form that was taken.

use model::{Answer, PersonId};
use serde::{Deserialize, Serialize};

use super::{Fields, MadeKey, ShownOnce, Told};

/// What comes after a form that was taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Next {
    /// Go there: a path on this desk.
    Go(String),
    /// Somebody signed in: begin a fresh session for them, and go there.
    SignedIn {
        /// Who.
        person: PersonId,
        /// Their epoch when they proved it (`engine::sign_in::SignedIn`).
        epoch: i64,
        /// Where to.
        to: String,
    },
    /// Somebody has proved anew who they are: give their session a fresh id, and go there.
    Renewed(String),
    /// End the session.
    SignedOut,
    /// Show the form's page with this answer.
    Show(Box<Answer>),
    /// Show the form's page with the key that was made.
    Made(Box<MadeKey>),
    /// Show the form's page with this secret, once: it stands in no address, and nowhere afterwards.
    Once(ShownOnce),
    /// Show the form's page again with this in it: nothing was done and nothing is wrong.
    Fill(Fields),
    /// Show what came of several calls.
    Told(Vec<Told>),
}
