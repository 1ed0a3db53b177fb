//! The HTTP API: what agents and tools speak. Parses, calls the engine, renders.

mod actions;
mod approvals;
pub(crate) mod bearer;
pub(crate) mod body;
pub(crate) mod call_headers;
mod calls;
mod decisions;
mod document;
mod documented;
mod events;
mod list_answer;
mod path_id;
mod prefer;
mod probes;
mod query;
mod receipts;
pub(crate) mod strict_json;

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use engine::Engine;
use http::HeaderValue;
use http::header::CACHE_CONTROL;
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
        .with_state(engine.clone())
}

/// What a token is needed for.
fn v1() -> OpenApiRouter<Engine> {
    OpenApiRouter::new()
        .routes(routes!(actions::list))
        .routes(routes!(actions::call))
        .routes(routes!(calls::show, calls::withdraw))
        .routes(routes!(approvals::list))
        .routes(routes!(decisions::decide, decisions::undo))
        .routes(routes!(receipts::list))
        .routes(routes!(receipts::show))
        .routes(routes!(events::list))
}

/// What anybody may ask.
fn open() -> OpenApiRouter<Engine> {
    OpenApiRouter::new()
        .routes(routes!(probes::health))
        .routes(routes!(probes::ready))
        .routes(routes!(document::show))
}

/// The document of both.
fn described() -> OpenApi {
    let mut document = document::head();
    document.merge(open().into_openapi());
    document.nest("/v1", v1().into_openapi())
}

/// No answer of the API may be kept by anything on its way.
pub(crate) async fn unstored(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn document() -> Value {
        serde_json::from_slice(&document::written(described())).expect("JSON")
    }

    /// Every `$ref` in a value.
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str));
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn the_document_names_every_endpoint() {
        let document = document();
        if let Ok(p) = std::env::var("DUMP") {
            std::fs::write(p, document.to_string()).unwrap();
        }
        let mut endpoints = Vec::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            endpoints
                .extend(item.as_object().expect("methods").keys().map(|method| format!("{method} {path}")));
        }
        endpoints.sort();
        let expected = [
            "delete /v1/calls/{id}",
            "delete /v1/calls/{id}/decision",
            "get /healthz",
            "get /openapi.json",
            "get /readyz",
            "get /v1/actions",
            "get /v1/approvals",
            "get /v1/calls/{id}",
            "get /v1/events",
            "get /v1/receipts",
            "get /v1/receipts/{id}",
            "post /v1/actions/{name}",
            "post /v1/calls/{id}/decision",
        ];
        assert_eq!(endpoints, expected);
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 50, "{found:?}");
        for reference in found {
            let pointer = reference.strip_prefix('#').expect("a local reference");
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn every_problem_is_a_problem_document() {
        let document = document();
        let paths = document["paths"].as_object().expect("paths");
        let operations = paths.values().flat_map(|item| item.as_object().expect("methods").values());
        let answers = operations.flat_map(|operation| operation["responses"].as_object().expect("responses"));
        for (status, answer) in answers.filter(|(status, _)| !status.starts_with('2')) {
            assert!(
                answer["content"]["application/problem+json"]["schema"].is_object(),
                "{status}: {answer}"
            );
        }
    }
}
