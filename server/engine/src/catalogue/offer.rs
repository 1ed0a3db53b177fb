//! An action's schema as a caller is offered it.

use model::Effect;
use serde_json::{Map, Value, json};

/// The schema less the fixed fields, plus the control fields that the action takes.
pub(super) fn schema(own: &Value, fixed: &Map<String, Value>, control: &[&str]) -> Value {
    let mut schema = own.clone();
    let Some(object) = schema.as_object_mut() else { return schema };
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.retain(|name, _| !fixed.contains_key(name));
        properties.extend(control.iter().map(|name| ((*name).to_owned(), control_field(name))));
    }
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !fixed.contains_key(name)));
        if required.is_empty() {
            object.remove("required");
        }
    }
    schema
}

/// The control fields that an action of this effect takes.
pub(super) fn control(effect: Effect, replay: bool) -> Vec<&'static str> {
    let takes = [
        ("dry_run", effect.is_write()),
        ("idempotency_key", effect.is_write() && replay),
        ("confirm_token", effect.is_dangerous()),
    ];
    takes.into_iter().filter(|(_, taken)| *taken).map(|(name, _)| name).collect()
}

fn control_field(name: &str) -> Value {
    match name {
        "dry_run" => json!({
            "type": "boolean",
            "description": "Only show what would be done, and do nothing.",
        }),
        "idempotency_key" => json!({
            "type": "string",
            "minLength": 1,
            "maxLength": 128,
            "pattern": "^[\\x21-\\x7E]+$",
            "description": "Names this one request. A repeat with the same key and arguments is not done twice.",
        }),
        _ => json!({
            "type": "string",
            "description": "The token of the prompt that this call answers, with the same arguments as before.",
        }),
    }
}
