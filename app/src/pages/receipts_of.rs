//! One person's receipts, for that person and for operators.

use engine::{Engine, PersonActor, ReceiptFilter};
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use model::{Person, PersonId, Refusal};

use super::page_asked;
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::pager::pager;
use crate::parts::receipts::receipts;
use crate::parts::text;

/// One person's receipts.
#[component]
pub(crate) fn ReceiptsOf() -> impl IntoView {
    let id = use_params_map().read_untracked().get("person").and_then(|id| id.parse::<PersonId>().ok());
    let query = use_query_map().get_untracked();
    page(Tab::Done, move |visit, me| async move {
        let id = id.ok_or(Refusal::NotFound)?;
        let person = whose(&visit.engine, &me, id).await?;
        let filter = ReceiptFilter { person: Some(id), ..ReceiptFilter::default() };
        let rows = visit.engine.done(&me, &filter, &page_asked(&query)).await?;
        let title = format!("Receipts of {}", text::plain(&person.name));
        let table = if rows.items.is_empty() {
            view! { <p class="nothing">"Nothing has been sent for this person yet."</p> }.into_any()
        } else {
            receipts(&rows.items, me.id(), me.person().is_operator(), visit.engine.now())
        };
        let body = view! {
            <h1>"Receipts of " {text::line(&person.name)}</h1>
            <p class="lead">{text::line(&person.email)}</p>
            {table}
            {pager(&format!("/people/{id}/receipts"), &query, &[], rows.next_cursor.as_deref())}
        };
        Ok(Sheet::new(title, Shape::Wide, body))
    })
}

/// The person, when this visitor may see their receipts.
async fn whose(engine: &Engine, me: &PersonActor, id: PersonId) -> Result<Person, Refusal> {
    if id == me.id() {
        return Ok(me.person().clone());
    }
    if !me.person().is_operator() {
        return Err(Refusal::NotFound);
    }
    engine.people(me).await?.into_iter().find(|person| person.id == id).ok_or(Refusal::NotFound)
}
