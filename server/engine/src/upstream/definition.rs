//! What a server says about a tool, as far as people and agents rely on it.

use model::Effect;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The largest definition that is taken, as canonical JSON, in bytes.
const LARGEST: usize = 64 * 1024;

/// What is pinned. Everything else that a server tells (icons, `_meta`) is neither kept nor shown.
const PARTS: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// What a server says about a tool, as far as people and agents rely on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    parts: Map<String, Value>,
    canonical: String,
}

impl Definition {
    /// Of an entry of `tools/list`; `None` when it has no name or is too large.
    pub fn read(entry: &Value) -> Option<Self> {
        let entry = entry.as_object()?;
        let parts: Map<String, Value> = PARTS
            .into_iter()
            .filter_map(|part| {
                Some((part.to_owned(), entry.get(part).filter(|value| !value.is_null())?.clone()))
            })
            .collect();
        parts.get("name").and_then(Value::as_str).filter(|name| (1..=128).contains(&name.len()))?;
        let canonical = serde_json_canonicalizer::to_string(&parts).ok()?;
        (canonical.len() <= LARGEST && !canonical.contains("\\u0000")).then_some(Self { parts, canonical })
    }

    /// From its canonical form.
    pub(crate) fn of_canonical(text: &str) -> Option<Self> {
        Self::read(&serde_json::from_str(text).ok()?)
    }

    /// Canonical JSON (RFC 8785).
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// SHA-256 over the canonical JSON, as lower-case hexadecimal digits.
    pub fn hash(&self) -> String {
        data_encoding::HEXLOWER.encode(&Sha256::digest(&self.canonical))
    }

    /// The tool's name at its server.
    pub fn name(&self) -> &str {
        self.parts.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Its title for people, where it has one.
    pub fn title(&self) -> Option<&str> {
        let own = self.parts.get("title").and_then(Value::as_str);
        own.or_else(|| self.parts.get("annotations")?.get("title")?.as_str())
            .filter(|title| !title.trim().is_empty())
    }

    /// What it does, in the server's words.
    pub fn description(&self) -> &str {
        self.parts.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// The JSON Schema of its arguments.
    pub fn input_schema(&self) -> Option<&Value> {
        self.parts.get("inputSchema")
    }

    /// What its annotations say it does to the world. What they do not say is taken for the worst, as the protocol has
    /// it; where they contradict each other, the worse one counts.
    pub fn effect(&self) -> Effect {
        let hint = |name: &str| self.parts.get("annotations").and_then(|all| all.get(name)?.as_bool());
        match (hint("readOnlyHint"), hint("destructiveHint"), hint("openWorldHint")) {
            (Some(true), None | Some(false), _) => Effect::Read,
            (_, Some(false), Some(false)) => Effect::Write,
            (_, Some(false), _) => Effect::External,
            _ => Effect::Destructive,
        }
    }

    /// The name of the action that the tool becomes: the server's name in the catalogue, `_`, and the tool's own in
    /// small letters, digits and `_`.
    pub fn action_name(&self, upstream: &str) -> String {
        format!("{upstream}_{}", snake(self.name()))
    }
}

/// `getUser`, `get-user` and `get.user` become `get_user`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    let mut after_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && after_small {
            text.push('_');
        }
        after_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        text.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with(annotations: &Value) -> Definition {
        Definition::read(&json!({ "name": "x", "annotations": annotations })).expect("a definition")
    }

    #[test]
    fn effects_come_from_annotations_and_silence_is_the_worst() {
        for (annotations, effect) in [
            (json!(null), Effect::Destructive),
            (json!({}), Effect::Destructive),
            (json!({ "readOnlyHint": false }), Effect::Destructive),
            (json!({ "readOnlyHint": "true" }), Effect::Destructive),
            (json!({ "readOnlyHint": true }), Effect::Read),
            (json!({ "readOnlyHint": true, "destructiveHint": false }), Effect::Read),
            (json!({ "readOnlyHint": true, "destructiveHint": true }), Effect::Destructive),
            (json!({ "destructiveHint": false }), Effect::External),
            (json!({ "destructiveHint": false, "openWorldHint": true }), Effect::External),
            (json!({ "destructiveHint": false, "openWorldHint": false }), Effect::Write),
            (json!({ "destructiveHint": true, "openWorldHint": false }), Effect::Destructive),
            (json!({ "idempotentHint": true, "openWorldHint": false }), Effect::Destructive),
        ] {
            assert_eq!(with(&annotations).effect(), effect, "{annotations}");
        }
    }

    #[test]
    fn the_hash_is_over_what_matters_in_any_order() {
        let hash = |entry: Value| Definition::read(&entry).expect("a definition").hash();
        let one =
            hash(json!({ "name": "a", "description": "d", "inputSchema": { "type": "object", "x": 1 } }));
        let same = json!({ "inputSchema": { "x": 1, "type": "object" }, "description": "d", "name": "a", "title": null, "_meta": { "n": 1 }, "icons": [] });
        assert_eq!(hash(same), one);
        for other in [
            json!({ "name": "b", "description": "d", "inputSchema": { "type": "object", "x": 1 } }),
            json!({ "name": "a", "description": "d ", "inputSchema": { "type": "object", "x": 1 } }),
            json!({ "name": "a", "description": "d", "inputSchema": { "type": "object", "x": 2 } }),
            json!({ "name": "a", "description": "d", "inputSchema": { "type": "object", "x": 1 }, "outputSchema": {} }),
            json!({ "name": "a", "description": "d", "inputSchema": { "type": "object", "x": 1 }, "annotations": { "readOnlyHint": true } }),
            json!({ "name": "a", "title": "A", "description": "d", "inputSchema": { "type": "object", "x": 1 } }),
        ] {
            assert_ne!(hash(other.clone()), one, "{other}");
        }
    }

    #[test]
    fn what_cannot_be_kept_is_no_definition() {
        for entry in [
            json!({}),
            json!({ "name": "" }),
            json!({ "name": 1 }),
            json!("x"),
            json!({ "name": "a", "description": "a\0b" }),
        ] {
            assert_eq!(Definition::read(&entry), None, "{entry}");
        }
        assert_eq!(Definition::read(&json!({ "name": "a", "description": "x".repeat(LARGEST) })), None);
    }

    #[test]
    fn names_become_names_of_actions() {
        for (tool, action) in [
            ("close", "t_close"),
            ("getUser", "t_get_user"),
            ("get-user.v2/x", "t_get_user_v2_x"),
            ("HTTPGet", "t_httpget"),
            ("ü", "t__"),
        ] {
            let definition = Definition::read(&json!({ "name": tool })).expect("a definition");
            assert_eq!(definition.action_name("t"), action, "{tool}");
        }
    }
}
