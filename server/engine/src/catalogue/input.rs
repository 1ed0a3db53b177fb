//! From what a caller gave to what is validated: cut, converted, completed.

use model::FieldError;
use serde_json::{Map, Value};

use super::action::Action;
use super::mistake::nearest;
use super::names::{is_composed, referred};
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
            Some(schema) => cut_value(action.input.as_json(), schema, value),
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
        .map(|name| FieldError::new(format!("/{}", escape(name)), no_such_argument(action, name)))
        .collect()
}

/// What to say about an argument that the action does not have. A fixed field is nobody's business.
fn no_such_argument(action: &Action, name: &str) -> String {
    let open = action.input.names().iter().filter(|known| !action.fixed.contains_key(*known));
    match nearest(name, open) {
        Some(near) => format!("There is no such argument. Did you mean “{near}”?"),
        None => "There is no such argument.".to_owned(),
    }
}

/// An input on its way from what was given to what is validated.
#[derive(Debug, PartialEq)]
pub struct PreparedInput {
    /// Conversions, defaults and fixed fields applied; without what could not be converted.
    pub input: Map<String, Value>,
    /// What could not be converted, and the attempts to set a fixed field.
    pub faults: Vec<FieldError>,
}

/// Step 7: conversions, the schema's defaults, and the fixed fields. A caller's attempt to set a fixed field is an
/// unknown argument. The control fields have to be split off before.
pub fn prepare(action: &Action, arguments: Map<String, Value>) -> PreparedInput {
    let mut faults: Vec<FieldError> = Vec::new();
    let mut input = Map::new();
    let mut lost = Vec::new();
    for (name, value) in arguments {
        if action.fixed.contains_key(&name) {
            faults.push(FieldError::new(format!("/{}", escape(&name)), "There is no such argument."));
            continue;
        }
        let conversions =
            action.convert.iter().filter(|(field, _)| *field == name).flat_map(|(_, list)| list);
        match conversions.copied().try_fold(value, |value, conversion| conversion.apply(value)) {
            Ok(value) => {
                input.insert(name, value);
            }
            Err(message) => {
                faults.push(FieldError::new(format!("/{}", escape(&name)), message));
                lost.push(name);
            }
        }
    }
    let schema = action.input.as_json();
    add_defaults(schema, schema, &mut input);
    // A field that was given is not one that was left out: no rule may take its default for it.
    for name in lost {
        input.remove(&name);
    }
    input.extend(action.fixed.clone());
    PreparedInput { input, faults }
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
    faults.truncate(MOST_FAULTS);
    faults
}

fn look_into_object(entries: &Map<String, Value>, at: &str, depth: usize, faults: &mut Vec<FieldError>) {
    for (name, value) in entries {
        if faults.len() > MOST_FAULTS {
            return;
        }
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
                if faults.len() > MOST_FAULTS {
                    return;
                }
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

/// Cuts objects whose schema allows nothing beyond its properties. `root`: what references are looked up in.
fn cut_value(root: &Value, schema: &Value, value: Value) -> Value {
    let schema = referred(schema, root);
    match value {
        Value::Object(entries) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
                && schema.get("patternProperties").is_none()
                && !is_composed(schema);
            let kept =
                entries.into_iter().filter_map(|(name, inner)| match properties.and_then(|p| p.get(&name)) {
                    Some(property) => Some((name, cut_value(root, property, inner))),
                    None => (!closed).then_some((name, inner)),
                });
            Value::Object(kept.collect())
        }
        Value::Array(items) => match schema.get("items") {
            Some(each) => Value::Array(items.into_iter().map(|item| cut_value(root, each, item)).collect()),
            None => Value::Array(items),
        },
        other => other,
    }
}

/// Puts the defaults of the schema where the caller gave nothing, also within objects that the caller gave.
fn add_defaults(root: &Value, schema: &Value, entries: &mut Map<String, Value>) {
    let properties = referred(schema, root).get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let default = property.get("default").or_else(|| referred(property, root).get("default"));
        match (entries.get_mut(name), default) {
            (Some(Value::Object(inner)), _) => add_defaults(root, property, inner),
            (None, Some(default)) => {
                entries.insert(name.clone(), default.clone());
            }
            _ => {}
        }
    }
}
