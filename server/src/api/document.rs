//! `/openapi.json`: the API described by itself (`OpenAPI` 3.1), generated from the handlers.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use model::Problem;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{InfoBuilder, License, OpenApi, OpenApiBuilder};
use utoipa::{PartialSchema, ToSchema};

/// The parts of the document that belong to no endpoint.
pub(crate) fn head() -> OpenApi {
    let licence = License::builder().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title("Countersign")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "A desk where people countersign what agents write. Every answer carries `X-Request-Id`; every problem \
             is `application/problem+json` (RFC 9457). An unknown path is 404 `not_found`, a method that a path does \
             not take 405 `method_not_allowed`; without a valid token every path below `/v1` is 401.",
        ))
        .license(Some(licence))
        .build();
    OpenApiBuilder::new().info(info).security(Some([SecurityRequirement::new("bearer", [""; 0])])).build()
}

/// Puts in what the endpoints refer to, and writes the document down once.
pub(crate) fn written(mut document: OpenApi) -> Bytes {
    let components = document.components.get_or_insert_default();
    let bearer = Http::builder()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An agent's key (`csk_…`) or a person's token (`csu_…`)."))
        .build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    components.schemas.insert(Problem::name().into_owned(), Problem::schema());
    let mut referred = Vec::new();
    Problem::schemas(&mut referred);
    components.schemas.extend(referred);
    document.to_json().unwrap_or_default().into()
}

/// Written once: the code does not change while it runs.
static WRITTEN: LazyLock<Bytes> = LazyLock::new(|| written(super::described()));

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "getOpenApi", tag = "operation",
    responses((status = 200, description = "The document (`OpenAPI` 3.1).", body = Object)),
    security(()),
)]
pub(crate) async fn show() -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], Bytes::clone(&WRITTEN)).into_response()
}
