//! Arguments that a tool wants in headers as well, for whoever routes requests without reading them (`x-mcp-header`,
//! SEP-2243).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// How an argument is marked.
const MARK: &str = "x-mcp-header";

/// One argument that goes into a header too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    /// The names on the way to it.
    path: Vec<String>,
    header: HeaderName,
}

impl ParamHeader {
    /// Every mark of a schema.
    ///
    /// # Errors
    /// What is wrong with a mark. A client may not use such a tool at all.
    pub(crate) fn of(schema: &Value) -> Result<Vec<Self>, &'static str> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found)?;
        if count_marks(schema, false) != found.len() {
            return Err("one of its x-mcp-header stands where no argument is");
        }
        for (index, one) in found.iter().enumerate() {
            if found[..index].iter().any(|other| other.header == one.header) {
                return Err("two of its arguments want the same header");
            }
        }
        Ok(found)
    }

    /// The header for these arguments; `None`: the argument is not given.
    pub(crate) fn write(&self, arguments: &Value) -> Option<(HeaderName, HeaderValue)> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return None,
        };
        Some((self.header.clone(), header_value(&text)?))
    }
}

/// A text as a header's value: bare where it can be, else marked as base64.
pub(super) fn header_value(text: &str) -> Option<HeaderValue> {
    let bare = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let written = if bare { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::try_from(written).ok()
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParamHeader>) -> Result<(), &'static str> {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        if let Some(mark) = property.get(MARK) {
            found.push(ParamHeader { path: path.clone(), header: header(mark, property)? });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn header(mark: &Value, property: &Value) -> Result<HeaderName, &'static str> {
    let name = mark.as_str().filter(|name| !name.is_empty()).ok_or("one of its x-mcp-header is no name")?;
    if !matches!(property.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        return Err("one of its x-mcp-header is on an argument that is no text, whole number or boolean");
    }
    HeaderName::try_from(format!("mcp-param-{name}")).map_err(|_| "one of its x-mcp-header is no name")
}

/// Every mark, wherever it stands; a property of that name is none.
fn count_marks(value: &Value, is_names: bool) -> usize {
    match value {
        Value::Object(entries) => of_entries(entries, is_names),
        Value::Array(items) => items.iter().map(|item| count_marks(item, false)).sum(),
        _ => 0,
    }
}

fn of_entries(entries: &Map<String, Value>, is_names: bool) -> usize {
    let own = usize::from(!is_names && entries.contains_key(MARK));
    let data = |name: &str| !is_names && matches!(name, "default" | "const" | "enum" | "examples" | MARK);
    let names = |name: &str| {
        !is_names
            && matches!(
                name,
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            )
    };
    let inner = entries.iter().filter(|(name, _)| !data(name));
    own + inner.map(|(name, value)| count_marks(value, names(name))).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn marked_arguments_go_into_headers() {
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "to": { "type": "object", "properties": { "floor": { "type": "integer", "x-mcp-header": "Floor" } } },
            "x-mcp-header": { "type": "string" },
        }});
        let headers = ParamHeader::of(&schema).expect("sound");
        let written: Vec<_> = headers
            .iter()
            .filter_map(|one| one.write(&json!({ "region": "north", "to": { "floor": 3 } })))
            .collect();
        let text: Vec<_> = written
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().expect("text")))
            .collect();
        assert_eq!(text, ["mcp-param-region: north", "mcp-param-floor: 3"]);
        assert_eq!(headers[0].write(&json!({})), None);
    }

    #[test]
    fn what_a_header_cannot_carry_is_base64() {
        for (text, value) in [
            ("a b", "a b"),
            (" a", "=?base64?IGE=?="),
            ("ü", "=?base64?w7w=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
            ("", ""),
        ] {
            assert_eq!(header_value(text).expect("a value").to_str().expect("text"), value, "{text:?}");
        }
    }

    #[test]
    fn a_broken_mark_is_told() {
        let marked = |mark: Value, kind: &str| json!({ "properties": { "a": { "type": kind, "x-mcp-header": mark } } });
        for schema in [
            marked(json!(""), "string"),
            marked(json!(1), "string"),
            marked(json!("a b"), "string"),
            marked(json!("A"), "object"),
            marked(json!("A"), "number"),
            json!({ "x-mcp-header": "A" }),
            json!({ "properties": { "a": { "items": { "type": "string", "x-mcp-header": "A" } } } }),
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" }, "b": { "type": "string", "x-mcp-header": "a" } } }),
        ] {
            assert!(ParamHeader::of(&schema).is_err(), "{schema}");
        }
    }
}
