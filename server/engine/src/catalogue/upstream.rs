//! An MCP server whose tools become actions.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};
use url::Url;

use super::address::Address;
use super::document::{Node, Section};
use super::mistake::{Notes, Wrong};
use super::names::Names;
use super::template::{Scope, Vocabulary};
use crate::credential::Credential;

const KEYS: &[&str] = &["name", "url", "credential", "tools"];

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
}

impl Upstream {
    /// Whether this tool becomes an action by itself.
    pub fn offers(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|listed| listed == tool))
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
    Some(Upstream { name: name?.to_owned(), url: url?, credential, tools })
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
