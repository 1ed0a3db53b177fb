//! What the caller gets of an upstream's answer.

use serde_json::{Map, Value};

/// The answer cut to the declared names: of an object those fields, of a list those fields of each entry. Without
/// declared names all of it.
pub(super) fn project(names: Option<&[String]>, answer: &Value) -> Value {
    let Some(names) = names else { return answer.clone() };
    match answer {
        Value::Object(fields) => Value::Object(cut(names, fields)),
        Value::Array(items) => Value::Array(items.iter().map(|item| project(Some(names), item)).collect()),
        _ => Value::Null,
    }
}

fn cut(names: &[String], fields: &Map<String, Value>) -> Map<String, Value> {
    names.iter().filter_map(|name| Some((name.clone(), fields.get(name)?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_declared_names_come_through() {
        let names = ["id".to_owned()];
        assert_eq!(project(Some(&names), &json!({ "id": 1, "token": "t" })), json!({ "id": 1 }));
        assert_eq!(project(Some(&names), &json!([{ "id": 1, "x": 2 }, "y"])), json!([{ "id": 1 }, null]));
        assert_eq!(project(Some(&names), &json!("text")), json!(null));
        assert_eq!(project(None, &json!("text")), json!("text"));
    }
}
