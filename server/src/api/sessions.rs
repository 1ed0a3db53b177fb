//! `/v1/sessions/{id}`: an agent's own runs.

use axum::extract::State;
use engine::Engine;
use http::StatusCode;

use super::bearer::Caller;
use super::documented::TaintProblems;
use super::path_id::PathId;
use crate::problem::Rejected;

/// Mark a session as tainted.
///
/// The agent has read something in it that nobody vouches for. From then on every write that it passes on by fetch or
/// via in this session waits for a person; there is no way back. A read through a credential that is not `trusted`
/// does the same by itself.
#[utoipa::path(
    post, path = "/sessions/{id}/taint", operation_id = "taintSession", tag = "broker",
    params(("id" = String, Path, description = "The agent's session, as it stands in `Countersign-Session`.")),
    responses((status = 204, description = "It is marked."), TaintProblems),
)]
pub(crate) async fn taint(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    PathId(session): PathId<String>,
) -> Result<StatusCode, Rejected> {
    engine.taint_session(&actor, &session).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::demo::testing::Desk;

    #[tokio::test]
    async fn an_agent_marks_its_own_session() {
        let desk = Desk::open().await;
        let write = |session: &str| {
            let input = json!({ "credential": "odd", "method": "POST", "url": desk.odd_url("/answer/201") });
            desk.ask("POST", "/v1/fetch")
                .token(desk.quick())
                .header("countersign-session", session)
                .json(&input)
        };
        write("run-1").ok(200).await;
        let taint = |token| desk.ask("POST", "/v1/sessions/run-1/taint").token(token);
        taint(desk.ann()).refused(403, "denied").await;
        taint(desk.quick()).ok(204).await;
        assert_eq!(write("run-1").ok(202).await.body["status"], "held");
        write("run-2").ok(200).await;
        desk.ask("POST", "/v1/sessions/two%20words/taint")
            .token(desk.quick())
            .refused(404, "not_found")
            .await;
    }
}
