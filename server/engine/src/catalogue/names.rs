//! The names that an input object may have, as far as its schema tells.

use serde_json::{Map, Value};

/// The names that an input object may have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// In the order of the schema.
    pub(super) known: Vec<String>,
    /// Other names are allowed too.
    pub(super) open: bool,
}

impl Names {
    /// The names that a schema has: its own properties, and those of the schemas it is put together from.
    pub(super) fn of(schema: &Value) -> Self {
        let mut names = Self::default();
        names.collect(schema, schema, 0);
        names.open |= ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| schema.get(keyword).is_some_and(|rest| *rest != Value::Bool(false)));
        names
    }

    /// Whether an input may have this name.
    pub(super) fn allow(&self, name: &str) -> bool {
        self.open || self.knows(name)
    }

    /// Whether the schema says something about this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.known.iter().any(|known| known == name)
    }

    /// The known names.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(String::as_str)
    }

    /// Adds a name.
    pub(super) fn add(&mut self, name: &str) {
        if !self.knows(name) {
            self.known.push(name.to_owned());
        }
    }

    fn collect(&mut self, schema: &Value, root: &Value, depth: usize) {
        const DEEPEST: usize = 8;
        if depth > DEEPEST {
            self.open = true;
            return;
        }
        for name in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            self.add(name);
        }
        self.open |=
            schema.get("patternProperties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
        for part in parts(schema, root) {
            self.collect(part, root, depth + 1);
        }
    }
}

/// The schemas that apply to the same object.
fn parts<'s>(schema: &'s Value, root: &'s Value) -> Vec<&'s Value> {
    let listed = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword).and_then(Value::as_array))
        .flatten();
    let single = ["if", "then", "else"].into_iter().filter_map(|keyword| schema.get(keyword));
    let dependent =
        schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let referred = schema.get("$ref").and_then(Value::as_str).and_then(|target| local(target, root));
    listed.chain(single).chain(dependent).chain(referred).collect()
}

/// The schema that a schema which is a mere reference within the document stands for; any other is itself.
pub(super) fn referred<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    /// References that lead to references; a circle of them has no end.
    const LONGEST: usize = 8;
    let mut schema = schema;
    for _ in 0..LONGEST {
        let target =
            schema.get("$ref").and_then(Value::as_str).filter(|_| schema.get("properties").is_none());
        match target.and_then(|target| local(target, root)) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

/// What a reference within the document refers to.
fn local<'s>(target: &str, root: &'s Value) -> Option<&'s Value> {
    root.pointer(target.strip_prefix('#')?)
}

/// Whether the schema is put together from others, so that `additionalProperties` would not see all its properties.
pub(super) fn is_composed(schema: &Value) -> bool {
    ["allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref"]
        .iter()
        .any(|keyword| schema.get(keyword).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_come_from_every_part() {
        let schema = json!({
            "properties": { "a": {} },
            "allOf": [{ "properties": { "b": {} } }, { "$ref": "#/$defs/c" }],
            "$defs": { "c": { "properties": { "c": {} } } },
        });
        let names = Names::of(&schema);
        assert_eq!(names.known, ["a", "b", "c"]);
        assert!(!names.open);
        assert!(Names::of(&json!({ "additionalProperties": { "type": "string" } })).open);
    }
}
