//! What makes somebody look at a request that is passed on (fetch and via), whoever calls: a credential that asks for
//! it, something in the request that is shaped like a secret, and a write from a session that has read what nobody
//! vouches for. Actions of the catalogue follow the table alone.

use model::Refusal;

use super::super::stage::{Head, Ready};
use super::showing::render;
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::secret_shape;

/// How much a call has to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Attention {
    /// Not for anything of its own.
    None,
    /// By the rule of its credential: every request with it is.
    Rule,
    /// For what is in it or came before it: each time, whatever was allowed in advance.
    Each,
}

/// How much the call has to be looked at.
pub(super) async fn of(engine: &Engine, head: &Head, ready: &Ready) -> Result<Attention, Refusal> {
    if !head.action.passes_on() {
        return Ok(Attention::None);
    }
    let outgoing = render(engine, head, ready)?;
    if !of_its_own(engine, head, &outgoing).await?.is_empty() {
        return Ok(Attention::Each);
    }
    Ok(if is_ruled(head) { Attention::Rule } else { Attention::None })
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
    if is_ruled(head) {
        reasons.push("Every request with this credential waits for a person.".to_owned());
    }
    reasons.extend(of_its_own(engine, head, outgoing).await?);
    Ok(reasons)
}

fn is_ruled(head: &Head) -> bool {
    head.action.credential.as_ref().is_some_and(|credential| credential.requires_approval)
}

/// What of just this request is to be looked at.
async fn of_its_own(engine: &Engine, head: &Head, outgoing: &Outgoing) -> Result<Vec<String>, Refusal> {
    let mut reasons = Vec::new();
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
