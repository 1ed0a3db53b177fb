//! Bodies and the styles of parameters: what is sent for an input.

use super::*;

fn post(content: &Value) -> Value {
    json!({ "/x": { "post": { "operationId": "x", "requestBody": { "content": content } } } })
}

fn body_of(imported: &Imported, input: &Value) -> String {
    let body = sent(imported, "x", input).expect("a request").body.unwrap_or_default();
    String::from_utf8(body.to_vec()).expect("text")
}

fn query_of(parameter: &Value, schema: &Value, input: &Value) -> String {
    let mut parameter = parameter.clone();
    parameter["name"] = json!("q");
    parameter["in"] = json!("query");
    parameter["schema"] = schema.clone();
    let imported = imported(&json!({ "/x": { "get": { "operationId": "x", "parameters": [parameter] } } }));
    sent(&imported, "x", input).expect("a request").url.query().unwrap_or_default().to_owned()
}

#[test]
fn json_bodies_are_flat_where_their_fields_are_known() {
    let object = json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "integer" }, "b-c": { "type": "string" } } });
    let flat = imported(&post(&json!({ "application/json": { "schema": object } })));
    assert_eq!(body_of(&flat, &json!({ "a": 1 })), r#"{"a":1}"#);
    assert_eq!(body_of(&flat, &json!({ "a": 1, "b_c": "x" })), r#"{"a":1,"b-c":"x"}"#);
    assert_eq!(sent(&flat, "x", &json!({})).err(), Some(vec!["/a".to_owned()]));
    let list = imported(&post(
        &json!({ "application/json": { "schema": { "type": "array", "items": { "type": "integer" } } } }),
    ));
    assert_eq!(body_of(&list, &json!({ "body": [1, 2] })), "[1,2]");
    let open = imported(&post(
        &json!({ "application/json": { "schema": { "type": "object", "additionalProperties": { "type": "string" } } } }),
    ));
    assert_eq!(body_of(&open, &json!({ "body": { "any": "x" } })), r#"{"any":"x"}"#);
}

#[test]
fn the_media_type_is_kept_where_it_matters() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    let media_type = |name: &str| {
        let imported = imported(&post(&json!({ name: { "schema": schema } })));
        let sent = sent(&imported, "x", &json!({ "a": 1 })).expect("a request");
        let header = sent.headers.iter().find(|(name, _)| name == "content-type").expect("a media type");
        header.1.to_str().expect("text").to_owned()
    };
    assert_eq!(media_type("application/json; charset=utf-8"), "application/json");
    assert_eq!(media_type("*/*"), "application/json");
    assert_eq!(media_type("application/merge-patch+json"), "application/merge-patch+json");
}

#[test]
fn forms_are_written_as_pairs() {
    let schema = json!({ "type": "object", "properties": {
        "amount": { "type": "integer" },
        "tags": { "type": "array", "items": { "type": "string" } },
        "card": { "type": "object", "properties": {
            "number": { "type": "string" }, "owner": { "type": "object", "properties": { "name": { "type": "string" } } },
            "free": { "type": "object" } } },
        "metadata": { "type": "object", "additionalProperties": { "type": "string" } },
        "extra": { "anyOf": [{ "type": "string", "enum": [""] }, { "type": "object", "properties": { "a": { "type": "string" } } }] },
    } });
    let deep = json!({ "style": "deepObject", "explode": true });
    let encoding = json!({ "tags": deep, "card": deep, "metadata": deep, "extra": deep });
    let imported = imported(&post(
        &json!({ "application/x-www-form-urlencoded": { "schema": schema, "encoding": encoding } }),
    ));
    let input = json!({ "amount": 5, "tags": ["a", "b"], "card": { "owner": { "name": "A&B" } } });
    assert_eq!(
        body_of(&imported, &input),
        "amount=5&tags%5B%5D=a&tags%5B%5D=b&card%5Bowner%5D%5Bname%5D=A%26B"
    );
    assert_eq!(
        sent(&imported, "x", &json!({ "card": { "free": {} } })).err(),
        Some(vec!["/card/free".to_owned()])
    );
    let expected = [
        "its field “card[free]” is left out: a template cannot write it",
        "its field “metadata” is left out: a template cannot write it",
        "of the forms of its field “extra” one was taken",
    ];
    assert_eq!(notes(&imported), expected);
}

#[test]
fn bodies_that_cannot_be_carried_leave_the_operation_out() {
    let imported = imported(&post(&json!({ "multipart/form-data": {}, "text/csv": {} })));
    assert_eq!(
        left_out(&imported),
        "its body is multipart/form-data or text/csv; an action carries JSON or a form"
    );
    assert!(imported.text.contains("# POST /x is left out: its body is multipart/form-data"));
}

#[test]
fn a_reading_operation_has_no_body() {
    let imported =
        imported(&json!({ "/x": { "get": { "requestBody": { "content": { "application/json": {} } } } } }));
    assert_eq!(notes(&imported), ["its body is left out: a GET request carries none"]);
    assert!(only(&imported)["request"].get("json").is_none());
}

#[test]
fn lists_and_objects_in_a_query() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let object =
        json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } } });
    let two = json!({ "q": ["1", "2"] });
    assert_eq!(query_of(&json!({}), &list, &two), "q=1&q=2");
    assert_eq!(query_of(&json!({ "explode": false }), &list, &two), "q=1%2C2");
    assert_eq!(query_of(&json!({ "explode": false }), &list, &json!({})), "");
    assert_eq!(query_of(&json!({ "style": "pipeDelimited", "explode": false }), &list, &two), "q=1%7C2");
    assert_eq!(
        query_of(&json!({ "style": "deepObject" }), &object, &json!({ "q": { "b": "x" } })),
        "q%5Bb%5D=x"
    );
    assert_eq!(query_of(&json!({}), &object, &json!({ "q": { "a": "x" } })), "a=x");
}

#[test]
fn parameters_that_cannot_be_sent_are_told() {
    let string = json!({ "type": "string" });
    let imported = imported(&json!({ "/x": { "get": { "parameters": [
        { "name": "session", "in": "cookie", "schema": string },
        { "name": "Authorization", "in": "header", "schema": string },
        { "name": "bad header", "in": "header", "schema": string },
        { "name": "odd", "in": "query", "style": "matrix", "schema": string },
        { "name": "page", "in": "query", "content": { "application/json": { "schema": { "type": "object" } } } },
    ] } } }));
    let expected = [
        "its cookie “session” is left out: the desk sends no cookies",
        "its header “bad header” is left out: that is no header's name",
        "its query parameter “odd” is left out: a template cannot write its style",
    ];
    assert_eq!(notes(&imported), expected);
    let properties = only(&imported)["input"]["properties"].clone();
    assert_eq!(
        properties.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>()),
        Some(vec!["page".to_owned()])
    );
}

#[test]
fn an_operations_own_parameter_counts_before_its_paths() {
    let imported = imported(&json!({ "/x": {
        "parameters": [{ "name": "a", "in": "query", "required": true, "schema": { "type": "string" } }],
        "get": { "parameters": [{ "name": "a", "in": "query", "schema": { "type": "integer" } }] },
    } }));
    assert_eq!(
        only(&imported)["input"],
        json!({ "type": "object", "properties": { "a": { "type": "integer" } } })
    );
}
