//! The tool `call_status`: how a call stands, for a client that got the plain answer. It reads and changes nothing.

use std::time::Duration;

use model::action::Annotations;
use model::{CallId, Effect, Refusal};
use rmcp::model::{CallToolResult, JsonObject, Tool};
use serde_json::{Value, json};

use super::answer;
use super::desk::Desk;
use super::tool::hints;

/// Its name; no action can have it.
pub(super) const NAME: &str = "call_status";

/// The longest it waits, in seconds: clients give up after 60.
const LONGEST_WAIT: u64 = 25;

/// The tool as it is listed.
pub(super) fn tool() -> Tool {
    let schema = json!({
        "type": "object",
        "required": ["call_id"],
        "additionalProperties": false,
        "properties": {
            "call_id": { "type": "string", "description": "The call_id of the answer that said NOT DONE." },
            "wait_seconds": {
                "type": "integer",
                "minimum": 0,
                "maximum": LONGEST_WAIT,
                "default": 0,
                "description": "How long to wait for the call to end before answering.",
            },
        },
    });
    let schema = if let Value::Object(schema) = schema { schema } else { JsonObject::new() };
    let words = "Tells how a call stands that waits for a person: held, done with its result, declined with the \
                 person's words, expired, and so on. Changes nothing.";
    let mut tool = Tool::new(NAME, words, schema);
    tool.title = Some("Status of a call".to_owned());
    tool.annotations = Some(hints(Annotations::of(Effect::Read, false)));
    tool
}

/// What the arguments ask.
struct Asked {
    call: CallId,
    wait: Option<Duration>,
}

/// Answers it. A call that is found is no error, however it stands.
pub(super) async fn run(desk: &Desk, arguments: &JsonObject) -> CallToolResult {
    let found = match asked(arguments) {
        Ok(Asked { call, wait }) => desk.engine.call_status(&desk.actor, call, wait).await,
        Err(refusal) => Err(refusal),
    };
    match found {
        Ok(call) => answer::status(&call, &desk.approve_url(call.id)),
        Err(refusal) => answer::refused(&refusal),
    }
}

fn asked(arguments: &JsonObject) -> Result<Asked, Refusal> {
    let Some(id) = arguments.get("call_id").and_then(Value::as_str) else {
        return Err(Refusal::invalid("/call_id", "This has to be the id of a call."));
    };
    let seconds = match arguments.get("wait_seconds") {
        None | Some(Value::Null) => 0,
        Some(value) => whole(value).ok_or_else(|| {
            Refusal::invalid("/wait_seconds", "This has to be a whole number of seconds, at most 25.")
        })?,
    };
    let wait = (seconds > 0).then(|| Duration::from_secs(seconds.min(LONGEST_WAIT)));
    // What is no id is no call: the two are told alike.
    Ok(Asked { call: id.parse().map_err(|_| Refusal::NotFound)?, wait })
}

/// A whole number that is not negative; models also write `5.0`.
fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|float| float.fract() == 0.0 && (0.0..1e9).contains(float));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, and between 0 and 1e9"
    )]
    value.as_u64().or_else(|| float().map(|float| float as u64))
}
