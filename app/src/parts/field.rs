//! A form made from a JSON Schema: one labelled control a field, and the way back from text to JSON.

use std::sync::Arc;

use leptos::prelude::*;
use model::FieldError;
use serde_json::{Map, Number, Value};

use super::{alert, text};
use crate::form::{Fields, PREFIX, Posted};

/// Fields that steer the call itself; a person's form needs none of them.
const CONTROL: [&str; 3] = ["dry_run", "confirm_token", "idempotency_key"];

/// What kind of control a field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Line(&'static str),
    Text,
    Number,
    Integer,
    Tick,
    Choice,
    Json,
}

/// One field of the schema.
struct Field<'a> {
    name: &'a str,
    schema: &'a Value,
    is_required: bool,
    kind: Kind,
}

/// Every field of the schema that a person fills in, in the schema's order.
fn fields(schema: &Value) -> Vec<Field<'_>> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    properties
        .iter()
        .filter(|(name, _)| !CONTROL.contains(&name.as_str()))
        .map(|(name, schema)| Field {
            name,
            schema,
            is_required: required.contains(&name.as_str()),
            kind: kind(name, schema),
        })
        .collect()
}

fn kind(name: &str, schema: &Value) -> Kind {
    if schema["enum"].is_array() {
        return Kind::Choice;
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), Some("date")) => Kind::Line("date"),
        (Some("string"), Some("email")) => Kind::Line("email"),
        (Some("string"), Some("uri")) => Kind::Line("url"),
        (Some("string"), Some(_)) => Kind::Line("text"),
        (Some("string"), None) => {
            let is_short = schema["maxLength"].as_u64().is_some_and(|most| most <= 200);
            let is_long_by_name =
                ["body", "text", "message", "description", "note", "content"].contains(&name);
            if is_short || !is_long_by_name { Kind::Line("text") } else { Kind::Text }
        }
        (Some("number"), _) => Kind::Number,
        (Some("integer"), _) => Kind::Integer,
        (Some("boolean"), _) => Kind::Tick,
        _ => Kind::Json,
    }
}

/// The controls of every field, with what was typed and what was wrong with it.
pub(crate) fn controls(schema: &Value, posted: Option<&Arc<Posted>>) -> AnyView {
    fields(schema).iter().map(|field| control(field, posted)).collect_view().into_any()
}

fn control(field: &Field<'_>, posted: Option<&Arc<Posted>>) -> AnyView {
    let name = format!("{PREFIX}{}", field.name);
    let id = format!("field-{}", field.name);
    let fault = alert::of_field(posted, &pointer(field.name)).or_else(|| below(posted, field.name));
    let typed = posted.map_or_else(|| default(field), |posted| posted.typed(&name));
    let has_hint = field.schema["description"].is_string() || field.kind == Kind::Json;
    let described = match (has_hint, fault.is_some()) {
        (false, false) => None,
        (true, is_wrong) => Some(alert::described(&id, is_wrong)),
        (false, true) => Some(format!("{id}-wrong")),
    };
    let is_wrong = fault.is_some().then_some("true");
    let input = input_of(field, &id, name, typed, described, is_wrong);
    let label = label(field);
    let optional = (!field.is_required && field.kind != Kind::Tick)
        .then(|| view! { <span class="optional">"optional"</span> });
    let hint = has_hint.then(|| view! { <p class="hint" id=format!("{id}-hint")>{hint(field)}</p> });
    let wrong = alert::beside(format!("{id}-wrong"), fault);
    if field.kind == Kind::Tick {
        return view! { <div class="field field-tick">{input}<label for=id>{label}</label>{hint}{wrong}</div> }.into_any();
    }
    view! { <div class="field"><label for=id>{label}</label>{optional}{hint}{input}{wrong}</div> }.into_any()
}

fn label(field: &Field<'_>) -> AnyView {
    if let Some(title) = field.schema["title"].as_str() {
        return text::line(title);
    }
    let words = field.name.replace(['_', '-'], " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    text::line(&(first + letters.as_str()))
}

fn hint(field: &Field<'_>) -> AnyView {
    let said = field.schema["description"].as_str().unwrap_or_default();
    let json = (field.kind == Kind::Json).then_some("Written as JSON. ");
    view! { {json} {text::line(said)} }.into_any()
}

/// The control itself. Text controls throughout, also for numbers: what was typed is kept even when it is no number.
fn input_of(
    field: &Field<'_>,
    id: &str,
    name: String,
    typed: String,
    described: Option<String>,
    is_wrong: Option<&'static str>,
) -> AnyView {
    let id = id.to_owned();
    match field.kind {
        Kind::Line(kind) => view! { <input id=id name=name type=kind value=typed aria-describedby=described aria-invalid=is_wrong/> }.into_any(),
        Kind::Number | Kind::Integer => {
            let mode = if field.kind == Kind::Integer { "numeric" } else { "decimal" };
            view! { <input id=id name=name class="short" type="text" inputmode=mode value=typed aria-describedby=described aria-invalid=is_wrong/> }.into_any()
        }
        Kind::Text => view! { <textarea id=id name=name rows="6" aria-describedby=described aria-invalid=is_wrong inner_html=text::content(&typed)></textarea> }.into_any(),
        Kind::Json => view! { <textarea id=id name=name class="code" rows="4" spellcheck="false" aria-describedby=described aria-invalid=is_wrong inner_html=text::content(&typed)></textarea> }.into_any(),
        Kind::Tick => view! { <input id=id name=name type="checkbox" value="true" checked=typed == "true" aria-describedby=described aria-invalid=is_wrong/> }.into_any(),
        Kind::Choice => {
            let options: Vec<_> = choices(field.schema)
                .into_iter()
                .map(|choice| { let is_chosen = choice == typed; view! { <option value=choice.clone() selected=is_chosen>{text::plain(&choice)}</option> } })
                .collect();
            let none = (!field.is_required || typed.is_empty()).then(|| view! { <option value="">"Choose"</option> });
            view! { <select id=id name=name aria-describedby=described aria-invalid=is_wrong>{none}{options}</select> }.into_any()
        }
    }
}

/// What a choice is called in the form: a text as it is, anything else as JSON.
fn choice_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn choices(schema: &Value) -> Vec<String> {
    schema["enum"].as_array().map(|values| values.iter().map(choice_text).collect()).unwrap_or_default()
}

fn default(field: &Field<'_>) -> String {
    match &field.schema["default"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The JSON Pointer of a field (RFC 6901).
fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// What is wrong somewhere below a field that is written as JSON.
fn below(posted: Option<&Arc<Posted>>, name: &str) -> Option<String> {
    let fault = posted?.fault.as_ref()?;
    let start = format!("{}/", pointer(name));
    let messages: Vec<String> = fault
        .errors
        .iter()
        .filter_map(|error| Some(format!("At {}: {}", error.field.strip_prefix(&start)?, error.message)))
        .collect();
    (!messages.is_empty()).then(|| messages.join(" "))
}

/// The input object of a filled-in form. A field left empty is left out. What is no number stays text, so that the
/// pipeline's own check says what is wrong with it, together with every other fault.
pub(crate) fn input(schema: &Value, typed: &Fields) -> Result<Map<String, Value>, Vec<FieldError>> {
    let mut input = Map::new();
    let mut errors = Vec::new();
    for field in fields(schema) {
        let text = typed.iter().find(|(name, _)| name == field.name).map(|(_, text)| text.as_str());
        match value(&field, text) {
            Ok(Some(value)) => drop(input.insert(field.name.to_owned(), value)),
            Ok(None) => {}
            Err(message) => errors.push(FieldError::new(pointer(field.name), message)),
        }
    }
    if errors.is_empty() { Ok(input) } else { Err(errors) }
}

fn value(field: &Field<'_>, typed: Option<&str>) -> Result<Option<Value>, &'static str> {
    if field.kind == Kind::Tick {
        let is_ticked = typed.is_some();
        let must_be_said = field.is_required || is_ticked || field.schema["default"] == Value::Bool(true);
        return Ok(must_be_said.then_some(Value::Bool(is_ticked)));
    }
    let Some(text) = typed.filter(|text| !text.is_empty()) else { return Ok(None) };
    let as_text = || Value::String(text.to_owned());
    Ok(Some(match field.kind {
        // A browser posts every line break as CR LF (HTML, "constructing the entry list"); what was typed had none.
        Kind::Text => Value::String(text.replace("\r\n", "\n")),
        Kind::Number | Kind::Integer => {
            text.trim().parse::<Number>().map_or_else(|_| as_text(), Value::Number)
        }
        Kind::Choice => {
            let values = field.schema["enum"].as_array().map(Vec::as_slice).unwrap_or_default();
            values.iter().find(|value| choice_text(value) == text).cloned().unwrap_or_else(as_text)
        }
        Kind::Json => return serde_json::from_str(text).map(Some).map_err(|_| "This is not JSON."),
        Kind::Line(_) | Kind::Tick => as_text(),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn typed(pairs: &[(&str, &str)]) -> Fields {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn from_text_to_json() {
        let schema = json!({ "type": "object", "required": ["to", "agree"], "properties": {
            "to": { "type": "string" }, "body": { "type": "string" }, "amount": { "type": "number" },
            "count": { "type": "integer" }, "agree": { "type": "boolean" }, "urgent": { "type": "boolean" },
            "level": { "enum": ["low", 2] }, "lines": { "type": "array" }, "dry_run": { "type": "boolean" } } });
        let fields = typed(&[
            ("to", ""),
            ("body", "a\r\nb"),
            ("amount", "12345678901234567890"),
            ("count", "two"),
            ("level", "2"),
            ("lines", "[1, {}]"),
            ("dry_run", "true"),
            ("other", "x"),
        ]);
        let read = input(&schema, &fields).unwrap_or_default();
        assert_eq!(
            Value::Object(read),
            json!({ "body": "a\nb", "amount": 12_345_678_901_234_567_890_u64,
            "count": "two", "agree": false, "level": 2, "lines": [1, {}] })
        );
    }

    #[test]
    fn json_that_is_none() {
        let schema = json!({ "properties": { "a/b": { "type": "object" } } });
        let errors = input(&schema, &typed(&[("a/b", "{")])).err().unwrap_or_default();
        assert_eq!(errors, vec![FieldError::new("/a~1b", "This is not JSON.")]);
    }
}
