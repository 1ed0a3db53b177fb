//! What a leaf commits to: a record as it was written, with a salt, so that nobody who has the hash alone can find out
//! the record by trying.
//!
//! The content of a leaf is its salt, 32 bytes, and behind it the record as canonical JSON (RFC 8785). The record is an
//! object with the `index` of its leaf, so that leaves cannot be put into another order, the `form` in which it is written,
//! and either a `receipt` or an `amendment`: what became known of a receipt later.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::hash::Hash;

/// The form in which records are written. Another one has another number; what was written once stays as it was.
pub const FORM: u64 = 1;

/// What keeps a record from being guessed by its hash: random bytes, of its own for each leaf.
pub type Salt = [u8; 32];

/// Which kind of record it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A receipt.
    Receipt,
    /// What became known of a receipt later: a settlement, or an answer that came late.
    Amendment,
}

impl Kind {
    /// Its name in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Receipt => "receipt",
            Self::Amendment => "amendment",
        }
    }
}

/// The record of the leaf with this index, as canonical JSON.
pub fn record(index: u64, kind: Kind, content: &Value) -> String {
    let record = json!({ "index": index, "form": FORM, (kind.as_str()): content });
    canonical(&record).unwrap_or_default()
}

/// A value as canonical JSON.
pub(crate) fn canonical(value: &Value) -> Option<String> {
    serde_json_canonicalizer::to_string(value).ok()
}

/// The hash of the leaf with this salt and record.
pub fn hash(salt: &Salt, record: &[u8]) -> Hash {
    Hash::of_leaf(&[salt, record])
}

/// A salt as text: base64 with padding.
pub fn written(salt: &Salt) -> String {
    STANDARD.encode(salt)
}

/// A salt that was written so.
pub fn read(text: &str) -> Option<Salt> {
    text.parse::<Hash>().ok().map(|bytes| bytes.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_the_hash_of_salt_and_canonical_record() {
        let content = json!({ "url": "https://a.example/ü", "id": "rct_1", "at": null });
        let record = record(7, Kind::Receipt, &content);
        assert_eq!(
            record,
            r#"{"form":1,"index":7,"receipt":{"at":null,"id":"rct_1","url":"https://a.example/ü"}}"#
        );
        let salt = [9; 32];
        let whole = [&[0][..], &salt, record.as_bytes()].concat();
        assert_eq!(
            hash(&salt, record.as_bytes()).0,
            <[u8; 32]>::from(<sha2::Sha256 as sha2::Digest>::digest(whole))
        );
        assert_eq!(read(&written(&salt)), Some(salt));
        assert_eq!(read("CQkJ"), None);
    }
}
