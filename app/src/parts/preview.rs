//! What would happen, as the server wrote it from the stored request.

use leptos::prelude::*;
use model::preview::{Checked, PreviewField};
use model::{Effect, Preview};

use super::payload::payload;
use super::text;

/// What would happen and what exactly is sent. `shown` is the preview that was on the screen when it was confirmed and
/// has changed since: what is new is marked. `is_past`: it no longer lies ahead, so it is what was shown.
pub(crate) fn preview(preview: &Preview, shown: Option<&Preview>, is_past: bool) -> AnyView {
    named(preview, shown, is_past, "")
}

/// The same of one of several on a page: `of` says which, in the names of its regions.
pub(crate) fn one_of(preview: &Preview, of: &str) -> AnyView {
    named(preview, None, false, of)
}

fn named(preview: &Preview, shown: Option<&Preview>, is_past: bool, of: &str) -> AnyView {
    let warnings: Vec<_> = preview
        .warnings
        .iter()
        .map(|warning| {
            let is_new = shown.is_some_and(|shown| !shown.warnings.contains(warning));
            view! { <p class="warning">{changed(is_new)}{text::line(warning)}</p> }
        })
        .collect();
    let mut fields: Vec<_> = preview.fields.iter().map(|field| line(field, shown)).collect();
    fields.extend(target(preview, shown));
    let has_more = !fields.is_empty() || !preview.summary.is_empty();
    let heading = if is_past { "What was asked for" } else { "What would happen" };
    let checked = match preview.checked {
        Checked::DryRun => "checked against the service before it was shown",
        Checked::Rendered => "from the stored request",
    };
    view! {
        <section class="preview" aria-label=format!("Preview{of}")>
            {warnings}
            {has_more.then(|| view! {
                <div class="sheet">
                    <h2 class="sheet-head">{heading} <span>{checked}</span></h2>
                    {summary(preview, shown)}
                    {(!fields.is_empty()).then(|| view! { <dl class="facts">{fields}</dl> })}
                </div>
            })}
            {payload(&preview.request, shown.map(|shown| &shown.request), of)}
        </section>
    }
    .into_any()
}

fn summary(preview: &Preview, shown: Option<&Preview>) -> Option<AnyView> {
    if preview.summary.is_empty() {
        return None;
    }
    let is_new = shown.is_some_and(|shown| shown.summary != preview.summary);
    Some(view! { <p class="summary">{changed(is_new)}{text::body(&preview.summary)}</p> }.into_any())
}

fn line(field: &PreviewField, shown: Option<&Preview>) -> AnyView {
    let old = shown.map(|shown| shown.fields.iter().find(|old| old.label == field.label));
    let is_new = old.is_some_and(|old| old != Some(field));
    let was_shown = old.flatten().filter(|old| old.value != field.value).map(|old| old.value.clone());
    let before = field.before.as_ref().filter(|before| **before != field.value);
    view! {
        <dt>{text::line(&field.label)}</dt>
        <dd>
            {changed(is_new)}
            {was_shown.map(|old| view! { <span class="was">"you saw " <del>{text::body(&old)}</del></span> " " })}
            {before.map(|before| view! { <span class="unseen">"now "</span><del>{text::body(before)}</del> " " <span class="unseen">"then "</span> })}
            {if before.is_some() { view! { <ins>{text::body(&field.value)}</ins> }.into_any() } else { text::body(&field.value) }}
        </dd>
    }
    .into_any()
}

/// What the call would happen to: always where it has to be typed, else unless the title or a field says so already.
fn target(preview: &Preview, shown: Option<&Preview>) -> Option<AnyView> {
    let target = preview.target.as_ref()?;
    let is_said = preview.title.contains(target) || preview.fields.iter().any(|field| field.value == *target);
    if is_said && preview.effect != Effect::Destructive {
        return None;
    }
    let is_new = shown.is_some_and(|shown| shown.target != preview.target);
    Some(view! { <dt>"Target"</dt> <dd>{changed(is_new)}{text::line(target)}</dd> }.into_any())
}

/// The sign that something is not what was shown before.
pub(crate) fn changed(is_new: bool) -> Option<AnyView> {
    is_new.then(|| view! { <span class="changed">"changed"</span> " " }.into_any())
}

/// The agent's own words, in a box of its own that says so. `of` says whose among several; empty for one alone.
pub(crate) fn agent_words(preview: &Preview, agent: bool, of: &str) -> AnyView {
    let said = match &preview.agent_words {
        Some(words) => view! { <div class="said-words">{text::body(words)}</div> }.into_any(),
        None if agent => view! { <p>"The agent gave no reason."</p> }.into_any(),
        None => return by_a_person(of),
    };
    view! {
        <section class="said" aria-label=format!("The agent's words{of}")>
            <h2>"The agent's words" <span>"written by the agent, checked by nobody"</span></h2>
            {said}
        </section>
    }
    .into_any()
}

/// A call that no agent made has no agent's words.
fn by_a_person(of: &str) -> AnyView {
    view! {
        <section class="said" aria-label=format!("Who asked{of}")>
            <h2>"Who asked"</h2>
            <p>"A person made this call, not an agent: there are no agent's words to weigh."</p>
        </section>
    }
    .into_any()
}
