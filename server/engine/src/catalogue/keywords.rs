//! The keywords of JSON Schema 2020-12, to find those that are misspelt: a schema takes unknown keywords in silence.

use super::document::{Entry, Kind, Node};
use super::mistake::{Notes, Wrong};

/// Whose value is a schema.
const ONE: &[&str] = &[
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "items",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// Whose value is a list of schemas.
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];

/// Whose value is a table of schemas.
const TABLE: &[&str] = &["properties", "patternProperties", "dependentSchemas", "$defs"];

/// Whose value is anything else.
const PLAIN: &[&str] = &[
    "$schema",
    "$id",
    "$ref",
    "$anchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$vocabulary",
    "$comment",
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxContains",
    "minContains",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
    "format",
    "contentEncoding",
    "contentMediaType",
    "title",
    "description",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "examples",
];

/// Notes every keyword of the schema that is nearly one of the known ones.
pub(super) fn check(schema: &Node, notes: &Notes<'_>) {
    let Kind::Table(entries) = &schema.kind else { return };
    for entry in entries {
        check_keyword(entry, notes);
    }
}

fn check_keyword(entry: &Entry, notes: &Notes<'_>) {
    let keyword = entry.key.as_str();
    if ONE.contains(&keyword) {
        return check(&entry.node, notes);
    }
    match &entry.node.kind {
        Kind::Array(items) if LIST.contains(&keyword) => {
            for item in items {
                check(item, notes);
            }
        }
        Kind::Table(inner) if TABLE.contains(&keyword) => {
            for entry in inner {
                check(&entry.node, notes);
            }
        }
        _ => check_spelling(entry, notes),
    }
}

fn check_spelling(entry: &Entry, notes: &Notes<'_>) {
    let known = || [ONE, LIST, TABLE, PLAIN].into_iter().flatten().copied();
    let keyword = entry.key.as_str();
    if keyword.starts_with("x-") || known().any(|known| known == keyword) {
        return;
    }
    let wrong = Wrong::new(format!("“{keyword}” is no keyword of JSON Schema")).nearest(keyword, known());
    if wrong.has_nearest() {
        notes.add(&entry.key_span, wrong);
    }
}
