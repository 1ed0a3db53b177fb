//! The form for an agent or a further key of one, and the key that came of it.

use std::sync::Arc;

use leptos::prelude::*;
use model::{Ability, AgentId};

use super::{alert, text};
use crate::form::{self, MadeKey, Posted};

/// What an ability is called in a table.
pub(crate) const fn may(ability: Ability) -> &'static str {
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

/// What writes of a key do.
pub(crate) const fn writes(requires_approval: bool) -> &'static str {
    if requires_approval { "always wait for a person" } else { "dangerous ones ask the agent back" }
}

/// What a key sees.
pub(crate) fn sees(toolset: Option<&Vec<String>>) -> String {
    toolset.map_or_else(|| "every action".to_owned(), |actions| actions.join(", "))
}

/// The key that was just made, shown this once, with commands that use it.
pub(crate) fn made(made: &MadeKey, url: &str) -> AnyView {
    let key = &made.key.0;
    let look = format!("curl {url}/v1/actions -H 'Authorization: Bearer {key}'");
    let connect = format!(
        "claude mcp add --transport http countersign {url}/mcp --header 'Authorization: Bearer {key}'"
    );
    view! {
        <section class="made" aria-labelledby="made">
            <h2 id="made" tabindex="-1" data-focus="">"The key of " {text::line(&made.name)}</h2>
            <p>"It is shown this once: only its hash is kept. Copy it now, and give it to the agent alone."</p>
            <pre class="command" data-copy=""><code>{key.clone()}</code></pre>
            <p>"To see what it may call:"</p>
            <pre class="command" data-copy=""><code>{look}</code></pre>
            <p>"To connect an agent over MCP:"</p>
            <pre class="command" data-copy=""><code>{connect}</code></pre>
        </section>
    }
    .into_any()
}

/// The form: for a new agent, or with an id for a further key of that one.
pub(crate) fn form(agent: Option<AgentId>, posted: Option<&Arc<Posted>>) -> AnyView {
    let posted = posted.filter(|posted| posted.made.is_none());
    let (title, words) =
        if agent.is_some() { ("A further key", "Make the key") } else { ("Add an agent", "Add the agent") };
    let who = agent.is_none().then(|| {
        view! {
            {line("name", "Name", "What people know it by: letters, digits, “.”, “-” and “_”.", "text", None, posted)}
            {line("owner", "Email of its owner", "The one person it acts for, and who decides what it asks.", "email", Some("owners"), posted)}
        }
    });
    let approval = posted.is_none_or(|posted| posted.has("requires_approval").is_some());
    view! {
        <section class="circle circle-new" id="new" aria-labelledby="new-title">
            <h2 id="new-title">{title}</h2>
            <form class="stack" method="post" action=form::AGENT autocomplete="off" novalidate>
                {agent.map(|id| view! { <input type="hidden" name="agent" value=id.to_string()/> })}
                {who}
                <div class="field field-tick">
                    <input type="checkbox" id="requires_approval" name="requires_approval" value="yes" checked=approval/>
                    <label for="requires_approval">"Every write waits for a person"</label>
                    <p class="hint">"Without this, writes that can be put back pass, and before a dangerous one the agent is asked back."</p>
                </div>
                {abilities(posted)}
                {line("toolset", "Toolset", "The actions it may see, separated by blanks; fetch:CREDENTIAL for requests of its own, mcp:UPSTREAM for a server's prompts and resources. Left empty: all.", "text", None, posted)}
                {line("session", "Session", "The one session it is bound to. Left empty: it may name its own.", "text", None, posted)}
                <button class="button-strong">{words}</button>
            </form>
        </section>
    }
    .into_any()
}

fn abilities(posted: Option<&Arc<Posted>>) -> AnyView {
    let fault = alert::of_field(posted, "/abilities");
    let boxes: Vec<_> = form::ABILITIES
        .iter()
        .map(|ability| {
            let word = ability.as_str();
            let checked = posted.map_or_else(
                || Ability::AGENT_DEFAULT.contains(ability),
                |posted| posted.fields.iter().any(|(name, value)| name == "abilities" && value == word),
            );
            let id = format!("may-{}", may(*ability));
            view! {
                <div class="field field-tick">
                    <input type="checkbox" id=id.clone() name="abilities" value=word checked=checked/>
                    <label for=id>{means(*ability)}</label>
                </div>
            }
        })
        .collect();
    view! {
        <fieldset class="ticks" aria-describedby=fault.is_some().then_some("abilities-wrong")>
            <legend>"It may"</legend>
            {alert::beside("abilities-wrong".to_owned(), fault.clone())}
            {boxes}
        </fieldset>
    }
    .into_any()
}

const fn means(ability: Ability) -> &'static str {
    match ability {
        Ability::ActionsRead => "read",
        Ability::ActionsWrite => "write what can be put back",
        Ability::ActionsExternal => "write what leaves the house",
        Ability::ActionsDestructive => "write what cannot be put back",
        Ability::ReceiptsRead => "read receipts",
        Ability::ApprovalsDecide => "decide",
        Ability::AgentsManage => "manage agents",
    }
}

fn line(
    id: &'static str,
    label: &'static str,
    hint: &'static str,
    kind: &'static str,
    list: Option<&'static str>,
    posted: Option<&Arc<Posted>>,
) -> AnyView {
    let fault = alert::of_field(posted, &format!("/{id}"));
    let typed = posted.map(|posted| posted.typed(id)).unwrap_or_default();
    let is_optional = matches!(id, "toolset" | "session");
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {is_optional.then(|| view! { <span class="optional">"optional"</span> })}
            <p class="hint" id=format!("{id}-hint")>{hint}</p>
            {alert::beside(format!("{id}-wrong"), fault.clone())}
            <input id=id name=id type=kind list=list value=typed autocapitalize="none" spellcheck="false"
                aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::described(id, fault.is_some())/>
        </div>
    }
    .into_any()
}
