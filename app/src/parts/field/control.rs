//! One control with its label, its hint, and what is wrong with it.

use leptos::prelude::*;

use super::draft::{as_typed, name};
use super::shape::{Field, Shape};
use super::{Filled, id};
use crate::parts::{alert, text};

/// What people call the field: its title, or its name as words.
pub(super) fn label(field: &Field) -> String {
    if let Some(title) = &field.title {
        return title.clone();
    }
    let words = field.name.replace(['_', '-'], " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

/// The word beside the name of what may be left out.
pub(super) fn mark_optional(field: &Field) -> Option<AnyView> {
    let may_be_left_out = !field.is_required && field.shape != Shape::Tick;
    may_be_left_out.then(|| view! { <span class="optional">"optional"</span> }.into_any())
}

/// One control.
pub(super) fn control(filled: &Filled<'_>, field: &Field, at: &str, called: &str) -> AnyView {
    let id = id(at);
    let fault = filled.faults.at(at).filter(|_| !at.is_empty());
    let hint = hint(field);
    let wiring = Wiring {
        id: id.clone(),
        name: name(at),
        described: alert::describing(&id, hint.is_some(), fault.is_some()),
        is_wrong: fault.is_some().then_some("true"),
        is_next: filled.is_next(at),
    };
    let input = input(field, wiring, filled.draft.text(at));
    let hint = hint.map(|hint| view! { <p class="hint" id=format!("{id}-hint")>{hint}</p> });
    let wrong = alert::beside(format!("{id}-wrong"), fault);
    let label = view! { <label for=id>{text::line(called)}</label> };
    if field.shape == Shape::Tick {
        return view! { <div class="field field-tick">{input}{label}{hint}{wrong}</div> }.into_any();
    }
    view! { <div class="field">{label}{mark_optional(field)}{hint}{wrong}{input}</div> }.into_any()
}

fn hint(field: &Field) -> Option<AnyView> {
    let json = (field.shape == Shape::Json).then_some("Written as JSON. ");
    let has_any = json.is_some() || !field.description.is_empty();
    has_any.then(|| {
        view! { {json} {(!field.description.is_empty()).then(|| text::line(&field.description))} }.into_any()
    })
}

/// What ties a control to the form and to the texts around it.
struct Wiring {
    id: String,
    name: String,
    described: Option<String>,
    is_wrong: Option<&'static str>,
    is_next: bool,
}

/// The control itself. Text controls throughout, also for numbers: what was typed is kept even when it is no number.
fn input(field: &Field, wiring: Wiring, typed: Option<&str>) -> AnyView {
    let Wiring { id, name, described, is_wrong, is_next } = wiring;
    let text = typed.unwrap_or_default().to_owned();
    match &field.shape {
        Shape::Line(kind) => view! { <input id=id name=name type=*kind value=text aria-describedby=described aria-invalid=is_wrong autofocus=is_next/> }.into_any(),
        Shape::Number { is_whole } => {
            let mode = if *is_whole { "numeric" } else { "decimal" };
            view! { <input id=id name=name class="short" type="text" inputmode=mode value=text aria-describedby=described aria-invalid=is_wrong autofocus=is_next/> }.into_any()
        }
        Shape::Text => view! { <textarea id=id name=name rows="6" aria-describedby=described aria-invalid=is_wrong autofocus=is_next inner_html=text::content(&text)></textarea> }.into_any(),
        Shape::Tick => view! { <input id=id name=name type="checkbox" value="true" checked=typed.is_some_and(|typed| typed != "false") aria-describedby=described aria-invalid=is_wrong autofocus=is_next/> }.into_any(),
        Shape::Choice(values) => {
            let none = (!field.is_required || text.is_empty()).then(|| view! { <option value="">"Choose"</option> });
            let options: Vec<_> = values.iter().map(|value| option(&as_typed(value), &text)).collect();
            view! { <select id=id name=name aria-describedby=described aria-invalid=is_wrong autofocus=is_next>{none}{options}</select> }.into_any()
        }
        Shape::Json | Shape::Group(_) | Shape::List { .. } => view! { <textarea id=id name=name class="code" rows="4" spellcheck="false" aria-describedby=described aria-invalid=is_wrong autofocus=is_next inner_html=text::content(&text)></textarea> }.into_any(),
    }
}

fn option(choice: &str, chosen: &str) -> AnyView {
    view! { <option value=choice.to_owned() selected=choice == chosen>{text::plain(choice)}</option> }
        .into_any()
}
