//! What a caller gives: the parameters and the body's fields as one flat object, each under a name of its own.

use serde_json::{Map, Value, json};

use super::parameter::Place;
use super::words;

/// The names that are the desk's own.
const CONTROL: &[&str] = &["dry_run", "idempotency_key", "confirm_token"];

/// One argument of the action.
#[derive(Debug)]
pub(super) struct Input {
    /// Its name for the caller.
    pub(super) name: String,
    /// Its name in the request.
    pub(super) wire: String,
    pub(super) place: Place,
    pub(super) required: bool,
    pub(super) schema: Value,
}

/// The arguments of an action.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    list: Vec<Input>,
}

impl Inputs {
    /// Adds an argument and gives it a name: its own where that is free and fits a template.
    pub(super) fn add(&mut self, wire: &str, place: Place, required: bool, schema: Value) -> String {
        let name = self.name_for(wire, place);
        self.list.push(Input { name: name.clone(), wire: wire.to_owned(), place, required, schema });
        name
    }

    /// The arguments in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Input> {
        self.list.iter()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The argument that stands there under this name.
    pub(super) fn find(&self, place: Place, wire: &str) -> Option<&Input> {
        self.list.iter().find(|input| input.place == place && input.wire == wire)
    }

    /// The schema of the whole.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        let required: Vec<&str> =
            self.list.iter().filter(|input| input.required).map(|input| input.name.as_str()).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        let properties: Map<String, Value> =
            self.list.iter().map(|input| (input.name.clone(), input.schema.clone())).collect();
        if !properties.is_empty() {
            schema.insert("properties".to_owned(), Value::Object(properties));
        }
        schema
    }

    fn name_for(&self, wire: &str, place: Place) -> String {
        let own = if words::is_plain(wire) {
            wire.to_owned()
        } else {
            let slug = words::name(&words::words(wire)).unwrap_or_else(|| place.word().to_owned());
            slug.strip_prefix("call_").map_or(slug.clone(), |rest| format!("_{rest}"))
        };
        let placed: String = format!("{}_{own}", place.word()).chars().take(60).collect();
        let numbered = (2..).map(|number| format!("{placed}_{number}"));
        let names = [own, placed.clone()].into_iter().chain(numbered);
        names.into_iter().find(|name| self.is_free(name)).unwrap_or_default()
    }

    fn is_free(&self, name: &str) -> bool {
        !CONTROL.contains(&name) && self.list.iter().all(|input| input.name != name)
    }
}

/// An expression over an argument.
pub(super) fn expression(name: &str) -> String {
    format!("{{{{ input.{name} }}}}")
}

/// An expression over a list, joined; left out with the list.
pub(super) fn joined(name: &str, separator: char) -> String {
    format!("{{{{ input.{name} | join('{separator}') if input.{name} is defined }}}}")
}

/// An expression over a value as JSON text; left out with the value.
pub(super) fn as_json(name: &str) -> String {
    format!("{{{{ input.{name} | tojson if input.{name} is defined }}}}")
}
