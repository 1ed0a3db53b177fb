//! One operation as an action.

use std::collections::HashSet;

use model::Effect;
use serde_json::{Map, Value, json};

use super::document::Document;
use super::dry_run::dry_run;
use super::effect::{effect, looks_like_a_read};
use super::inputs::Inputs;
use super::operation::Operation;
use super::preview::{answered_fields, preview};
use super::prose;
use super::refusals::refusals;
use super::request::{self, Wanted};
use super::security::{Scheme, Schemes};
use super::server::Servers;
use super::words;

/// The longest title and description, in characters.
const LONGEST_TITLE: usize = 80;
const LONGEST_DESCRIPTION: usize = 400;

/// Names that are the desk's own.
const OWN: &[&str] = &["fetch", "via", "call_status"];

/// An action, but for its credential's name, which depends on all the others.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) name: String,
    pub(super) effect: Effect,
    pub(super) scheme: Option<Scheme>,
    /// Its methods: the request's, and the dry run's.
    pub(super) methods: Vec<String>,
    pub(super) base: url::Url,
    /// What stands above it.
    pub(super) comments: Vec<String>,
    /// What was left out of it.
    pub(super) notes: Vec<String>,
    head: Map<String, Value>,
    rest: Map<String, Value>,
}

/// What every action is made from.
pub(super) struct Source<'d> {
    pub(super) document: &'d Document,
    pub(super) servers: Servers,
    pub(super) schemes: Schemes,
}

impl Action {
    /// Makes an action of an operation, under a name that is not taken yet.
    ///
    /// # Errors
    /// Why the operation cannot be taken.
    pub(super) fn make(
        source: &Source<'_>,
        operation: &Operation<'_>,
        taken: &HashSet<String>,
    ) -> Result<Self, String> {
        let Source { document, servers, schemes } = source;
        if operation.method == "TRACE" {
            return Err("TRACE is never sent".to_owned());
        }
        let base = servers.base(operation)?;
        let chosen = schemes.choose(document, operation);
        if base.scheme() == "http" && chosen.scheme.is_none() {
            return Err("its server is plain http, which only a credential can allow; name a https server with --server URL".to_owned());
        }
        let credential_header = chosen.scheme.as_ref().map(|scheme| scheme.header.as_str());
        let request = request::request(&Wanted { document, operation, base: &base, credential_header })?;
        let effect = effect(operation);
        let mut action = Self {
            name: name(operation, taken),
            effect,
            methods: vec![operation.method.clone()],
            base,
            comments: comments(operation, effect),
            notes: chosen.notes.into_iter().chain(request.notes).collect(),
            scheme: chosen.scheme,
            head: Map::new(),
            rest: Map::new(),
        };
        action.describe(operation);
        action.fill(source, operation, &request.inputs, request.written);
        Ok(action)
    }

    /// The action as the catalogue writes it.
    pub(super) fn written(&self, credential: Option<&str>) -> Map<String, Value> {
        let mut written = self.head.clone();
        if let Some(credential) = credential {
            written.insert("credential".to_owned(), json!(credential));
        }
        written.extend(self.rest.clone());
        written
    }

    /// Name, title, description and effect.
    fn describe(&mut self, operation: &Operation<'_>) {
        let summary = prose::field(operation.node, "summary", LONGEST_TITLE);
        let title = summary
            .map(|text| text.trim_end_matches(['.', ' ']).to_owned())
            .filter(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| words::label(&self.name));
        let description = prose::field(operation.node, "description", LONGEST_DESCRIPTION)
            .or_else(|| prose::field(operation.node, "summary", LONGEST_DESCRIPTION))
            .unwrap_or_else(|| title.clone());
        self.head.insert("name".to_owned(), json!(self.name));
        self.head.insert("title".to_owned(), json!(title));
        self.head.insert("description".to_owned(), json!(prose::sentence(&description)));
        self.head.insert("effect".to_owned(), json!(self.effect.as_str()));
    }

    /// Input, request, dry run, preview and refusals.
    fn fill(
        &mut self,
        source: &Source<'_>,
        operation: &Operation<'_>,
        inputs: &Inputs,
        request: Map<String, Value>,
    ) {
        let document = source.document;
        self.put("input", Value::Object(inputs.schema()));
        let mut before = std::collections::BTreeSet::new();
        let read = dry_run(document, operation, inputs, &request).filter(|(_, reading)| {
            // Another credential could not be sent with it.
            source.schemes.choose(document, reading).scheme == self.scheme
                && source.servers.base(reading).as_ref() == Ok(&self.base)
        });
        self.put("request", Value::Object(request));
        if let Some((written, reading)) = read {
            before = answered_fields(document, &reading);
            self.put("dry_run", Value::Object(written));
            self.methods.push("GET".to_owned());
            self.comments.push(
                "dry_run: before anybody is asked, the desk reads what is there; a no ends the call."
                    .to_owned(),
            );
        }
        if self.effect.is_write() {
            let title = self.head.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
            let preview = preview(&title, self.effect, &operation.method, inputs, &before);
            if !preview.fingerprint.is_empty() {
                self.put("fingerprint", json!(preview.fingerprint));
            }
            self.put("preview", Value::Object(preview.written));
        }
        let refusals = refusals(document, operation, inputs);
        if !refusals.is_empty() {
            self.put("refusals", Value::Array(refusals));
        }
    }

    fn put(&mut self, key: &str, value: Value) {
        self.rest.insert(key.to_owned(), value);
    }
}

/// The operation's id as a name, or its method and path; a number where that is taken.
fn name(operation: &Operation<'_>, taken: &HashSet<String>) -> String {
    let of_id = operation.id().and_then(|id| words::name(&words::words(id)));
    let of_path = || {
        let mut all = vec![operation.method.to_ascii_lowercase()];
        for segment in operation.path.split('/') {
            if segment.contains('{') {
                all.push("by".to_owned());
            }
            all.extend(words::words(segment));
        }
        words::name(&all)
    };
    let wanted = of_id.or_else(of_path).unwrap_or_else(|| "action".to_owned());
    let wanted = if OWN.contains(&wanted.as_str()) { format!("{wanted}_action") } else { wanted };
    words::free(&wanted, taken)
}

/// What a person should know who edits the action.
fn comments(operation: &Operation<'_>, effect: Effect) -> Vec<String> {
    let mut comments = vec![operation.shown()];
    if operation.is_deprecated() {
        comments.push("The document advises against it: deprecated.".to_owned());
    }
    if effect == Effect::Write && looks_like_a_read(operation) {
        comments.push(
            "By its name it may only look: then write effect = \"read\", and no person is asked.".to_owned(),
        );
    }
    comments
}
