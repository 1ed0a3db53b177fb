//! `/healthz` and `/readyz`: whether the process lives, and whether it can work.

use axum::Json;
use axum::extract::State;
use engine::Engine;
use serde::Serialize;
use utoipa::ToSchema;

use super::documented::NotReady;
use crate::problem::Rejected;

/// How it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Probe {
    /// `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

/// Whether the process lives.
#[utoipa::path(
    get, path = "/healthz", operation_id = "getHealth", tag = "operation",
    responses((status = 200, description = "It does.", body = Probe)),
    security(()),
)]
pub(crate) async fn health() -> Json<Probe> {
    Json(Probe { status: "ok" })
}

/// Whether the database answers and has every migration.
#[utoipa::path(
    get, path = "/readyz", operation_id = "getReadiness", tag = "operation",
    responses((status = 200, description = "It is ready.", body = Probe), NotReady),
    security(()),
)]
pub(crate) async fn ready(State(engine): State<Engine>) -> Result<Json<Probe>, Rejected> {
    engine.ready().await?;
    Ok(Json(Probe { status: "ok" }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::demo::testing::Desk;

    #[tokio::test]
    async fn without_its_database_the_process_lives_and_cannot_work() {
        let desk = Desk::open().await;
        desk.engine.close().await;
        assert_eq!(desk.ask("GET", "/healthz").ok(200).await.body, json!({ "status": "ok" }));
        let told = desk.ask("GET", "/readyz").refused(503, "unavailable").await;
        assert!(told.headers.contains_key("retry-after"));
        desk.get("/v1/receipts", desk.ann()).refused(503, "unavailable").await;
    }
}
