//! A secret that was just made.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A secret that was just made, shown on the answer to the form and nowhere else: neither in an address nor in a log; and
/// whether it takes the place of an earlier one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownOnce(pub(crate) String, pub(crate) bool);

impl fmt::Debug for ShownOnce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShownOnce")
    }
}
