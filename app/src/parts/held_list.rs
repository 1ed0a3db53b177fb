//! The list of held calls.

use engine::Item;
use leptos::prelude::*;
use model::{CallId, CallStatus, Time};

use super::{effect, text, time};

/// What waits for somebody: calls whose outcome is not known, until they are settled, and then held calls, newest
/// first: what would happen to whom, effect, agent, how long it has waited, when it lapses.
pub(crate) fn held_list(doubts: &[Item], held: &[Item], open: Option<CallId>, now: Time) -> AnyView {
    let lines = |items: &[Item]| {
        items.iter().map(|item| entry(item, open == Some(item.call.id), now)).collect::<Vec<_>>()
    };
    let pinned = (!doubts.is_empty()).then(|| {
        view! {
            <h2 class="pinned" id="pinned">"Not known: somebody has to settle it"</h2>
            <ul class="held held-pinned" aria-labelledby="pinned">{lines(doubts)}</ul>
        }
    });
    let none = held.is_empty() && !doubts.is_empty();
    view! {
        <div class="waiting">
            {pinned}
            {none.then(|| view! { <p class="held-none">"Nothing is held for you."</p> })}
            {(!none).then(|| view! { <ul class="held" aria-label="Held calls">{lines(held)}</ul> })}
        </div>
    }
    .into_any()
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
                    {call.expires_at.filter(|_| call.status == CallStatus::Held).map(|at| view! { <span>"lapses " {time::ahead(at, now)}</span> })}
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
