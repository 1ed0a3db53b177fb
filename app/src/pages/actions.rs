//! The catalogue as it stands, for operators and admins.

use leptos::prelude::*;
use model::OfferedAction;

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::table::{cell, table};
use crate::parts::{effect, text};

/// The catalogue as it stands.
#[component]
pub(crate) fn Actions() -> impl IntoView {
    page(Tab::Actions, |visit, me| async move {
        let actions = visit.engine.actions(&me)?;
        let list = if actions.is_empty() {
            view! { <p class="nothing">"The catalogue has no action yet. Actions are written in " <code>"countersign.toml"</code> "."</p> }.into_any()
        } else {
            table(
                "Actions",
                &["Action", "What it does", "Effect", "Repeats"],
                actions.iter().map(line).collect(),
            )
        };
        let body = view! {
            <h1>"Actions"</h1>
            <p class="lead">"What can be called here, as the catalogue stands now."</p>
            {list}
        };
        Ok(Sheet::new("Actions", Shape::Wide, body))
    })
}

fn line(action: &OfferedAction) -> Vec<AnyView> {
    let repeats = if action.annotations.idempotent_hint { "answered from the receipt" } else { "done again" };
    vec![
        cell(
            "Action",
            view! { <strong>{text::line(&action.title)}</strong> <br/> <code>{text::line(&action.name)}</code> },
        ),
        cell("What it does", text::body(&action.description)),
        cell("Effect", effect::mark(action.effect)),
        cell("Repeats", repeats),
    ]
}
