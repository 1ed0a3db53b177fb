//! An MCP server whose tools become actions.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use http::Method;
use serde_json::{Map, Value, json};
use url::Url;

use super::address::Address;
use super::document::{Node, Section};
use super::mistake::{Notes, Wrong};
use super::names::Names;
use super::template::{Scope, Vocabulary};
use crate::credential::Credential;
use crate::upstream::{Dialect, Question};

const KEYS: &[&str] = &["name", "url", "credential", "tools", "prompts", "resources"];

/// Room for the tool's name in the name of an action.
const LONGEST_NAME: usize = 32;

/// An MCP server whose tools become actions.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// What the names of its actions begin with.
    pub name: String,
    /// Where it is.
    pub url: Url,
    /// What its requests carry.
    pub credential: Option<Arc<Credential>>,
    /// The tools that become actions by themselves; `None`: all.
    tools: Option<Vec<String>>,
    /// Whether callers may ask for its prompts.
    pub prompts: bool,
    /// What the URIs begin with of the resources that callers may ask for; empty: they may ask for none.
    pub resources: Vec<String>,
    /// How it is spoken to; `None`: it was never reached.
    dialect: Arc<ArcSwapOption<Dialect>>,
}

impl Upstream {
    /// Whether this tool becomes an action by itself.
    pub fn offers(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|listed| listed == tool))
    }

    /// Whether callers may ask for the resource with this URI. It has to be written as everybody would write it, or
    /// something could be asked for under another's name (`docs:///../secret`).
    pub fn covers(&self, uri: &str) -> bool {
        self.covers_template(uri) && Url::parse(uri).is_ok_and(|parsed| parsed.as_str() == uri)
    }

    /// Whether callers may ask for resources with URIs of this form.
    pub fn covers_template(&self, template: &str) -> bool {
        self.resources.iter().any(|beginning| template.starts_with(beginning.as_str()))
    }

    /// Whether callers may ask this.
    pub(super) fn takes(&self, question: Question, params: &Map<String, Value>) -> bool {
        let text = |pointer: [&str; 2]| {
            let [outer, inner] = pointer;
            params.get(outer).and_then(|value| value.get(inner)?.as_str())
        };
        match question {
            Question::Prompts | Question::Prompt => self.prompts,
            Question::Resources | Question::Templates => !self.resources.is_empty(),
            Question::Resource => {
                params.get("uri").and_then(Value::as_str).is_some_and(|uri| self.covers(uri))
            }
            Question::Completion => match (text(["ref", "type"]), text(["ref", "uri"])) {
                (Some("ref/prompt"), _) => self.prompts,
                (Some("ref/resource"), Some(template)) => self.covers_template(template),
                _ => false,
            },
        }
    }

    pub(crate) fn dialect(&self) -> Option<Arc<Dialect>> {
        self.dialect.load_full()
    }

    pub(crate) fn set_dialect(&self, dialect: Option<Dialect>) {
        self.dialect.store(dialect.map(Arc::new));
    }
}

/// Reads one `[[upstream]]`.
pub(super) fn read(
    node: &Node,
    credentials: &[Arc<Credential>],
    names: &[String],
    notes: &Notes<'_>,
) -> Option<Upstream> {
    let section = Section::open(node, "an upstream", KEYS, notes)?;
    let name = section.required_text("name");
    if name.is_some_and(|name| name.len() > LONGEST_NAME || !super::reading::is_name(name)) {
        let expected = "1 to 32 of a-z, 0-9 and _, beginning with a letter";
        section.wrong("name", Wrong::new("the name of an upstream cannot be used").expected(expected));
    }
    let credential = credential(&section, credentials, names);
    let url = url(&section, credential.as_deref());
    if let Some(credential) = credential.as_ref().filter(|one| !one.methods.is_empty())
        && !credential.methods.contains(&Method::POST)
    {
        section.wrong(
            "credential",
            Wrong::new("the credential may not be used for POST, and every message to an MCP server is one"),
        );
    }
    let tools = section
        .get("tools")
        .map(|_| section.texts("tools").into_iter().map(|(text, _)| text.to_owned()).collect());
    let prompts = section.boolean("prompts", false);
    let resources = resources(&section);
    let dialect = Arc::default();
    Some(Upstream { name: name?.to_owned(), url: url?, credential, tools, prompts, resources, dialect })
}

/// What the URIs of the resources begin with: at least with their whole scheme.
fn resources(section: &Section<'_>) -> Vec<String> {
    let mut beginnings = Vec::new();
    for (text, span) in section.texts("resources") {
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
            && scheme.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c));
        if is_scheme {
            beginnings.push(text.to_owned());
        } else {
            let wrong = Wrong::new("this is no beginning of URIs");
            section.notes.add(span, wrong.expected("at least a scheme and its colon, such as “tickets:”"));
        }
    }
    beginnings
}

fn credential(
    section: &Section<'_>,
    credentials: &[Arc<Credential>],
    names: &[String],
) -> Option<Arc<Credential>> {
    let name = section.text("credential")?;
    if !names.iter().any(|known| known == name) {
        let wrong = Wrong::absent(format!("there is no credential “{name}”"));
        section.wrong("credential", wrong.nearest(name, names.iter().map(String::as_str)));
    }
    credentials.iter().find(|credential| credential.name == name).cloned()
}

/// A fixed address that the credential may be sent to.
fn url(section: &Section<'_>, credential: Option<&Credential>) -> Option<Url> {
    let vocabulary =
        Vocabulary { roots: &[], names: &Names::default(), sample: &Value::Null, lenient: false };
    let node = section.require("url")?;
    if node.text("“url”", section.notes)?.contains(['{', '}']) {
        section.wrong(
            "url",
            Wrong::new("the address of an upstream is fixed").expected("an address without expressions"),
        );
        return None;
    }
    let address = Address::read(node, vocabulary, section.notes)?;
    address.check(section, credential);
    let url = address.render(&Scope::input(&json!({})), "").ok();
    if url.is_none() {
        section.wrong("url", Wrong::new("this address cannot be sent to"));
    }
    url
}
