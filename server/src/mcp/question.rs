//! Questions to the MCP servers behind the desk: each a read through the engine, like every other call.

use std::sync::Arc;

use engine::Arrival;
use engine::catalogue::Upstream;
use engine::upstream::Question;
use futures::future::join_all;
use model::{Answer, ProblemCode, Refusal};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, JsonObject};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::desk::Desk;

/// The most pages of one server's list.
const MOST_PAGES: usize = 50;

/// The most entries of one server's list.
const MOST_ENTRIES: usize = 1_000;

/// Puts a question to one server.
///
/// # Errors
/// Why there is no answer, in the engine's words.
pub(super) async fn ask(
    desk: &Desk,
    upstream: &Upstream,
    question: Question,
    params: JsonObject,
) -> Result<Value, Refusal> {
    let arrival = Arrival {
        session: desk.session.clone(),
        tenant: desk.tenant.clone(),
        reason: desk.reason.clone(),
        ..Arrival::question(desk.actor.clone(), &upstream.name, question, params)
    };
    match desk.engine.call(arrival, None).await? {
        Answer::Done(done) => Ok(done.result),
        // A read is neither held nor asked back about.
        _ => Err(Refusal::Unavailable),
    }
}

/// The entries of all servers' lists, each with its server; `key`: where they stand. A server that cannot be asked leaves
/// the others' in place.
///
/// # Errors
/// When no server could be asked.
pub(super) async fn entries(
    desk: &Desk,
    upstreams: Vec<Arc<Upstream>>,
    question: Question,
    key: &str,
) -> Result<Vec<(Arc<Upstream>, JsonObject)>, ErrorData> {
    let lists = join_all(upstreams.iter().map(|upstream| list(desk, upstream, question, key))).await;
    let (mut all, mut fault) = (Vec::new(), None);
    let mut answered = false;
    for (upstream, list) in upstreams.iter().zip(lists) {
        match list {
            Ok(entries) => {
                answered = true;
                all.extend(entries.into_iter().map(|entry| (upstream.clone(), entry)));
            }
            Err(refusal) => {
                let (code, method) = (refusal.problem().code, question.method());
                tracing::warn!(upstream = %upstream.name, %code, method, "an MCP server was left out of a list");
                fault = Some(refusal);
            }
        }
    }
    match fault {
        Some(refusal) if !answered => Err(told(&refusal)),
        _ => Ok(all),
    }
}

/// One server's list, page by page. A part of a list is never taken for the whole.
async fn list(
    desk: &Desk,
    upstream: &Upstream,
    question: Question,
    key: &str,
) -> Result<Vec<JsonObject>, Refusal> {
    let mut entries: Vec<JsonObject> = Vec::new();
    let mut params = JsonObject::new();
    for _ in 0..MOST_PAGES {
        let mut page = ask(desk, upstream, question, params.clone()).await?;
        let Some(Value::Array(found)) = page.get_mut(key).map(Value::take) else {
            return Err(Refusal::UpstreamFailed(Some(200)));
        };
        let objects = found.into_iter().filter_map(|entry| match entry {
            Value::Object(entry) => Some(entry),
            _ => None,
        });
        entries.extend(objects);
        if entries.len() > MOST_ENTRIES {
            break;
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            Some(next) => params.insert("cursor".to_owned(), Value::from(next)),
            None => return Ok(entries),
        };
    }
    Err(Refusal::UpstreamFailed(Some(200)))
}

/// An entry of a list, as far as the desk tells it: pictures from elsewhere and what is between programs stay behind.
pub(super) fn entry<T: DeserializeOwned>(mut entry: JsonObject, parts: &[&str]) -> Option<T> {
    entry.retain(|name, value| parts.contains(&name.as_str()) && !value.is_null());
    serde_json::from_value(Value::Object(entry)).ok()
}

/// An answer as what it has to be.
///
/// # Errors
/// When it is something else.
pub(super) fn read<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    if let Some(fields) = result.as_object_mut() {
        // It is the desk's own answer: the newest revision wants that said, for older ones it is taken out again.
        fields.insert("resultType".to_owned(), Value::from("complete"));
    }
    serde_json::from_value(result).map_err(|_| told(&Refusal::UpstreamFailed(Some(200))))
}

/// What a request has as JSON on the wire, less what is between the client and the desk.
pub(super) fn params(request: &impl serde::Serialize) -> JsonObject {
    match serde_json::to_value(request) {
        Ok(Value::Object(mut params)) => {
            params.retain(|name, value| {
                !matches!(name.as_str(), "_meta" | "inputResponses" | "requestState") && !value.is_null()
            });
            params
        }
        _ => JsonObject::new(),
    }
}

/// Why there is no answer, as an error of the protocol.
pub(super) fn told(refusal: &Refusal) -> ErrorData {
    let problem = refusal.problem();
    match problem.code {
        ProblemCode::NotFound | ProblemCode::Refused | ProblemCode::Invalid => {
            ErrorData::invalid_params(problem.detail, None)
        }
        _ => ErrorData::internal_error(format!("{}: {}", problem.title, problem.detail), None),
    }
}

/// There is no such method for this caller.
pub(super) fn unknown_method() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "There is no such method.", None)
}
