//! Standing grants: those that live and what became of the others.

use engine::GrantLine;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use model::{PersonId, Time};

use super::page_asked;
use crate::form;
use crate::frame::{Shape, Sheet, page};
use crate::parts::grant::{allowed, ending, used, who};
use crate::parts::pager::pager;
use crate::parts::table::{Cell, cell, table};
use crate::parts::{alert, text, time};

/// The grants that somebody made or that are for their agents; for operators everybody's.
#[component]
pub(crate) fn Grants() -> impl IntoView {
    let query = use_query_map().get_untracked();
    page(None, move |visit, me| async move {
        let live = visit.engine.grants(&me, true, &MOST).await?;
        let ended = visit.engine.grants(&me, false, &page_asked(&query)).await?;
        let now = visit.engine.now();
        let is_operator = me.person().is_operator();
        let lead = if is_operator {
            "What people let through in advance, without being asked again: everybody's."
        } else {
            "What you let through in advance, and what others did for your agents."
        };
        let body = view! {
            <h1>"Standing grants"</h1>
            {alert::alert(visit.posted.as_ref())}
            <p class="lead">{lead}</p>
            {alive(&live.items, live.next_cursor.is_some(), me.id(), now)}
            {past(&ended.items, me.id(), now)}
            {pager("/grants", &query, &[], ended.next_cursor.as_deref())}
        };
        Ok(Sheet::new("Standing grants", Shape::Wide, body))
    })
}

/// Those that live are shown together.
const MOST: engine::PageAsked = engine::PageAsked { limit: Some(200), cursor: None };

fn alive(grants: &[GrantLine], are_more: bool, me: PersonId, now: Time) -> AnyView {
    if grants.is_empty() {
        return view! {
            <p class="nothing">"There are none now. On the page of a call that waits for you, “Allow more like this” makes one."</p>
        }
        .into_any();
    }
    let cards: Vec<_> = grants.iter().map(|grant| card(grant, me, now)).collect();
    view! {
        <ul class="grants" aria-label="Live">{cards}</ul>
        {are_more.then(|| view! { <p class="hint">"There are more. Revoke some to see the others."</p> })}
    }
    .into_any()
}

fn card(grant: &GrantLine, me: PersonId, now: Time) -> AnyView {
    let id = grant.id.to_string();
    let heading = format!("grant-{id}");
    let (place, labelled) = (id.clone(), heading.clone());
    view! {
        <li class="sheet" id=place aria-labelledby=labelled>
            <h2 class="sheet-head" id=heading><strong>{text::line(&grant.title)} ", " {text::line(&grant.agent_name)}</strong> <span>{used(grant)}</span></h2>
            {allowed(grant)}
            {grant.allowed.is_none().then(|| view! { <p class="hint grant-line">"What a call has to be like is shown to who made it and to the agent's owner."</p> })}
            <div class="grant-line">
                <p>"Made by " {who(grant.grantor, &grant.grantor_name, me)} " " {time::ago(grant.made_at, now)}
                    " with " <a href=format!("/inbox/{}", grant.call)>"this call"</a> ", lapses " {time::ahead(grant.expires_at, now)} "."
                    {grant.last_used_at.map(|at| view! { " Used last " {time::ago(at, now)} "." })}
                </p>
                <form method="post" action=form::REVOKE_GRANT>
                    <input type="hidden" name="grant" value=id/>
                    <button>"Revoke"<span class="unseen">" the grant for " {text::plain(&grant.title)} ", " {text::plain(&grant.agent_name)}</span></button>
                </form>
            </div>
        </li>
    }
    .into_any()
}

fn past(grants: &[GrantLine], me: PersonId, now: Time) -> Option<AnyView> {
    let rows: Vec<_> = grants.iter().map(|grant| line(grant, me, now)).collect();
    (!rows.is_empty()).then(|| {
        view! {
            <section class="own" aria-labelledby="ended">
                <h2 id="ended">"Ended"</h2>
                {table("Ended", &["Ended", "What", "Sent to", "Agent", "Made by", "Uses", "Why"], rows)}
            </section>
        }
        .into_any()
    })
}

fn line(grant: &GrantLine, me: PersonId, now: Time) -> Vec<Cell> {
    let (at, why) = match grant.ended {
        Some((at, how)) => (time::ago(at, now), ending(how)),
        None => ("not yet".into_any(), ""),
    };
    let by = grant.ended_by.as_ref().map(|name| view! { ", by " {text::line(name)} });
    vec![
        cell("Ended", at),
        cell("What", view! { <a href=format!("/inbox/{}", grant.call)>{text::line(&grant.title)}</a> }),
        cell("Sent to", view! { <code>{text::line(&grant.method)} " " {text::line(&grant.host)}</code> }),
        cell("Agent", text::line(&grant.agent_name)),
        cell("Made by", who(grant.grantor, &grant.grantor_name, me)),
        cell("Uses", used(grant)),
        cell("Why", view! { <span>{why} {by}</span> }),
    ]
}
