//! A call is held: claim, call and event in one transaction, sealed from the first write.

use model::{Answer, CallStatus, EventType, Refusal};

use super::super::stage::{Call, Claimed, Head, Ready};
use super::super::stop::Stop;
use super::super::waiting::waiting;
use super::super::{claim, journal};
use super::showing::{Showing, show};
use crate::engine::Engine;
use crate::fail_point;
use crate::line;
use crate::seal::Purpose;
use crate::store::{CallRow, CallState, NewCall, NewClaim};
use crate::stored_request::StoredRequest;

pub(super) async fn hold(
    engine: &Engine,
    call: Call<Claimed>,
    approvers: Vec<String>,
) -> Result<Answer, Stop> {
    refuse_flood(engine, &call.head).await?;
    let showing = show(engine, &call.head, &call.data.ready).await?;
    hold_shown(engine, call, approvers, showing).await
}

/// The same with a preview that was made just now.
pub(super) async fn hold_shown(
    engine: &Engine,
    call: Call<Claimed>,
    approvers: Vec<String>,
    showing: Showing,
) -> Result<Answer, Stop> {
    let (head, ready) = (&call.head, &call.data.ready);
    let new = held_call(engine, head, ready, showing, call.data.claim, approvers);
    let answer = Answer::Waiting(waiting(engine, &new.row));
    if !store(engine, head, &new, call.data.claim).await? {
        // Somebody claimed the key while the preview was made.
        if let Some(claim) = call.data.claim {
            claim::answer_of(engine, head, claim).await?;
        }
        return Err(Refusal::Unavailable.into());
    }
    engine.nudges().tell(head.id);
    Ok(answer)
}

/// One agent cannot fill the inbox. Looked at before a preview is made for nothing; what counts is `Tx::has_room`.
async fn refuse_flood(engine: &Engine, head: &Head) -> Result<(), Stop> {
    let Some(agent) = head.actor.agent() else { return Ok(()) };
    let open = engine.store().count_open_of_agent(agent.agent).await?;
    if open >= u64::from(engine.catalogue().server.max_held) {
        return Err(Refusal::RateLimited { retry_after: 60 }.into());
    }
    Ok(())
}

/// `false`: the claim is taken, and nothing was written.
async fn store(engine: &Engine, head: &Head, new: &NewCall, claim: Option<NewClaim>) -> Result<bool, Stop> {
    fail_point::reach("unheld").await;
    let mut tx = engine.store().begin().await?;
    if let Some(agent) = head.actor.agent()
        && !tx.has_room(Some(agent.agent), None, engine.catalogue().server.max_held).await?
    {
        return Err(Refusal::RateLimited { retry_after: 60 }.into());
    }
    tx.insert_call(new).await?;
    if let Some(claim) = claim
        && !tx.insert_claim(claim, head.id, head.at).await?
    {
        return Ok(false);
    }
    // An approver may be gone, a group empty.
    tx.hand_over_orphans(Some(head.id)).await?;
    tx.insert_event(&journal::event(engine, head, EventType::Held, CallStatus::Held)).await?;
    fail_point::reach("hold-uncommitted").await;
    tx.commit().await?;
    fail_point::reach("held").await;
    Ok(true)
}

fn held_call(
    engine: &Engine,
    head: &Head,
    ready: &Ready,
    showing: Showing,
    claim: Option<NewClaim>,
    approvers: Vec<String>,
) -> NewCall {
    let expires_at = head.at.plus_seconds(engine.seconds(head.action.hold_ttl));
    NewCall {
        input_hash: ready.input_hash.bytes(),
        approvers,
        self_approval: head.action.self_approval,
        lease_owner: None,
        row: CallRow {
            state: CallState::Held { expires_at },
            expires_at: Some(expires_at),
            claim_slot: claim.map(|claim| claim.slot),
            claim_hash: claim.map(|claim| claim.request_hash),
            quorum: head.action.quorum,
            step_up: head.action.step_up,
            ..sealed_row(engine, head, ready, showing)
        },
    }
}

/// The part of a held call's row that a fresh preview replaces, sealed; and what never changes.
pub(crate) fn sealed_row(engine: &Engine, head: &Head, ready: &Ready, showing: Showing) -> CallRow {
    let shown =
        serde_json::to_vec(&showing.preview).unwrap_or_else(|_| unreachable!("plain data always serializes"));
    let stored = StoredRequest {
        arguments: ready.arguments.clone(),
        input: ready.input.clone(),
        key: ready.control.key.as_ref().map(|key| key.as_str().to_owned()),
        credential: head.action.credential.as_ref().map(|credential| credential.name.clone()),
        binding: head.action.binding(),
        reason: head.reason.clone(),
        caller: Some(head.caller.clone()),
        client: head.actor.client().map(str::to_owned),
        approval: None,
        outgoing: showing.outgoing,
    };
    CallRow {
        input: Some(stored.seal(engine.sealer(), head.id)),
        preview: Some(engine.sealer().seal(Purpose::Preview, &head.id.to_string(), &shown)),
        preview_title: Some(line::sealed_title(engine.sealer(), head.id, &showing.preview.title)),
        preview_version: Some(showing.preview.version),
        fingerprint: Some(showing.fingerprint),
        ..CallRow::fresh(head)
    }
}
