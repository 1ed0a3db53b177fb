//! The document: read, of a version that is understood, with its references.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::unusable::Unusable;

/// How many references may follow each other without anything in between.
const LONGEST_CHAIN: usize = 32;

/// What the YAML reader may spend, beyond its own defaults: large public documents have some 600,000 nodes.
const YAML_NODES: usize = 4_000_000;
const YAML_DEPTH: usize = 120;

/// A document of a version that is understood.
#[derive(Debug)]
pub(super) struct Document {
    root: Value,
    /// 3.0, whose schemas are not yet those of JSON Schema 2020-12.
    pub(super) is_3_0: bool,
}

impl Document {
    /// Reads a document from JSON or YAML.
    pub(super) fn read(text: &str) -> Result<Self, Unusable> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = parse(text)?;
        if let Some(version) = root.get("swagger") {
            return Err(Unusable::Swagger(word(version)));
        }
        let version = root.get("openapi").map(word).ok_or(Unusable::NotOpenApi)?;
        let is_3_0 = is_version(&version, "3.0");
        if !is_3_0 && !is_version(&version, "3.1") {
            return Err(Unusable::Version(version.chars().take(20).collect()));
        }
        Ok(Self { root, is_3_0 })
    }

    /// A field of the document.
    pub(super) fn get(&self, field: &str) -> Option<&Value> {
        self.root.get(field)
    }

    /// An object of the document; empty when it is not there.
    pub(super) fn entries(&self, pointer: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.root.pointer(pointer).and_then(Value::as_object).into_iter().flat_map(Map::iter)
    }

    /// What a value is or refers to.
    ///
    /// # Errors
    /// Why the reference cannot be followed, as a part of a sentence.
    pub(super) fn resolve<'d>(&'d self, value: &'d Value) -> Result<&'d Value, String> {
        let mut value = value;
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = reference(value) else { return Ok(value) };
            value = self.target(reference)?;
        }
        Err("a reference that leads back to itself".to_owned())
    }

    /// What a reference refers to.
    ///
    /// # Errors
    /// Why it cannot be followed, as a part of a sentence.
    pub(super) fn target(&self, reference: &str) -> Result<&Value, String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(format!("a reference to another file, {}", shown(reference)));
        };
        let pointer = percent_decode_str(fragment).decode_utf8_lossy();
        self.root
            .pointer(&pointer)
            .ok_or_else(|| format!("a reference that leads nowhere, {}", shown(reference)))
    }
}

/// The reference that a value is.
pub(super) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref").and_then(Value::as_str)
}

fn parse(text: &str) -> Result<Value, Unusable> {
    let looks_like_json = text.trim_start().starts_with(['{', '[']);
    let json = if looks_like_json {
        serde_json::from_str(text).map_err(|error| error.to_string())
    } else {
        Err(String::new())
    };
    json.or_else(|json_error| {
        yaml(text).map_err(|yaml_error| {
            Unusable::Unreadable(if looks_like_json { json_error } else { first_line(&yaml_error) })
        })
    })
}

fn yaml(text: &str) -> Result<Value, String> {
    let budget = serde_saphyr::budget! {
        max_nodes: YAML_NODES,
        max_events: 2 * YAML_NODES,
        max_depth: YAML_DEPTH,
    };
    let options = serde_saphyr::options! { budget: budget, strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}

fn is_version(version: &str, wanted: &str) -> bool {
    version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A scalar as it was written, more or less.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A reference for a message.
fn shown(reference: &str) -> String {
    let plain: String = reference.chars().filter(|c| !c.is_control()).take(120).collect();
    format!("“{plain}”")
}
