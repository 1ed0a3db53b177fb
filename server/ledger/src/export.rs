//! A file of leaves with proofs: JSON Lines, a header and then a line for each leaf, in the order of their indexes.
//!
//! A *whole* export has every leaf up to its newer checkpoint, so that the whole tree can be built again. A *selection* has
//! some of them, each with the proof that it is in that tree (RFC 9162, section 2.1.3).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hash::Hash;
use crate::leaf::{self, Salt};

/// The version of these files.
pub const VERSION: u64 = 1;

/// Which leaves are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All.
    Whole,
    /// Some.
    Selection,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the file.
    pub countersign_ledger: u64,
    /// Which leaves are there.
    pub extent: Extent,
    /// How many lines follow.
    pub lines: u64,
    /// What the checkpoints are signed with, as the desk tells it.
    pub key: String,
    /// An older checkpoint; `null`: there is none.
    pub old: Option<String>,
    /// The checkpoint that the leaves are proven against.
    pub new: String,
    /// For a selection: that older trees went on as the newer one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consistency: Vec<Consistency>,
}

/// That the tree began so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consistency {
    /// How many leaves it had.
    pub size: u64,
    /// The proof (RFC 9162, section 2.1.4).
    pub proof: Vec<Hash>,
}

/// A leaf, to be written.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// Its place in the tree, from 0.
    pub index: u64,
    /// Its hash as the ledger keeps it.
    pub hash: Hash,
    /// Its salt; `None`: it has been erased with the record, as retention does.
    pub salt: Option<Salt>,
    /// Its record as canonical JSON; `None`: there is none any more.
    pub record: Option<String>,
    /// That it is in the tree, of a selection.
    pub proof: Option<Vec<Hash>>,
}

/// The line of a leaf, as it is read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line<'l> {
    pub(crate) index: u64,
    pub(crate) leaf: Hash,
    #[serde(borrow, default)]
    pub(crate) salt: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    pub(crate) record: Option<&'l RawValue>,
    #[serde(default)]
    pub(crate) proof: Option<Vec<Hash>>,
}

impl Header {
    /// As a line, with its end.
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl Leaf {
    /// Puts its line, with its end, behind a text.
    pub fn write(&self, text: &mut String) {
        use std::fmt::Write as _;
        // Writing into a text cannot fail.
        let _ = write!(text, r#"{{"index":{},"leaf":"{}""#, self.index, self.hash);
        if let Some(salt) = &self.salt {
            let _ = write!(text, r#","salt":"{}""#, leaf::written(salt));
        }
        if let Some(record) = &self.record {
            let _ = write!(text, r#","record":{record}"#);
        }
        if let Some(proof) = &self.proof {
            let _ = write!(text, r#","proof":{}"#, serde_json::to_string(proof).unwrap_or_default());
        }
        text.push_str("}\n");
    }
}
