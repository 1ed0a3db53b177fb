//! What a person found out about a call whose outcome was not known.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;

words! {
    /// Whether the write happened.
    Finding {
        /// It did.
        Happened = "happened",
        /// It did not.
        DidNotHappen = "did_not_happen",
    }
}

/// What a person found out about a call whose outcome was not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Settlement {
    /// Whether the write happened.
    pub outcome: Finding,
    /// The person's words, at most 2,000 characters: how they know.
    #[serde(default)]
    #[schema(max_length = 2000)]
    pub reason: Option<String>,
}
