//! A held call as a task (`io.modelcontextprotocol/tasks`). The call itself is the task: nothing is kept beside it, so
//! any node answers.

use model::{Call, CallId, CallStatus, Refusal, Surface};
use rmcp::ErrorData;
use rmcp::model::{CreateTaskResult, DetailedTask, GetTaskResult, JsonObject, Task, TaskPayload, TaskStatus};
use serde_json::Value;

use super::answer;
use super::desk::{Desk, broken};

/// When it is worth asking again, in milliseconds.
const ASK_AGAIN: u64 = 2_000;

/// The answer that makes a held call a task.
pub(super) fn created(call: &Call, url: &str) -> CreateTaskResult {
    CreateTaskResult::new(task(call, url)).with_meta(answer::meta(call))
}

/// `tasks/get`
pub(super) async fn get(desk: &Desk, id: &str) -> Result<GetTaskResult, ErrorData> {
    let call = find(desk, id).await?;
    let url = desk.approve_url(call.id);
    let mut result = GetTaskResult::new(DetailedTask::new(task(&call, &url), payload(&call, &url)));
    result.meta = Some(answer::meta(&call));
    Ok(result)
}

/// `tasks/update`: a held call asks its client nothing, so there is nothing to take.
pub(super) async fn update(desk: &Desk, id: &str) -> Result<(), ErrorData> {
    find(desk, id).await.map(|_| ())
}

/// `tasks/cancel`: takes the call back if it is still held. What is past holding goes on, as the extension allows.
pub(super) async fn cancel(desk: &Desk, id: &str) -> Result<(), ErrorData> {
    let call = find(desk, id).await?;
    match desk.engine.withdraw(&desk.actor, call.id).await {
        Ok(_) | Err(Refusal::NotHeld) => Ok(()),
        Err(Refusal::NotFound) => Err(unknown()),
        Err(refusal) => Err(broken(&refusal)),
    }
}

/// The call behind a task. One that came in elsewhere is no task.
async fn find(desk: &Desk, id: &str) -> Result<Call, ErrorData> {
    let id: CallId = id.parse().map_err(|_| unknown())?;
    match desk.engine.call_status(&desk.actor, id, None).await {
        Ok(call) if call.surface == Surface::Mcp => Ok(call),
        Ok(_) | Err(Refusal::NotFound) => Err(unknown()),
        Err(refusal) => Err(broken(&refusal)),
    }
}

fn task(call: &Call, url: &str) -> Task {
    let changed = call.decided_at.unwrap_or(call.created_at);
    Task::new(call.id.to_string(), status(call.status), call.created_at.to_string(), changed.to_string())
        .with_status_message(answer::words(call, url))
        .with_poll_interval_ms(ASK_AGAIN)
}

/// A task fails by errors of the protocol alone: a call that was not done has an answer all the same.
const fn status(status: CallStatus) -> TaskStatus {
    match status {
        CallStatus::Withdrawn => TaskStatus::Cancelled,
        status if status.is_ended() => TaskStatus::Completed,
        _ => TaskStatus::Working,
    }
}

fn payload(call: &Call, url: &str) -> TaskPayload {
    match status(call.status) {
        TaskStatus::Completed => TaskPayload::Completed { result: result(call, url) },
        TaskStatus::Cancelled => TaskPayload::Cancelled,
        _ => TaskPayload::Working,
    }
}

/// The answer that the call would have had.
fn result(call: &Call, url: &str) -> JsonObject {
    match serde_json::to_value(answer::stands(call, url)) {
        Ok(Value::Object(result)) => result,
        _ => JsonObject::new(),
    }
}

/// The same for a task that does not exist and for one that this caller may not see.
fn unknown() -> ErrorData {
    ErrorData::invalid_params("There is no such task.", None)
}
