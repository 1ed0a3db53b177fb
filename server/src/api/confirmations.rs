//! `/v1/confirmations/{token}`: a caller rejects the prompt it was given.

use axum::extract::State;
use engine::{Actor, Engine};
use http::StatusCode;
use model::Refusal;

use super::bearer::Caller;
use super::documented::RejectProblems;
use super::path_id::PathId;
use crate::problem::Rejected;

/// Reject a confirmation prompt.
///
/// By the caller that got it. Its token then confirms nothing any more: redeeming it says `rejected`. An unknown token,
/// somebody else's, and one that was used, rejected or has lapsed are all not found. A caller without a token of its own
/// may reject the prompt of a public action.
#[utoipa::path(
    delete, path = "/confirmations/{token}", operation_id = "rejectConfirmation", tag = "actions",
    params(
        ("token" = String, Path, description = "The `confirm_token` of the prompt."),
        ("Countersign-Client" = Option<String>, Header, min_length = 16, max_length = 128, pattern = "^[!-~]+$", description = "What a caller without a token named itself with."),
    ),
    responses((status = 204, description = "Rejected."), RejectProblems),
    security(("bearer" = []), ()),
)]
pub(crate) async fn reject(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    PathId(token): PathId<String>,
) -> Result<StatusCode, Rejected> {
    match engine.reject_prompt(&actor, &token).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        // Without a token every path looks the same, this one too, except to whoever has something to reject here.
        Err(Refusal::NotFound) if matches!(actor, Actor::Public { .. }) => {
            Err(Refusal::Unauthenticated.into())
        }
        Err(refusal) => Err(refusal.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::demo::testing::Desk;

    #[tokio::test]
    async fn a_caller_rejects_its_own_prompt() {
        let desk = Desk::open().await;
        let mut input = json!({ "to": "bo@customers.test", "subject": "s", "body": "b" });
        let prompt = desk.call("send_mail", desk.quick(), &input).ok(202).await;
        let token = prompt.body["confirm_token"].as_str().expect("a token").to_owned();
        let reject =
            |who: &str, token: &str| desk.ask("DELETE", &format!("/v1/confirmations/{token}")).token(who);
        reject(desk.careful(), &token).refused(404, "not_found").await;
        reject(desk.quick(), "cft_nonsense").refused(404, "not_found").await;
        desk.ask("DELETE", &format!("/v1/confirmations/{token}")).refused(401, "unauthenticated").await;
        assert!(reject(desk.quick(), &token).ok(204).await.bytes.is_empty());
        reject(desk.quick(), &token).refused(404, "not_found").await;
        input["confirm_token"] = json!(token);
        let told = desk.call("send_mail", desk.quick(), &input).refused(409, "confirm_token_invalid").await;
        assert_eq!(told.body["context"]["reason"], "rejected");
        assert_eq!(desk.upstream().await["writes_received"], 0);
    }
}
