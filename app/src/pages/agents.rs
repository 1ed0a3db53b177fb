//! Every agent, for operators and admins: pausing one or everything, revoking; admins add.

use std::sync::Arc;

use engine::agent::AgentLine;
use engine::{Engine, PersonActor};
use leptos::prelude::*;
use model::{Person, Refusal, Role, Time};

use crate::form::{self, Posted};
use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::agent_form::{self, may, sees, writes};
use crate::parts::table::{Cell, cell, table};
use crate::parts::{alert, pause, text, time};

const COLUMNS: [&str; 9] =
    ["Agent", "Owner", "Writes", "May use", "Sees", "Held", "Last seen", "State", "Change"];

/// Every agent.
#[component]
pub(crate) fn Agents() -> impl IntoView {
    page(Tab::Agents, |visit, me| async move {
        let agents = visit.engine.agents(&me).await?;
        let is_paused = visit.engine.pause_of_everything().await?.is_some();
        let pauses = visit.engine.pauses_of_everything(&me).await?;
        let now = visit.engine.now();
        let list = if agents.is_empty() {
            view! { <p class="nothing">"No agent is connected yet."</p> }.into_any()
        } else {
            table(
                "Agents",
                &COLUMNS,
                agents.iter().map(|agent| line(agent, is_admin(me.person()), now)).collect(),
            )
        };
        let added = visit.posted(form::AGENT);
        let key = added.as_ref().and_then(|posted| posted.made.as_ref());
        let add = add(&visit.engine, &me, added.as_ref()).await?;
        let body = view! {
            <h1>"Agents"</h1>
            {alert::alert(visit.posted.as_ref())}
            {key.map(|made| agent_form::made(made, &visit.engine.public_url()))}
            <p class="lead">"Each acts for one person, with keys that were shown once."</p>
            {list}
            {(!is_paused).then(|| everything(visit.posted(form::PAUSE).as_ref()))}
            {add}
            {pause::history("Pauses of everything", &pauses, now)}
        };
        Ok(Sheet::new("Agents", Shape::Wide, body))
    })
}

fn line(agent: &AgentLine, may_revoke: bool, now: Time) -> Vec<Cell> {
    let abilities: Vec<&str> = agent.abilities.iter().map(|ability| may(*ability)).collect();
    let used = agent.last_used_at.map_or_else(|| "never".into_any(), |at| time::ago(at, now));
    let revoke = (may_revoke && !agent.is_revoked).then(|| {
        view! { <a href=format!("/agents/{}#revoke", agent.id)>"Revoke"<span class="unseen">" " {text::line(&agent.name)}</span></a> }
    });
    vec![
        cell("Agent", view! { <a href=format!("/agents/{}", agent.id)>{text::line(&agent.name)}</a> }),
        cell("Owner", text::line(&agent.owner)),
        cell("Writes", writes(agent.requires_approval)),
        cell("May use", abilities.join(", ")),
        cell("Sees", text::line(&sees(agent.toolset.as_ref()))),
        cell("Held", agent.held.to_string()),
        cell("Last seen", used),
        cell("State", pause::state(agent, now)),
        cell("Change", view! { <div class="acts">{pause::button(agent, "agents", true)}{revoke}</div> }),
    ]
}

/// Pausing everything, with a reason.
fn everything(posted: Option<&Arc<Posted>>) -> AnyView {
    view! {
        <section class="circle" aria-labelledby="everything">
            <h2 id="everything">"Pause everything"</h2>
            <p>"Every call, of agents, of people and of everybody else, is answered that the desk is paused, and nothing is sent. What is held stays held and may be declined or withdrawn, and lapses in its time. What is confirmed or queued waits. What is being sent now comes to its end."</p>
            {pause::with_reason("everything", "agents", "Pause everything".to_owned(), posted)}
        </section>
    }
    .into_any()
}

/// The form for a new agent, for admins; for operators the command that an admin may run.
async fn add(engine: &Engine, me: &PersonActor, posted: Option<&Arc<Posted>>) -> Result<AnyView, Refusal> {
    if !is_admin(me.person()) {
        return Ok(view! {
            <p>"An admin adds agents here, or the command line:"</p>
            <pre class="command" data-copy=""><code>"countersign agent add --name NAME --owner EMAIL --requires-approval"</code></pre>
        }
        .into_any());
    }
    let people = engine.people(me).await?;
    let owners: Vec<_> = people
        .iter()
        .filter(|person| person.disabled_at.is_none())
        .map(|person| view! { <option value=person.email.clone()>{text::plain(&person.name)}</option> })
        .collect();
    Ok(view! {
        {agent_form::form(None, posted)}
        <datalist id="owners">{owners}</datalist>
    }
    .into_any())
}

/// Whether somebody may add agents and keys.
pub(crate) fn is_admin(person: &Person) -> bool {
    person.roles.contains(&Role::Admin)
}
