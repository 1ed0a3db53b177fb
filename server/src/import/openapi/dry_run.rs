//! What is read before a write: the same path's GET, where one can be asked with the write's own arguments.

use serde_json::{Map, Value, json};

use super::document::Document;
use super::inputs::Inputs;
use super::operation::Operation;
use super::parameter::Place;
use super::request::can_be_asked_with;

/// The request that reads what a write would change, and the operation it is.
pub(super) fn dry_run<'d>(
    document: &'d Document,
    operation: &Operation<'d>,
    inputs: &Inputs,
    request: &Map<String, Value>,
) -> Option<(Map<String, Value>, Operation<'d>)> {
    let changes = matches!(operation.method.as_str(), "PUT" | "PATCH" | "DELETE");
    let reading = operation.reading().filter(|_| changes && !makes_anew(operation))?;
    if reading.node.get("requestBody").is_some() {
        return None;
    }
    let parameters = reading.parameters(document).ok()?;
    if !can_be_asked_with(&parameters, inputs) {
        return None;
    }
    let mut written = Map::new();
    written.insert("method".to_owned(), json!("GET"));
    written.insert("url".to_owned(), request.get("url")?.clone());
    for (key, place) in [("query", Place::Query), ("headers", Place::Header)] {
        let asked =
            |wire: &String| parameters.iter().any(|p| p.place == place && p.name == wire && p.is_required());
        let shared =
            request.get(key).and_then(Value::as_object).into_iter().flatten().filter(|(wire, _)| asked(wire));
        let shared: Map<String, Value> =
            shared.map(|(wire, template)| (wire.clone(), template.clone())).collect();
        if !shared.is_empty() {
            written.insert(key.to_owned(), Value::Object(shared));
        }
    }
    Some((written, reading))
}

/// A write that also makes what is not there yet: nothing could be read before, and the desk would take that for a no.
fn makes_anew(operation: &Operation<'_>) -> bool {
    operation.responses().any(|(status, _)| status == "201")
}
