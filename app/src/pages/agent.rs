//! One agent with its keys, for operators and admins.

use std::sync::Arc;

use engine::AgentPage;
use engine::agent::{AgentLine, KeyLine};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use model::{AgentId, Refusal, Time};

use super::agents::is_admin;
use crate::form::{self, Posted};
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::agent_form::{self, may, sees, writes};
use crate::parts::table::{Cell, cell, table};
use crate::parts::{alert, pause, text, time};

const COLUMNS: [&str; 9] =
    ["Key", "Made", "Last used", "Expires", "Writes", "May use", "Sees", "Session", "Change"];

/// One agent.
#[component]
pub(crate) fn AgentOf() -> impl IntoView {
    let id = use_params_map().read_untracked().get("agent").and_then(|id| id.parse::<AgentId>().ok());
    page(Tab::Agents, move |visit, me| async move {
        let AgentPage { agent, keys, pauses } = visit.engine.agent(&me, id.ok_or(Refusal::NotFound)?).await?;
        let now = visit.engine.now();
        let added = visit.posted(form::AGENT);
        let made = added.as_ref().and_then(|posted| posted.made.as_ref());
        let may_manage = is_admin(me.person()) && !agent.is_revoked;
        let rows = keys.iter().map(|key| line(&agent, key, may_manage, now)).collect();
        let body = view! {
            <a class="back back-always" href="/agents">"← Agents"</a>
            <h1>{text::line(&agent.name)}</h1>
            {alert::alert(visit.posted.as_ref())}
            {made.map(|made| agent_form::made(made, &visit.engine.public_url()))}
            <p class="lead">"Acts for " {text::line(&agent.owner)} ", " {text::line(&agent.owner_email)} ". State: " {pause::state(&agent, now)} "."</p>
            {table("Keys", &COLUMNS, rows)}
            {(!agent.is_revoked).then(|| pausing(&agent, visit.posted(form::PAUSE).as_ref()))}
            {may_manage.then(|| agent_form::form(Some(agent.id), added.as_ref()))}
            {may_manage.then(|| revoke(&agent))}
            {pause::history("Its pauses", &pauses, now)}
        };
        Ok(Sheet::new(text::plain(&agent.name), Shape::Wide, body))
    })
}

fn line(agent: &AgentLine, key: &KeyLine, may_manage: bool, now: Time) -> Vec<Cell> {
    let abilities: Vec<&str> = key.abilities.iter().map(|ability| may(*ability)).collect();
    let used = key.last_used_at.map_or_else(|| "never".into_any(), |at| time::ago(at, now));
    let expires = match key.expires_at {
        None => "never".into_any(),
        Some(at) if at <= now => {
            view! { <span class="bad">"expired " {time::ago(at, now)}</span> }.into_any()
        }
        Some(at) => time::ahead(at, now),
    };
    let session = key.session.as_ref().map_or_else(|| "its own".into_any(), |session| text::line(session));
    let change = match key.revoked_at {
        Some(at) => view! { <span class="bad">"revoked " {time::ago(at, now)}</span> }.into_any(),
        None if may_manage => revoke_key(agent, key),
        None => "by an admin".into_any(),
    };
    vec![
        cell("Key", view! { <code>{key.id.to_string()}</code> }),
        cell("Made", time::ago(key.created_at, now)),
        cell("Last used", used),
        cell("Expires", expires),
        cell("Writes", writes(key.requires_approval)),
        cell("May use", abilities.join(", ")),
        cell("Sees", text::line(&sees(key.toolset.as_ref()))),
        cell("Session", session),
        cell("Change", change),
    ]
}

fn revoke_key(agent: &AgentLine, key: &KeyLine) -> AnyView {
    view! {
        <details class="away">
            <summary>"Revoke"<span class="unseen">{format!(" {}", key.id)}</span></summary>
            <form method="post" action=form::REVOKE>
                <input type="hidden" name="agent" value=agent.id.to_string()/>
                <input type="hidden" name="key" value=key.id.to_string()/>
                <p>"It is refused from then on. " {withdrawn(key.unsent)} " There is no way back."</p>
                <button class="button-final">"Revoke this key"<span class="unseen">{format!(": {}", key.id)}</span></button>
            </form>
        </details>
    }
    .into_any()
}

/// What revoking does to what waits.
fn withdrawn(unsent: u64) -> String {
    match unsent {
        0 => "No call waits that would be withdrawn.".to_owned(),
        1 => "The 1 call that waits is withdrawn.".to_owned(),
        many => format!("The {many} calls that wait are withdrawn."),
    }
}

fn pausing(agent: &AgentLine, posted: Option<&Arc<Posted>>) -> AnyView {
    let form = match &agent.pause {
        None => pause::with_reason(
            &agent.id.to_string(),
            "agent",
            format!("Pause {}", text::plain(&agent.name)),
            posted,
        ),
        Some(_) => pause::button(agent, "agent", true).into_any(),
    };
    let means = if agent.pause.is_some() {
        "Its calls are answered that it is paused. What it has waiting goes on when somebody resumes it."
    } else {
        "Its calls are answered that it is paused, and nothing of it is sent. What is held stays held and may be declined, and lapses in its time."
    };
    view! {
        <section class="circle" aria-labelledby="pause">
            <h2 id="pause">"Pause"</h2>
            <p>{means}</p>
            {form}
        </section>
    }
    .into_any()
}

fn revoke(agent: &AgentLine) -> AnyView {
    view! {
        <section class="circle" id="revoke" aria-labelledby="revoke-title">
            <h2 id="revoke-title">"Revoke"</h2>
            <p>"Every key of it is refused from then on. " {withdrawn(agent.unsent)} " There is no way back; pausing has one."</p>
            <details class="away">
                <summary>"Revoke this agent"</summary>
                <form method="post" action=form::REVOKE>
                    <input type="hidden" name="agent" value=agent.id.to_string()/>
                    <button class="button-final">"Revoke " {text::line(&agent.name)}</button>
                </form>
            </details>
        </section>
    }
    .into_any()
}
