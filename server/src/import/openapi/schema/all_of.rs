//! `allOf`: how documents write inheritance. Parts that describe one object become one object.

use serde_json::{Map, Value};

/// What a part may say so that it can be put together with others.
const SIMPLE: &[&str] = &["type", "properties", "required", "description", "additionalProperties"];

/// Puts the parts of `allOf` together where that says the same.
pub(super) fn merge(schema: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = schema.shift_remove("allOf") else { return };
    let parts: Vec<Value> = parts.into_iter().filter(says_something).collect();
    if let [Value::Object(only)] = parts.as_slice()
        && only.keys().all(|key| !schema.contains_key(key) || key == "description" || key == "type")
    {
        for (key, value) in only {
            schema.entry(key.clone()).or_insert_with(|| value.clone());
        }
    } else if is_object(schema) && parts.iter().all(|part| part.as_object().is_some_and(is_object)) {
        for part in &parts {
            part.as_object().into_iter().for_each(|part| add(schema, part));
        }
        // Each part is closed for itself only; together they would take nothing.
        schema.shift_remove("additionalProperties");
        schema.insert("type".to_owned(), Value::from("object"));
    } else if !parts.is_empty() {
        schema.insert("allOf".to_owned(), Value::Array(parts));
    }
}

fn says_something(part: &Value) -> bool {
    part.as_object().is_some_and(|part| part.keys().any(|key| key != "description"))
}

fn is_object(part: &Map<String, Value>) -> bool {
    part.keys().all(|key| SIMPLE.contains(&key.as_str()))
        && part.get("type").is_none_or(|kind| kind == "object")
}

fn add(schema: &mut Map<String, Value>, part: &Map<String, Value>) {
    if let Some(Value::Object(fields)) = part.get("properties") {
        let into = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(into) = into {
            for (name, field) in fields {
                into.insert(name.clone(), field.clone());
            }
        }
    }
    if let Some(Value::Array(names)) = part.get("required") {
        let into = schema.entry("required").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(into) = into {
            for name in names {
                if !into.contains(name) {
                    into.push(name.clone());
                }
            }
        }
    }
    if let Some(words) = part.get("description") {
        schema.entry("description").or_insert_with(|| words.clone());
    }
}
