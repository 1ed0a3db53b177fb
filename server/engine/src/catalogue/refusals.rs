//! What an upstream's refusal means to the caller.

use model::Refusal;

use super::document::{Node, Section};
use super::input::is_control;
use super::mistake::{Notes, Wrong};
use super::names::Names;

/// What one refusal of the upstream means to the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalRule {
    /// What the upstream answers.
    status: u16,
    /// The status the caller gets; 409 by default.
    answered: u16,
    /// The field at fault.
    field: Option<String>,
    /// Fixed text.
    message: String,
}

const KEYS: &[&str] = &["status", "as", "field", "message"];

/// Reads `refusals`.
pub(super) fn read(section: &Section<'_>, names: &Names) -> Vec<RefusalRule> {
    let items =
        section.get("refusals").and_then(|node| node.array("“refusals”", section.notes)).unwrap_or_default();
    let mut rules: Vec<RefusalRule> = Vec::new();
    for item in items {
        let Some(rule) = rule(item, names, section.notes) else { continue };
        if rules.iter().any(|known| known.status == rule.status) {
            section
                .notes
                .add(&item.span, Wrong::new(format!("the status {} is explained twice", rule.status)));
        }
        rules.push(rule);
    }
    rules
}

fn rule(node: &Node, names: &Names, notes: &Notes<'_>) -> Option<RefusalRule> {
    let section = Section::open(node, "a refusal", KEYS, notes)?;
    let status = section.require("status").and_then(|node| node.whole("“status”", 400, 499, notes));
    let answered = section.whole("as", 400, 499, 409);
    let field = section.text("field").map(str::to_owned);
    let message = section.required_text("message");
    if let Some(field) = &field {
        if section.get("as").is_some() {
            section.wrong("as", Wrong::new("a refusal on a field is always 422").expected("“field” or “as”"));
        }
        check_field(&section, field, names);
    }
    Some(RefusalRule {
        status: u16::try_from(status?).ok()?,
        answered: u16::try_from(answered).ok()?,
        field,
        message: message?.to_owned(),
    })
}

/// Notes a field that the input does not have.
pub(super) fn check_field(section: &Section<'_>, field: &str, names: &Names) {
    let top = field.trim_start_matches('/').split('/').next().unwrap_or_default();
    if is_control(top) || !names.allow(top) {
        section.wrong("field", Wrong::new(format!("the input has no “{top}”")).nearest(top, names.iter()));
    }
}

/// A field of the file as a JSON Pointer: a pointer stays one, a name becomes one.
pub(crate) fn as_pointer(field: &str) -> String {
    if field.starts_with('/') { field.to_owned() } else { format!("/{}", super::schema::escape(field)) }
}

/// The refusal that an upstream's 4xx means.
pub(super) fn refusal_for(rules: &[RefusalRule], status: u16) -> Refusal {
    let Some(rule) = rules.iter().find(|rule| rule.status == status) else {
        return Refusal::Refused { status: 409, message: None, upstream_status: Some(status) };
    };
    match &rule.field {
        Some(field) => Refusal::invalid(as_pointer(field), rule.message.clone()),
        None => Refusal::Refused {
            status: rule.answered,
            message: Some(rule.message.clone()),
            upstream_status: Some(status),
        },
    }
}
