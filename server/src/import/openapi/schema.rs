//! The document's schemas as JSON Schema 2020-12: references resolved, the older dialect converted, sizes kept sane.
//!
//! What comes out may allow more than the document, never less: the service still judges, and a call that it would
//! take must not fail here.

mod all_of;
mod keyword;
mod nullable;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::document::{Document, reference};
use super::prose;

/// The deepest nesting that is tried first, and how many schemas may come out of one.
const DEEPEST: usize = 8;
const MOST: usize = 400;
/// How many schemas may come out of one that is hardly nested any more.
const MOST_FLAT: usize = 4_000;

/// The longest description of a field, in characters.
const LONGEST_DESCRIPTION: usize = 200;

/// Why a schema was not converted.
enum Stop {
    /// More than is sane; less deep may do.
    TooLarge,
    /// A reference that cannot be followed.
    Broken(String),
}

/// Converts a schema. `notes`: what was left out of it.
///
/// # Errors
/// Why it cannot be converted, as a part of a sentence.
pub(super) fn convert(
    document: &Document,
    schema: &Value,
    notes: &mut BTreeSet<String>,
) -> Result<Value, String> {
    for deepest in (1..=DEEPEST).rev() {
        let most = if deepest > 1 { MOST } else { MOST_FLAT };
        let mut conversion = Conversion {
            document,
            deepest,
            left: most,
            within: Vec::new(),
            notes: BTreeSet::new(),
            keeps_read_only: false,
        };
        match conversion.schema(schema, 0) {
            Ok(converted) => {
                notes.append(&mut conversion.notes);
                return Ok(converted);
            }
            Err(Stop::Broken(reason)) => return Err(reason),
            Err(Stop::TooLarge) => {}
        }
    }
    notes.insert("a schema that is too large was left open".to_owned());
    Ok(json!({}))
}

/// The surface of a schema: its own properties, open below them. `None`: it cannot be read.
pub(super) fn shallow(document: &Document, schema: &Value) -> Option<Value> {
    let mut conversion = Conversion {
        document,
        deepest: 1,
        left: MOST_FLAT,
        within: Vec::new(),
        notes: BTreeSet::new(),
        keeps_read_only: true,
    };
    conversion.schema(schema, 0).ok()
}

/// The one type of a schema other than null; `None`: several, or not said.
pub(super) fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            kinds.next().filter(|_| kinds.next().is_none())
        }
        _ => None,
    }
}

/// The properties of a converted schema.
pub(super) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

/// Whether a converted schema asks for this property.
pub(super) fn requires(schema: &Value, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|known| known == name))
}

/// One conversion, with what bounds it.
struct Conversion<'d> {
    document: &'d Document,
    deepest: usize,
    left: usize,
    /// The references on the way to here.
    within: Vec<&'d str>,
    notes: BTreeSet<String>,
    /// It is an answer: what only the service sets is in it.
    keeps_read_only: bool,
}

impl<'d> Conversion<'d> {
    fn schema(&mut self, schema: &'d Value, depth: usize) -> Result<Value, Stop> {
        self.left = self.left.checked_sub(1).ok_or(Stop::TooLarge)?;
        if let Some(reference) = reference(schema) {
            return self.reference(reference, schema, depth);
        }
        let Value::Object(written) = schema else {
            return Ok(schema.as_bool().map_or_else(|| json!({}), Value::Bool));
        };
        if depth > self.deepest {
            self.note("what is nested deeper than this file should show was left open");
            return Ok(stub(schema));
        }
        let mut converted = Map::new();
        for (name, value) in written {
            self.keyword(name, value, depth, &mut converted)?;
        }
        exclusive_bounds(written, &mut converted);
        if !self.keeps_read_only {
            leave_out_read_only(written, &mut converted);
        }
        all_of::merge(&mut converted);
        imply_type(&mut converted);
        put_in_order(&mut converted);
        Ok(nullable::apply(
            converted,
            self.document.is_3_0 && written.get("nullable") == Some(&Value::Bool(true)),
        ))
    }

    fn note(&mut self, words: &str) {
        self.notes.insert(words.to_owned());
    }

    /// What a reference refers to, with what stands beside it since 3.1.
    fn reference(&mut self, target: &'d str, beside: &'d Value, depth: usize) -> Result<Value, Stop> {
        let schema = self.document.target(target).map_err(Stop::Broken)?;
        if self.within.contains(&target) {
            self.note("a schema that refers to itself was left open at its second turn");
            return Ok(stub(schema));
        }
        self.within.push(target);
        let converted = self.schema(schema, depth);
        self.within.pop();
        let mut converted = converted?;
        let described =
            prose::field(beside, "description", LONGEST_DESCRIPTION).filter(|_| !self.document.is_3_0);
        if let (Some(object), Some(text)) = (converted.as_object_mut(), described) {
            object.insert("description".to_owned(), Value::String(text));
        }
        Ok(converted)
    }

    /// Converts one keyword, when it is one that is kept.
    fn keyword(
        &mut self,
        name: &str,
        value: &'d Value,
        depth: usize,
        into: &mut Map<String, Value>,
    ) -> Result<(), Stop> {
        let converted = match name {
            "items" if value.is_array() => return self.keyword("prefixItems", value, depth, into),
            "additionalProperties" if value.is_boolean() => {
                (value == &Value::Bool(false)).then(|| value.clone())
            }
            "items" | "propertyNames" | "additionalProperties" => Some(self.schema(value, depth + 1)?),
            "properties" => Some(self.table(value, depth)?),
            "patternProperties" => Some(self.pattern_table(value, depth)?),
            "allOf" => self.list(value, depth)?,
            "prefixItems" => self.list(value, depth + 1)?,
            // Alternatives of which exactly one may fit often overlap once they are cut; the service knows which it is.
            "anyOf" | "oneOf" if !into.contains_key("anyOf") => {
                let alternatives = self.list(value, depth + 1)?.and_then(alternatives);
                alternatives.map(|list| into.insert("anyOf".to_owned(), list));
                None
            }
            "not" | "if" | "dependentSchemas" | "contains" | "unevaluatedProperties" | "unevaluatedItems" => {
                self.note(&format!("the schema keyword “{name}” is left to the service"));
                None
            }
            "default" => None,
            _ => keyword::plain(name, value, &mut self.notes),
        };
        if let Some(converted) = converted {
            into.insert(name.to_owned(), converted);
        }
        Ok(())
    }

    fn list(&mut self, value: &'d Value, depth: usize) -> Result<Option<Value>, Stop> {
        let Some(items) = value.as_array().filter(|items| !items.is_empty()) else { return Ok(None) };
        let converted: Result<Vec<Value>, Stop> = items.iter().map(|item| self.schema(item, depth)).collect();
        converted.map(|list| Some(Value::Array(list)))
    }

    fn table(&mut self, value: &'d Value, depth: usize) -> Result<Value, Stop> {
        let mut table = Map::new();
        for (name, schema) in value.as_object().into_iter().flatten() {
            if name.is_empty() || name.chars().count() > 200 || name.chars().any(unfit) {
                self.note("a field whose name holds characters that cannot be seen was left out");
            } else {
                table.insert(name.clone(), self.schema(schema, depth + 1)?);
            }
        }
        Ok(Value::Object(table))
    }

    fn pattern_table(&mut self, value: &'d Value, depth: usize) -> Result<Value, Stop> {
        let mut table = Map::new();
        for (pattern, schema) in value.as_object().into_iter().flatten() {
            if keyword::is_pattern(pattern) {
                table.insert(pattern.clone(), self.schema(schema, depth + 1)?);
            }
        }
        Ok(Value::Object(table))
    }
}

/// In 3.0 the exclusive bounds are switches beside the bounds.
fn exclusive_bounds(written: &Map<String, Value>, into: &mut Map<String, Value>) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if written.get(exclusive) == Some(&Value::Bool(true))
            && let Some(limit) = into.shift_remove(bound)
        {
            into.insert(exclusive.to_owned(), limit);
        }
    }
}

/// What a schema says at its surface: its type and its words.
fn stub(schema: &Value) -> Value {
    let mut stub = Map::new();
    let mut nothing = BTreeSet::new();
    for name in ["type", "description"] {
        let kept = schema.get(name).and_then(|value| keyword::plain(name, value, &mut nothing));
        kept.map(|value| stub.insert(name.to_owned(), value));
    }
    let nullable = schema.get("nullable") == Some(&Value::Bool(true));
    nullable::apply(stub, nullable)
}

fn unfit(letter: char) -> bool {
    letter.is_control() || prose::is_invisible(letter)
}

/// Alternatives without repeats; `None`: one of them takes anything, so they say nothing.
fn alternatives(list: Value) -> Option<Value> {
    let Value::Array(items) = list else { return None };
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        let says_nothing =
            item.as_object().is_some_and(|object| object.keys().all(|key| key == "description"));
        if says_nothing || item == Value::Bool(true) {
            return None;
        }
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    Some(Value::Array(kept))
}

/// What only the service sets is nothing to give.
fn leave_out_read_only(written: &Map<String, Value>, into: &mut Map<String, Value>) {
    let fields = written.get("properties").and_then(Value::as_object).into_iter().flatten();
    let read_only: Vec<&String> = fields
        .filter(|(_, schema)| schema.get("readOnly") == Some(&Value::Bool(true)))
        .map(|(name, _)| name)
        .collect();
    if let Some(kept) = into.get_mut("properties").and_then(Value::as_object_mut) {
        kept.retain(|name, _| !read_only.contains(&name));
    }
    if let Some(names) = into.get_mut("required").and_then(Value::as_array_mut) {
        names.retain(|name| !read_only.iter().any(|read_only| name == *read_only));
    }
    if into.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        into.shift_remove("required");
    }
}

/// Many documents leave out what the other keywords imply.
fn imply_type(schema: &mut Map<String, Value>) {
    if schema.contains_key("type") || schema.contains_key("anyOf") || schema.contains_key("allOf") {
        return;
    }
    let implied = if schema.contains_key("properties") {
        "object"
    } else if schema.contains_key("items") {
        "array"
    } else {
        return;
    };
    schema.shift_insert(0, "type".to_owned(), Value::from(implied));
}

/// The type first, for who reads it; what is nested last.
fn put_in_order(schema: &mut Map<String, Value>) {
    if let Some(kind) = schema.shift_remove("type") {
        schema.shift_insert(0, "type".to_owned(), kind);
    }
    for last in ["description", "properties", "items", "anyOf", "allOf"] {
        if let Some(value) = schema.shift_remove(last) {
            schema.insert(last.to_owned(), value);
        }
    }
}
