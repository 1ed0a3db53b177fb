//! The HTTP API: what agents and tools speak. Parses, calls the engine, renders.

mod actions;
mod approvals;
pub(crate) mod bearer;
pub(crate) mod body;
pub(crate) mod call_headers;
mod calls;
mod checkpoint;
mod confirmations;
mod decisions;
mod document;
mod documented;
mod events;
mod fetch;
mod list_answer;
pub(crate) mod metrics;
mod path_id;
mod prefer;
mod probes;
mod query;
mod receipts;
mod sessions;
mod settlements;
pub(crate) mod strict_json;
mod via;

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::any;
use engine::Engine;
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::problem;

/// Every route of the API, and the document that describes it. Paths outside are left to whoever mounts this.
pub(crate) fn router(engine: &Engine) -> Router {
    let (v1, _) = v1().split_for_parts();
    let v1 = v1
        .fallback(problem::not_found)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(from_fn_with_state(engine.clone(), bearer::authenticate));
    let (open, _) = open().split_for_parts();
    open.method_not_allowed_fallback(problem::method_not_allowed)
        .nest("/v1", v1)
        .layer(map_response(unstored))
        .route(via::ROUTE, any(via::pass_on))
        .with_state(engine.clone())
}

/// What a token is needed for.
fn v1() -> OpenApiRouter<Engine> {
    OpenApiRouter::new()
        .routes(routes!(actions::list))
        .routes(routes!(actions::call))
        .routes(routes!(fetch::fetch))
        .routes(routes!(sessions::taint))
        .routes(routes!(confirmations::reject))
        .routes(routes!(calls::show, calls::withdraw))
        .routes(routes!(approvals::list))
        .routes(routes!(decisions::decide, decisions::undo))
        .routes(routes!(settlements::settle))
        .routes(routes!(receipts::list))
        .routes(routes!(receipts::show))
        .routes(routes!(events::read))
}

/// What anybody may ask.
fn open() -> OpenApiRouter<Engine> {
    OpenApiRouter::new()
        .routes(routes!(probes::health))
        .routes(routes!(probes::ready))
        .routes(routes!(document::show))
        .routes(routes!(checkpoint::show))
}

/// What is passed on below `/via/`, by every method (a router knows only those that it lists), and the numbers, which are
/// of the whole server.
#[derive(utoipa::OpenApi)]
#[openapi(paths(via::pass_on, metrics::show))]
struct Outside;

/// The document of all.
fn described() -> OpenApi {
    let mut document = document::head();
    document.merge(open().into_openapi());
    document.merge(Outside::openapi());
    document.nest("/v1", v1().into_openapi())
}

/// The document as it is answered.
#[cfg(test)]
pub(crate) fn document() -> bytes::Bytes {
    document::written(described())
}

/// No answer of the API may be kept by anything on its way.
pub(crate) async fn unstored(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests;
