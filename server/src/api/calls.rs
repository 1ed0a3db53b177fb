//! `/v1/calls/{id}`: where a call stands, and taking it back.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use http::HeaderMap;
use http::header::{HeaderValue, RETRY_AFTER};
use model::{Call, CallId};

use super::bearer::Caller;
use super::documented::{CallStatusProblems, WithdrawProblems};
use super::path_id::PathId;
use super::prefer::Wait;
use crate::problem::Rejected;

/// The longest this waits for a call to end, in seconds.
pub(crate) const LONGEST_WAIT: u64 = 30;

/// When it is worth asking again about a call that has not ended, in seconds.
const ASK_AGAIN: u16 = 5;

/// Where a call stands.
///
/// For the agent, its owner, who may decide it, and operators. For everybody else there is no such call.
#[utoipa::path(
    get, path = "/calls/{id}", operation_id = "getCall", tag = "calls",
    params(
        ("id" = CallId, Path, description = "The call."),
        ("Prefer" = Option<String>, Header, description = "`wait=N` holds the answer for up to N ≤ 30 seconds until the call has ended (RFC 7240)."),
    ),
    responses(
        (status = 200, description = "The call, however it stands.", body = Call, headers(
            ("Preference-Applied" = Option<String>, description = "The wait that was kept."),
            ("Retry-After" = Option<u32>, description = "Seconds until it is worth asking again, while the call has not ended."),
        )),
        CallStatusProblems,
    ),
)]
pub(crate) async fn show(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    PathId(id): PathId<CallId>,
    headers: HeaderMap,
) -> Result<Response, Rejected> {
    let wait = Wait::asked(&headers, LONGEST_WAIT);
    let call = engine.call_status(&actor, id, wait.map(Wait::duration)).await?;
    Ok(render(&call, wait))
}

/// Take a held call back.
///
/// By the agent that made it, or its owner. Nothing is sent.
#[utoipa::path(
    delete, path = "/calls/{id}", operation_id = "withdrawCall", tag = "calls",
    params(("id" = CallId, Path, description = "The call.")),
    responses((status = 200, description = "The call, withdrawn.", body = Call), WithdrawProblems),
)]
pub(crate) async fn withdraw(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    PathId(id): PathId<CallId>,
) -> Result<Json<Call>, Rejected> {
    Ok(Json(engine.withdraw(&actor, id).await?))
}

/// The call, and what goes with it in headers.
pub(crate) fn render(call: &Call, wait: Option<Wait>) -> Response {
    let mut response = Json(call).into_response();
    if let Some(wait) = wait {
        wait.note(response.headers_mut());
    }
    if !call.status.is_ended() {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(ASK_AGAIN));
    }
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::demo::testing::Desk;

    #[tokio::test]
    async fn a_call_is_seen_by_who_may_see_it_and_by_nobody_else() {
        let desk = Desk::open().await;
        let (id, _) = desk.held("wipe_customer", &json!({ "customer": "C-03" })).await;
        let path = format!("/v1/calls/{id}");
        for token in [desk.careful(), desk.ann(), desk.olga()] {
            let told = desk.get(&path, token).ok(200).await;
            assert_eq!((&told.body["status"], &told.body["executed"]), (&json!("held"), &json!(false)));
            assert!(told.headers.contains_key("retry-after"));
        }
        for token in [desk.quick(), desk.max()] {
            desk.get(&path, token).refused(404, "not_found").await;
        }
        let waited = desk.get(&path, desk.ann()).header("prefer", "wait=1").ok(200).await;
        assert_eq!(waited.headers["preference-applied"], "wait=1");
    }

    #[tokio::test]
    async fn a_held_call_is_taken_back_once() {
        let desk = Desk::open().await;
        let (id, _) = desk.held("wipe_customer", &json!({ "customer": "C-03" })).await;
        let path = format!("/v1/calls/{id}");
        for token in [desk.quick(), desk.max(), desk.olga()] {
            desk.ask("DELETE", &path).token(token).refused(404, "not_found").await;
        }
        let told = desk.ask("DELETE", &path).token(desk.careful()).ok(200).await;
        assert_eq!((&told.body["id"], &told.body["status"]), (&json!(id), &json!("withdrawn")));
        desk.ask("DELETE", &path).token(desk.ann()).refused(409, "not_held").await;
        assert_eq!(desk.upstream().await["writes_received"], 0);
    }
}
