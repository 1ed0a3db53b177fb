//! From what a caller gave to what is validated: cut, converted, completed.

use model::FieldError;
use serde_json::{Map, Value};

use super::action::Action;
use super::names::is_composed;
use super::schema::MOST_FAULTS;
use super::schema::escape;

/// The fields of a call that are the desk's and not the action's.
pub const CONTROL_FIELDS: &[&str] = &["dry_run", "idempotency_key", "confirm_token"];

/// Whether a name is one of the desk's own.
pub(super) fn is_control(name: &str) -> bool {
    CONTROL_FIELDS.contains(&name)
}

/// Step 6 on surface `mcp`: leaves only what is advertised, also within objects whose schema allows nothing more.
/// `dry_run` stays for reads too, which do not advertise it: who asks for a preview gets no more, on any surface.
pub fn cut_to_schema(action: &Action, arguments: Map<String, Value>) -> Map<String, Value> {
    let kept = arguments.into_iter().filter(|(name, _)| name == "dry_run" || is_advertised(action, name));
    kept.map(|(name, value)| {
        let value = match action.input.property(&name) {
            Some(schema) => cut_value(schema, value),
            None => value,
        };
        (name, value)
    })
    .collect()
}

/// Step 6 elsewhere: every argument that is not advertised, as a fault.
pub fn unknown_arguments(action: &Action, arguments: &Map<String, Value>) -> Vec<FieldError> {
    let unknown = arguments.keys().filter(|name| !is_advertised(action, name)).take(MOST_FAULTS);
    unknown
        .map(|name| FieldError::new(format!("/{}", escape(name)), action.input.unknown(name, true)))
        .collect()
}

/// Step 7: conversions, the schema's defaults, and the fixed fields. A caller's attempt to set a fixed field is an
/// unknown argument. The control fields have to be split off before.
pub fn prepare(
    action: &Action,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Vec<FieldError>> {
    let mut faults: Vec<FieldError> = Vec::new();
    let mut prepared = Map::new();
    for (name, value) in arguments {
        if action.fixed.contains_key(&name) {
            faults.push(FieldError::new(format!("/{}", escape(&name)), "There is no such argument."));
            continue;
        }
        let conversions =
            action.convert.iter().filter(|(field, _)| *field == name).flat_map(|(_, list)| list);
        match conversions.copied().try_fold(value, |value, conversion| conversion.apply(value)) {
            Ok(value) => {
                prepared.insert(name, value);
            }
            Err(message) => faults.push(FieldError::new(format!("/{}", escape(&name)), message)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    add_defaults(action.input.as_json(), &mut prepared);
    prepared.extend(action.fixed.clone());
    Ok(prepared)
}

/// How deep arguments may nest: as much as anybody writes, and far below where a parser gives up on what was stored.
const DEEPEST: usize = 64;

/// Names that the JSON library takes for marks of its own: what is read back would not be what was written.
const RESERVED: &str = "$serde_json::private::";

/// Every place that cannot be kept as it is: a NUL character in a text or in a name, a name with a meaning of its own,
/// or nesting without end. A name at fault is told by its object.
pub fn unkeepable_fields(arguments: &Map<String, Value>) -> Vec<FieldError> {
    let mut faults = Vec::new();
    look_into_object(arguments, "", 1, &mut faults);
    faults.dedup();
    faults
}

fn look_into_object(entries: &Map<String, Value>, at: &str, depth: usize, faults: &mut Vec<FieldError>) {
    for (name, value) in entries {
        if name.contains('\0') {
            faults.push(FieldError::new(at, "A field's name may not hold a NUL character."));
        } else if name.starts_with(RESERVED) {
            faults.push(FieldError::new(at, "A field has a name that is reserved."));
        } else {
            look_into(value, &format!("{at}/{}", escape(name)), depth, faults);
        }
    }
}

fn look_into(value: &Value, at: &str, depth: usize, faults: &mut Vec<FieldError>) {
    match value {
        Value::String(text) if text.contains('\0') => {
            faults.push(FieldError::new(at, "This may not hold a NUL character."));
        }
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
            faults.push(FieldError::new(at, "This is nested too deeply."));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                look_into(item, &format!("{at}/{index}"), depth + 1, faults);
            }
        }
        Value::Object(entries) => look_into_object(entries, at, depth + 1, faults),
        _ => {}
    }
}

fn is_advertised(action: &Action, name: &str) -> bool {
    if is_control(name) {
        return action.advertises(name);
    }
    !action.fixed.contains_key(name) && action.input.names().allow(name)
}

/// Cuts objects whose schema allows nothing beyond its properties.
fn cut_value(schema: &Value, value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
                && schema.get("patternProperties").is_none()
                && !is_composed(schema);
            let kept =
                entries.into_iter().filter_map(|(name, inner)| match properties.and_then(|p| p.get(&name)) {
                    Some(property) => Some((name, cut_value(property, inner))),
                    None => (!closed).then_some((name, inner)),
                });
            Value::Object(kept.collect())
        }
        Value::Array(items) => match schema.get("items") {
            Some(each) => Value::Array(items.into_iter().map(|item| cut_value(each, item)).collect()),
            None => Value::Array(items),
        },
        other => other,
    }
}

/// Puts the defaults of the schema where the caller gave nothing, also within objects that the caller gave.
fn add_defaults(schema: &Value, entries: &mut Map<String, Value>) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        match (entries.get_mut(name), property.get("default")) {
            (Some(Value::Object(inner)), _) => add_defaults(property, inner),
            (None, Some(default)) => {
                entries.insert(name.clone(), default.clone());
            }
            _ => {}
        }
    }
}
