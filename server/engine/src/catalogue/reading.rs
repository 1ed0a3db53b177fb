//! Reading an action.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use model::{Effect, Surface};
use serde_json::{Map, Value};

use super::action::{Action, InputRule};
use super::approvers::Deciders;
use super::document::{Node, Section, json_of, unknown_word};
use super::input::is_control;
use super::mistake::{Notes, Wrong};
use super::names::Names;
use super::preview::PreviewTemplate;
use super::refusals::check_field;
use super::request::{RequestTemplate, template};
use super::rule::{self, Rule};
use super::schema::{InputSchema, escape};
use super::template::{Template, Vocabulary, sample};
use super::upstream::Upstream;
use super::work::{Described, Handled, Telling, Work};
use super::{convert, fingerprint, refusals, tool};
use crate::credential::Credential;
use crate::handler::{Handler, Handlers, Named};
use crate::party::NoParty;

const KEYS: &[&str] = &[
    "name",
    "title",
    "description",
    "effect",
    "expose",
    "public",
    "tenants",
    "register_when",
    "authorize",
    "authorize_input",
    "hold_when",
    "deny_as_not_found",
    "approvers",
    "quorum",
    "self_approval",
    "step_up",
    "hold_ttl",
    "undo_window",
    "replay",
    "credential",
    "credential_fields",
    "fixed",
    "convert",
    "input",
    "rules",
    "handler",
    "tool",
    "request",
    "dry_run",
    "fingerprint",
    "preview",
    "output",
    "reply",
    "refusals",
];

/// What the desk itself offers under these names.
pub(super) const OWN: &[&str] = &["fetch", "via", "call_status"];

/// The surfaces an action can be exposed on; fetch and via have requests of their own.
pub(super) const SURFACES: &[Surface] =
    &[Surface::Api, Surface::Mcp, Surface::Form, Surface::Queue, Surface::Code];

/// How long a call waits for a person when nobody says otherwise.
pub(super) const HOLD: Duration = Duration::from_hours(24);

const LONGEST_HOLD: Duration = Duration::from_hours(30 * 24);

/// The credentials of the file: those that could be read, and every name, so that one mistake is not told twice.
pub(super) struct Known<'k> {
    pub(super) credentials: &'k [Arc<Credential>],
    pub(super) names: &'k [String],
    /// The MCP servers of the file that could be read, and every name.
    pub(super) upstreams: &'k [Arc<Upstream>],
    pub(super) upstream_names: &'k [String],
    /// The handlers that the program brings along.
    pub(super) handlers: &'k Handlers,
    /// The handler of this one action, when the whole action is written in Rust.
    pub(super) given: Option<&'k Arc<dyn Handler>>,
    /// Why nobody can have a passkey here.
    pub(super) no_passkeys: Option<NoParty>,
}

/// Reads one `[[action]]`.
pub(super) fn read(node: &Node, known: &Known<'_>, notes: &Notes<'_>) -> Option<Action> {
    let section = Section::open(node, "an action", KEYS, notes)?;
    let name = name(&section);
    let effect = effect(&section);
    let handler = handler(&section, known);
    let upstream = tool::upstream(&section, known);
    let credential = if is_handled(&section, known) {
        None
    } else if section.get("tool").is_some() {
        upstream.as_ref().and_then(|upstream| upstream.credential.clone())
    } else {
        credential(&section, known)
    };
    let fixed = fixed(&section);
    let input = match section.get("input") {
        Some(node) => InputSchema::read(node, notes),
        None => InputSchema::empty(),
    };
    let names = names(&section, input.as_ref(), &fixed);
    if let Some(input) = &input {
        check_given(&section, input, &fixed);
    }
    let sample = with_fixed(input.as_ref().map(|input| sample(input.as_json())), &fixed);
    let over_input = Vocabulary { roots: &["input"], names: &names, sample: &sample, lenient: false };
    let work = if is_handled(&section, known) {
        let telling = telling(&section, over_input, true);
        handler.map(|handler| Work::Handled(Box::new(Handled { handler, telling })))
    } else if section.get("tool").is_some() {
        let telling = telling(&section, over_input, false);
        tool::read(&section, upstream, over_input, telling).map(|tool| Work::Tool(Box::new(tool)))
    } else {
        described(&section, effect, &names, over_input, credential.as_deref())
    };
    let deciders = Deciders::read(&section);
    let action = Action {
        name: name.unwrap_or_default().to_owned(),
        title: section.text("title").map_or_else(|| spoken(name.unwrap_or_default()), str::to_owned),
        description: section.text("description").unwrap_or_default().to_owned(),
        effect: effect.unwrap_or(Effect::Destructive),
        expose: expose(&section),
        public: section.boolean("public", false),
        tenants: texts(&section, "tenants"),
        register_when: rule(&section, "register_when", rule::CALLER, &names),
        authorize: rule(&section, "authorize", rule::CALLER, &names),
        authorize_input: rule(&section, "authorize_input", rule::CALLER_AND_INPUT, &names),
        hold_when: rule(&section, "hold_when", rule::CALLER_AND_INPUT, &names),
        deny_as_not_found: section.boolean("deny_as_not_found", false),
        approvers: deciders.approvers,
        quorum: deciders.quorum,
        self_approval: deciders.self_approval,
        step_up: step_up(&section, known),
        hold_ttl: hold_ttl(&section),
        undo_window: undo_window(&section, effect),
        replay: section.boolean("replay", true),
        credential,
        credential_fields: texts(&section, "credential_fields"),
        convert: convert::read(&section, &names),
        rules: rules(&section, &names),
        fixed,
        work: work?,
        input: Arc::new(input?),
        definition: node.digest(),
    };
    (name.is_some() && effect.is_some()).then_some(action)
}

fn name<'n>(section: &Section<'n>) -> Option<&'n str> {
    let name = section.required_text("name")?;
    if !is_name(name) {
        let expected = "1 to 64 of a-z, 0-9 and _, beginning with a letter";
        section.wrong("name", Wrong::new("the name of an action cannot be used").expected(expected));
    }
    if OWN.contains(&name) {
        section.wrong(
            "name",
            Wrong::new(format!("“{name}” is the desk's own, an action cannot have that name")),
        );
    }
    Some(name)
}

/// Whether the action runs a handler.
fn is_handled(section: &Section<'_>, known: &Known<'_>) -> bool {
    known.given.is_some() || section.get("handler").is_some()
}

/// The handler it runs: the one it was given, or the one it names. Keys that only a request has are noted.
fn handler(section: &Section<'_>, known: &Known<'_>) -> Option<Named> {
    if !is_handled(section, known) {
        return None;
    }
    for key in ["credential", "request", "dry_run", "refusals", "tool"] {
        if section.get(key).is_some() {
            let wrong =
                Wrong::new(format!("“{key}” is for actions that send a request, and this one has a handler"));
            section.wrong(key, wrong);
        }
    }
    if let Some(handler) = known.given {
        if section.get("handler").is_some() {
            section.wrong("handler", Wrong::new("the action is written in Rust and has its handler already"));
        }
        return Some(Named { name: section.text("name")?.to_owned(), handler: handler.clone() });
    }
    let name = section.required_text("handler")?;
    let found = known.handlers.named().iter().find(|named| named.name == name && is_name(name));
    if found.is_none() {
        let names = known.handlers.named().iter().map(|named| named.name.as_str());
        let wrong = Wrong::absent(format!("this program has no handler “{name}”")).nearest(name, names);
        section.wrong("handler", if wrong.has_nearest() { wrong } else { wrong.expected("a “request”") });
    }
    found.cloned()
}

/// Whether an action or a handler can have this name.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// A title made of a name: `send_mail` becomes “Send mail”.
pub(super) fn spoken(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn effect(section: &Section<'_>) -> Option<Effect> {
    let effects: Vec<&str> = Effect::ALL.iter().map(|effect| effect.as_str()).collect();
    section.word(section.require("effect")?, "effect", &effects)
}

fn expose(section: &Section<'_>) -> Vec<Surface> {
    if section.get("expose").is_none() {
        return SURFACES.to_vec();
    }
    let words: Vec<&str> = SURFACES.iter().map(|surface| surface.as_str()).collect();
    let mut exposed = Vec::new();
    for (text, span) in section.texts("expose") {
        match text.parse::<Surface>().ok().filter(|surface| SURFACES.contains(surface)) {
            Some(surface) => exposed.push(surface),
            None => section.notes.add(span, unknown_word("surface of an action", text, &words)),
        }
    }
    if exposed.is_empty() {
        section.wrong(
            "expose",
            Wrong::absent("“expose” names no surface").expected(super::document::list(&words)),
        );
    }
    exposed
}

fn texts(section: &Section<'_>, key: &str) -> Vec<String> {
    section.texts(key).into_iter().map(|(text, _)| text.to_owned()).collect()
}

fn credential(section: &Section<'_>, known: &Known<'_>) -> Option<Arc<Credential>> {
    let name = section.text("credential")?;
    if !known.names.iter().any(|known| known == name) {
        let wrong = Wrong::absent(format!("there is no credential “{name}”"));
        section.wrong("credential", wrong.nearest(name, known.names.iter().map(String::as_str)));
    }
    known.credentials.iter().find(|credential| credential.name == name).cloned()
}

fn fixed(section: &Section<'_>) -> Map<String, Value> {
    let entries =
        section.get("fixed").and_then(|node| node.table("“fixed”", section.notes)).unwrap_or_default();
    for entry in entries.iter().filter(|entry| is_control(&entry.key)) {
        section.notes.add(&entry.key_span, taken(&entry.key));
    }
    json_of(entries)
}

/// Notes a fixed value or a default that the schema does not take: nobody could call the action.
fn check_given(section: &Section<'_>, input: &InputSchema, fixed: &Map<String, Value>) {
    let properties = input.as_json().get("properties").and_then(Value::as_object).into_iter().flatten();
    let defaults = properties.filter(|(name, _)| !fixed.contains_key(*name)).filter_map(|(name, schema)| {
        let pointer = format!("/properties/{}/default", escape(name));
        Some(("input", pointer, name, schema.get("default")?))
    });
    let fixed = fixed.iter().filter(|(name, _)| input.property(name).is_some());
    let fixed = fixed.map(|(name, value)| ("fixed", format!("/{}", escape(name)), name, value));
    for (key, pointer, name, value) in fixed.chain(defaults) {
        if let (Some(fault), Some(node)) = (input.faults_of(name, value).first(), section.get(key)) {
            let what = if key == "fixed" { "the fixed value" } else { "the default" };
            let wrong = Wrong::new(format!("{what} of “{name}” does not fit its schema"));
            section.notes.add(&node.at(&pointer).span, wrong.expected(fault.message.trim_end_matches('.')));
        }
    }
}

/// A name is the desk's own.
fn taken(name: &str) -> Wrong {
    Wrong::new(format!("“{name}” is the desk's own argument, an action cannot have one of that name"))
}

/// The names that rules and templates may use: the schema's and the fixed ones. Anything, when the schema is broken.
fn names(section: &Section<'_>, input: Option<&InputSchema>, fixed: &Map<String, Value>) -> Names {
    let Some(input) = input else { return Names { known: Vec::new(), open: true } };
    let mut names = input.names().clone();
    for name in names.iter().filter(|name| is_control(name)) {
        let node = section.get("input").map(|node| node.at(&format!("/properties/{name}")));
        section.notes.add(node.map_or(&section.span, |node| &node.span), taken(name));
    }
    fixed.keys().for_each(|name| names.add(name));
    names
}

fn with_fixed(sample: Option<Value>, fixed: &Map<String, Value>) -> Value {
    let mut sample = sample.unwrap_or_default();
    if let Some(entries) = sample.as_object_mut() {
        entries.extend(fixed.clone());
    }
    sample
}

fn rule(section: &Section<'_>, key: &str, roots: &'static [&'static str], names: &Names) -> Option<Rule> {
    let source = section.text(key)?;
    match Rule::compile(source, roots, names) {
        Ok(rule) => Some(rule),
        Err(wrongs) => {
            for wrong in wrongs {
                section.wrong(key, wrong);
            }
            None
        }
    }
}

fn rules(section: &Section<'_>, names: &Names) -> Vec<InputRule> {
    let items =
        section.get("rules").and_then(|node| node.array("“rules”", section.notes)).unwrap_or_default();
    let read = |item: &Node| {
        let inner = Section::open(item, "a rule", &["when", "field", "message"], section.notes)?;
        let when = inner.require("when").and_then(|_| rule(&inner, "when", rule::INPUT, names));
        let field = inner.required_text("field");
        let message = inner.required_text("message");
        if let Some(field) = field {
            check_field(&inner, field, names);
        }
        Some(InputRule { when: when?, field: field?.to_owned(), message: message?.to_owned() })
    };
    items.iter().filter_map(read).collect()
}

/// A request of the catalogue with everything around it.
fn described(
    section: &Section<'_>,
    effect: Option<Effect>,
    names: &Names,
    over_input: Vocabulary<'_>,
    credential: Option<&Credential>,
) -> Option<Work> {
    let request = request(section, effect, over_input, credential);
    let described = Described {
        dry_run: dry_run(section, over_input, credential),
        telling: telling(section, over_input, section.get("dry_run").is_some()),
        refusals: refusals::read(section, names),
        request: request?,
    };
    Some(Work::Described(Box::new(described)))
}

/// What people and models are told.
fn telling(section: &Section<'_>, over_input: Vocabulary<'_>, has_dry_run: bool) -> Telling {
    Telling {
        fingerprint: fingerprint::read(section, has_dry_run),
        preview: preview(section, over_input),
        output: section.get("output").map(|_| texts(section, "output")),
        reply: reply(section, over_input),
    }
}

fn request(
    section: &Section<'_>,
    effect: Option<Effect>,
    vocabulary: Vocabulary<'_>,
    credential: Option<&Credential>,
) -> Option<RequestTemplate> {
    let default = effect.filter(|effect| !effect.is_write()).map(|_| Method::GET);
    let node = section.require("request")?;
    RequestTemplate::read(node, "“request”", default, vocabulary, credential, section.notes)
}

fn dry_run(
    section: &Section<'_>,
    vocabulary: Vocabulary<'_>,
    credential: Option<&Credential>,
) -> Option<RequestTemplate> {
    let node = section.get("dry_run")?;
    RequestTemplate::read(node, "“dry_run”", Some(Method::GET), vocabulary, credential, section.notes)
}

fn preview(section: &Section<'_>, over_input: Vocabulary<'_>) -> PreviewTemplate {
    let vocabulary = Vocabulary { roots: &["input", "dry_run"], lenient: true, ..over_input };
    section
        .get("preview")
        .and_then(|node| PreviewTemplate::read(node, vocabulary, section.notes))
        .unwrap_or_default()
}

fn reply(section: &Section<'_>, over_input: Vocabulary<'_>) -> Option<Template> {
    let vocabulary = Vocabulary { roots: &["input", "output"], ..over_input };
    section.get("reply").and_then(|node| template(node, "“reply”", vocabulary, section.notes))
}

fn hold_ttl(section: &Section<'_>) -> Duration {
    let length = section.duration("hold_ttl", HOLD);
    if length.is_zero() || length > LONGEST_HOLD {
        section.wrong("hold_ttl", Wrong::new("“hold_ttl” is out of range").expected("1s to 30d"));
    }
    length
}

fn undo_window(section: &Section<'_>, effect: Option<Effect>) -> Duration {
    section.duration("undo_window", usual_undo_window(effect))
}

/// How long a Confirm can be undone when nobody says otherwise.
pub(super) fn usual_undo_window(effect: Option<Effect>) -> Duration {
    Duration::from_secs(if effect.is_some_and(Effect::is_dangerous) { 5 } else { 0 })
}

/// What nobody could ever confirm is a mistake.
fn step_up(section: &Section<'_>, known: &Known<'_>) -> bool {
    let wanted = section.boolean("step_up", false);
    if let Some(why) = known.no_passkeys.filter(|_| wanted) {
        let message = "“step_up” asks for a passkey, and nobody can have one at this “public_url”";
        section.wrong("step_up", Wrong::new(message).expected(why.needs()));
    }
    wanted
}
