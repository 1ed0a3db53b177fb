//! The catalogue as it stands, for operators and admins.

use std::time::Duration;

use engine::catalogue::ActionLine;
use engine::upstream::ToolLine;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::Surface;

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::filters::{Filter, filters};
use crate::parts::fold::{fact, fold};
use crate::parts::table::{Cell, cell, table};
use crate::parts::{effect, text};
use crate::words;

/// The catalogue as it stands.
#[component]
pub(crate) fn Actions() -> impl IntoView {
    let wanted = use_query_map().get_untracked().get("named").unwrap_or_default();
    page(Tab::Actions, |visit, me| async move {
        let all = visit.engine.actions(&me)?;
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
        let shown: Vec<_> = all.iter().filter(|action| fits(action, &wanted)).collect();
        let is_one = shown.len() == 1;
        let list = if all.is_empty() {
            view! { <p class="nothing">"The catalogue has no action yet. Actions are written in " <code>"countersign.toml"</code> "."</p> }.into_any()
        } else if shown.is_empty() {
            view! { <p class="nothing">"No action is called like this. " <a href="/actions">"Show all"</a></p> }.into_any()
        } else {
            let folds: Vec<_> = shown.into_iter().map(|action| section(action, is_one)).collect();
            view! { <div class="folds">{folds}</div> }.into_any()
        };
        let is_filtered = !wanted.is_empty();
        let box_of = (!all.is_empty()).then(|| {
            let named = vec![Filter::text("named", "Name, effect or host")];
            filters("Actions", "/actions", named, |_| wanted.clone(), &[], is_filtered)
        });
        let body = view! {
            <h1>"Actions"</h1>
            <p class="lead">"What can be called here, as the catalogue stands now."</p>
            {aside}
            {box_of}
            {list}
        };
        Ok(Sheet::new("Actions", Shape::Wide, body))
    })
}

/// Whether every word that was typed stands in what an action is called, does, and sends to.
fn fits(action: &ActionLine, wanted: &str) -> bool {
    let credential = action.credential.as_deref().unwrap_or_default();
    let parts = [&action.name, &action.title, action.effect.as_str(), &action.sends, credential];
    let whole = parts.join(" ").to_lowercase();
    wanted.to_lowercase().split_whitespace().all(|word| whole.contains(word))
}

fn tool_line((upstream, tool): &(String, ToolLine)) -> Vec<Cell> {
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

fn section(action: &ActionLine, is_open: bool) -> AnyView {
    let title = view! { {text::line(&action.title)} " " <code>{text::line(&action.name)}</code> };
    let content = view! {
        <p>{text::body(&action.description)}</p>
        <dl class="facts">{facts(action)}</dl>
    };
    fold(format!("action-{}", action.name), title, effect::mark(action.effect), is_open, content)
}

fn facts(action: &ActionLine) -> Vec<AnyView> {
    let surfaces: Vec<_> = action.surfaces.iter().map(|surface| surface.as_str()).collect();
    let everywhere =
        surfaces.len() >= Surface::ALL.iter().filter(|surface| !surface.takes_requests()).count();
    let repeats = if action.replay { "answered from the receipt" } else { "done again" };
    let credential = action.credential.as_ref().map_or_else(
        || "none".into_any(),
        |name| {
            view! { <a href=format!("/credentials#credential-{name}")><code>{text::line(name)}</code></a> }
                .into_any()
        },
    );
    let mut facts = vec![
        fact("Effect", format!("{}: {}", action.effect, words::effect(action.effect))),
        fact(
            "Can be called",
            if everywhere { "on every surface".to_owned() } else { format!("on {}", surfaces.join(", ")) },
        ),
        fact("By whom", by_whom(action)),
    ];
    facts.extend(action.rules.iter().map(|(key, rule)| {
        let meaning = meaning(key);
        fact(meaning, view! { <code>{text::body(rule)}</code> })
    }));
    facts.extend([
        fact("Who decides", who_decides(action)),
        fact("A held call waits", format!("for {}", span(action.hold_ttl))),
        fact("Undo", if action.undo_window.is_zero() { "none".to_owned() } else { span(action.undo_window) }),
        fact("Sends", view! { <code>{text::line(&action.sends)}</code> }),
    ]);
    facts.extend(
        action.dry_run.as_ref().map(|asks| fact("Asks before", view! { <code>{text::line(asks)}</code> })),
    );
    facts.push(fact("Credential", credential));
    if action.effect.is_write() {
        facts.push(fact("A repeat with the same key", repeats));
    }
    facts
}

/// What a rule is for.
fn meaning(key: &str) -> &'static str {
    match key {
        "register_when" => "Is there when",
        "authorize" => "May be called when",
        "authorize_input" => "With an input when",
        _ => "Waits for a person when",
    }
}

fn by_whom(action: &ActionLine) -> String {
    let who =
        if action.public { "anybody, without a token" } else { "whoever has the ability of its effect" };
    let tenants = if action.tenants.is_empty() {
        String::new()
    } else {
        format!("; in the tenants {}", text::plain(&action.tenants.join(", ")))
    };
    let told = if action.deny_as_not_found { "; others are told that it does not exist" } else { "" };
    format!("{who}{tenants}{told}")
}

fn who_decides(action: &ActionLine) -> String {
    let who = if action.approvers.is_empty() {
        "the agent's owner".to_owned()
    } else {
        text::plain(&action.approvers.join(", "))
    };
    let how_many = if action.quorum > 1 { format!("; {} of them", action.quorum) } else { String::new() };
    let but = if action.self_approval { "" } else { "; never the one whose call it is" };
    let afresh = if action.step_up { "; with a passkey, each time" } else { "" };
    format!("{who}{how_many}{but}{afresh}")
}

fn span(time: Duration) -> String {
    words::span(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}
