//! A person's own agents' calls, however they ended.

use engine::agent::AgentLine;
use engine::{Item, PersonActor};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::{CallStatus, Time};

use super::page_asked;
use crate::frame::{Shape, Sheet, Tab, is_office, page};
use crate::parts::held_list::who;
use crate::parts::pager::pager;
use crate::parts::standing::voter;
use crate::parts::table::{Cell, cell, table};
use crate::parts::{alert, effect, pause, text, time};
use crate::words;

/// A person's own agents' calls, however they ended.
#[component]
pub(crate) fn Calls() -> impl IntoView {
    let query = use_query_map().get_untracked();
    page(Tab::Calls, move |visit, me| async move {
        let calls = visit.engine.calls(&me, &page_asked(&query)).await?;
        let agents = visit.engine.own_agents(&me).await?;
        let now = visit.engine.now();
        let agents = own_agents(&agents, is_office(me.person()), now);
        let voted = voted(&visit.engine.voted(&me).await?, &me, now);
        let list = if calls.items.is_empty() {
            view! { <p class="nothing">"Nothing of yours has been asked for yet. What your agents ask for stands here, however it ends."</p> }.into_any()
        } else {
            table(
                "Calls",
                &["When", "What", "Effect", "Agent", "How it stands"],
                calls.items.iter().map(|item| line(item, now)).collect(),
            )
        };
        let body = view! {
            <h1>"Calls"</h1>
            {alert::alert(visit.posted.as_ref())}
            <p class="lead">"What your agents asked for, however it ended."</p>
            <p class="ways">
                {is_office(me.person()).then(|| view! { <a href="/calls/held">"Held calls of others"</a> })}
                <a href="/grants">"Standing grants"</a>
            </p>
            {voted}
            {agents}
            {list}
            {pager("/calls", &query, &[], calls.next_cursor.as_deref())}
        };
        Ok(Sheet::new("Calls", Shape::Wide, body))
    })
}

/// Held calls on which the person, or somebody in their place, has voted: the inbox asks about them no more.
fn voted(items: &[Item], me: &PersonActor, now: Time) -> Option<AnyView> {
    let line = |item: &Item| {
        let lapses = item.call.expires_at.map_or_else(|| "never".into_any(), |at| time::ahead(at, now));
        let said = item.decided_by.iter().map(|one| voter(one, me.id())).collect::<Vec<_>>().join(", ");
        let said = format!("{} of {}: {said}", item.decided_by.len(), item.quorum);
        vec![
            cell("When", time::ago(item.call.created_at, now)),
            cell("What", view! { <a href=format!("/inbox/{}", item.call.id)>{text::line(&item.title)}</a> }),
            cell("Agent", who(item)),
            cell("Confirmed so far", text::line(&said)),
            cell("Lapses", lapses),
        ]
    };
    (!items.is_empty()).then(|| {
        let rows = items.iter().map(line).collect();
        view! {
            <section class="own" aria-labelledby="voted">
                <h2 id="voted">"Waiting for others"</h2>
                {table("Waiting for others", &["When", "What", "Agent", "Confirmed so far", "Lapses"], rows)}
            </section>
        }
        .into_any()
    })
}

/// The person's own agents that are not revoked: how they stand, and the way to pause them.
fn own_agents(agents: &[AgentLine], is_office: bool, now: Time) -> Option<AnyView> {
    let rows: Vec<_> = agents
        .iter()
        .filter(|agent| !agent.is_revoked)
        .map(|agent| {
            let used = agent.last_used_at.map_or_else(|| "never".into_any(), |at| time::ago(at, now));
            vec![
                cell("Agent", text::line(&agent.name)),
                cell("Held", agent.held.to_string()),
                cell("Last seen", used),
                cell("State", pause::state(agent, now)),
                cell("Change", pause::button(agent, "calls", is_office)),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| {
        view! {
            <section class="own" aria-labelledby="agents">
                <h2 id="agents">"Your agents"</h2>
                {table("Your agents", &["Agent", "Held", "Last seen", "State", "Change"], rows)}
            </section>
        }
        .into_any()
    })
}

fn line(item: &Item, now: Time) -> Vec<Cell> {
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
