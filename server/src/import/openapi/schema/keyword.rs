//! Keywords whose value is no schema: kept where JSON Schema 2020-12 takes them.

use std::collections::BTreeSet;

use serde_json::{Number, Value};

use crate::import::formats::FORMATS;
use crate::import::openapi::prose;

const TYPES: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];

/// The most choices that are written out, and the longest pattern.
const MOST_CHOICES: usize = 150;
const LONGEST_PATTERN: usize = 500;

/// A keyword's value as it is kept.
pub(super) fn plain(name: &str, value: &Value, notes: &mut BTreeSet<String>) -> Option<Value> {
    match name {
        "type" => kinds(value),
        "description" => described(value),
        "format" => value.as_str().filter(|format| FORMATS.contains(format)).map(Value::from),
        "pattern" => pattern(value, notes),
        "enum" => choices(value, notes),
        "const" => usable(value),
        "required" => required(value),
        "uniqueItems" => (value == &Value::Bool(true)).then(|| value.clone()),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.as_number().map(number),
        "multipleOf" => {
            value.as_number().filter(|step| step.as_f64().is_some_and(|step| step > 0.0)).map(number)
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            count(value).filter(|count| !name.starts_with("min") || *count > 0).map(Value::from)
        }
        "dependentRequired" => {
            value.as_object().filter(|table| table.values().all(is_names)).map(|_| value.clone())
        }
        _ => None,
    }
}

/// Whether this is a regular expression that can be used, of a sane length.
pub(super) fn is_pattern(text: &str) -> bool {
    let schema = serde_json::json!({ "pattern": text });
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).offline();
    text.len() <= LONGEST_PATTERN && !text.contains('\0') && options.build(&schema).is_ok()
}

fn kinds(value: &Value) -> Option<Value> {
    let known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    match value {
        Value::Array(kinds) => {
            let mut kept: Vec<Value> = Vec::new();
            for kind in kinds.iter().filter(|kind| known(kind)) {
                if !kept.contains(kind) {
                    kept.push(kind.clone());
                }
            }
            match kept.len() {
                0 => None,
                1 => kept.pop(),
                _ => Some(Value::Array(kept)),
            }
        }
        one => known(one).then(|| one.clone()),
    }
}

fn described(value: &Value) -> Option<Value> {
    let text = prose::plain(value.as_str()?, super::LONGEST_DESCRIPTION);
    (!text.is_empty()).then(|| Value::from(text))
}

fn pattern(value: &Value, notes: &mut BTreeSet<String>) -> Option<Value> {
    let text = value.as_str()?;
    if is_pattern(text) {
        return Some(Value::from(text));
    }
    notes.insert("a pattern that cannot be used here is left to the service".to_owned());
    None
}

/// The choices, each once. Null stays: it is taken apart later.
fn choices(value: &Value, notes: &mut BTreeSet<String>) -> Option<Value> {
    let written = value.as_array()?;
    if written.len() > MOST_CHOICES {
        notes.insert(format!("a list of more than {MOST_CHOICES} choices is left to the service"));
        return None;
    }
    let mut kept: Vec<Value> = Vec::new();
    for choice in written {
        let choice = if choice.is_null() { Some(Value::Null) } else { usable(choice) };
        let choice = choice?;
        if !kept.contains(&choice) {
            kept.push(choice);
        }
    }
    (!kept.is_empty()).then_some(Value::Array(kept))
}

/// A value that the file can hold: it has no null, and no whole number beyond 64 bits.
fn usable(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Number(written) => Some(number(written)),
        Value::Array(items) => items.iter().map(usable).collect::<Option<Vec<_>>>().map(Value::Array),
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, inner)| Some((name.clone(), usable(inner)?)));
            entries.collect::<Option<serde_json::Map<_, _>>>().map(Value::Object)
        }
        other => Some(other.clone()),
    }
}

/// A number as the file can hold it.
fn number(written: &Number) -> Value {
    match (written.as_i64(), written.as_f64()) {
        (None, Some(float)) => Value::from(float),
        _ => Value::Number(written.clone()),
    }
}

fn count(value: &Value) -> Option<u64> {
    let most = u64::try_from(i64::MAX).unwrap_or(u64::MAX);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and in range"
    )]
    let whole = |float: f64| ((0.0..9e15).contains(&float) && float.fract() == 0.0).then_some(float as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(whole)).filter(|count| *count <= most)
}

fn required(value: &Value) -> Option<Value> {
    let mut names: Vec<&str> = Vec::new();
    for name in value.as_array()?.iter().filter_map(Value::as_str) {
        if !names.contains(&name) && !name.chars().any(super::unfit) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| Value::from(names))
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}
