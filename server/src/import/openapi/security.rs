//! Which security scheme an operation is called with.

use serde_json::Value;

use super::document::Document;
use super::operation::Operation;

/// A security scheme that a credential can stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scheme {
    /// Its name in the document.
    pub(super) name: String,
    pub(super) header: String,
    /// The header's value with `{secret}` in it.
    pub(super) value: &'static str,
    /// The end of the environment variable's name.
    pub(super) suffix: &'static str,
    /// What the secret has to be.
    pub(super) hint: &'static str,
}

/// The security schemes of a document.
#[derive(Debug)]
pub(super) struct Schemes {
    /// Each with its reason when a credential cannot stand for it.
    all: Vec<(String, Result<Scheme, String>)>,
    /// Nothing in the document says which operation needs one.
    unsaid: bool,
}

/// What an operation is called with.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// `None`: nothing.
    pub(super) scheme: Option<Scheme>,
    /// What else it would need.
    pub(super) notes: Vec<String>,
}

impl Schemes {
    /// Of a document.
    pub(super) fn of(document: &Document, operations: &[Operation<'_>]) -> Self {
        let all = document.entries("/components/securitySchemes").map(|(name, node)| {
            let read = document.resolve(node).and_then(|node| scheme(name, node));
            (name.clone(), read)
        });
        let unsaid = document.get("security").is_none()
            && operations.iter().all(|operation| operation.node.get("security").is_none());
        Self { all: all.collect(), unsaid }
    }

    /// The scheme that an operation is called with: the first alternative that a single credential can stand for.
    pub(super) fn choose(&self, document: &Document, operation: &Operation<'_>) -> Chosen {
        if self.unsaid {
            let scheme = self.all.iter().find_map(|(_, scheme)| scheme.as_ref().ok()).cloned();
            return Chosen { scheme, notes: Vec::new() };
        }
        let written = operation.node.get("security").or_else(|| document.get("security"));
        let alternatives: Vec<Vec<&str>> = written
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .map(|alternative| alternative.keys().map(String::as_str).collect())
            .collect();
        let single =
            alternatives.iter().filter(|names| names.len() == 1).find_map(|names| self.usable(names));
        if let Some(scheme) = single {
            return Chosen { scheme: Some(scheme), notes: Vec::new() };
        }
        if alternatives.is_empty() || alternatives.iter().any(Vec::is_empty) {
            return Chosen::default();
        }
        let best = alternatives.iter().find(|names| self.usable(names).is_some()).unwrap_or(&alternatives[0]);
        let scheme = self.usable(best);
        let missing = best.iter().filter(|name| scheme.as_ref().is_none_or(|scheme| scheme.name != **name));
        let notes = missing.map(|name| {
            format!("it also needs the security scheme {}: {}", super::quoted(name), self.reason(name))
        });
        Chosen { notes: notes.collect(), scheme }
    }

    /// The first of these that a credential can stand for.
    fn usable(&self, names: &[&str]) -> Option<Scheme> {
        let known = |name: &&str| self.all.iter().find(|(known, _)| known == name)?.1.as_ref().ok().cloned();
        names.iter().find_map(known)
    }

    fn reason(&self, name: &str) -> &str {
        match self.all.iter().find(|(known, _)| known == name) {
            None => "the document does not define it",
            Some((_, Ok(_))) => "a request carries one credential",
            Some((_, Err(reason))) => reason,
        }
    }
}

/// Reads a scheme, or says why a credential cannot stand for it.
fn scheme(name: &str, node: &Value) -> Result<Scheme, String> {
    let text = |field: &str| node.get(field).and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let made = |header: &str, value, suffix, hint| {
        Ok(Scheme { name: name.to_owned(), header: header.to_owned(), value, suffix, hint })
    };
    let bearer = |hint| made("Authorization", "Bearer {secret}", "TOKEN", hint);
    match (text("type").as_str(), text("scheme").as_str(), text("in").as_str()) {
        ("http", "bearer", _) => bearer("a bearer token"),
        ("http", "basic", _) => made(
            "Authorization",
            "Basic {secret}",
            "BASIC",
            "user:password in Base64: printf %s 'user:password' | base64",
        ),
        ("oauth2", ..) => bearer("an OAuth 2 access token; the desk does not renew it"),
        ("openidconnect", ..) => bearer("an OpenID Connect access token; the desk does not renew it"),
        ("apikey", _, "header") => {
            let header = node.get("name").and_then(Value::as_str).unwrap_or_default();
            if super::credential::can_carry(header) {
                return made(header, "{secret}", "KEY", "the API key as it stands in the header");
            }
            Err("its header cannot carry a secret".to_owned())
        }
        ("apikey", _, place) => Err(format!("a key in the {place} cannot be carried, only one in a header")),
        ("http", other, _) => Err(format!("HTTP {} cannot be carried", super::quoted(other))),
        (other, ..) => Err(format!("{} cannot be carried", super::quoted(other))),
    }
}
