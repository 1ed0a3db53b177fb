//! `/openapi.json`: the API described by itself (`OpenAPI` 3.1), generated from the handlers.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use model::Problem;
use serde_json::{Map, Value, json};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{InfoBuilder, License, OpenApi, OpenApiBuilder, ServerBuilder};
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
    let here =
        ServerBuilder::new().url("/").description(Some("The desk that answers this document.")).build();
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([here]))
        .security(Some([SecurityRequirement::new("bearer", [""; 0])]))
        .build()
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
    let mut document = serde_json::to_value(&document).unwrap_or_default();
    refer_to_items(&mut document);
    for operation in operations(&mut document) {
        each_schema_of_parameters(operation, without_null);
    }
    document.to_string().into()
}

/// Lists name the schema of their items instead of writing it out again.
fn refer_to_items(document: &mut Value) {
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    for (name, schema) in schemas.into_iter().flatten() {
        if let (Some(item), Some(items)) =
            (name.strip_prefix("Listing_"), schema.pointer_mut("/properties/items/items"))
        {
            *items = json!({ "$ref": format!("#/components/schemas/{item}") });
        }
    }
}

/// Every operation of the document.
fn operations(document: &mut Value) -> impl Iterator<Item = &mut Value> {
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    paths.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut).flat_map(Map::values_mut)
}

/// Visits the schemas of an operation's parameters and of its answers' headers.
fn each_schema_of_parameters(operation: &mut Value, visit: impl Fn(&mut Value)) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    parameters.into_iter().flatten().filter_map(|parameter| parameter.get_mut("schema")).for_each(&visit);
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    let headers =
        responses.into_iter().flat_map(Map::values_mut).filter_map(|response| response.get_mut("headers"));
    let headers = headers.filter_map(Value::as_object_mut).flat_map(Map::values_mut);
    headers.filter_map(|header| header.get_mut("schema")).for_each(&visit);
}

/// A parameter or a header is there or it is not; it is never `null`.
fn without_null(schema: &mut Value) {
    let is_null = |value: &Value| value == "null" || value["type"] == "null";
    if let Some([kind, null]) = schema["type"].as_array().map(Vec::as_slice)
        && is_null(null)
    {
        schema["type"] = kind.clone();
    }
    let choices = schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    if choices.iter().any(is_null)
        && let [own] = choices.iter().filter(|choice| !is_null(choice)).collect::<Vec<_>>()[..]
    {
        *schema = own.clone();
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Value {
        serde_json::from_slice(&written(super::super::described())).expect("JSON")
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
        let mut endpoints = Vec::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            endpoints
                .extend(item.as_object().expect("methods").keys().map(|method| format!("{method} {path}")));
        }
        endpoints.sort();
        let expected = [
            "delete /v1/calls/{id}",
            "delete /v1/calls/{id}/decision",
            "delete /v1/confirmations/{token}",
            "get /checkpoint",
            "get /healthz",
            "get /metrics",
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
            "post /v1/calls/{id}/settlement",
            "post /v1/fetch",
            "post /v1/sessions/{id}/taint",
            "post /via/{credential}/{path}",
        ];
        assert_eq!(endpoints, expected);
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    }

    #[test]
    fn words_stand_in_it_as_they_stand_on_the_wire() {
        let document = document();
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["Outcome"]["enum"][1], "in_doubt");
        assert_eq!(schemas["EventType"]["enum"][0], "call.held");
        let problem = &document["paths"]["/v1/receipts"]["get"]["responses"]["403"];
        let own = &problem["content"]["application/problem+json"]["schema"]["allOf"][1];
        assert_eq!(own["properties"]["code"], serde_json::json!({ "type": "string", "enum": ["denied"] }));
    }

    #[test]
    fn a_parameter_is_never_null() {
        let document = document();
        let parameters = &document["paths"]["/v1/receipts"]["get"]["parameters"];
        for parameter in parameters.as_array().expect("parameters") {
            assert!(!parameter["schema"].to_string().contains("null"), "{parameter}");
        }
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

    /// What nothing refers to is dead weight, or a sign that something was written out twice.
    #[test]
    fn every_schema_is_referred_to() {
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        for name in document["components"]["schemas"].as_object().expect("schemas").keys() {
            assert!(found.contains(&format!("#/components/schemas/{name}").as_str()), "{name}");
        }
    }

    /// Those that anybody may ask, and that take nothing, have no fault of the caller's.
    #[test]
    fn every_operation_tells_what_a_caller_can_do_wrong() {
        let document = document();
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("methods") {
                let takes_nothing =
                    ["/healthz", "/readyz", "/metrics", "/openapi.json"].contains(&path.as_str());
                let responses = operation["responses"].as_object().expect("responses");
                let told = responses.keys().any(|status| status.starts_with('4'));
                assert_ne!(told, takes_nothing, "{method} {path}");
            }
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
