//! One page of a list that can be turned both ways.

use model::{Listing, Time};

/// One page of a list that can be turned both ways, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf<T> {
    /// At most as many items as were asked for.
    pub items: Vec<T>,
    /// The cursor of the page with what is older; `None`: there is nothing.
    pub older: Option<String>,
    /// The cursor of the page with what is newer; `None`: this is the newest.
    pub newer: Option<String>,
    /// The page is not full because so much was looked through for it: it was left at this time, and its cursor goes on
    /// from there.
    pub looked_to: Option<Time>,
}

impl<T> Leaf<T> {
    /// A page with nothing on it, of a list with nothing in it.
    pub(crate) const fn empty() -> Self {
        Self { items: Vec::new(), older: None, newer: None, looked_to: None }
    }

    /// The same with other items.
    pub(crate) fn with<U>(self, items: Vec<U>) -> Leaf<U> {
        Leaf { items, older: self.older, newer: self.newer, looked_to: self.looked_to }
    }

    /// As a list that goes one way.
    pub fn into_listing(self) -> Listing<T> {
        Listing { items: self.items, next_cursor: self.older }
    }
}
