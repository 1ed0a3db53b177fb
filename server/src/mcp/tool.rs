//! The tools: the actions a caller is offered, and `call_status`.

use model::OfferedAction;
use model::action::Annotations;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::call_status;

/// Every tool of a caller.
pub(super) fn all(offered: Vec<OfferedAction>) -> Vec<Tool> {
    offered.into_iter().map(tool).chain([call_status::tool()]).collect()
}

/// An action as a tool.
fn tool(action: OfferedAction) -> Tool {
    let mut schema = match action.input_schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    // The protocol wants it said; an action's input is an object in any case.
    schema.entry("type").or_insert_with(|| Value::from("object"));
    let mut tool = Tool::new(action.name, action.description, schema);
    tool.title = Some(action.title);
    tool.annotations = Some(hints(action.annotations));
    tool
}

/// The four hints, every one of them said: what a client assumes in their absence is not what is meant.
pub(super) fn hints(annotations: Annotations) -> ToolAnnotations {
    let Annotations { read_only_hint, destructive_hint, idempotent_hint, open_world_hint } = annotations;
    ToolAnnotations::new()
        .read_only(read_only_hint)
        .destructive(destructive_hint)
        .idempotent(idempotent_hint)
        .open_world(open_world_hint)
}
