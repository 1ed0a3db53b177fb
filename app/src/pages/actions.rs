//! The catalogue as it stands, for operators and admins.

use engine::upstream::ToolLine;
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
        let review = visit.engine.tools_to_review(&me).await?;
        let aside = (!review.is_empty()).then(|| {
            view! {
                <section aria-labelledby="aside">
                    <h2 id="aside">"Tools that wait for an operator"</h2>
                    <p>"What an MCP server says about these has changed, or is new. They cannot be called, and what waited with them has ended. Look at them with " <code>"countersign upstream list"</code> "."</p>
                    {table("Tools that wait", &["Tool", "What it says now", "Effect", "Why"], review.iter().map(tool_line).collect())}
                </section>
            }
        });
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
            {aside}
            {list}
        };
        Ok(Sheet::new("Actions", Shape::Wide, body))
    })
}

fn tool_line((upstream, tool): &(String, ToolLine)) -> Vec<AnyView> {
    let says = tool.found.as_ref().map(|found| found.description().to_owned()).unwrap_or_default();
    vec![
        cell(
            "Tool",
            view! { <strong>{text::line(&tool.tool)}</strong> <br/> <code>{text::line(upstream)}</code> },
        ),
        cell("What it says now", text::body(&says)),
        cell("Effect", effect::mark(tool.effect)),
        cell("Why", tool.why()),
    ]
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
