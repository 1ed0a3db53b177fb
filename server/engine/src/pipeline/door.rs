//! Step 1, the door: the action is exposed on this surface, the surface is on, the agent's toolset has it. On fetch and
//! via the action is the passing on of a request with a credential, and the credential's `allow` list is asked too.

use model::{CallId, Refusal};

use super::stage::{Call, Found, Head, Sent};
use crate::actor::Actor;
use crate::arrival::Arrival;
use crate::catalogue::{Caller, CallerKind};
use crate::engine::Engine;

/// A call with its id: a new one, or one that was held.
pub(super) fn open(engine: &Engine, id: CallId, arrival: Arrival) -> Result<Call<Found>, Refusal> {
    let catalogue = engine.catalogue();
    let action = catalogue
        .action_for(arrival.surface, &arrival.action, &arrival.input)
        .filter(|action| {
            catalogue.surfaces.is_on(arrival.surface) && action.expose.contains(&arrival.surface)
        })
        .filter(|action| action.is_open_to(&arrival.actor));
    let is_public = matches!(arrival.actor, Actor::Public { .. });
    let action = action
        .filter(|action| action.public || !is_public)
        .ok_or_else(|| told(&arrival.actor, Refusal::NotFound))?;
    let head = Head {
        id,
        at: engine.now(),
        session: session_of(&arrival),
        caller: caller_of(&arrival),
        actor: arrival.actor,
        surface: arrival.surface,
        tenant: arrival.tenant,
        reason: arrival.reason,
        action,
    };
    let sent = Sent { input: arrival.input, key_header: arrival.key_header, unread: Vec::new() };
    Ok(Call::new(head, sent))
}

/// The same refusal as this caller would be told. Nobody in particular is told the same of every action that is not
/// open to everybody, whether there is one or not.
pub(super) fn told(actor: &Actor, refusal: Refusal) -> Refusal {
    match (actor, refusal) {
        (Actor::Public { .. }, Refusal::NotFound) => Refusal::Unauthenticated,
        (_, refusal) => refusal,
    }
}

/// The agent's session: the one its key is bound to, else the one it names, else its key's id.
fn session_of(arrival: &Arrival) -> Option<String> {
    let agent = arrival.actor.agent()?;
    let own = || agent.bound_session.clone();
    Some(own().or_else(|| arrival.session.clone()).unwrap_or_else(|| agent.key.to_string()))
}

/// What rules may ask about the caller.
fn caller_of(arrival: &Arrival) -> Caller {
    let actor = &arrival.actor;
    Caller {
        kind: match actor {
            Actor::Person(_) => CallerKind::Person,
            Actor::Agent(_) => CallerKind::Agent,
            Actor::Public { .. } => CallerKind::Public,
            Actor::System => CallerKind::System,
        },
        person: actor.person().map(|person| person.email.clone()),
        roles: actor.person().map(|person| person.roles.clone()).unwrap_or_default(),
        groups: actor.groups().to_vec(),
        agent: actor.agent().map(|agent| agent.name.clone()),
        abilities: actor.abilities(),
        tenant: arrival.tenant.clone(),
        surface: arrival.surface,
    }
}
