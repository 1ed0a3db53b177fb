//! Null: a switch in 3.0, a type or a choice in 3.1, and nothing that the file could hold as a value.

use serde_json::{Map, Value, json};

/// The schema with null allowed where it was, and without null as a value.
pub(super) fn apply(mut schema: Map<String, Value>, switched: bool) -> Value {
    let chosen = take_null_choice(&mut schema);
    if !switched && !chosen {
        return Value::Object(schema);
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.push(json!({ "type": "null" }));
        drop_null_type(&mut schema);
        return Value::Object(schema);
    }
    if schema.contains_key("enum") || schema.contains_key("const") || schema.contains_key("allOf") {
        drop_null_type(&mut schema);
        return beside_null(schema);
    }
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) if kind != "null" => vec![kind.clone(), "null".to_owned()],
        _ => return Value::Object(schema),
    };
    schema.insert("type".to_owned(), Value::from(kinds));
    Value::Object(schema)
}

/// Takes null out of the choices. True: it was one, and others are left or it was the only one.
fn take_null_choice(schema: &mut Map<String, Value>) -> bool {
    let Some(Value::Array(choices)) = schema.get_mut("enum") else { return false };
    let before = choices.len();
    choices.retain(|choice| !choice.is_null());
    let (left, had_null) = (choices.len(), choices.len() < before);
    if left == 0 {
        schema.shift_remove("enum");
        schema.insert("type".to_owned(), Value::from("null"));
        return false;
    }
    had_null
}

/// `anyOf` the schema or null, with the words outside.
fn beside_null(mut schema: Map<String, Value>) -> Value {
    let described = schema.shift_remove("description");
    let mut whole = Map::new();
    described.map(|text| whole.insert("description".to_owned(), text));
    whole.insert("anyOf".to_owned(), json!([schema, { "type": "null" }]));
    Value::Object(whole)
}

fn drop_null_type(schema: &mut Map<String, Value>) {
    let Some(Value::Array(kinds)) = schema.get_mut("type") else { return };
    kinds.retain(|kind| kind != "null");
    if let [only] = kinds.as_slice() {
        let only = only.clone();
        schema.insert("type".to_owned(), only);
    }
}
