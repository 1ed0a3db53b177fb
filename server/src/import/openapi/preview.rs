//! What a person is shown before a write: the verb and what it is done to, then every argument.

use std::collections::BTreeSet;

use model::Effect;
use serde_json::{Map, Value, json};

use super::document::Document;
use super::inputs::{Input, Inputs, expression};
use super::operation::Operation;
use super::parameter::Place;
use super::prose;
use super::schema::{self, kind};
use super::words::{is_plain, label};

/// The most fields that are written out; beyond, the desk shows every argument under its own name.
const MOST_FIELDS: usize = 12;
/// The same where values from before stand beside them.
const MOST_COMPARED: usize = 40;

/// Arguments that tell what a call is about, the best first.
const TELLING: &[&str] =
    &["name", "title", "subject", "email", "to", "recipient", "username", "number", "key", "id"];

/// A preview, and what a confirmation is bound to.
#[derive(Debug)]
pub(super) struct Preview {
    pub(super) written: Map<String, Value>,
    /// JSON Pointers into the dry run's answer; empty: all of it.
    pub(super) fingerprint: Vec<String>,
}

/// Writes the preview of a write. `before`: the scalar fields of what the dry run answers.
pub(super) fn preview(
    title: &str,
    effect: Effect,
    method: &str,
    inputs: &Inputs,
    before: &BTreeSet<String>,
) -> Preview {
    let told_by = identifying(effect, method, inputs);
    let mut written = Map::new();
    let values: Vec<String> = told_by.iter().map(|input| expression(&input.name)).collect();
    let verb = prose::title(title);
    let whole = if values.is_empty() { verb } else { format!("{verb}: {}", values.join(" / ")) };
    written.insert("title".to_owned(), json!(whole));
    if let (Effect::Destructive, Some(last)) = (effect, told_by.last()) {
        written.insert("target".to_owned(), json!(expression(&last.name)));
    }
    let compared: Vec<&str> = if effect == Effect::Write { compared(inputs, before) } else { Vec::new() };
    let most = if compared.is_empty() { MOST_FIELDS } else { MOST_COMPARED };
    if (1..=most).contains(&inputs.len()) {
        let fields: Vec<Value> = inputs.iter().map(|input| field(input, &compared)).collect();
        written.insert("fields".to_owned(), Value::Array(fields));
    }
    let fingerprint = if written.contains_key("fields") { compared } else { Vec::new() };
    Preview { written, fingerprint: fingerprint.iter().map(|name| format!("/{name}")).collect() }
}

/// The fields of an answer that can be shown beside what is given: scalars with plain names.
pub(super) fn answered_fields(document: &Document, operation: &Operation<'_>) -> BTreeSet<String> {
    let answer = operation.responses().find(|(status, _)| matches!(*status, "200" | "2XX" | "2xx"));
    let schema = answer.and_then(|(_, answer)| {
        let content = document.resolve(answer).ok()?.get("content")?.as_object()?;
        content.iter().find(|(name, _)| name.contains("json") || name.contains('*'))?.1.get("schema")
    });
    let converted = schema.and_then(|schema| schema::shallow(document, schema));
    let fields = converted.iter().flat_map(schema::properties);
    fields.filter(|(name, field)| is_plain(name) && is_scalar(field)).map(|(name, _)| name.clone()).collect()
}

fn is_scalar(schema: &Value) -> bool {
    matches!(kind(schema), Some("string" | "number" | "integer" | "boolean"))
}

/// The body's fields that the answer has too.
fn compared<'i>(inputs: &'i Inputs, before: &BTreeSet<String>) -> Vec<&'i str> {
    let same =
        |input: &&Input| input.place == Place::Body && is_plain(&input.wire) && is_scalar(&input.schema);
    inputs
        .iter()
        .filter(same)
        .filter(|input| before.contains(&input.wire))
        .map(|input| input.wire.as_str())
        .collect()
}

fn field(input: &Input, compared: &[&str]) -> Value {
    let mut field = json!({ "label": label(&input.wire), "value": expression(&input.name) });
    if input.place == Place::Body && compared.contains(&input.wire.as_str()) {
        let (wire, name) = (&input.wire, &input.name);
        let before = if input.required {
            format!("{{{{ dry_run.{wire} }}}}")
        } else {
            // What is not given stays as it is, so nothing is shown for it.
            format!("{{{{ dry_run.{wire} if input.{name} is defined }}}}")
        };
        field["before"] = Value::String(before);
    }
    field
}

/// What a call is about: what is made or sent, where one field tells that, and else the path's arguments.
fn identifying<'i>(effect: Effect, method: &str, inputs: &'i Inputs) -> Vec<&'i Input> {
    let in_path: Vec<&Input> = inputs.iter().filter(|input| input.place == Place::Path).collect();
    let makes = method == "POST" && effect != Effect::Destructive;
    if !in_path.is_empty() && !makes {
        return in_path;
    }
    let tells = |name: &&str| {
        let fits = |input: &&Input| {
            input.required && input.wire.eq_ignore_ascii_case(name) && is_scalar(&input.schema)
        };
        inputs.iter().filter(|input| input.place != Place::Path).find(fits)
    };
    TELLING.iter().find_map(tells).map_or(in_path, |input| vec![input])
}
