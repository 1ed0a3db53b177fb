//! The call of a tool of an MCP server, as what an action does.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use model::{FieldError, Refusal};
use serde_json::Value;

use super::document::{Kind, Section};
use super::mistake::Wrong;
use super::reading::Known;
use super::request::JsonTemplate;
use super::template::{Scope, Vocabulary, unusable};
use super::upstream::Upstream;
use super::work::Telling;
use crate::outgoing::Outgoing;
use crate::upstream::{ParamHeader, Pin, call_request};

const KEYS: &[&str] = &["upstream", "name", "arguments"];

/// The call of a tool of an MCP server.
#[derive(Debug)]
pub struct ToolCall {
    upstream: Arc<Upstream>,
    name: String,
    /// What the tool is given; `None`: the input as it is.
    arguments: Option<JsonTemplate>,
    /// What people and models are told.
    pub(super) telling: Telling,
    /// The definition that was taken; `None`: there is none that counts, and the action is not offered.
    pin: ArcSwapOption<Pin>,
}

impl ToolCall {
    /// The call of a tool that has become an action by itself.
    pub(super) fn by_itself(upstream: Arc<Upstream>, pin: Arc<Pin>, telling: Telling) -> Self {
        let name = pin.definition.name().to_owned();
        Self { upstream, name, arguments: None, telling, pin: ArcSwapOption::new(Some(pin)) }
    }

    /// The server.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// The tool's name at its server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is this tool.
    pub fn is(&self, upstream: &str, tool: &str) -> bool {
        self.upstream.name == upstream && self.name == tool
    }

    /// The definition that counts.
    pub(crate) fn pin(&self) -> Option<Arc<Pin>> {
        self.pin.load_full()
    }

    pub(super) fn set_pin(&self, pin: Option<Arc<Pin>>) {
        self.pin.store(pin);
    }

    /// What a confirmation is bound to: the definition, and how its server is spoken to.
    pub(super) fn binding(&self) -> String {
        let pin = self.pin();
        let (hash, dialect) =
            pin.map_or_else(Default::default, |pin| (pin.hash.clone(), pin.dialect.to_string()));
        format!("tool {hash} {dialect}")
    }

    /// What a person reads where the action says nothing.
    pub(super) fn summary(&self) -> String {
        format!("Calls the tool “{}” of the MCP server “{}”.", self.name, self.upstream.name)
    }

    /// The request for a valid input.
    pub(super) fn render(&self, input: &Value) -> Result<Outgoing, Refusal> {
        let pin = self.pin().ok_or(Refusal::NotFound)?;
        let arguments = match &self.arguments {
            None => input.clone(),
            Some(template) => {
                let rendered = template.render(&Scope::input(input)).map_err(Refusal::Invalid)?;
                rendered.filter(Value::is_object).ok_or_else(|| Refusal::Invalid(vec![unusable()]))?
            }
        };
        let headers = pin.definition.input_schema().map_or(Ok(Vec::new()), ParamHeader::of);
        let headers = headers.map_err(|_| {
            Refusal::Invalid(vec![FieldError::new("", "The tool's headers cannot be written.")])
        })?;
        Ok(call_request(&self.upstream.url, &pin.dialect, &self.name, arguments, &headers))
    }
}

/// The server that the `tool` of an action names.
pub(super) fn upstream(section: &Section<'_>, known: &Known<'_>) -> Option<Arc<Upstream>> {
    let node = section.get("tool")?;
    let inner = Section::open(node, "“tool”", KEYS, section.notes)?;
    let name = inner.required_text("upstream")?;
    if !known.upstream_names.iter().any(|known| known == name) {
        let wrong = Wrong::absent(format!("there is no upstream “{name}”"));
        inner.wrong("upstream", wrong.nearest(name, known.upstream_names.iter().map(String::as_str)));
    }
    known.upstreams.iter().find(|upstream| upstream.name == name).cloned()
}

/// The rest of `tool`; keys that only a request has are noted.
pub(super) fn read(
    section: &Section<'_>,
    upstream: Option<Arc<Upstream>>,
    vocabulary: Vocabulary<'_>,
    telling: Telling,
) -> Option<ToolCall> {
    for key in ["credential", "request", "dry_run", "refusals"] {
        if section.get(key).is_some() {
            let wrong =
                Wrong::new(format!("“{key}” is for actions that send a request, and this one calls a tool"));
            section.wrong(key, wrong);
        }
    }
    let Kind::Table(entries) = &section.get("tool")?.kind else { return None };
    let node = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node);
    if node("name").is_none() {
        section.wrong("tool", Wrong::absent("“tool” lacks “name”"));
    }
    let name = node("name").and_then(|node| node.text("“name”", section.notes)).map(str::to_owned);
    let arguments = node("arguments").map(|node| {
        if !matches!(node.kind, Kind::Text(_) | Kind::Table(_)) {
            section.notes.add(
                &node.span,
                Wrong::new(format!("“arguments” is {}", node.what()))
                    .expected("a table, or an expression that is one"),
            );
        }
        JsonTemplate::read(node, vocabulary, section.notes)
    });
    let arguments = match arguments {
        Some(read) => Some(read?),
        None => None,
    };
    Some(ToolCall { upstream: upstream?, name: name?, arguments, telling, pin: ArcSwapOption::empty() })
}
