//! What an MCP server says about its tools becomes the text of a catalogue.

use std::collections::HashSet;

use engine::catalogue::Catalogue;
use engine::upstream::Definition;
use serde_json::{Map, Value, json};
use url::{Host, Url};

use super::formats::FORMATS;
use super::openapi::layout::Sheet;
use super::openapi::words;
use super::openapi::{Imported, Remark, Taken, prose};

/// The longest description of an action, in characters.
const LONGEST_DESCRIPTION: usize = 2_000;

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// What the names of its actions begin with.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) url: Url,
    /// The environment variable with its secret.
    pub(crate) secret: Option<String>,
    /// The header that the secret goes into; `None`: as a bearer token.
    pub(crate) header: Option<String>,
}

impl Server {
    /// A name made of the address: `mcp.tickets.example` is `tickets`.
    pub(crate) fn name_of(url: &Url) -> String {
        let labels: Vec<String> = match url.host() {
            Some(Host::Domain(host)) => host.split('.').map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let own = labels.iter().find(|label| !matches!(label.as_str(), "mcp" | "api" | "www" | "localhost"));
        let kept = own.map(|label| words::words(label)).unwrap_or_default();
        words::name(&kept).unwrap_or_else(|| "mcp".to_owned()).chars().take(32).collect()
    }

    /// The catalogue that the server can be asked with: its credential and itself.
    pub(crate) fn catalogue(&self) -> String {
        let mut sheet = Sheet::default();
        self.head(&mut sheet, Some(&[]));
        sheet.into_text()
    }

    /// `tools`: those that become actions by themselves; `None`: all.
    fn head(&self, sheet: &mut Sheet, tools: Option<&[&str]>) {
        if let Some(secret) = &self.secret {
            sheet.space();
            sheet.entry("credential", &self.credential(secret));
        }
        let mut upstream = Map::new();
        upstream.insert("name".to_owned(), json!(self.name));
        upstream.insert("url".to_owned(), json!(self.url.as_str()));
        if self.secret.is_some() {
            upstream.insert("credential".to_owned(), json!(self.name));
        }
        if let Some(tools) = tools {
            upstream.insert("tools".to_owned(), json!(tools));
        }
        sheet.space();
        if tools.is_some() {
            sheet.comment(
                "No tool becomes an action by itself: those that agents may call are written out below.",
            );
        }
        sheet.entry("upstream", &upstream);
    }

    fn credential(&self, secret: &str) -> Map<String, Value> {
        let host = self.url.host_str().unwrap_or_default();
        let host = self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let mut fields = Map::new();
        fields.insert("name".to_owned(), json!(self.name));
        fields.insert("hosts".to_owned(), json!([host]));
        fields.insert("methods".to_owned(), json!(["POST", "DELETE"]));
        fields.insert("header".to_owned(), json!(self.header.as_deref().unwrap_or("Authorization")));
        let value = if self.header.is_some() { "{secret}" } else { "Bearer {secret}" };
        fields.insert("value".to_owned(), json!(value));
        fields.insert("secret".to_owned(), json!({ "env": secret }));
        if self.url.scheme() == "http" {
            fields.insert("allow_http".to_owned(), json!(true));
        }
        if is_local(&self.url) {
            fields.insert("allow_private".to_owned(), json!(true));
        }
        fields
    }
}

/// Whether an address is this machine's or this house's by its look.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_private(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unique_local(),
        None => false,
    }
}

/// Makes a catalogue of a server's tools. Every action of it was parsed as one.
pub(crate) fn import(server: &Server, definitions: &[Definition]) -> Imported {
    let mut imported = Imported {
        text: String::new(),
        credentials: server.secret.iter().map(|_| server.name.clone()).collect(),
        actions: Vec::new(),
        left_out: Vec::new(),
        notes: Vec::new(),
    };
    let mut sheet = Sheet::default();
    sheet.comment(&format!(
        "A catalogue made from the tools of {}. Yours to edit: keep the actions that agents need.",
        server.url
    ));
    sheet.comment("Look through every effect: read passes without a person, write can be put back, external leaves the house, destructive cannot be put back. What the server says about its tools was all there was to go by.");
    server.head(&mut sheet, Some(&[]));
    let mut names = HashSet::new();
    for definition in definitions {
        sheet.space();
        match action(server, definition, &names) {
            Ok((name, fields, notes)) => {
                for note in &notes {
                    sheet.comment(&format!("Note: {note}."));
                }
                sheet.entry("action", &fields);
                imported.notes.extend(notes.into_iter().map(|note| remark(definition, note)));
                let operation = definition.name().to_owned();
                imported.actions.push(Taken { operation, name: name.clone(), effect: definition.effect() });
                names.insert(name);
            }
            Err(why) => {
                let remark = remark(definition, why);
                sheet.comment(&format!("{} is left out: {}.", remark.operation, remark.message));
                imported.left_out.push(remark);
            }
        }
    }
    imported.text = sheet.into_text();
    imported
}

fn remark(definition: &Definition, message: String) -> Remark {
    Remark { operation: prose::plain(definition.name(), 80), message }
}

type Written = (String, Map<String, Value>, Vec<String>);

/// An action that calls the tool.
///
/// # Errors
/// Why the catalogue cannot have it, as a part of a sentence.
fn action(server: &Server, definition: &Definition, taken: &HashSet<String>) -> Result<Written, String> {
    let name = definition.action_name(&server.name);
    if taken.contains(&name) {
        return Err(format!("there is another action “{name}”"));
    }
    let mut notes = Vec::new();
    let title = definition
        .title()
        .map(|title| prose::title(&prose::plain(title, 80)))
        .filter(|title| !title.is_empty());
    let description = prose::plain(definition.description(), LONGEST_DESCRIPTION);
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(name));
    fields.extend(title.map(|title| ("title".to_owned(), json!(title))));
    if !description.is_empty() {
        fields.insert("description".to_owned(), json!(description));
    }
    fields.insert("effect".to_owned(), json!(definition.effect()));
    fields.insert("tool".to_owned(), json!({ "upstream": server.name, "name": definition.name() }));
    let schema = definition.input_schema().cloned().unwrap_or_else(|| json!({ "type": "object" }));
    fields.insert("input".to_owned(), usable(schema, &mut notes));
    check(server, &fields)?;
    Ok((name, fields, notes))
}

/// Whether a catalogue would take it.
fn check(server: &Server, fields: &Map<String, Value>) -> Result<(), String> {
    let mut sheet = Sheet::default();
    server.head(&mut sheet, None);
    sheet.entry("action", fields);
    let parsed = Catalogue::parse(&sheet.into_text(), "the catalogue");
    let mistakes = parsed.err().map(|mistakes| mistakes.0).unwrap_or_default();
    mistakes.first().map_or(Ok(()), |mistake| Err(mistake.message.clone()))
}

/// A schema as the catalogue can have it: without null, which its language lacks, and without formats that nobody knows.
fn usable(schema: Value, notes: &mut Vec<String>) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, value)| match left_out(name, value) {
                Some(why) => {
                    notes.extend(
                        (!why.is_empty() && !notes.iter().any(|note| note == why)).then(|| why.to_owned()),
                    );
                    false
                }
                None => true,
            });
            let kept: Vec<_> = kept.collect();
            Value::Object(kept.into_iter().map(|(name, value)| (name, usable(value, notes))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| usable(item, notes)).collect()),
        other => other,
    }
}

/// Why a part of a schema is left out; empty: nothing is lost with it.
fn left_out(name: &str, value: &Value) -> Option<&'static str> {
    let holds_null = |value: &Value| value.as_array().is_some_and(|items| items.contains(&Value::Null));
    if value.is_null() || (matches!(name, "enum" | "examples" | "default") && holds_null(value)) {
        return Some("a value or choice null was left out: the catalogue's language has none");
    }
    match (name, value.as_str()) {
        ("$schema", Some(_)) => Some(""),
        ("format", Some(format)) if !FORMATS.contains(&format) => {
            Some("a format that nobody checks was left out")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Server {
        let url = Url::parse("https://mcp.tickets.example/mcp").expect("a URL");
        Server { name: Server::name_of(&url), url, secret: Some("TICKETS_TOKEN".to_owned()), header: None }
    }

    fn definitions() -> Vec<Definition> {
        let tools = [
            json!({
                "name": "closeTicket",
                "title": "Close a ticket",
                "description": "Closes it.\n\nFor **good**.",
                "annotations": { "destructiveHint": false },
                "inputSchema": {
                    "$schema": "http://json-schema.org/draft-07/schema#",
                    "type": "object",
                    "required": ["id"],
                    "properties": {
                        "id": { "type": "integer", "format": "uint32" },
                        "reason": { "type": ["string", "null"], "default": null, "maxLength": 200 },
                    },
                },
            }),
            json!({ "name": "close-ticket", "inputSchema": { "type": "object" } }),
            json!({ "name": "ask", "inputSchema": { "type": "object", "properties": { "dry_run": { "type": "boolean" } } } }),
            json!({ "name": "find", "annotations": { "readOnlyHint": true } }),
        ];
        tools.iter().map(|tool| Definition::read(tool).expect("a definition")).collect()
    }

    #[test]
    fn tools_become_actions_that_a_catalogue_takes() {
        let imported = import(&server(), &definitions());
        insta::assert_snapshot!(imported.text, @r#"
        # A catalogue made from the tools of https://mcp.tickets.example/mcp. Yours to edit: keep the actions that agents
        # need.
        # Look through every effect: read passes without a person, write can be put back, external leaves the house,
        # destructive cannot be put back. What the server says about its tools was all there was to go by.

        [[credential]]
        name = "tickets"
        hosts = ["mcp.tickets.example"]
        methods = ["POST", "DELETE"]
        header = "Authorization"
        value = "Bearer {secret}"
        secret = { env = "TICKETS_TOKEN" }

        # No tool becomes an action by itself: those that agents may call are written out below.
        [[upstream]]
        name = "tickets"
        url = "https://mcp.tickets.example/mcp"
        credential = "tickets"
        tools = []

        # Note: a format that nobody checks was left out.
        # Note: a value or choice null was left out: the catalogue's language has none.
        [[action]]
        name = "tickets_close_ticket"
        title = "Close a ticket"
        description = "Closes it. For good."
        effect = "external"
        tool = { upstream = "tickets", name = "closeTicket" }

        [action.input]
        type = "object"
        required = ["id"]
        properties = { id = { type = "integer" }, reason = { type = ["string", "null"], maxLength = 200 } }

        # close-ticket is left out: there is another action “tickets_close_ticket”.

        # ask is left out: “dry_run” is the desk's own argument, an action cannot have one of that name.

        [[action]]
        name = "tickets_find"
        effect = "read"
        tool = { upstream = "tickets", name = "find" }
        input = { type = "object" }
        "#);
        let catalogue = Catalogue::parse(&imported.text, "c.toml").expect("a catalogue");
        assert_eq!(catalogue.actions().count(), 2);
        assert_eq!(imported.left_out.len(), 2);
        assert_eq!(imported.notes.len(), 2);
    }

    #[test]
    fn names_come_from_the_address() {
        for (url, name) in [
            ("https://mcp.linear.example/mcp", "linear"),
            ("https://tickets.example/", "tickets"),
            ("http://127.0.0.1:3000/mcp", "mcp"),
            ("http://localhost:3000/mcp", "mcp"),
        ] {
            assert_eq!(Server::name_of(&Url::parse(url).expect("a URL")), name);
        }
    }

    #[test]
    fn an_address_of_this_machine_is_allowed_by_its_credential() {
        let url = Url::parse("http://127.0.0.1:3000/mcp").expect("a URL");
        let local = Server { url, ..server() };
        assert!(Catalogue::parse(&local.catalogue(), "c.toml").is_ok());
        let text = local.catalogue();
        assert!(text.contains("allow_http = true") && text.contains("allow_private = true"), "{text}");
        let bare = Server { secret: None, ..local };
        assert!(Catalogue::parse(&bare.catalogue(), "c.toml").is_err(), "plain http takes a credential");
    }
}
