//! Held calls that others decide, for operators and admins: facts alone, and the way to override.

use engine::Item;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::{Refusal, Time};

use super::page_asked;
use crate::frame::{Shape, Sheet, Tab, is_office, page};
use crate::parts::held_list::who;
use crate::parts::pager::pager;
use crate::parts::table::{Cell, cell, table};
use crate::parts::{alert, effect, text, time};

/// Held calls that others decide.
#[component]
pub(crate) fn HeldOfOthers() -> impl IntoView {
    let query = use_query_map().get_untracked();
    page(Tab::Calls, move |visit, me| async move {
        if !is_office(me.person()) {
            return Err(Refusal::NotFound);
        }
        let held = visit.engine.held_of_others(&me, &page_asked(&query)).await?;
        let now = visit.engine.now();
        let list = if held.items.is_empty() {
            view! { <p class="nothing">"Nothing is held that others decide."</p> }.into_any()
        } else {
            let rows = held.items.iter().map(|item| line(item, now)).collect();
            table(
                "Held calls of others",
                &["Asked", "Action", "Effect", "Agent", "For", "Lapses", "Open"],
                rows,
            )
        };
        let body = view! {
            <a class="back back-always" href="/calls">"← Calls"</a>
            <h1>"Held calls of others"</h1>
            {alert::alert(visit.posted.as_ref())}
            <p class="lead">"They wait for people who are not you. What is in them is shown to those who decide; when you open one, that is written to the journal with your name."</p>
            {list}
            {pager("/calls/held", &query, &[], held.next_cursor.as_deref())}
        };
        Ok(Sheet::new("Held calls of others", Shape::Wide, body))
    })
}

fn line(item: &Item, now: Time) -> Vec<Cell> {
    let call = &item.call;
    let person =
        item.person.as_ref().map_or_else(|| "nobody in particular".into_any(), |name| text::line(name));
    let lapses = call.expires_at.map_or_else(|| "never".into_any(), |at| time::ahead(at, now));
    let which = format!(" to override: {}, {}", text::plain(&item.title), call.id);
    vec![
        cell("Asked", time::ago(call.created_at, now)),
        cell("Action", text::line(&item.title)),
        cell("Effect", effect::mark(call.effect)),
        cell("Agent", who(item)),
        cell("For", person),
        cell("Lapses", lapses),
        cell(
            "Open",
            view! { <a href=format!("/inbox/{}/override", call.id)>"Open"<span class="unseen">{which}</span></a> },
        ),
    ]
}
