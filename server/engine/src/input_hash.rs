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
        let mut arguments = Value::Object(arguments.clone());
        spell_large_numbers(&mut arguments);
        // What is left always has a canonical form; should it not, its own text stands for it.
        let text = serde_json_canonicalizer::to_vec(&arguments)
            .unwrap_or_else(|_| arguments.to_string().into_bytes());
        Self(Sha256::digest(text).into())
    }

    /// Of a request that is passed on as it is: method, address with query, and body.
    pub fn of_request(method: &str, url: &str, body: &[u8]) -> Self {
        let mut hash = Sha256::new();
        for part in [method.as_bytes(), url.as_bytes(), body] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The hash itself.
    pub const fn bytes(self) -> [u8; 32] {
        self.0
    }
}

/// The canonical form takes every number for a double, so that two large whole numbers could look alike. They are
/// spelt as texts instead, behind a NUL, which no argument can hold.
fn spell_large_numbers(value: &mut Value) {
    const EXACT: u64 = 1 << 53;
    match value {
        Value::Number(number) => {
            let large = number.as_u64().is_some_and(|n| n > EXACT)
                || number.as_i64().is_some_and(|n| n.unsigned_abs() > EXACT);
            if large {
                *value = Value::String(format!("\0{number}"));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(spell_large_numbers),
        Value::Object(map) => map.values_mut().for_each(spell_large_numbers),
        _ => {}
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

    #[test]
    fn large_whole_numbers_are_told_apart() {
        let number = |n: u64| hash(json!({ "a": [{ "b": n }] }));
        assert_ne!(number(9_007_199_254_740_992), number(9_007_199_254_740_993));
        assert_ne!(number(u64::MAX), number(u64::MAX - 1));
        assert_ne!(hash(json!({"a": i64::MIN})), hash(json!({"a": i64::MIN + 1})));
    }

    /// RFC 8785 has one spelling of a number, as long as a double holds it.
    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        for (whole, real) in
            [(1, 1.0), (1 << 53, 9_007_199_254_740_992.0), (-(1_i64 << 53), -9_007_199_254_740_992.0)]
        {
            assert_eq!(hash(json!({ "a": whole })), hash(json!({ "a": real })), "{whole}");
        }
    }

    #[test]
    fn its_bytes_tell_it_apart() {
        assert_ne!(hash(json!({"a": 1})).bytes(), hash(json!({"a": 2})).bytes());
    }
}
