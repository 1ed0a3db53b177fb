//! Adding an agent, or a further key of one. The key is shown once: on the answer to the form.

use engine::KeyWanted;
use engine::registry::AgentWanted;
use leptos::prelude::*;
use model::{Ability, AgentId, Refusal};
use serde::{Deserialize, Serialize};

use super::{Fault, Fields, Form, Next, Posted, ShownOnce, visit};

/// A key that was just made. This is the only place where it ever stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeKey {
    /// The agent.
    pub agent: AgentId,
    /// Its name.
    pub name: String,
    /// The key.
    pub key: ShownOnce,
}

/// The names of the boxes to tick, in the order in which they stand on the page.
pub(crate) const ABILITIES: [Ability; 5] = [
    Ability::ActionsRead,
    Ability::ActionsWrite,
    Ability::ActionsExternal,
    Ability::ActionsDestructive,
    Ability::ReceiptsRead,
];

/// Adds an agent of this name and owner, or, with an agent's id, a further key of it. `abilities` and `toolset` are
/// lists, separated by blanks or commas.
#[server(name = Add, prefix = "/do", endpoint = "agent")]
pub(crate) async fn add(
    agent: Option<String>,
    name: Option<String>,
    owner: Option<String>,
    requires_approval: Option<String>,
    abilities: Option<String>,
    toolset: Option<String>,
    session: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let abilities = abilities_of(&abilities.unwrap_or_default());
    let toolset = Some(listed(&toolset.unwrap_or_default())).filter(|toolset| !toolset.is_empty());
    let session = session.map(|session| session.trim().to_owned()).filter(|session| !session.is_empty());
    let requires_approval = requires_approval.is_some();
    let made = if let Some(agent) = agent {
        let id: AgentId = agent.parse().map_err(|_| Refusal::NotFound)?;
        let name = visit.engine.agent(&me, id).await?.agent.name;
        let wanted = KeyWanted { requires_approval, abilities: ticked(abilities)?, toolset, session };
        let (_, key) = visit.engine.add_key(&me, id, wanted).await.map_err(not_added)?;
        MadeKey { agent: id, name, key: ShownOnce(key.reveal().to_owned(), false) }
    } else {
        let name = name.unwrap_or_default().trim().to_owned();
        let owner = owner.unwrap_or_default().trim().to_owned();
        let wanted = AgentWanted {
            name: name.clone(),
            owner,
            requires_approval,
            abilities: ticked(abilities)?,
            toolset,
            session,
        };
        let (id, key) = visit.engine.add_agent_as(&me, wanted).await.map_err(not_added)?;
        MadeKey { agent: id, name, key: ShownOnce(key.reveal().to_owned(), false) }
    };
    Ok(Next::Made(Box::new(made)))
}

/// The arguments out of the fields: the boxes that were ticked are one list.
pub(super) fn read(fields: &Fields) -> Option<Add> {
    let ticked = fields.iter().filter(|(name, _)| name == "abilities").map(|(_, value)| value.as_str());
    let abilities = ticked.collect::<Vec<_>>().join(" ");
    let mut rest: Fields = fields.iter().filter(|(name, _)| name != "abilities").cloned().collect();
    rest.push(("abilities".to_owned(), abilities));
    super::read(&rest)
}

fn abilities_of(text: &str) -> Vec<Ability> {
    listed(text).iter().filter_map(|word| word.parse().ok()).collect()
}

/// A key without any ability would be one with all: that is never meant by ticking nothing.
fn ticked(abilities: Vec<Ability>) -> Result<Vec<Ability>, Fault> {
    if abilities.is_empty() {
        let message = "Tick at least one: a key that may do nothing is of no use.";
        return Err(Fault::of_field("/abilities", message, NOT_ADDED));
    }
    Ok(abilities)
}

fn listed(text: &str) -> Vec<String> {
    text.split([',', ' ', '\n', '\r', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

const NOT_ADDED: &str = "Nothing was added. Mend what is marked and try again.";

fn not_added(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Invalid(errors) => Fault { errors, ..Fault::new(422, NOT_ADDED) },
        refusal => refusal.into(),
    }
}

/// The page of the agent that a form names, else of all.
pub(crate) fn page_of(posted: &Posted) -> String {
    posted
        .typed("agent")
        .parse::<AgentId>()
        .map_or_else(|_| "/agents".to_owned(), |id| format!("/agents/{id}"))
}

impl Form for Add {
    fn page(posted: &Posted) -> String {
        page_of(posted)
    }
}
