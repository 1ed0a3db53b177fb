//! One page of a list.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One page of a list, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Listing<T> {
    /// At most `limit` items.
    pub items: Vec<T>,
    /// Opaque; give it back as `cursor` for the page after this one. `null` on the last page.
    pub next_cursor: Option<String>,
}

impl<T> Listing<T> {
    /// How many items a page has when the caller does not say.
    pub const DEFAULT_LIMIT: u32 = 50;
    /// The most items a caller may ask for.
    pub const MAX_LIMIT: u32 = 500;

    /// The same page with every item changed.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Listing<U> {
        Listing { items: self.items.into_iter().map(change).collect(), next_cursor: self.next_cursor }
    }
}
