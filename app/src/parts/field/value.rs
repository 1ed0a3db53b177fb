//! From what was typed to JSON.

use model::FieldError;
use serde_json::{Map, Number, Value};

use super::draft::{Draft, as_typed, step};
use super::shape::{Field, Shape};

/// The input object of a filled-in form, and what of it could not be read. A field left empty is left out; a row left
/// empty is null. What is no number or no JSON stays text, so that the pipeline's own check finds every other fault.
pub(crate) fn input(field: &Field, draft: &Draft) -> (Map<String, Value>, Vec<FieldError>) {
    let mut unread = Vec::new();
    let input = match value(field, "", draft, true, &mut unread) {
        Some(Value::Object(input)) => input,
        None => Map::new(),
        Some(_) => {
            if unread.is_empty() {
                unread.push(FieldError::new("", "This has to be an object, such as {}."));
            }
            Map::new()
        }
    };
    (input, unread)
}

/// The rows that are there with nothing in them, by their pointers.
pub(crate) fn empty_rows(field: &Field, draft: &Draft) -> Vec<String> {
    let mut found = Vec::new();
    gather_empty(field, "", draft, false, &mut found);
    found
}

fn gather_empty(field: &Field, at: &str, draft: &Draft, is_row: bool, found: &mut Vec<String>) {
    match &field.shape {
        Shape::Group(fields) => {
            for field in fields {
                gather_empty(field, &step(at, &field.name), draft, false, found);
            }
        }
        Shape::List { entry, .. } => {
            for index in 0..draft.rows(at) {
                gather_empty(entry, &step(at, &index.to_string()), draft, true, found);
            }
        }
        Shape::Tick => {}
        _ if is_row && draft.text(at).unwrap_or_default().is_empty() => found.push(at.to_owned()),
        _ => {}
    }
}

/// Whether nobody has put anything into it.
fn is_blank(field: &Field, at: &str, draft: &Draft) -> bool {
    match &field.shape {
        Shape::Group(fields) => fields.iter().all(|field| is_blank(field, &step(at, &field.name), draft)),
        // A row that somebody has added is something put in, with or without words in it.
        Shape::List { entry, least, .. } => {
            let count = draft.rows(at);
            count <= *least && (0..count).all(|index| is_blank(entry, &step(at, &index.to_string()), draft))
        }
        Shape::Tick => draft.text(at).is_some() == (field.default == Value::Bool(true)),
        _ => {
            let text = draft.text(at).unwrap_or_default();
            text.is_empty() || (!field.default.is_null() && text == as_typed(&field.default))
        }
    }
}

/// The value of a field; `None`: it is left out. `is_there`: it stands in the form for itself, as a row does.
fn value(
    field: &Field,
    at: &str,
    draft: &Draft,
    is_there: bool,
    errors: &mut Vec<FieldError>,
) -> Option<Value> {
    if !is_there && !field.is_required && !field.is_single() && is_blank(field, at, draft) {
        return None;
    }
    match &field.shape {
        Shape::Group(fields) => {
            let values = fields.iter().filter_map(|field| {
                Some((field.name.clone(), value(field, &step(at, &field.name), draft, false, errors)?))
            });
            Some(Value::Object(values.collect()))
        }
        Shape::List { entry, .. } => {
            let rows = (0..draft.rows(at)).map(|index| {
                value(entry, &step(at, &index.to_string()), draft, true, errors).unwrap_or_default()
            });
            Some(Value::Array(rows.collect()))
        }
        Shape::Tick => {
            let is_ticked = draft.text(at).is_some();
            let must_be_said =
                is_there || field.is_required || is_ticked || field.default == Value::Bool(true);
            must_be_said.then_some(Value::Bool(is_ticked))
        }
        _ => match draft.text(at).filter(|text| !text.is_empty()) {
            Some(text) => Some(single(field, text).unwrap_or_else(|| {
                errors.push(FieldError::new(at, "This is not JSON."));
                Value::String(text.to_owned())
            })),
            None => (field.is_required && field.is_nullable).then_some(Value::Null),
        },
    }
}

/// The value of a single control; `None`: it is written as JSON and is none.
fn single(field: &Field, text: &str) -> Option<Value> {
    let as_text = || Value::String(text.to_owned());
    Some(match &field.shape {
        // A browser posts every line break as CR LF (HTML, "constructing the entry list"); what was typed had none.
        Shape::Text => Value::String(text.replace("\r\n", "\n")),
        Shape::Number { .. } => text.trim().parse::<Number>().map_or_else(|_| as_text(), Value::Number),
        Shape::Choice(values) => {
            values.iter().find(|value| as_typed(value) == text).cloned().unwrap_or_else(as_text)
        }
        Shape::Json => return serde_json::from_str(text).ok(),
        _ => as_text(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(schema: &Value, pairs: &[(&str, &str)]) -> Result<Value, (Value, Vec<FieldError>)> {
        let fields = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (input, unread) = input(&Field::of_input(schema), &Draft::of(&fields));
        let input = Value::Object(input);
        if unread.is_empty() { Ok(input) } else { Err((input, unread)) }
    }

    #[test]
    fn from_text_to_json() {
        let schema = json!({ "type": "object", "required": ["to", "agree", "gone"], "properties": {
            "to": { "type": "string" }, "body": { "type": "string" }, "amount": { "type": "number" },
            "count": { "type": "integer" }, "agree": { "type": "boolean" }, "urgent": { "type": "boolean" },
            "level": { "enum": ["low", 2] }, "any": { "type": ["array", "object"] }, "dry_run": { "type": "boolean" },
            "gone": { "type": ["string", "null"] } } });
        let typed = [
            ("input/to", ""),
            ("input/body", "a\r\nb"),
            ("input/amount", "12345678901234567890"),
            ("input/count", "two"),
            ("input/level", "2"),
            ("input/any", "[1, {}]"),
            ("input/dry_run", "true"),
            ("input/other", "x"),
            ("input/gone", ""),
        ];
        let expected = json!({ "body": "a\nb", "amount": 12_345_678_901_234_567_890_u64,
            "count": "two", "agree": false, "level": 2, "any": [1, {}], "gone": null });
        assert_eq!(read(&schema, &typed), Ok(expected));
    }

    #[test]
    fn lists_and_groups() {
        let schema = json!({ "type": "object", "required": ["lines"], "properties": {
            "lines": { "type": "array", "items": { "type": "object", "required": ["what"], "properties": {
                "what": { "type": "string" }, "count": { "type": "integer", "default": 1 }, "gift": { "type": "boolean" } } } },
            "copies": { "type": "array", "items": { "type": "string" } },
            "flags": { "type": "array", "items": { "type": "boolean" } },
            "address": { "type": "object", "required": ["street"], "properties": {
                "street": { "type": "string" }, "country": { "type": "string", "default": "CH" } } } } });
        assert_eq!(read(&schema, &[("input/address/country", "CH")]), Ok(json!({ "lines": [] })));
        let typed = [
            ("rows/lines", "2"),
            ("input/lines/0/what", "cups"),
            ("input/lines/0/count", "4"),
            ("input/lines/1/count", ""),
            ("input/lines/1/gift", "true"),
            ("input/lines/2/what", "beyond the rows"),
            ("rows/copies", "2"),
            ("input/copies/0", "ann"),
            ("input/copies/1", ""),
            ("rows/flags", "2"),
            ("input/flags/1", "true"),
            ("input/address/country", "FR"),
        ];
        let expected = json!({ "lines": [{ "what": "cups", "count": 4 }, { "gift": true }],
            "copies": ["ann", null], "flags": [false, true], "address": { "country": "FR" } });
        assert_eq!(read(&schema, &typed), Ok(expected));
        let fields = typed.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!(empty_rows(&Field::of_input(&schema), &Draft::of(&fields)), ["/copies/1"]);
    }

    #[test]
    fn json_that_is_none() {
        let schema = json!({ "type": "object", "properties": { "a/b": { "type": "object" } } });
        let faults = |input: Value, pointer: &str, message: &str| {
            Err((input, vec![FieldError::new(pointer, message)]))
        };
        let kept = json!({ "a/b": "{" });
        assert_eq!(read(&schema, &[("input/a~1b", "{")]), faults(kept, "/a~1b", "This is not JSON."));
        let whole = json!({ "type": "object", "oneOf": [{ "properties": {} }] });
        assert_eq!(read(&whole, &[("input", r#"{"a": 1}"#)]), Ok(json!({ "a": 1 })));
        assert_eq!(
            read(&whole, &[("input", "[1]")]),
            faults(json!({}), "", "This has to be an object, such as {}.")
        );
        assert_eq!(read(&whole, &[("input", "{")]), faults(json!({}), "", "This is not JSON."));
        assert_eq!(read(&whole, &[]), Ok(json!({})));
    }
}
