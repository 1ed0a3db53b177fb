//! The actions a person may run.

use leptos::prelude::*;
use model::OfferedAction;

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::link::encode;
use crate::parts::{effect, text};

/// The actions a person may run.
#[component]
pub(crate) fn Run() -> impl IntoView {
    page(Tab::Run, |visit, me| async move {
        let offered = visit.engine.runnable(&me).await?;
        let list = if offered.is_empty() {
            view! { <p class="nothing">"There is no action for you to run. Actions are written in the catalogue, " <code>"countersign.toml"</code> "."</p> }.into_any()
        } else {
            view! { <ul class="offers" aria-label="Actions">{offered.iter().map(offer).collect_view()}</ul> }
                .into_any()
        };
        let body = view! {
            <h1>"Run"</h1>
            <p class="lead">"Do by hand what agents do here. Nothing is sent before you have seen the preview and confirmed it."</p>
            {list}
        };
        Ok(Sheet::new("Run", Shape::Column, body))
    })
}

fn offer(action: &OfferedAction) -> AnyView {
    view! {
        <li>
            <a class="offer" href=format!("/run/{}", encode(&action.name))>
                <strong>{text::line(&action.title)}</strong>
                {effect::mark(action.effect)}
                <span class="offer-what">{text::line(&action.description)}</span>
            </a>
        </li>
    }
    .into_any()
}
