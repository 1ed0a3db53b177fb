//! A form made from a JSON Schema: one labelled control a field, groups for objects, rows for lists.
//!
//! Everything is named by JSON Pointer: the controls, what was typed, and what was wrong with it.

mod control;
mod draft;
mod faults;
mod shape;
mod value;

use leptos::prelude::*;

pub(crate) use self::draft::Draft;
pub(crate) use self::faults::Faults;
pub(crate) use self::shape::Field;
pub(crate) use self::value::{empty_rows, input};

use self::control::{control, label, mark_optional};
use self::draft::{rows_name, step};
use self::shape::Shape;
use super::{alert, text};
use crate::form::{ADD, REMOVE};

/// A form as it stands: the fields, what is in them, what is wrong with them, and where somebody goes on.
pub(crate) struct Filled<'a> {
    /// The whole input.
    pub(crate) input: &'a Field,
    /// What stands in the form.
    pub(crate) draft: &'a Draft,
    /// What is wrong.
    pub(crate) faults: &'a Faults,
    /// What was pressed last, when it was a button of a list.
    pub(crate) pressed: Option<Pressed>,
}

/// A button of a list that was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// One row more, in the list at this pointer.
    Add(String),
    /// Away with the row at this pointer.
    Remove(String),
}

/// The controls of every field.
pub(crate) fn controls(filled: &Filled<'_>) -> AnyView {
    match &filled.input.shape {
        Shape::Group(fields) => fields.iter().map(|field| one(filled, field, "")).collect_view().into_any(),
        _ => control(filled, filled.input, "", "Input"),
    }
}

fn one(filled: &Filled<'_>, field: &Field, above: &str) -> AnyView {
    let name = label(field);
    shown(filled, field, &step(above, &field.name), &name)
}

fn shown(filled: &Filled<'_>, field: &Field, at: &str, name: &str) -> AnyView {
    match &field.shape {
        Shape::Group(fields) => {
            let inside = fields.iter().map(|field| one(filled, field, at)).collect_view();
            group(filled, field, at, name, inside.into_any())
        }
        Shape::List { entry, most, .. } => {
            let inside = list(filled, entry, *most, at, name);
            group(filled, field, at, name, inside)
        }
        _ => control(filled, field, at, name),
    }
}

/// What belongs together, under one name.
fn group(filled: &Filled<'_>, field: &Field, at: &str, name: &str, inside: AnyView) -> AnyView {
    let id = id(at);
    let fault = filled.faults.at(at);
    let has_hint = !field.description.is_empty();
    let described = alert::describing(&id, has_hint, fault.is_some());
    view! {
        <fieldset class="group" id=id.clone() aria-describedby=described>
            <legend>{text::line(name)} " " {mark_optional(field)}</legend>
            {has_hint.then(|| view! { <p class="hint" id=format!("{id}-hint")>{text::line(&field.description)}</p> })}
            {alert::beside(format!("{id}-wrong"), fault)}
            {inside}
        </fieldset>
    }
    .into_any()
}

/// The rows of a list, each with a way out, and a way to one more.
fn list(filled: &Filled<'_>, entry: &Field, most: usize, at: &str, name: &str) -> AnyView {
    let count = filled.draft.rows(at);
    let rows: Vec<_> = (0..count).map(|index| row(filled, entry, at, index, name)).collect();
    let none = (count == 0).then(|| view! { <p class="hint">"None yet."</p> });
    let was_shortened = matches!(&filled.pressed, Some(Pressed::Remove(row)) if row.rsplit_once('/').is_some_and(|(list, _)| list == at));
    let more = if count < most && filled.draft.has_room() {
        let name = text::plain(name);
        view! { <button name=ADD value=at.to_owned() class="small" autofocus=was_shortened>"Add one"<span class="unseen">{format!(" to {name}")}</span></button> }.into_any()
    } else {
        view! { <p class="hint">"That is as many as fit here."</p> }.into_any()
    };
    view! {
        <input type="hidden" name=rows_name(at) value=count.to_string()/>
        {none}
        {rows}
        {more}
    }
    .into_any()
}

fn row(filled: &Filled<'_>, entry: &Field, list: &str, index: usize, name: &str) -> AnyView {
    let at = step(list, &index.to_string());
    let name = row_name(entry, name, index);
    let out = text::plain(&name);
    view! {
        <div class=if entry.is_single() { "row" } else { "row row-tall" }>
            {shown(filled, entry, &at, &name)}
            <button name=REMOVE value=at class="quiet">"Remove"<span class="unseen">{format!(" {out}")}</span></button>
        </div>
    }
    .into_any()
}

/// What a row is called: by what its entries are, or by its list.
fn row_name(entry: &Field, list: &str, index: usize) -> String {
    format!("{} {}", entry.title.as_deref().unwrap_or(list), index + 1)
}

/// The id of what stands at this pointer: unlike for unlike pointers, and without what an id may not hold.
fn id(at: &str) -> String {
    let escaped = at.bytes().map(|byte| match byte {
        b'/' => "-".to_owned(),
        b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        other => format!(".{other:02x}"),
    });
    format!("field{}", escaped.collect::<String>())
}

impl Filled<'_> {
    /// The pointer of the control in which somebody goes on: the first of the row that was added.
    fn goes_on_at(&self) -> Option<String> {
        let Some(Pressed::Add(list)) = &self.pressed else { return None };
        let newest = self.draft.rows(list).checked_sub(1)?;
        Some(step(list, &newest.to_string()))
    }

    /// Whether the control at this pointer is where somebody goes on.
    fn is_next(&self, at: &str) -> bool {
        self.goes_on_at().is_some_and(|row| {
            at.strip_prefix(&row).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
