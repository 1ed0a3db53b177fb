//! Every agent, for operators and admins.

use engine::agent::AgentLine;
use leptos::prelude::*;
use model::{Ability, Time};

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::table::{cell, table};
use crate::parts::{text, time};

/// Every agent.
#[component]
pub(crate) fn Agents() -> impl IntoView {
    page(Tab::Agents, |visit, me| async move {
        let agents = visit.engine.agents(&me).await?;
        let now = visit.engine.now();
        let list = if agents.is_empty() {
            view! { <p class="nothing">"No agent is connected yet."</p> }.into_any()
        } else {
            let rows = agents.iter().map(|agent| line(agent, now)).collect();
            table("Agents", &["Agent", "Owner", "Writes", "May use", "Sees", "Last used"], rows)
        };
        let body = view! {
            <h1>"Agents"</h1>
            <p class="lead">"Each acts for one person, with a key that was shown once."</p>
            {list}
            <p>"To connect one:"</p>
            <pre class="command" data-copy=""><code>"countersign agent add --name NAME --owner EMAIL --requires-approval"</code></pre>
        };
        Ok(Sheet::new("Agents", Shape::Wide, body))
    })
}

fn line(agent: &AgentLine, now: Time) -> Vec<AnyView> {
    let may: Vec<&str> = agent.abilities.iter().map(|ability| may(*ability)).collect();
    let revoked =
        agent.revoked_at.map(|at| view! { " " <span class="bad">"revoked " {time::ago(at, now)}</span> });
    let writes = if agent.requires_approval {
        "always wait for a person"
    } else {
        "dangerous ones ask the agent back"
    };
    let sees = agent.toolset.as_ref().map_or_else(|| "every action".to_owned(), |actions| actions.join(", "));
    let used = agent.last_used_at.map_or_else(|| "never".into_any(), |at| time::ago(at, now));
    vec![
        cell("Agent", view! { {text::line(&agent.name)} {revoked} }),
        cell("Owner", text::line(&agent.owner)),
        cell("Writes", writes),
        cell("May use", may.join(", ")),
        cell("Sees", text::line(&sees)),
        cell("Last used", used),
    ]
}

const fn may(ability: Ability) -> &'static str {
    match ability {
        Ability::ActionsRead => "read",
        Ability::ActionsWrite => "write",
        Ability::ActionsExternal => "external",
        Ability::ActionsDestructive => "destructive",
        Ability::ReceiptsRead => "receipts",
        Ability::ApprovalsDecide => "decide",
        Ability::AgentsManage => "agents",
    }
}
