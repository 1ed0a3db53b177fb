//! What makes somebody look at a request that is passed on (fetch and via), whoever calls: a credential that asks for
//! it, something in the request that is shaped like a secret, and a write from a session that has read what nobody
//! vouches for. Actions of the catalogue follow the table alone.

use model::Refusal;

use super::super::stage::{Call, Claimed, Head};
use super::showing::render;
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::secret_shape;

/// Whether the call has to be looked at.
pub(super) async fn is_wanted(engine: &Engine, call: &Call<Claimed>) -> Result<bool, Refusal> {
    if !call.head.action.passes_on() {
        return Ok(false);
    }
    let outgoing = render(engine, &call.head, &call.data.ready)?;
    Ok(!reasons(engine, &call.head, &outgoing).await?.is_empty())
}

/// Why, in words for the person who looks.
pub(super) async fn reasons(
    engine: &Engine,
    head: &Head,
    outgoing: &Outgoing,
) -> Result<Vec<String>, Refusal> {
    let mut reasons = Vec::new();
    if !head.action.passes_on() {
        return Ok(reasons);
    }
    if head.action.credential.as_ref().is_some_and(|credential| credential.requires_approval) {
        reasons.push("Every request with this credential waits for a person.".to_owned());
    }
    reasons.extend(secret_shape::found_in(outgoing).iter().map(ToString::to_string));
    let agent = head.actor.agent().map(|agent| agent.agent);
    if head.action.effect.is_write() && engine.is_tainted(agent, head.session.as_deref()).await? {
        reasons.push(
            "The agent has read something in this session that nobody vouches for. It may have been talked into this."
                .to_owned(),
        );
    }
    Ok(reasons)
}
