//! The body of a request: JSON or a form, its fields among the arguments where they have names.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::document::Document;
use super::inputs::{Inputs, as_json, expression};
use super::operation::Operation;
use super::parameter::Place;
use super::schema::{self, kind, properties, requires};
use super::words::is_plain;

/// The deepest nesting that a form's names in brackets follow.
const DEEPEST: usize = 4;

/// A body, as the catalogue writes it.
#[derive(Debug)]
pub(super) struct Body {
    /// `json` or `form`.
    pub(super) key: &'static str,
    pub(super) template: Value,
    /// The media type, where it is not the one that goes without saying.
    pub(super) media_type: Option<String>,
}

/// A media type that the document names, and its object.
type Offered<'d> = (&'d str, &'d Value);

/// The body of an operation; its fields become arguments. `None`: it has none.
///
/// # Errors
/// Why the operation cannot be taken, as the end of a sentence.
pub(super) fn body(
    document: &Document,
    operation: &Operation<'_>,
    inputs: &mut Inputs,
    notes: &mut BTreeSet<String>,
) -> Result<Option<Body>, String> {
    let Some(node) = operation.node.get("requestBody") else { return Ok(None) };
    let node = document.resolve(node).map_err(|reason| format!("its body is {reason}"))?;
    let offered: Vec<Offered<'_>> = node
        .get("content")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, media)| (name.as_str(), media))
        .collect();
    if offered.is_empty() {
        return Ok(None);
    }
    if matches!(operation.method.as_str(), "GET" | "HEAD" | "OPTIONS") {
        notes.insert(format!("its body is left out: a {} request carries none", operation.method));
        return Ok(None);
    }
    let required = node.get("required") == Some(&Value::Bool(true));
    if let Some(offer) = pick(&offered, is_json) {
        return json_body(document, offer, inputs, notes).map(Some);
    }
    match pick(&offered, |name| name == "application/x-www-form-urlencoded") {
        Some(offer) => form_body(document, offer, inputs, notes).map(Some),
        None => without_body(&offered, required, operation, notes),
    }
}

/// A body that an action cannot carry.
fn without_body(
    offered: &[Offered<'_>],
    required: bool,
    operation: &Operation<'_>,
    notes: &mut BTreeSet<String>,
) -> Result<Option<Body>, String> {
    let mut names: Vec<String> = offered.iter().map(|(name, _)| essence(name)).collect();
    names.dedup();
    let names = names.join(" or ");
    if operation.method == "DELETE" && !required {
        notes.insert(format!("its body of {names} is left out"));
        return Ok(None);
    }
    Err(format!("its body is {names}; an action carries JSON or a form"))
}

/// The first that fits, the one that says no more than it has to before the others.
fn pick<'d>(offered: &[Offered<'d>], fits: impl Fn(&str) -> bool) -> Option<Offered<'d>> {
    let plain =
        offered.iter().find(|(name, _)| essence(name) == "application/json" && fits("application/json"));
    plain.or_else(|| offered.iter().find(|(name, _)| fits(&essence(name)))).copied()
}

/// A media type without its parameters.
fn essence(name: &str) -> String {
    name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_json(name: &str) -> bool {
    name == "*/*" || name == "application/*" || name.ends_with("/json") || name.ends_with("+json")
}

fn json_body(
    document: &Document,
    (media_type, node): Offered<'_>,
    inputs: &mut Inputs,
    notes: &mut BTreeSet<String>,
) -> Result<Body, String> {
    let schema = converted(document, node, notes)?;
    let goes_without_saying = media_type.contains('*') || essence(media_type) == "application/json";
    let said = (!goes_without_saying && http::HeaderValue::from_str(media_type).is_ok())
        .then(|| essence(media_type));
    let template =
        if is_flat(&schema) { spread(&schema, inputs) } else { json!(expression(&whole(schema, inputs))) };
    Ok(Body { key: "json", template, media_type: said })
}

fn converted(document: &Document, media: &Value, notes: &mut BTreeSet<String>) -> Result<Value, String> {
    match media.get("schema") {
        Some(node) => {
            schema::convert(document, node, notes).map_err(|reason| format!("its body has {reason}"))
        }
        None => Ok(json!({})),
    }
}

/// Whether the schema is an object whose fields are all known, so that they can stand beside the parameters.
fn is_flat(schema: &Value) -> bool {
    let composed =
        ["anyOf", "allOf", "patternProperties", "additionalProperties", "minProperties", "dependentRequired"]
            .iter()
            .any(|keyword| schema.get(keyword).is_some_and(|value| value != &Value::Bool(false)));
    kind(schema) == Some("object") && properties(schema).next().is_some() && !composed
}

/// The body as one argument.
fn whole(schema: Value, inputs: &mut Inputs) -> String {
    inputs.add("body", Place::Body, true, schema)
}

/// The body's fields as arguments, and the template that puts them together again.
fn spread(schema: &Value, inputs: &mut Inputs) -> Value {
    let alone = inputs.len() == 0;
    let mut template = Map::new();
    let mut renamed = false;
    for (wire, field) in properties(schema) {
        let name = inputs.add(wire, Place::Body, requires(schema, wire), field.clone());
        renamed |= name != *wire;
        template.insert(wire.clone(), json!(expression(&name)));
    }
    if alone && !renamed { json!("{{ input }}") } else { Value::Object(template) }
}

fn form_body(
    document: &Document,
    (_, node): Offered<'_>,
    inputs: &mut Inputs,
    notes: &mut BTreeSet<String>,
) -> Result<Body, String> {
    let schema = converted(document, node, notes)?;
    if properties(&schema).next().is_none() {
        return Err("its body is a form without known fields".to_owned());
    }
    let mut pairs = Map::new();
    for (wire, field) in properties(&schema) {
        let style = node.pointer(&format!("/encoding/{}/style", super::escape(wire)));
        let bracketed = style == Some(&json!("deepObject"));
        let Some(field) = (if bracketed { writable(field, wire, 0, notes) } else { Some(field.clone()) })
        else {
            continue;
        };
        let name = inputs.add(wire, Place::Body, requires(&schema, wire), field.clone());
        match (kind(&field), bracketed) {
            (Some("object"), true) => flatten(&mut pairs, Some(wire), &format!("input.{name}"), &field),
            (Some("array"), true) => drop(pairs.insert(format!("{wire}[]"), json!(expression(&name)))),
            (Some("object"), false) => drop(pairs.insert(wire.clone(), json!(as_json(&name)))),
            _ => drop(pairs.insert(wire.clone(), json!(expression(&name)))),
        }
    }
    Ok(Body { key: "form", template: Value::Object(pairs), media_type: None })
}

/// A schema cut to what names in brackets can write; `None`: nothing of it.
pub(super) fn writable(
    schema: &Value,
    wire: &str,
    depth: usize,
    notes: &mut BTreeSet<String>,
) -> Option<Value> {
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    if let Some(alternatives) = alternatives.filter(|list| list.iter().any(is_nested)) {
        notes.insert(format!("of the forms of its field {} one was taken", super::quoted(wire)));
        return alternatives.iter().find_map(|one| writable(one, wire, depth, &mut BTreeSet::new()));
    }
    let list_of_nested = kind(schema) == Some("array") && schema.get("items").is_none_or(is_nested);
    let cut = if kind(schema) == Some("object") && depth < DEEPEST {
        cut_object(schema, wire, depth, notes)
    } else {
        (!is_nested(schema) && !list_of_nested).then(|| schema.clone())
    };
    if cut.is_none() {
        notes.insert(format!("its field {} is left out: a template cannot write it", super::quoted(wire)));
    }
    cut
}

fn cut_object(schema: &Value, wire: &str, depth: usize, notes: &mut BTreeSet<String>) -> Option<Value> {
    let mut fields = Map::new();
    for (name, inner) in properties(schema).filter(|(name, _)| is_plain(name)) {
        let kept = writable(inner, &format!("{wire}[{name}]"), depth + 1, notes);
        kept.map(|kept| fields.insert(name.clone(), kept));
    }
    let mut cut = schema.as_object().cloned().filter(|_| !fields.is_empty())?;
    if let Some(names) = cut.get_mut("required").and_then(Value::as_array_mut) {
        names.retain(|name| name.as_str().is_some_and(|name| fields.contains_key(name)));
    }
    cut.insert("properties".to_owned(), Value::Object(fields));
    cut.insert("additionalProperties".to_owned(), json!(false));
    Some(Value::Object(cut))
}

/// Whether a value may be an object or hold one.
fn is_nested(schema: &Value) -> bool {
    match kind(schema) {
        Some("object") => true,
        Some("array") => schema.get("items").is_none_or(is_nested),
        _ => schema.get("properties").is_some(),
    }
}

/// A cut object's fields as pairs: under `prefix[field]`, or without a prefix under their own names.
pub(super) fn flatten(pairs: &mut Map<String, Value>, prefix: Option<&str>, path: &str, schema: &Value) {
    for (field, inner) in properties(schema) {
        let wire = prefix.map_or_else(|| field.clone(), |prefix| format!("{prefix}[{field}]"));
        let path = format!("{path}.{field}");
        match kind(inner) {
            Some("object") => flatten(pairs, Some(&wire), &path, inner),
            Some("array") if prefix.is_some() => {
                drop(pairs.insert(format!("{wire}[]"), json!(format!("{{{{ {path} }}}}"))));
            }
            _ => drop(pairs.insert(wire, json!(format!("{{{{ {path} }}}}")))),
        }
    }
}
