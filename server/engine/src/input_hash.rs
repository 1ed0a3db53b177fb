//! What a confirmation is bound to: the caller's arguments, and nothing else.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// SHA-256 over the canonical JSON (RFC 8785) of the caller's arguments, cut and without control fields, so that a
/// confirming call hashes like its preview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputHash([u8; 32]);

impl InputHash {
    /// Of the arguments that are left after the control fields were taken out.
    pub fn of(arguments: &Map<String, Value>) -> Self {
        // Numbers beyond the range of a double have no canonical form; their own text then stands for them.
        let text = serde_json_canonicalizer::to_vec(arguments)
            .unwrap_or_else(|_| Value::from(arguments.clone()).to_string().into_bytes());
        Self(Sha256::digest(text).into())
    }

    /// The hash itself.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hash(value: Value) -> InputHash {
        match value {
            Value::Object(map) => InputHash::of(&map),
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn order_does_not_matter_and_values_do() {
        assert_eq!(hash(json!({"a": 1, "b": [1, 2]})), hash(json!({"b": [1, 2], "a": 1})));
        assert_ne!(hash(json!({"a": 1})), hash(json!({"a": 2})));
        assert_ne!(hash(json!({"a": "1"})), hash(json!({"a": 1})));
        assert_ne!(hash(json!({"a": [1, 2]})), hash(json!({"a": [2, 1]})));
    }
}
