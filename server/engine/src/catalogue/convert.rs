//! Conversions of what a caller gave, before it is validated.

use std::str::FromStr;

use chrono::{DateTime, NaiveDate};
use serde_json::{Number, Value};

use super::document::{Entry, Kind, Node, Section, unknown_word};
use super::mistake::{Notes, Wrong};
use super::names::Names;

/// What is made of a text before it is validated. A value that is no text stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// Spaces at both ends go.
    Trim,
    /// A JSON number.
    Number,
    /// A whole number that fits into 64 bits.
    Integer,
    /// `true`, `yes`, `on`, `1`, or their opposites.
    Boolean,
    /// A date such as 2026-11-30; of a time its date.
    Date,
    /// Lower case.
    Lowercase,
    /// Upper case.
    Uppercase,
}

const WORDS: &[&str] = &["trim", "number", "integer", "boolean", "date", "lowercase", "uppercase"];

impl FromStr for Conversion {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Ok(match word {
            "trim" => Self::Trim,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            "date" => Self::Date,
            "lowercase" => Self::Lowercase,
            "uppercase" => Self::Uppercase,
            _ => return Err(()),
        })
    }
}

/// Reads `convert`: of each field one conversion, or several in order.
pub(super) fn read(section: &Section<'_>, names: &Names) -> Vec<(String, Vec<Conversion>)> {
    let entries =
        section.get("convert").and_then(|node| node.table("“convert”", section.notes)).unwrap_or_default();
    entries.iter().map(|entry| (entry.key.clone(), conversions(entry, names, section.notes))).collect()
}

fn conversions(entry: &Entry, names: &Names, notes: &Notes<'_>) -> Vec<Conversion> {
    if !names.allow(&entry.key) {
        let wrong = Wrong::new(format!("the input has no “{}”", entry.key));
        notes.add(&entry.key_span, wrong.nearest(&entry.key, names.iter()));
    }
    let written: Vec<&Node> = match &entry.node.kind {
        Kind::Array(items) => items.iter().collect(),
        _ => vec![&entry.node],
    };
    let read = |node: &Node| {
        let text = node.text("a conversion", notes)?;
        let conversion = text.parse().ok();
        if conversion.is_none() {
            notes.add(&node.span, unknown_word("conversion", text, WORDS));
        }
        conversion
    };
    written.into_iter().filter_map(read).collect()
}

impl Conversion {
    /// The converted value, or what is wrong with the given one.
    pub(super) fn apply(self, value: Value) -> Result<Value, &'static str> {
        let Value::String(text) = &value else { return Ok(value) };
        let trimmed = text.trim();
        match self {
            Self::Trim => Ok(Value::from(trimmed)),
            Self::Lowercase => Ok(Value::from(text.to_lowercase())),
            Self::Uppercase => Ok(Value::from(text.to_uppercase())),
            Self::Number => number(trimmed).map(Value::Number).ok_or("This has to be a number."),
            Self::Integer => integer(trimmed).map(Value::Number).ok_or("This has to be a whole number."),
            Self::Boolean => boolean(trimmed).map(Value::Bool).ok_or("This has to be true or false."),
            Self::Date => date(trimmed).map(Value::String).ok_or("This has to be a date such as 2026-11-30."),
        }
    }
}

/// A whole number exactly, or any JSON number.
fn number(text: &str) -> Option<Number> {
    integer(text)
        .or_else(|| text.parse::<Number>().ok().filter(|number| number.as_f64().is_some_and(f64::is_finite)))
}

fn integer(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn date(text: &str) -> Option<String> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let date = date.or_else(|| DateTime::parse_from_rfc3339(text).ok().map(|time| time.date_naive()));
    date.map(|date| date.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conversions() {
        let cases = [
            (Conversion::Trim, json!("  a "), Ok(json!("a"))),
            (Conversion::Number, json!(" 1.50 "), Ok(json!(1.5))),
            (Conversion::Number, json!("18446744073709551615"), Ok(json!(u64::MAX))),
            (Conversion::Number, json!("ten"), Err("This has to be a number.")),
            (Conversion::Number, json!("NaN"), Err("This has to be a number.")),
            (Conversion::Number, json!(""), Err("This has to be a number.")),
            (Conversion::Number, json!(7), Ok(json!(7))),
            (Conversion::Integer, json!("-9223372036854775808"), Ok(json!(i64::MIN))),
            (Conversion::Integer, json!("007"), Ok(json!(7))),
            (Conversion::Integer, json!("18446744073709551616"), Err("This has to be a whole number.")),
            (Conversion::Integer, json!("1.0"), Err("This has to be a whole number.")),
            (Conversion::Boolean, json!("On"), Ok(json!(true))),
            (Conversion::Boolean, json!("0"), Ok(json!(false))),
            (Conversion::Boolean, json!("maybe"), Err("This has to be true or false.")),
            (Conversion::Date, json!("2026-11-30"), Ok(json!("2026-11-30"))),
            (Conversion::Date, json!("2026-11-30T23:00:00+02:00"), Ok(json!("2026-11-30"))),
            (Conversion::Date, json!("2026-02-30"), Err("This has to be a date such as 2026-11-30.")),
            (Conversion::Lowercase, json!("ÄB"), Ok(json!("äb"))),
            (Conversion::Uppercase, json!("ß"), Ok(json!("SS"))),
            (Conversion::Uppercase, json!(null), Ok(json!(null))),
        ];
        for (conversion, given, wanted) in cases {
            assert_eq!(conversion.apply(given.clone()), wanted, "{conversion:?} of {given}");
        }
    }
}
