//! `/v1/calls/{id}/settlement`: a person tells how a call ended whose outcome was not known.

use axum::Json;
use axum::extract::State;
use engine::{Actor, Engine};
use model::{Ability, Call, CallId, FieldError, Finding, Refusal, Settlement};
use serde_json::{Map, Value};

use super::bearer::Caller;
use super::body::JsonObject;
use super::decisions::{is_fit, text};
use super::documented::SettlementProblems;
use super::path_id::PathId;
use crate::problem::Rejected;

/// Settle a call whose outcome is not known.
///
/// By whoever could decide the call, or an operator. Settled as happened, the call is done and its idempotency key
/// replays; settled as not happened, the key is free. While the server still holds the connection of the call it is
/// answered 503 `unavailable`: the service's own answer may come yet.
#[utoipa::path(
    post, path = "/calls/{id}/settlement", operation_id = "settleCall", tag = "approvals",
    params(("id" = CallId, Path, description = "The call.")),
    request_body(content = Settlement, content_type = "application/json"),
    responses((status = 200, description = "The call, settled.", body = Call), SettlementProblems),
)]
pub(crate) async fn settle(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    PathId(id): PathId<CallId>,
    JsonObject(body): JsonObject,
) -> Result<Json<Call>, Rejected> {
    let Actor::Person(person) = actor else { return Err(Refusal::NotFound.into()) };
    if !person.has(Ability::ApprovalsDecide) {
        return Err(Refusal::Denied.into());
    }
    Ok(Json(engine.settle(&person, id, read_settlement(body)?).await?))
}

/// Reads the settlement and reports everything that is wrong with it, without repeating any of it.
fn read_settlement(mut body: Map<String, Value>) -> Result<Settlement, Refusal> {
    let mut faults = Vec::new();
    let outcome = body.remove("outcome").and_then(|value| value.as_str()?.parse::<Finding>().ok());
    if outcome.is_none() {
        faults.push(FieldError::new("/outcome", "Say “happened” or “did_not_happen”."));
    }
    let reason = text(body.remove("reason"));
    if reason.as_ref().map_or(true, |words| words.as_deref().is_some_and(|words| !is_fit(words))) {
        faults.push(FieldError::new(
            "/reason",
            "The reason is a string of at most 2000 characters, without NUL.",
        ));
    }
    if !body.is_empty() {
        faults.push(FieldError::new("", "A settlement has the fields outcome and reason, and no other."));
    }
    match (outcome, reason) {
        (Some(outcome), Ok(reason)) if faults.is_empty() => Ok(Settlement { outcome, reason }),
        _ => Err(Refusal::Invalid(faults)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: Value) -> Result<Settlement, Vec<String>> {
        let Value::Object(body) = body else { panic!("an object") };
        read_settlement(body).map_err(|refusal| match refusal {
            Refusal::Invalid(faults) => faults.into_iter().map(|fault| fault.field).collect(),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_settlement_is_read_and_every_fault_reported() {
        let happened = Settlement { outcome: Finding::Happened, reason: Some("seen".to_owned()) };
        assert_eq!(read(json!({"outcome": "happened", "reason": "seen"})), Ok(happened));
        let all = read(json!({"outcome": "maybe", "reason": 1, "by": "me"}));
        assert_eq!(all, Err(["/outcome", "/reason", ""].map(str::to_owned).to_vec()));
    }
}
