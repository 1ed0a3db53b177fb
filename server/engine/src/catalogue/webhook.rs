//! A webhook: an address that is told when calls wait for certain people.

use model::Role;
use url::Url;

use super::document::{Kind, Node, Section, list};
use super::mistake::{Notes, Wrong};
use super::notices::variable;

/// An address that is told when calls wait for certain people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its name in the catalogue.
    pub name: String,
    /// What it understands.
    pub kind: WebhookKind,
    /// Where it is.
    pub url: WebhookUrl,
    /// Whose calls it is told of: subjects such as `group:mailers`.
    pub to: Vec<String>,
    /// Plain http.
    pub allow_http: bool,
    /// It may be at a loopback or private address.
    pub allow_private: bool,
}

/// What a webhook understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookKind {
    /// [Standard Webhooks](https://www.standardwebhooks.com), signed with the secret in this environment variable.
    Standard {
        /// The variable's name.
        secret: String,
    },
    /// An incoming webhook of Slack.
    Slack,
}

/// Where a webhook is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookUrl {
    /// As it is written.
    Written(Url),
    /// In this environment variable, because whoever knows it may use it.
    Env(String),
}

impl Webhook {
    /// The environment variables that it needs.
    pub fn variables(&self) -> Vec<&str> {
        let secret = match &self.kind {
            WebhookKind::Standard { secret } => Some(secret.as_str()),
            WebhookKind::Slack => None,
        };
        let url = match &self.url {
            WebhookUrl::Env(variable) => Some(variable.as_str()),
            WebhookUrl::Written(_) => None,
        };
        secret.into_iter().chain(url).collect()
    }
}

const KEYS: &[&str] = &["name", "kind", "url", "secret", "to", "allow_http", "allow_private"];
const KINDS: &[&str] = &["standard", "slack"];
const SUBJECT: &str = "person:EMAIL, group:NAME or role:approver";

/// Reads one `[[webhook]]`.
pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Webhook> {
    let section = Section::open(node, "a webhook", KEYS, notes)?;
    let name = section.required_text("name");
    if name.is_some_and(|name| !super::reading::is_name(name)) {
        let expected = "1 to 64 of a-z, 0-9 and _, beginning with a letter";
        section.wrong("name", Wrong::new("the name of a webhook cannot be used").expected(expected));
    }
    let allow_http = section.boolean("allow_http", false);
    let kind = kind(&section);
    let url = url(&section, allow_http);
    let to = to(&section);
    let allow_private = section.boolean("allow_private", false);
    Some(Webhook { name: name?.to_owned(), kind: kind?, url: url?, to, allow_http, allow_private })
}

fn kind(section: &Section<'_>) -> Option<WebhookKind> {
    let word = match section.get("kind") {
        Some(node) => node.text("“kind”", section.notes)?,
        None => "standard",
    };
    match word {
        "standard" => {
            let secret = section.require("secret")?;
            Some(WebhookKind::Standard { secret: variable(secret, "“secret”", section.notes)? })
        }
        "slack" => {
            if section.get("secret").is_some() {
                let wrong = Wrong::new("Slack knows its webhooks by their address, and checks no secret");
                section.wrong("secret", wrong.expected("url = { env = \"NAME\" } and no secret"));
            }
            Some(WebhookKind::Slack)
        }
        other => {
            let wrong = Wrong::new(format!("“{other}” is no kind")).expected(list(KINDS));
            section.wrong("kind", wrong.nearest(other, KINDS.iter().copied()));
            None
        }
    }
}

fn url(section: &Section<'_>, allow_http: bool) -> Option<WebhookUrl> {
    let node = section.require("url")?;
    if matches!(node.kind, Kind::Table(_)) {
        return variable(node, "“url”", section.notes).map(WebhookUrl::Env);
    }
    let text = node.text("“url”", section.notes)?;
    let parsed = match crate::egress::parse_url(text) {
        Ok(url) => url,
        Err(blocked) => {
            let message = format!("“url” cannot be sent to: {blocked}");
            section.wrong(
                "url",
                Wrong::new(message).expected("an address such as \"https://chat.example/hook\""),
            );
            return None;
        }
    };
    if parsed.scheme() == "http" && !allow_http {
        section.wrong("url", Wrong::new("“url” is plain http").expected("https, or allow_http = true"));
    }
    Some(WebhookUrl::Written(parsed))
}

fn to(section: &Section<'_>) -> Vec<String> {
    section.require("to");
    let written = section.texts("to");
    if section.get("to").is_some_and(|node| node.to_json() == serde_json::json!([])) {
        section.wrong("to", Wrong::new("“to” names nobody").expected(SUBJECT));
    }
    let mut subjects = Vec::new();
    for (text, span) in written {
        match subject(text) {
            Ok(subject) => subjects.push(subject),
            Err(wrong) => section.notes.add(span, wrong),
        }
    }
    subjects
}

/// Somebody whose calls a webhook is told of, as the database names them.
fn subject(text: &str) -> Result<String, Wrong> {
    let unknown = || Wrong::new(format!("“{text}” is nobody who could decide")).expected(SUBJECT);
    match text.split_once(':') {
        Some(("person", email)) if email.contains('@') && !email.contains(char::is_whitespace) => {
            Ok(format!("person:{}", email.to_lowercase()))
        }
        Some(("group", group)) if !group.trim().is_empty() => Ok(text.to_owned()),
        Some(("role", role)) => {
            let roles: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
            if roles.contains(&role) { Ok(text.to_owned()) } else { Err(unknown().nearest(role, roles)) }
        }
        Some((kind, _)) => Err(unknown().nearest(kind, ["person", "group", "role"])),
        None => Err(unknown()),
    }
}
