//! The journal: ids and status only; for operators and admins.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::{Event, Time};

use super::page_asked;
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::pager::pager;
use crate::parts::table::{cell, table};
use crate::parts::{text, time};
use crate::words;

/// The journal.
#[component]
pub(crate) fn Journal() -> impl IntoView {
    let query = use_query_map().get_untracked();
    page(Tab::Journal, move |visit, me| async move {
        let events = visit.engine.events(&me, &page_asked(&query)).await?;
        let now = visit.engine.now();
        let list = if events.items.is_empty() {
            view! { <p class="nothing">"Nothing has happened yet."</p> }.into_any()
        } else {
            let columns = ["When", "What", "Action", "Came in by", "Answer", "Call"];
            table("Journal", &columns, events.items.iter().map(|event| line(event, now)).collect())
        };
        let body = view! {
            <h1>"Journal"</h1>
            <p class="lead">"What happened to every call. Ids and status, never what was in it."</p>
            {list}
            {pager("/journal", &query, &[], events.next_cursor.as_deref())}
        };
        Ok(Sheet::new("Journal", Shape::Wide, body))
    })
}

fn line(event: &Event, now: Time) -> Vec<AnyView> {
    let id = event.call_id.to_string();
    let address = format!("/inbox/{id}");
    vec![
        cell("When", time::ago(event.at, now)),
        cell("What", words::event(event.r#type)),
        cell("Action", text::line(&event.action)),
        cell("Came in by", event.surface.as_str()),
        cell("Answer", event.upstream_status.map_or_else(|| "none".to_owned(), words::answer)),
        cell("Call", view! { <a href=address><code>{id}</code></a> }),
    ]
}
