//! Step 10, the idempotency claim: writes that can replay; a dry run never claims.
//!
//! Here the slot is looked up. The claim itself is made durable in one transaction with the call that holds it, so a
//! claim without a call, or a call whose claim was lost, cannot be. Two first calls that race meet there: one of them
//! finds the slot taken and comes back to `answer_of`.

use model::answer::{DoneStatus, Replayed};
use model::{Answer, CallStatus, EventType, Refusal};

use super::stage::{Allowed, Call, Claimed, Claiming, Head, Ready};
use super::stop::Stop;
use super::{SharedAction, journal};
use crate::actor::Actor;
use crate::engine::Engine;
use crate::idempotency::{Scope, Target};
use crate::seal::Purpose;
use crate::store::{ClaimRow, NewClaim};
use crate::stored_result::StoredResult;

pub(super) async fn look_up(engine: &Engine, call: Call<Allowed>) -> Result<Call<Claimed>, Stop> {
    let claim = wanted(&call.head, &call.data);
    if let Some(claim) = claim {
        answer_of(engine, &call.head, claim).await?;
    }
    Ok(call.become_with(|ready| Claiming { ready, claim }))
}

/// The claim that the call's key asks for, if it has one that counts.
fn wanted(head: &Head, ready: &Ready) -> Option<NewClaim> {
    let key = ready.control.key.as_ref().filter(|_| !ready.control.dry_run)?;
    let slot = key.slot(&scope_of(&head.actor)?, target_of(&head.action));
    Some(NewClaim { slot, request_hash: head.action.request_hash(ready.input_hash) })
}

fn scope_of(actor: &Actor) -> Option<Scope> {
    match actor {
        Actor::Person(person) => Some(Scope::Person(person.id())),
        Actor::Agent(agent) => Some(Scope::Person(agent.owner.id)),
        Actor::Public { client } => client.clone().map(Scope::Client),
        Actor::System => Some(Scope::Client(String::new())),
    }
}

fn target_of(action: &SharedAction) -> Target<'_> {
    action
        .credential
        .as_ref()
        .map_or(Target::Action(&action.name), |credential| Target::Credential(&credential.name))
}

/// Ends the call when somebody holds the slot; goes on when it is free.
pub(super) async fn answer_of(engine: &Engine, head: &Head, claim: NewClaim) -> Result<(), Stop> {
    let Some(row) = engine.store().claim(claim.slot).await? else { return Ok(()) };
    if row.request_hash != claim.request_hash {
        return Err(Refusal::IdempotencyKeyReused.into());
    }
    if row.forgotten {
        return Err(Refusal::IdempotencyKeyForgotten.into());
    }
    match row.status {
        CallStatus::Done => Err(Stop::answered(replay(engine, head, &row).await?)),
        CallStatus::InDoubt => Err(Refusal::OutcomeUnknown(row.call).into()),
        _ => Err(Refusal::IdempotencyInFlight(row.call).into()),
    }
}

/// The answer of the first call, from its receipt.
async fn replay(engine: &Engine, head: &Head, row: &ClaimRow) -> Result<Answer, Stop> {
    let stored = row.answer.as_ref().and_then(|blob| {
        // An answer that does not open is missing, not wrong: the replay goes without it.
        StoredResult::open(engine.sealer(), Purpose::Answer, row.call, blob)
            .inspect_err(|error| tracing::warn!(%error, call = %row.call, "a stored answer cannot be read"))
            .ok()
    });
    let mut event = journal::event(engine, head, EventType::Replayed, CallStatus::Done);
    event.receipt_id = row.receipt_id;
    event.upstream_status = row.upstream_status;
    engine.note(event).await;
    Ok(Answer::Replayed(Replayed {
        replayed: true,
        receipt_id: row.receipt_id,
        original_status: row.upstream_status,
        status: DoneStatus::Done,
        result: stored.map(|stored| stored.result),
    }))
}
