//! A JSON object read without a second meaning: what a person is shown must be what is sent, so nothing that two
//! readers could understand differently gets in (RFC 8259, section 4; RFC 7493).

use std::fmt;

use model::Refusal;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};

/// Reads one object. Keys that stand twice, numbers that would be changed by reading them, lone surrogates, broken
/// UTF-8 and more than 128 levels are refused.
///
/// # Errors
/// `Malformed`, with what is wrong in words.
pub(crate) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if bytes.trim_ascii().is_empty() {
        return Err(Refusal::Malformed(
            "The body is empty: send a JSON object, {} when there is nothing to say.",
        ));
    }
    match value(bytes)? {
        Value::Object(object) => Ok(object),
        _ => Err(Refusal::Malformed("The body is JSON but not an object.")),
    }
}

/// Reads any value in the same way.
///
/// # Errors
/// `Malformed`, with what is wrong in words.
pub(crate) fn value(bytes: &[u8]) -> Result<Value, Refusal> {
    match serde_json::from_slice(bytes) {
        Ok(Strict(value)) => Ok(value),
        Err(error) => Err(Refusal::Malformed(fault(&error))),
    }
}

/// The reader's error in fixed words: its own text may repeat the body.
fn fault(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        Category::Data if error.to_string().starts_with(TWICE) => {
            "An object in the body has the same key twice."
        }
        Category::Data => "A number in the body is larger than can be kept exactly: send it as a string.",
        Category::Eof => "The body ends before the JSON does.",
        Category::Syntax | Category::Io => "The body is not JSON (UTF-8, at most 128 levels deep).",
    }
}

/// How the two faults of the content are told apart.
const TWICE: &str = "key twice";
const INEXACT: &str = "inexact number";

/// From here on a floating-point number stands for more than one integer literal that the reader cannot keep.
const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;

/// A value in which nothing stands twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        if value.abs() >= TWO_TO_THE_64 {
            return Err(E::custom(INEXACT));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom(INEXACT))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let Strict(value) = map.next_value()?;
            if object.insert(key, value).is_some() {
                return Err(de::Error::custom(TWICE));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(body: &[u8]) -> &'static str {
        match object(body) {
            Err(Refusal::Malformed(words)) => words,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_object_is_read_as_it_stands() {
        let body =
            br#" {"b": [1, -2, 2.5, 18446744073709551615], "a": {"t": true, "n": null, "s": "\u00e9\n"}} "#;
        let read = object(body).expect("an object");
        let keys: Vec<_> = read.keys().map(String::as_str).collect();
        assert_eq!(keys, ["b", "a"]);
        assert_eq!(
            Value::Object(read),
            json!({"b": [1, -2, 2.5, 18_446_744_073_709_551_615_u64], "a": {"t": true, "n": null, "s": "é\n"}})
        );
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for body in [r#"{"a":1,"a":1}"#, r#"{"x":[{"a":1,"b":2,"a":3}]}"#, r#"{"a":1,"\u0061":2}"#] {
            assert_eq!(refused(body.as_bytes()), "An object in the body has the same key twice.");
        }
    }

    #[test]
    fn what_is_no_object_is_told_apart_from_what_is_no_json() {
        for body in ["[]", "1", "null", "\"text\"", "true"] {
            assert_eq!(refused(body.as_bytes()), "The body is JSON but not an object.");
        }
        for body in ["{a:1}", "{}{}", "{\"a\":1,}", "\u{feff}{}", "{\"a\":NaN}", "{\"a\":1e999}"] {
            assert_eq!(refused(body.as_bytes()), "The body is not JSON (UTF-8, at most 128 levels deep).");
        }
        assert!(refused(b"").starts_with("The body is empty"));
        assert!(refused(b" \n").starts_with("The body is empty"));
        assert_eq!(refused(b"{\"a\":"), "The body ends before the JSON does.");
    }

    #[test]
    fn broken_text_is_refused() {
        refused(b"{\"a\":\"\xff\"}");
        refused(br#"{"a":"\ud800"}"#);
        refused(br#"{"a":"\udc00\ud800"}"#);
        refused(br#"{"\ud800":1}"#);
        assert!(object(br#"{"a":"\ud83d\ude00"}"#).is_ok());
    }

    #[test]
    fn a_depth_bomb_is_refused_without_falling_over() {
        let bomb = format!("{{\"a\":{}", "[".repeat(400_000));
        refused(bomb.as_bytes());
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100));
        assert!(object(deep.as_bytes()).is_ok());
    }

    #[test]
    fn a_number_that_reading_would_change_is_refused() {
        let words = "A number in the body is larger than can be kept exactly: send it as a string.";
        assert_eq!(refused(br#"{"id":18446744073709551616}"#), words);
        assert_eq!(refused(br#"{"id":-123456789012345678901234567890}"#), words);
    }
}
