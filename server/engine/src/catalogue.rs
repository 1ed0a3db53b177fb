//! The catalogue: what can be called, with which credentials, and how. Read from one file and checked as a whole before
//! anything of it is used.

mod action;
mod address;
mod approvers;
mod asking;
mod caller;
mod composing;
mod convert;
mod credentials;
mod document;
mod duration;
mod fingerprint;
pub mod input;
mod keywords;
mod ledger;
mod mistake;
mod names;
pub mod network;
mod notices;
mod offer;
mod output;
mod passing_on;
mod preview;
pub mod raw_request;
mod reading;
mod refusals;
mod request;
mod rule;
mod schema;
mod settings;
mod shown;
mod sign_in;
mod surfaces;
mod template;
#[cfg(test)]
mod tests;
mod tool;
mod upstream;
mod webhook;
mod work;

use std::sync::Arc;

pub use self::ledger::LedgerSettings;
pub use action::{Action, InputRule};
pub use approvers::Approver;
pub(crate) use asking::action_name as question_name;
pub use asking::is_question;
pub use caller::{Caller, CallerKind};
pub use composing::Unfit;
pub use convert::Conversion;
pub use mistake::{Mistake, Mistakes};
pub use notices::{MailSecurity, MailSettings, NoticeSettings};
pub use preview::PreviewTemplate;
pub use refusals::RefusalRule;
pub use request::RequestTemplate;
pub use rule::{Rule, RuleError};
pub use schema::InputSchema;
pub(crate) use schema::MOST_FAULTS;
pub use settings::ServerSettings;
pub use shown::ActionLine;
pub use sign_in::{ProviderSettings, SignInSettings};
pub use surfaces::Surfaces;
pub use tool::ToolCall;
pub use upstream::Upstream;
pub use webhook::{Webhook, WebhookKind, WebhookUrl};

use crate::credential::Credential;
use crate::handler::{Handler, Handlers};
use crate::party::Party;
use document::{Kind, Node, Section};
use mistake::{Notes, Wrong};
use reading::Known;
pub(crate) use refusals::as_pointer as pointer;

/// What can be called, with which credentials, and how.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// The server's own settings.
    pub server: ServerSettings,
    /// Which surfaces are switched on.
    pub surfaces: Surfaces,
    /// When people are told that a call waits for them.
    pub notices: NoticeSettings,
    /// How mail is sent; `None`: none is.
    pub mail: Option<MailSettings>,
    /// How people sign in.
    pub sign_in: SignInSettings,
    /// What becomes of the ledger's checkpoints.
    pub ledger: LedgerSettings,
    webhooks: Vec<Arc<Webhook>>,
    credentials: Vec<Arc<Credential>>,
    upstreams: Vec<Arc<Upstream>>,
    actions: Vec<Arc<Action>>,
}

impl Catalogue {
    /// Reads a catalogue. `file`: how mistakes name it.
    ///
    /// # Errors
    /// Every mistake of the file, in its order.
    pub fn parse(text: &str, file: &str) -> Result<Self, Mistakes> {
        Self::parse_with(text, file, &Handlers::new())
    }

    /// Reads a catalogue for a program that brings handlers and actions of its own along. Its reload reads it with the
    /// same ones.
    ///
    /// # Errors
    /// Every mistake of the file, in its order, and of the actions that are written in Rust.
    pub fn parse_with(text: &str, file: &str, handlers: &Handlers) -> Result<Self, Mistakes> {
        let notes = Notes::new(text, file);
        let root = document::parse(text, &notes);
        let catalogue = read(&root, handlers, &notes);
        let mut mistakes = notes.into_mistakes();
        let mut catalogue = catalogue.unwrap_or_else(Self::builtin);
        for (table, handler) in handlers.actions() {
            match action_in_rust(table, handler, &catalogue) {
                Ok(action) => catalogue.actions.push(Arc::new(action)),
                Err(more) => mistakes.0.extend(more.0),
            }
        }
        if mistakes.0.is_empty() { Ok(catalogue) } else { Err(mistakes) }
    }

    /// The catalogue of a desk without a file: the defaults, and no actions.
    pub fn builtin() -> Self {
        Self {
            server: ServerSettings::default(),
            surfaces: Surfaces::default(),
            notices: NoticeSettings::default(),
            mail: None,
            sign_in: SignInSettings::default(),
            ledger: LedgerSettings::default(),
            webhooks: Vec::new(),
            credentials: Vec::new(),
            upstreams: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// The action of this name.
    pub fn action(&self, name: &str) -> Option<&Arc<Action>> {
        self.actions.iter().find(|action| action.name == name)
    }

    /// Every action, in the order of the file.
    pub fn actions(&self) -> impl Iterator<Item = &Arc<Action>> {
        self.actions.iter()
    }

    /// What is wrong with the name of an action, `fetch:CREDENTIAL` or `mcp:UPSTREAM`, in a toolset; `None`: it names something.
    pub(crate) fn fault_of_tool(&self, name: &str) -> Option<String> {
        let fetches = self.credentials().map(|credential| format!("fetch:{}", credential.name));
        let tools: Vec<String> = self
            .actions()
            .map(|action| action.tool())
            .chain(fetches)
            .chain(self.upstreams().map(|upstream| asking::action_name(&upstream.name)))
            .chain(["fetch", "via"].map(str::to_owned))
            .collect();
        if tools.iter().any(|tool| tool == name) {
            return None;
        }
        let near = mistake::nearest(name, tools.iter().map(String::as_str));
        let advice = near.map_or_else(
            || "Name an action of the catalogue, fetch:CREDENTIAL or mcp:UPSTREAM.".to_owned(),
            |near| format!("Did you mean “{near}”?"),
        );
        Some(format!("The catalogue has no action “{name}”. {advice}"))
    }

    /// Takes over from another catalogue how the servers are spoken to that both have.
    pub(crate) fn speak_as(&self, other: &Self) {
        for upstream in self.upstreams() {
            let known = other.upstream(&upstream.name).and_then(|known| known.dialect());
            upstream.set_dialect(known.map(|dialect| (*dialect).clone()));
        }
    }

    /// The MCP server of this name.
    pub fn upstream(&self, name: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.iter().find(|upstream| upstream.name == name)
    }

    /// Every MCP server, in the order of the file.
    pub fn upstreams(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        self.upstreams.iter()
    }

    /// The webhook of this name.
    pub fn webhook(&self, name: &str) -> Option<&Arc<Webhook>> {
        self.webhooks.iter().find(|webhook| webhook.name == name)
    }

    /// Every webhook, in the order of the file.
    pub fn webhooks(&self) -> impl Iterator<Item = &Arc<Webhook>> {
        self.webhooks.iter()
    }

    /// The credential of this name.
    pub fn credential(&self, name: &str) -> Option<&Arc<Credential>> {
        self.credentials.iter().find(|credential| credential.name == name)
    }

    /// Every credential, in the order of the file.
    pub fn credentials(&self) -> impl Iterator<Item = &Arc<Credential>> {
        self.credentials.iter()
    }
}

const KEYS: &[&str] = &[
    "server",
    "surfaces",
    "credential",
    "action",
    "upstream",
    "notices",
    "mail",
    "webhook",
    "sign_in",
    "ledger",
];

/// An action that a program brings along beside those of the file.
fn action_in_rust(table: &str, handler: &Arc<dyn Handler>, beside: &Catalogue) -> Result<Action, Mistakes> {
    let notes = Notes::new(table, "an action written in Rust");
    let node = document::parse(table, &notes);
    let handlers = Handlers::new();
    let known = Known {
        credentials: &[],
        names: &[],
        upstreams: &[],
        upstream_names: &[],
        handlers: &handlers,
        given: Some(handler),
        no_passkeys: Party::of(&beside.server.public_url).err(),
    };
    let action = reading::read(&node, &known, &notes);
    if let Some(taken) = action.as_ref().filter(|action| beside.action(&action.name).is_some()) {
        let wrong = Wrong::new(format!("there are two of the action “{}”", taken.name));
        notes.add(&node.at("/name").span, wrong.expected("distinct names"));
    }
    let mistakes = notes.into_mistakes();
    action.filter(|_| mistakes.0.is_empty()).ok_or(mistakes)
}

fn read(root: &Node, handlers: &Handlers, notes: &Notes<'_>) -> Option<Catalogue> {
    let section = Section::open(root, "the catalogue", KEYS, notes)?;
    let server = section.get("server").and_then(|node| ServerSettings::read(node, notes)).unwrap_or_default();
    let surfaces = section.get("surfaces").and_then(|node| Surfaces::read(node, notes)).unwrap_or_default();
    let notices =
        section.get("notices").and_then(|node| NoticeSettings::read(node, notes)).unwrap_or_default();
    let mail = section.get("mail").and_then(|node| MailSettings::read(node, notes));
    let sign_in =
        section.get("sign_in").and_then(|node| SignInSettings::read(node, notes)).unwrap_or_default();
    let ledger = section.get("ledger").and_then(|node| LedgerSettings::read(node, notes)).unwrap_or_default();
    let written = entries(&section, "webhook");
    distinct_names(written, "webhook", notes);
    let webhooks = written.iter().filter_map(|node| webhook::read(node, notes)).map(Arc::new).collect();
    let written = entries(&section, "credential");
    let names = distinct_names(written, "credential", notes);
    let credentials: Vec<Arc<Credential>> =
        written.iter().filter_map(|node| credentials::read(node, notes)).map(Arc::new).collect();
    let written = entries(&section, "upstream");
    let upstream_names = distinct_names(written, "upstream", notes);
    let upstreams: Vec<Arc<Upstream>> = written
        .iter()
        .filter_map(|node| upstream::read(node, &credentials, &names, notes))
        .map(Arc::new)
        .collect();
    let known = Known {
        credentials: &credentials,
        names: &names,
        upstreams: &upstreams,
        upstream_names: &upstream_names,
        handlers,
        given: None,
        no_passkeys: Party::of(&server.public_url).err(),
    };
    let written = entries(&section, "action");
    distinct_names(written, "action", notes);
    let actions =
        written.iter().filter_map(|node| reading::read(node, &known, notes)).map(Arc::new).collect();
    Some(Catalogue {
        server,
        surfaces,
        notices,
        mail,
        sign_in,
        ledger,
        webhooks,
        credentials,
        upstreams,
        actions,
    })
}

/// The tables of `[[key]]`.
fn entries<'n>(section: &Section<'n>, key: &str) -> &'n [Node] {
    let Some(node) = section.get(key) else { return &[] };
    if let Kind::Array(items) = &node.kind {
        return items;
    }
    section.wrong(
        key,
        Wrong::new(format!("“{key}” is {}", node.what())).expected(format!("tables, each under [[{key}]]")),
    );
    &[]
}

/// The names of the tables; one that stands twice is noted.
fn distinct_names(tables: &[Node], what: &str, notes: &Notes<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for table in tables {
        let at = table.at("/name");
        let Kind::Text(name) = &at.kind else { continue };
        if names.contains(name) {
            notes.add(
                &at.span,
                Wrong::new(format!("there are two of the {what} “{name}”")).expected("distinct names"),
            );
        } else {
            names.push(name.clone());
        }
    }
    names
}
