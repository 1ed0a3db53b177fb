//! A person's own agents' calls, however they ended.

use engine::Item;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::{CallStatus, Time};

use super::page_asked;
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::held_list::who;
use crate::parts::pager::pager;
use crate::parts::table::{cell, table};
use crate::parts::{effect, text, time};
use crate::words;

/// A person's own agents' calls, however they ended.
#[component]
pub(crate) fn Calls() -> impl IntoView {
    let query = use_query_map().get_untracked();
    page(Tab::Calls, move |visit, me| async move {
        let calls = visit.engine.calls(&me, &page_asked(&query)).await?;
        let now = visit.engine.now();
        let list = if calls.items.is_empty() {
            view! { <p class="nothing">"Your agents have not asked for anything yet."</p> }.into_any()
        } else {
            table(
                "Calls",
                &["When", "What", "Effect", "Agent", "How it stands"],
                calls.items.iter().map(|item| line(item, now)).collect(),
            )
        };
        let body = view! {
            <h1>"Calls"</h1>
            <p class="lead">"What your agents asked for, however it ended."</p>
            {list}
            {pager("/calls", &query, &[], calls.next_cursor.as_deref())}
        };
        Ok(Sheet::new("Calls", Shape::Wide, body))
    })
}

fn line(item: &Item, now: Time) -> Vec<AnyView> {
    let call = &item.call;
    let is_bad = matches!(call.status, CallStatus::Failed | CallStatus::Refused | CallStatus::InDoubt);
    vec![
        cell("When", time::ago(call.created_at, now)),
        cell("What", view! { <a href=format!("/inbox/{}", call.id)>{text::line(&item.title)}</a> }),
        cell("Effect", effect::mark(call.effect)),
        cell("Agent", who(item)),
        cell(
            "How it stands",
            view! { <span class=is_bad.then_some("bad")>{words::status(call.status)}</span> },
        ),
    ]
}
