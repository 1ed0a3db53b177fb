//! The list of held calls.

use engine::Item;
use leptos::prelude::*;
use model::{CallId, Time};

use super::{effect, text, time};

/// Held calls, newest first: what would happen to whom, effect, agent, how long it has waited, when it lapses.
pub(crate) fn held_list(items: &[Item], open: Option<CallId>, now: Time) -> AnyView {
    let lines: Vec<_> = items.iter().map(|item| entry(item, open == Some(item.call.id), now)).collect();
    view! { <ul class="held" aria-label="Held calls">{lines}</ul> }.into_any()
}

fn entry(item: &Item, is_open: bool, now: Time) -> AnyView {
    let call = &item.call;
    view! {
        <li>
            <a class="held-call" href=format!("/inbox/{}", call.id) aria-current=is_open.then_some("page") data-key=call.id.to_string()>
                <strong class="held-title">{text::line(&item.title)}</strong>
                <span class="held-row">
                    {effect::mark(call.effect)}
                    <span>{time::ago(call.created_at, now)}</span>
                </span>
                <span class="held-row">
                    <span>{who(item)}</span>
                    {call.expires_at.map(|at| view! { <span>"lapses " {time::ahead(at, now)}</span> })}
                </span>
            </a>
        </li>
    }
    .into_any()
}

/// Who asks: the agent, or the person whose form it was.
pub(crate) fn who(item: &Item) -> AnyView {
    match (&item.agent, &item.person) {
        (Some(agent), _) => text::line(agent),
        (None, Some(person)) => view! { {text::line(person)} ", by form" }.into_any(),
        (None, None) => "Nobody in particular".into_any(),
    }
}
