//! Schemas: converted, resolved, bounded.

use super::*;

fn of_3_0(schema: &Value) -> Value {
    field_schema("3.0.3", schema, &json!({})).0
}

fn of_3_1(schema: &Value) -> Value {
    field_schema("3.1.0", schema, &json!({})).0
}

#[test]
fn the_dialect_of_3_0_is_converted() {
    let cases = [
        (json!({ "type": "string", "nullable": true }), json!({ "type": ["string", "null"] })),
        (
            json!({ "type": "string", "nullable": true, "enum": ["a", null], "description": "D" }),
            json!({ "description": "D", "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "null" }] }),
        ),
        (
            json!({ "type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false }),
            json!({ "type": "integer", "maximum": 9, "exclusiveMinimum": 0 }),
        ),
        (
            json!({ "type": "string", "format": "int32", "example": "x", "x-y": 1, "default": "z" }),
            json!({ "type": "string" }),
        ),
        (
            json!({ "type": "file", "properties": { "a": {} } }),
            json!({ "type": "object", "properties": { "a": {} } }),
        ),
        (
            json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }),
        ),
    ];
    for (written, expected) in cases {
        assert_eq!(of_3_0(&written), expected, "{written}");
    }
}

#[test]
fn what_2020_12_has_is_kept_and_what_it_has_not_is_left_out() {
    let cases = [
        (
            json!({ "type": ["string", "null"], "const": "a" }),
            json!({ "type": ["string", "null"], "const": "a" }),
        ),
        (json!({ "enum": [null] }), json!({ "type": "null" })),
        (
            json!({ "type": "string", "enum": ["a", null] }),
            json!({ "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "null" }] }),
        ),
        (
            json!({ "type": "string", "minLength": "3", "maxLength": 4.0, "pattern": "(", "required": true }),
            json!({ "type": "string", "maxLength": 4 }),
        ),
        (
            json!({ "type": "number", "maximum": u64::MAX, "multipleOf": 0 }),
            json!({ "type": "number", "maximum": 18_446_744_073_709_551_615.0_f64 }),
        ),
        (
            json!({ "type": "array", "items": [{ "type": "string" }] }),
            json!({ "type": "array", "prefixItems": [{ "type": "string" }] }),
        ),
        (
            json!({ "type": "object", "required": ["a", "a"], "additionalProperties": true }),
            json!({ "type": "object", "required": ["a"] }),
        ),
        (json!({ "anyOf": [{}, { "type": "string" }] }), json!({})),
        (json!({ "type": "string", "not": { "const": "a" } }), json!({ "type": "string" })),
    ];
    for (written, expected) in cases {
        assert_eq!(of_3_1(&written), expected, "{written}");
    }
}

#[test]
fn parts_of_one_object_become_one_object() {
    let base = json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "string" } }, "additionalProperties": false });
    let schema = json!({ "allOf": [{ "$ref": "#/components/schemas/base" }, { "properties": { "b": { "type": "string" } } }] });
    let (converted, _) = field_schema("3.0.0", &schema, &json!({ "base": base }));
    let expected = json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "string" }, "b": { "type": "string" } } });
    assert_eq!(converted, expected);
}

#[test]
fn what_the_service_sets_is_not_asked_for() {
    let schema = json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "string", "readOnly": true }, "a": {} } });
    assert_eq!(of_3_0(&schema), json!({ "type": "object", "properties": { "a": {} } }));
}

#[test]
fn a_schema_that_refers_to_itself_is_cut() {
    let node = json!({ "type": "object", "properties": { "name": { "type": "string" }, "child": { "$ref": "#/components/schemas/node" } } });
    let (converted, imported) =
        field_schema("3.0.0", &json!({ "$ref": "#/components/schemas/node" }), &json!({ "node": node }));
    let expected = json!({ "type": "object", "properties": { "name": { "type": "string" }, "child": { "type": "object" } } });
    assert_eq!(converted, expected);
    assert_eq!(notes(&imported), ["a schema that refers to itself was left open at its second turn"]);
    let (alone, _) = field_schema(
        "3.0.0",
        &json!({ "$ref": "#/components/schemas/a" }),
        &json!({ "a": { "$ref": "#/components/schemas/a" } }),
    );
    assert_eq!(alone, json!({}));
}

#[test]
fn large_schemas_are_cut_from_below() {
    let wide = |inner: &Value| {
        let fields: serde_json::Map<String, Value> =
            (0..12).map(|number| (format!("f{number}"), inner.clone())).collect();
        json!({ "type": "object", "properties": fields })
    };
    let schema = wide(&wide(&wide(&wide(&json!({ "type": "string" })))));
    let (converted, imported) = field_schema("3.1.0", &schema, &json!({}));
    assert_eq!(converted["properties"].as_object().map(serde_json::Map::len), Some(12));
    assert!(imported.text.len() < 200_000, "{} bytes", imported.text.len());
    assert_eq!(notes(&imported), ["what is nested deeper than this file should show was left open"]);
}

#[test]
fn long_words_and_many_choices_are_cut() {
    let choices: Vec<String> = (0..400).map(|number| format!("c{number}")).collect();
    let converted =
        of_3_1(&json!({ "type": "string", "enum": choices, "description": "word ".repeat(5_000) }));
    assert!(converted.get("enum").is_none());
    assert!(converted["description"].as_str().is_some_and(|text| text.chars().count() <= 200));
}

#[test]
fn names_that_cannot_be_seen_are_left_out() {
    let converted = of_3_1(
        &json!({ "type": "object", "properties": { "a\u{0}": {}, "\u{200b}": {}, "": {}, "fine one": {} } }),
    );
    assert_eq!(converted, json!({ "type": "object", "properties": { "fine one": {} } }));
}
