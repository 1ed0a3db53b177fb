//! An OpenAPI 3.0 or 3.1 document becomes the text of a catalogue.

mod action;
mod body;
mod credential;
mod document;
mod dry_run;
mod effect;
mod inputs;
pub(super) mod layout;
mod operation;
mod parameter;
mod preview;
pub(super) mod prose;
mod refusals;
mod request;
mod schema;
mod security;
mod server;
#[cfg(test)]
mod tests;
mod unusable;
pub(super) mod words;

use std::collections::HashSet;

use engine::catalogue::{Catalogue, Mistakes};
use model::Effect;
use serde::Serialize;
use url::Url;

use action::{Action, Source};
use credential::Credentials;
use document::Document;
use layout::Sheet;
use operation::Operation;
use security::Schemes;
use server::Servers;
pub(crate) use unusable::Unusable;

/// What is asked for beyond the document itself.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    /// Takes the place of the document's own servers.
    pub(crate) server: Option<Url>,
    /// Only operations with one of these tags; empty: all.
    pub(crate) tags: Vec<String>,
}

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Imported {
    /// The catalogue.
    #[serde(rename = "catalogue")]
    pub(crate) text: String,
    /// The credentials in it, by name.
    pub(crate) credentials: Vec<String>,
    /// The actions in it, in its order.
    pub(crate) actions: Vec<Taken>,
    /// The operations that are not in it.
    pub(crate) left_out: Vec<Remark>,
    /// What was left out of operations that are in it.
    pub(crate) notes: Vec<Remark>,
}

/// An operation that became an action.
#[derive(Debug, Serialize)]
pub(crate) struct Taken {
    /// Method and path.
    pub(crate) operation: String,
    /// The action's name.
    pub(crate) name: String,
    /// What it does to the world.
    pub(crate) effect: Effect,
}

/// Something to know about an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Remark {
    /// Method and path.
    pub(crate) operation: String,
    /// What there is to know.
    pub(crate) message: String,
}

/// Actions and remarks under one tag, in the order of the document.
struct Group<'d> {
    tag: Option<&'d str>,
    entries: Vec<Entry>,
}

enum Entry {
    Taken(String, Box<Action>),
    LeftOut(Remark),
}

/// Makes a catalogue of a document's text. What comes out was parsed as one.
///
/// # Errors
/// When the document as a whole cannot be used, or, as this function's own fault, when what came out cannot be parsed.
pub(crate) fn import(text: &str, wishes: &Wishes) -> Result<Imported, Unusable> {
    if let Some(url) = &wishes.server
        && server::usable(url.clone()).is_none()
    {
        return Err(Unusable::Server(url.to_string()));
    }
    let document = Document::read(text)?;
    let (operations, unread) = wanted(&document, &wishes.tags)?;
    let source = Source {
        document: &document,
        servers: Servers::of(&document, wishes.server.as_ref()),
        schemes: Schemes::of(&document, &operations),
    };
    let groups = make(&source, &operations);
    let imported = write(&document, &groups, unread);
    Catalogue::parse(&imported.text, "the catalogue").map_err(|mistakes| own_fault(&imported, &mistakes))?;
    Ok(imported)
}

/// The operations that were asked for, and the paths that cannot be read.
fn wanted<'d>(
    document: &'d Document,
    tags: &[String],
) -> Result<(Vec<Operation<'d>>, Vec<Remark>), Unusable> {
    let (mut operations, mut unread) = (Vec::new(), Vec::new());
    for entry in operation::all(document) {
        match entry {
            Ok(operation) => operations.push(operation),
            Err((operation, message)) => unread.push(Remark { operation, message }),
        }
    }
    if operations.is_empty() && unread.is_empty() {
        return Err(Unusable::NoOperations);
    }
    for tag in tags {
        if !operations.iter().any(|operation| operation.tags().any(|known| known == tag)) {
            return Err(Unusable::NoSuchTag(quoted(tag)));
        }
    }
    operations.retain(|operation| {
        tags.is_empty() || operation.tags().any(|known| tags.iter().any(|tag| tag == known))
    });
    Ok((operations, unread))
}

/// Every operation as an action, or why not, grouped by its first tag in the order of the document.
fn make<'d>(source: &Source<'d>, operations: &[Operation<'d>]) -> Vec<Group<'d>> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut groups: Vec<Group<'d>> = Vec::new();
    for operation in operations {
        let entry = match Action::make(source, operation, &taken) {
            Ok(action) => {
                taken.insert(action.name.clone());
                Entry::Taken(operation.shown(), Box::new(action))
            }
            Err(message) => Entry::LeftOut(Remark { operation: operation.shown(), message }),
        };
        match groups.iter_mut().find(|group| group.tag == operation.tag()) {
            Some(group) => group.entries.push(entry),
            None => groups.push(Group { tag: operation.tag(), entries: vec![entry] }),
        }
    }
    groups
}

fn write(document: &Document, groups: &[Group<'_>], unread: Vec<Remark>) -> Imported {
    let credentials = credentials(document, groups);
    let mut imported = Imported {
        text: String::new(),
        credentials: Vec::new(),
        actions: Vec::new(),
        left_out: unread,
        notes: Vec::new(),
    };
    let mut sheet = Sheet::default();
    head(document, &mut sheet);
    for (comments, written) in credentials.written() {
        sheet.space();
        for comment in &comments {
            sheet.comment(comment);
        }
        sheet.entry("credential", &written);
        imported.credentials.extend(written.get("name").and_then(|name| name.as_str()).map(str::to_owned));
    }
    for group in groups {
        if let (Some(tag), true) = (group.tag, groups.len() > 1) {
            sheet.space();
            sheet.comment(&format!("---- {} ----", prose::plain(tag, 60)));
        }
        group.entries.iter().for_each(|entry| write_entry(entry, &credentials, &mut sheet, &mut imported));
    }
    imported.text = sheet.into_text();
    imported
}

/// What the file is, at its top.
fn head(document: &Document, sheet: &mut Sheet) {
    let info = document.get("info").unwrap_or(&serde_json::Value::Null);
    let title = prose::field(info, "title", 80).unwrap_or_else(|| "an OpenAPI document".to_owned());
    let version =
        prose::field(info, "version", 30).map(|version| format!(", version {version}")).unwrap_or_default();
    sheet.comment(&format!(
        "A catalogue made from {title}{version}. Yours to edit: keep the actions that agents need."
    ));
    sheet.comment("Look through every effect: read passes without a person, write can be put back, external leaves the house, destructive cannot be put back. Methods and names were all there was to go by.");
}

/// The credentials that the actions need.
fn credentials(document: &Document, groups: &[Group<'_>]) -> Credentials {
    let title = document.get("info").and_then(|info| info.get("title")).and_then(|title| title.as_str());
    let mut credentials = Credentials::new(title.unwrap_or_default());
    for entry in groups.iter().flat_map(|group| &group.entries) {
        if let Entry::Taken(operation, action) = entry
            && let Some(scheme) = &action.scheme
        {
            let path = operation.split([' ', '#']).nth(1).unwrap_or_default();
            action.methods.iter().for_each(|method| credentials.use_for(scheme, &action.base, method, path));
        }
    }
    credentials
}

fn write_entry(entry: &Entry, credentials: &Credentials, sheet: &mut Sheet, imported: &mut Imported) {
    sheet.space();
    match entry {
        Entry::LeftOut(remark) => {
            sheet.comment(&format!("{} is left out: {}.", remark.operation, remark.message));
            imported.left_out.push(remark.clone());
        }
        Entry::Taken(operation, action) => {
            action.comments.iter().for_each(|comment| sheet.comment(comment));
            action.notes.iter().for_each(|note| sheet.comment(&format!("Note: {note}.")));
            let credential = action.scheme.as_ref().map(|scheme| credentials.name(&scheme.name));
            sheet.entry("action", &action.written(credential.as_deref()));
            let remark = |note: &String| Remark { operation: operation.clone(), message: note.clone() };
            imported.notes.extend(action.notes.iter().map(remark));
            imported.actions.push(Taken {
                operation: operation.clone(),
                name: action.name.clone(),
                effect: action.effect,
            });
        }
    }
}

/// The mistakes of a text that should have had none, each with the operation it belongs to.
fn own_fault(imported: &Imported, mistakes: &Mistakes) -> Unusable {
    const MOST: usize = 20;
    let lines: Vec<&str> = imported.text.lines().collect();
    let name_above = |line: usize| {
        let above = lines.get(..line.min(lines.len())).unwrap_or_default();
        let entry = above.iter().rposition(|line| matches!(*line, "[[action]]" | "[[credential]]"))?;
        lines.get(entry + 1)?.strip_prefix("name = \"")?.strip_suffix('"')
    };
    let told = mistakes.0.iter().take(MOST).map(|mistake| {
        let name = name_above(mistake.line).unwrap_or("the head of the file");
        let action = imported.actions.iter().find(|action| action.name == name);
        let of = action.map_or_else(|| name.to_owned(), |action| action.operation.clone());
        format!("{of}: {}", mistake.message)
    });
    Unusable::OwnFault(told.collect::<Vec<_>>().join("\n"))
}

/// A name of the document for a message.
fn quoted(name: &str) -> String {
    let plain: String =
        name.chars().filter(|c| !c.is_control() && !prose::is_invisible(*c)).take(80).collect();
    format!("“{plain}”")
}

/// A step of a JSON Pointer (RFC 6901).
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
