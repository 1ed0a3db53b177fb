//! What a person says to a held call.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;

words! {
    /// Yes or no.
    Verdict {
        /// Send exactly what was shown.
        Confirm = "confirm",
        /// Send nothing.
        Decline = "decline",
    }
}

/// What a person says to a held call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Yes or no.
    pub decision: Verdict,
    /// The version of the preview that was shown; needed to confirm.
    #[serde(default)]
    pub preview_version: Option<String>,
    /// The person's words, at most 2,000 characters; on a decline the agent is told.
    #[serde(default)]
    pub reason: Option<String>,
}
