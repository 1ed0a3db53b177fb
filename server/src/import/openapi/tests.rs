//! What comes out of small documents that hold one thing each.

mod bodies;
mod credentials;
mod names;
mod refused;
mod schemas;
mod whole;

use engine::catalogue::Catalogue;
use serde_json::{Value, json};

use super::{Imported, Unusable, Wishes, import};

/// A document of this version with these paths, and more fields.
fn document(version: &str, paths: &Value, more: &Value) -> String {
    let mut document = json!({
        "openapi": version,
        "info": { "title": "Shop API", "version": "1" },
        "servers": [{ "url": "https://api.shop.example/v1" }],
        "paths": paths,
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        document[name] = value.clone();
    }
    document.to_string()
}

/// What comes out of these paths.
fn imported(paths: &Value) -> Imported {
    with(paths, &json!({}))
}

/// What comes out of these paths, and more fields.
fn with(paths: &Value, more: &Value) -> Imported {
    import(&document("3.1.0", paths, more), &Wishes::default()).expect("a catalogue")
}

/// The tables of a list of tables in the catalogue that came out.
fn tables(imported: &Imported, kind: &str) -> Vec<Value> {
    let parsed: Value = toml::from_str(&imported.text).expect("TOML");
    parsed.get(kind).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// The only action that came out.
fn only(imported: &Imported) -> Value {
    let actions = tables(imported, "action");
    assert_eq!(actions.len(), 1, "{}", imported.text);
    actions.into_iter().next().expect("one")
}

/// What is said about the only operation that was left out.
fn left_out(imported: &Imported) -> &str {
    assert_eq!(imported.left_out.len(), 1, "{}", imported.text);
    &imported.left_out[0].message
}

fn notes(imported: &Imported) -> Vec<&str> {
    imported.notes.iter().map(|note| note.message.as_str()).collect()
}

/// The schema of a JSON body's one field, as it comes out of a document of this version.
fn field_schema(version: &str, schema: &Value, schemas: &Value) -> (Value, Imported) {
    let paths = json!({ "/x": { "post": { "requestBody": { "content": { "application/json": {
        "schema": { "type": "object", "properties": { "field": schema } } } } } } } });
    let text = document(version, &paths, &json!({ "components": { "schemas": schemas } }));
    let imported = import(&text, &Wishes::default()).expect("a catalogue");
    let schema = only(&imported)["input"]["properties"]["field"].clone();
    (schema, imported)
}

/// Asks the catalogue that came out for the request that an input makes, or the fields at fault.
fn sent(imported: &Imported, action: &str, input: &Value) -> Result<engine::outgoing::Outgoing, Vec<String>> {
    let catalogue = Catalogue::parse(&imported.text, "test").expect("a catalogue");
    let action = catalogue.action(action).expect("the action");
    let faults =
        |faults: Vec<model::FieldError>| faults.into_iter().map(|fault| fault.field).collect::<Vec<_>>();
    let wrong = action.validate(input);
    if !wrong.is_empty() {
        return Err(faults(wrong));
    }
    action.render(input).map_err(|refusal| match refusal {
        model::Refusal::Invalid(wrong) => faults(wrong),
        other => panic!("{other:?}"),
    })
}
