//! One person's receipts, for that person and for operators.

use engine::{Engine, PersonActor};
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use model::{Person, PersonId, Refusal};

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::receipt_filters::ReceiptList;
use crate::parts::text;
use crate::visit::Reply;

/// One person's receipts.
#[component]
pub(crate) fn ReceiptsOf() -> impl IntoView {
    let id = use_params_map().read_untracked().get("person").and_then(|id| id.parse::<PersonId>().ok());
    let query = use_query_map().get_untracked();
    let reply = use_context::<Reply>();
    page(Tab::Done, move |visit, me| async move {
        let id = id.ok_or(Refusal::NotFound)?;
        let person = whose(&visit.engine, &me, id).await?;
        let title = format!("Receipts of {}", text::plain(&person.name));
        let path = format!("/people/{id}/receipts");
        let list = ReceiptList { engine: &visit.engine, me: &me, query: &query, reply, path, of: Some(id) };
        let body = view! {
            <h1>"Receipts of " {text::line(&person.name)}</h1>
            <p class="lead">{text::line(&person.email)}</p>
            {list.view("Nothing has been sent for this person yet.").await?}
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
