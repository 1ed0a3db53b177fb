//! What a person is shown before a call is sent, as a template.

use model::preview::{Checked, PreviewField, PreviewHeader, PreviewRequest};
use serde_json::Value;

use super::document::{Node, Section};
use super::mistake::Notes;
use super::request::template;
use super::schema::InputSchema;
use super::template::{Scope, Template, Vocabulary, words};
use crate::outgoing::Outgoing;

/// What a person is shown, as a template.
#[derive(Debug, Default)]
pub struct PreviewTemplate {
    title: Option<Template>,
    summary: Option<Template>,
    target: Option<Template>,
    /// `None`: every field of the input.
    fields: Option<Vec<FieldTemplate>>,
    /// Where every field is shown: under its own name, whatever its schema calls it.
    names_alone: bool,
}

#[derive(Debug)]
struct FieldTemplate {
    label: String,
    value: Template,
    before: Option<Template>,
}

/// The written part of a preview.
pub(super) struct Written {
    pub(super) title: Option<String>,
    pub(super) summary: String,
    pub(super) target: Option<String>,
    pub(super) fields: Vec<PreviewField>,
}

impl PreviewTemplate {
    /// Reads `preview`.
    pub(super) fn read(node: &Node, vocabulary: Vocabulary<'_>, notes: &Notes<'_>) -> Option<Self> {
        let section = Section::open(node, "“preview”", &["title", "summary", "target", "fields"], notes)?;
        let one = |key: &str| {
            section.get(key).and_then(|node| template(node, &format!("“{key}”"), vocabulary, notes))
        };
        let fields = section.get("fields").and_then(|node| node.array("“fields”", notes));
        Some(Self {
            title: one("title"),
            summary: one("summary"),
            target: one("target"),
            fields: fields
                .map(|items| items.iter().filter_map(|item| field(item, vocabulary, notes)).collect()),
            names_alone: false,
        })
    }

    /// Of an action that nobody has written: every field, under its own name. What a server calls its arguments could
    /// mislead.
    pub(super) fn names_alone() -> Self {
        Self { names_alone: true, ..Self::default() }
    }

    /// Everything that it says on its own, in a fixed order: its templates, or the names that the schema gives the fields.
    pub(super) fn wording<'a>(&'a self, schema: &'a InputSchema) -> Vec<Option<&'a str>> {
        let mut words: Vec<_> =
            [&self.title, &self.summary, &self.target].map(|one| one.as_ref().map(Template::source)).into();
        match &self.fields {
            Some(fields) => words.extend(fields.iter().flat_map(FieldTemplate::wording)),
            None => words.extend(names_of_fields(schema).flat_map(|(name, title)| [Some(name), Some(title)])),
        }
        words
    }

    /// Writes it for an input.
    pub(super) fn write(&self, scope: &Scope<'_>, schema: &InputSchema) -> Written {
        let one = |template: &Option<Template>| {
            template
                .as_ref()
                .and_then(|template| template.words(scope))
                .filter(|text| !text.trim().is_empty())
        };
        let fields = match &self.fields {
            Some(templates) => templates.iter().filter_map(|template| template.write(scope)).collect(),
            None => every_field(scope.input, schema, self.names_alone),
        };
        Written {
            title: one(&self.title),
            summary: one(&self.summary).unwrap_or_default(),
            target: one(&self.target),
            fields,
        }
    }
}

fn field(node: &Node, vocabulary: Vocabulary<'_>, notes: &Notes<'_>) -> Option<FieldTemplate> {
    let section = Section::open(node, "a field of “preview”", &["label", "value", "before"], notes)?;
    let label = section.required_text("label");
    let value = section.require("value").and_then(|node| template(node, "“value”", vocabulary, notes));
    let before = section.get("before").and_then(|node| template(node, "“before”", vocabulary, notes));
    Some(FieldTemplate { label: label?.to_owned(), value: value?, before })
}

impl FieldTemplate {
    fn wording(&self) -> [Option<&str>; 3] {
        [Some(&self.label), Some(self.value.source()), self.before.as_ref().map(Template::source)]
    }

    /// The field; `None` when there is neither a value nor one before.
    fn write(&self, scope: &Scope<'_>) -> Option<PreviewField> {
        let value = self.value.words(scope);
        let before = self.before.as_ref().and_then(|before| before.words(scope));
        if value.is_none() && before.is_none() {
            return None;
        }
        Some(PreviewField { label: self.label.clone(), value: value.unwrap_or_default(), before })
    }
}

/// Every field of the input, under the title its schema gives it, or under its name alone.
fn every_field(input: &Value, schema: &InputSchema, names_alone: bool) -> Vec<PreviewField> {
    let entries = input.as_object().into_iter().flatten();
    let field = |(name, value): (&String, &Value)| {
        let title = title_of(schema, name).filter(|_| !names_alone);
        PreviewField { label: title.unwrap_or(name).to_owned(), value: words(value), before: None }
    };
    entries.map(field).collect()
}

/// The title that the schema gives a field.
fn title_of<'a>(schema: &'a InputSchema, name: &str) -> Option<&'a str> {
    schema.property(name)?.get("title")?.as_str()
}

/// The fields that have a title, with it.
fn names_of_fields(schema: &InputSchema) -> impl Iterator<Item = (&str, &str)> {
    let properties = schema.as_json().get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(name, _)| Some((name.as_str(), title_of(schema, name)?)))
}

/// The request as it is sent, less the credential's header.
pub(super) fn request(outgoing: &Outgoing, credential: Option<&str>) -> PreviewRequest {
    let url = &outgoing.url;
    let host = url.host_str().unwrap_or_default();
    PreviewRequest {
        method: outgoing.method.to_string(),
        host: url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
        path: url.path().to_owned(),
        query: url.query().unwrap_or_default().to_owned(),
        headers: outgoing
            .headers
            .iter()
            .map(|(name, value)| PreviewHeader {
                name: name.to_string(),
                value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
            })
            .collect(),
        body: outgoing.body.as_ref().and_then(|body| String::from_utf8(body.to_vec()).ok()),
        credential: credential.map(str::to_owned),
    }
}

/// What the preview rests on.
pub(super) const fn checked(dry_run: Option<&Value>) -> Checked {
    if dry_run.is_some() { Checked::DryRun } else { Checked::Rendered }
}
