//! Documents and operations that cannot be taken, and what is said about them.

use std::fmt::Write;

use super::*;

fn unusable(text: &str) -> Unusable {
    import(text, &Wishes::default()).expect_err("a refusal")
}

#[test]
fn other_documents_are_told_apart() {
    assert!(matches!(unusable("{ \"a\": "), Unusable::Unreadable(_)));
    assert!(matches!(unusable("a: b: c: ]"), Unusable::Unreadable(_)));
    assert_eq!(unusable(""), Unusable::NotOpenApi);
    assert_eq!(unusable("just words"), Unusable::NotOpenApi);
    assert_eq!(unusable("[1, 2]"), Unusable::NotOpenApi);
    assert_eq!(unusable("swagger: '2.0'\npaths: {}"), Unusable::Swagger("2.0".to_owned()));
    assert_eq!(unusable("openapi: 4.0.0"), Unusable::Version("4.0.0".to_owned()));
    assert_eq!(unusable("openapi: 3.10.0"), Unusable::Version("3.10.0".to_owned()));
    assert_eq!(unusable("openapi: 3.1.0\npaths: {}"), Unusable::NoOperations);
    assert_eq!(unusable("openapi: 3.0.0\npaths: [1]"), Unusable::NoOperations);
}

#[test]
fn a_yaml_bomb_is_refused() {
    let mut text = "openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = level - 1;
        let _ = writeln!(text, "a{level}: &a{level} [{}]", vec![format!("*a{before}"); 10].join(", "));
    }
    assert!(matches!(unusable(&text), Unusable::Unreadable(_)));
}

#[test]
fn references_that_cannot_be_followed_leave_the_operation_out() {
    let body = |reference: &str| json!({ "/x": { "post": { "requestBody": { "content": { "application/json": { "schema": { "$ref": reference } } } } } } });
    assert_eq!(
        left_out(&imported(&body("#/components/schemas/none"))),
        "its body has a reference that leads nowhere, “#/components/schemas/none”"
    );
    assert_eq!(
        left_out(&imported(&body("other.yaml#/x"))),
        "its body has a reference to another file, “other.yaml#/x”"
    );
    let parameter = json!({ "/x": { "get": { "parameters": [{ "$ref": "#/nowhere" }] } } });
    assert_eq!(left_out(&imported(&parameter)), "a parameter is a reference that leads nowhere, “#/nowhere”");
    let operation = json!({ "/x": { "get": { "$ref": "operations/x.yml" } } });
    assert_eq!(left_out(&imported(&operation)), "it is a reference to another file, “operations/x.yml”");
    let turning = json!({ "/x": { "$ref": "#/paths/~1x" } });
    assert_eq!(left_out(&imported(&turning)), "it is a reference that leads back to itself");
}

#[test]
fn paths_that_could_lead_elsewhere_leave_the_operation_out() {
    for path in [
        "/a/../b",
        "/./a",
        "/%2e%2e/a",
        "/a%2fb",
        "/a\\b",
        "/a\nb",
        "/a%",
        "/{{a}}",
        "/a{b",
        "/a}b",
        "/{}",
        "/{%",
    ] {
        let imported = imported(&json!({ path: { "get": {} }, "/fine": { "get": {} } }));
        assert_eq!(imported.actions.len(), 1, "{path}");
        let told = left_out(&imported);
        assert!(
            ["dot segment", "braces", "control"].iter().any(|word| told.contains(word)),
            "{path}: {told}"
        );
    }
}

#[test]
fn a_place_and_a_parameter_that_do_not_match_are_told() {
    let string = json!({ "type": "string" });
    let imported = imported(&json!({ "/{a}/{b c}": { "get": { "operationId": "x", "parameters": [
        { "name": "a", "in": "path", "schema": string }, { "name": "z", "in": "path", "schema": string } ] } } }));
    let expected = [
        "its path has “b c”, which is no parameter; it was taken as a text",
        "the path has no place for its parameter “z”",
    ];
    assert_eq!(notes(&imported), expected);
    let sent = sent(&imported, "x", &json!({ "a": "1", "b_c": "2" })).expect("a request");
    assert_eq!(sent.url.as_str(), "https://api.shop.example/v1/1/2");
}

#[test]
fn a_fragment_tells_operations_apart_and_is_not_sent() {
    let imported = imported(&json!({ "/a#one": { "get": {} }, "/a#two": { "get": {} } }));
    let names: Vec<&str> = imported.actions.iter().map(|taken| taken.name.as_str()).collect();
    assert_eq!(names, ["get_a_one", "get_a_two"]);
    assert_eq!(tables(&imported, "action")[1]["request"]["url"], "https://api.shop.example/v1/a");
}

#[test]
fn trace_is_never_sent() {
    assert_eq!(left_out(&imported(&json!({ "/x": { "trace": {} } }))), "TRACE is never sent");
}

#[test]
fn a_server_that_cannot_be_used_is_refused() {
    let wishes = Wishes { server: "https://u@a.example/".parse().ok(), ..Wishes::default() };
    let text = document("3.0.0", &json!({ "/a": { "get": {} } }), &json!({}));
    assert!(matches!(import(&text, &wishes), Err(Unusable::Server(_))));
}
