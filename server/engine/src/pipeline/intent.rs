//! What passed the gate is made durable: the claim, the call with its sealed input and the spent prompt, in one
//! transaction, with the use of a standing grant that lets it through. Nothing has left the desk before it, and nothing of it is there without the rest.

use model::Refusal;
use model::refusal::TokenFault;

use super::claim;
use super::gate::{approvers, hold_after_all};
use super::stage::{Clearing, Head};
use super::stop::Stop;
use crate::engine::Engine;
use crate::store::{CallRow, CallState, NewCall, NewClaim};
use crate::stored_request::StoredRequest;

/// Stores a call that goes on in this state: `Sending` under this node's lease, or `Queued`.
pub(super) async fn store(
    engine: &Engine,
    head: &Head,
    clearing: Clearing,
    state: CallState,
) -> Result<(CallRow, StoredRequest), Stop> {
    let Clearing { ready, claim, outgoing, approval, prompt, granted } = clearing;
    let input_hash = ready.input_hash.bytes();
    let stored = StoredRequest {
        arguments: ready.arguments,
        input: ready.input,
        key: ready.control.key.map(|key| key.as_str().to_owned()),
        credential: head.action.credential.as_ref().map(|credential| credential.name.clone()),
        binding: head.action.binding(),
        reason: head.reason.clone(),
        caller: Some(head.caller.clone()),
        client: head.actor.client().map(str::to_owned),
        approval: Some(approval),
        outgoing,
    };
    let new = new_call(engine, head, &stored, state, claim, input_hash);
    let mut tx = engine.store().begin().await?;
    if tx.is_paused(new.row.agent_id).await? {
        return Err(Refusal::Paused.into());
    }
    if let Some(prompt) = prompt
        && !tx.spend_prompt(prompt, head.at).await?
    {
        return Err(Refusal::ConfirmTokenInvalid(TokenFault::Used).into());
    }
    if new.row.state == CallState::Queued
        && !tx.has_room(new.row.agent_id, new.row.person_id, engine.catalogue().server.max_held).await?
    {
        return Err(Refusal::RateLimited { retry_after: 60 }.into());
    }
    let status = new.row.state.status();
    if let Some(granted) = granted {
        if !granted.take(engine, &mut tx, head, status).await? {
            drop(tx);
            return Err(Stop::answered(hold_after_all(engine, head, claim, *granted).await?));
        }
        tx.insert_call(&new).await?;
        granted.note(&mut tx, head).await?;
    } else {
        tx.insert_call(&new).await?;
    }
    if let Some(claim) = claim
        && !tx.insert_claim(claim, head.id, head.at).await?
    {
        drop(tx);
        claim::answer_of(engine, head, claim).await?;
        return Err(Refusal::Unavailable.into());
    }
    tx.commit().await?;
    engine.nudges().tell(head.id);
    Ok((new.row, stored))
}

fn new_call(
    engine: &Engine,
    head: &Head,
    stored: &StoredRequest,
    state: CallState,
    claim: Option<NewClaim>,
    input_hash: [u8; 32],
) -> NewCall {
    let is_sent = matches!(state, CallState::Sending { .. });
    NewCall {
        row: CallRow {
            state,
            claim_slot: claim.map(|claim| claim.slot),
            claim_hash: claim.map(|claim| claim.request_hash),
            input: Some(stored.seal(engine.sealer(), head.id)),
            ..CallRow::fresh(head)
        },
        input_hash,
        approvers: approvers(&head.action, head.actor.person()),
        self_approval: head.action.self_approval,
        lease_owner: is_sent.then(|| engine.node().to_owned()),
    }
}
