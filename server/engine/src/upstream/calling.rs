//! One call of a tool, or one question: one POST, and what its answer says about what happened.

use model::{CallStatus, Outcome, Refusal};
use serde_json::{Map, Value};

use super::answer::Reply;
use super::asking::{Asked, ask};
use super::dialect::Dialect;
use super::listing::{self, Opened};
use crate::catalogue::{Action, Upstream};
use crate::conclusion::{Conclusion, never_left};
use crate::egress::NeverLeft;
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::sending;
use crate::store::CallRow;
use crate::stored_request::StoredRequest;
use crate::stored_result::StoredResult;

/// A server's own fault in carrying out a request (JSON-RPC 2.0, section 5.1): the same as the status 500.
const INTERNAL_ERROR: i64 = -32_603;

/// Sends the call of a tool whose intent is durable, once; only as it was shown, and while its definition stands.
pub(crate) async fn carry_out(
    engine: &Engine,
    row: &CallRow,
    action: &Action,
    stored: &StoredRequest,
) -> Conclusion {
    let changed = || Conclusion::failed(never_left(NeverLeft::ToolChanged), None);
    let Some((tool, pin)) = action.tool_call().and_then(|tool| Some((tool, tool.pin()?))) else {
        return changed();
    };
    if action.binding() != stored.binding {
        return changed();
    }
    // Another process may have learned of a change that this one does not know yet.
    match engine.store().pinned_hash(&pin.upstream, tool.name()).await {
        Ok(Some(hash)) if hash == pin.hash => {}
        Ok(_) => return changed(),
        Err(error) => return Conclusion::failed(error.into(), None),
    }
    let opened = match open(engine, tool.upstream(), &pin.dialect).await {
        Ok(opened) => opened,
        Err(refusal) => return Conclusion::failed(refusal, None),
    };
    if opened.is_some() && !sending::holds_lease(engine, row).await {
        return Conclusion::given_up(row.id);
    }
    let asked = send(engine, tool.upstream(), opened, stored.outgoing.clone(), stored.key.as_deref()).await;
    conclude(action, &stored.input, asked)
}

/// A read that needs no row.
pub(crate) async fn read(engine: &Engine, action: &Action, input: &Value, outgoing: Outgoing) -> Conclusion {
    let Some((tool, pin)) = action.tool_call().and_then(|tool| Some((tool, tool.pin()?))) else {
        return Conclusion::failed(never_left(NeverLeft::ToolChanged), None);
    };
    match open(engine, tool.upstream(), &pin.dialect).await {
        Ok(opened) => conclude(action, input, send(engine, tool.upstream(), opened, outgoing, None).await),
        Err(refusal) => Conclusion::failed(refusal, None),
    }
}

/// A question about prompts or resources. It needs no row either.
pub(crate) async fn answer(engine: &Engine, upstream: &Upstream, outgoing: Outgoing) -> Conclusion {
    let Some(dialect) = upstream.dialect() else {
        return Conclusion::failed(Refusal::UpstreamUnreachable, None);
    };
    match open(engine, upstream, &dialect).await {
        Ok(opened) => concluded(send(engine, upstream, opened, outgoing, None).await),
        Err(refusal) => Conclusion::failed(refusal, None),
    }
}

/// The session, where the server wants one before it takes the call. It is none of the effect.
async fn open(engine: &Engine, upstream: &Upstream, dialect: &Dialect) -> Result<Option<Opened>, Refusal> {
    match dialect {
        Dialect::Session(_) => listing::open(engine, upstream).await.map(Some),
        Dialect::Stateless | Dialect::Plain(_) => Ok(None),
    }
}

/// The one request with an effect.
async fn send(
    engine: &Engine,
    upstream: &Upstream,
    opened: Option<Opened>,
    outgoing: Outgoing,
    key: Option<&str>,
) -> Asked {
    let credential = upstream.credential.as_deref();
    let Some(opened) = opened else { return ask(engine, credential, outgoing, key).await };
    let asked = ask(engine, credential, opened.within(outgoing), key).await;
    listing::close(engine, upstream, &opened);
    asked
}

/// What follows from the answer to a question. Its words stay the server's: a refusal is told in fixed ones.
fn concluded(asked: Asked) -> Conclusion {
    let (status, reply) = match asked {
        Asked::NeverLeft(why) => return Conclusion::failed(never_left(why), None),
        Asked::Unknown => return Conclusion::failed(Refusal::UpstreamFailed(None), None),
        Asked::Answered { status, reply, .. } => (status, reply),
    };
    match (status, reply) {
        (200..500, Some(Reply::Error { code, .. })) if code != INTERNAL_ERROR => {
            refused(said_no("The server has no such thing, or does not give it."), status)
        }
        (200..300, Some(Reply::Result(mut result))) => match kind(&result) {
            Kind::Complete => {
                result.retain(|name, _| !OF_THE_CONNECTION.contains(&name.as_str()));
                done(Value::Object(result), None, status)
            }
            Kind::AsksBack => {
                refused(said_no("The server asks its caller back, which cannot be answered here."), status)
            }
            Kind::Unknown => Conclusion::failed(Refusal::UpstreamFailed(Some(status)), Some(status)),
        },
        _ => Conclusion::failed(Refusal::UpstreamFailed(Some(status)), Some(status)),
    }
}

/// What of a result is between the desk and the server alone.
const OF_THE_CONNECTION: [&str; 4] = ["resultType", "_meta", "ttlMs", "cacheScope"];

/// What a result says it is.
enum Kind {
    /// The whole answer.
    Complete,
    /// A question in return.
    AsksBack,
    /// Something that the desk has not said it understands.
    Unknown,
}

fn kind(result: &Map<String, Value>) -> Kind {
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => Kind::Complete,
        Some("input_required") => Kind::AsksBack,
        Some(_) => Kind::Unknown,
    }
}

/// What follows from the answer (the table “What a send can end as”). A status alone says that the call was heard; only
/// the response says what became of it.
fn conclude(action: &Action, input: &Value, asked: Asked) -> Conclusion {
    let doubtful = |status| {
        action.credential.as_ref().is_some_and(|credential| credential.in_doubt_on.contains(&status))
    };
    let (status, reply) = match asked {
        Asked::NeverLeft(why) => return Conclusion::failed(never_left(why), None),
        Asked::Unknown => return Conclusion::in_doubt(None),
        Asked::Answered { status, .. } if doubtful(status) => return Conclusion::in_doubt(Some(status)),
        Asked::Answered { status, reply, .. } => (status, reply),
    };
    match (status, reply) {
        (500.., _) => Conclusion::failed(Refusal::UpstreamFailed(Some(status)), Some(status)),
        (400..500, _) => refused(action.refusal_for(status), status),
        (200..300, Some(Reply::Error { code: INTERNAL_ERROR, .. })) if doubtful(500) => {
            Conclusion::in_doubt(Some(status))
        }
        (200..300, Some(Reply::Error { code: INTERNAL_ERROR, .. })) => {
            Conclusion::failed(Refusal::UpstreamFailed(None), Some(status))
        }
        (200..300, Some(Reply::Error { .. })) => refused(said_no("The server refused the call."), status),
        (200..300, Some(Reply::Result(result))) => of_result(action, input, result, status),
        _ => Conclusion::in_doubt(Some(status)),
    }
}

fn of_result(action: &Action, input: &Value, mut result: Map<String, Value>, status: u16) -> Conclusion {
    match kind(&result) {
        Kind::Complete => {}
        Kind::AsksBack => {
            return refused(said_no("The tool asks its caller back, which cannot be answered here."), status);
        }
        Kind::Unknown => return Conclusion::in_doubt(Some(status)),
    }
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return refused(said_no("The tool ended with an error of its own."), status);
    }
    let reply = words(&result);
    result.retain(|name, _| matches!(name.as_str(), "content" | "structuredContent"));
    let output = action.project(&Value::Object(result));
    let reply = if action.has_reply() { action.reply(input, &output) } else { reply };
    done(output, reply, status)
}

fn done(result: Value, reply: Option<String>, status: u16) -> Conclusion {
    Conclusion {
        status: CallStatus::Done,
        refusal: None,
        result: Some(StoredResult { result, reply }),
        upstream_status: Some(status),
        receipt: Some(Outcome::Done),
        keeps_key: true,
    }
}

/// The texts of a result.
fn words(result: &Map<String, Value>) -> Option<String> {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = blocks
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("text"))
        .filter_map(|block| block.get("text")?.as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Fixed words: what a tool says of an error may repeat what it was given.
fn said_no(message: &str) -> Refusal {
    Refusal::Refused { status: 409, message: Some(message.to_owned()), upstream_status: None }
}

fn refused(refusal: Refusal, status: u16) -> Conclusion {
    Conclusion {
        status: CallStatus::Refused,
        refusal: Some(refusal),
        result: None,
        upstream_status: Some(status),
        receipt: Some(Outcome::Done),
        keeps_key: false,
    }
}
