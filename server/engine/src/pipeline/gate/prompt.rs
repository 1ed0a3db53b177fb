//! The caller is asked back: a preview and a token that confirms it, once.
//!
//! A prompt claims no idempotency key; redeeming it claims the key again, in the transaction that spends the token.

use model::answer::{Prompt, PromptReason, PromptStatus};
use model::refusal::TokenFault;
use model::{Answer, Approval, ApprovalId, ApprovalKind, CallStatus, EventType, Refusal, Time};

use super::super::journal;
use super::super::stage::{Call, Claimed, Cleared, Head, Ready};
use super::super::stop::Stop;
use super::clear;
use super::showing::{Showing, show};
use crate::actor::Actor;
use crate::engine::Engine;
use crate::store::{NewPrompt, PromptRow};
use crate::token::{PlainToken, TokenKind};

pub(super) async fn prompt_or_redeem(engine: &Engine, call: Call<Claimed>) -> Result<Call<Cleared>, Stop> {
    let Some(token) = call.data.ready.control.confirm_token.clone() else {
        let showing = show(engine, &call.head, &call.data.ready).await?;
        return Err(Stop::answered(ask(engine, &call, showing, None).await?));
    };
    redeem(engine, call, &token).await
}

/// Takes the token when it fits and the values have not changed; asks again when they have.
async fn redeem(engine: &Engine, call: Call<Claimed>, token: &str) -> Result<Call<Cleared>, Stop> {
    let refuse = |fault| Stop::Refused(Refusal::ConfirmTokenInvalid(fault));
    let hash = hash_of(token).ok_or_else(|| refuse(TokenFault::Invalid))?;
    let row = engine.store().prompt(hash).await?.ok_or_else(|| refuse(TokenFault::Invalid))?;
    if let Some(fault) = fault_of(&row, &call.head, &call.data.ready, engine.now()) {
        return Err(refuse(fault));
    }
    let showing = show(engine, &call.head, &call.data.ready).await?;
    if showing.fingerprint != row.fingerprint {
        return Err(Stop::answered(ask(engine, &call, showing, Some(hash)).await?));
    }
    let approval = Approval {
        id: Some(ApprovalId::from_uuid(engine.ambient().uuid())),
        kind: ApprovalKind::ConfirmToken,
        by: Vec::new(),
        r#for: Vec::new(),
        reason: None,
        at: Some(engine.now()),
    };
    Ok(clear(call, showing.outgoing, approval, Some(hash)))
}

/// What is wrong with a token, if anything. A refused redemption does not spend it.
fn fault_of(row: &PromptRow, head: &Head, ready: &Ready, now: Time) -> Option<TokenFault> {
    if row.caller != caller_name(&head.actor) {
        Some(TokenFault::Invalid)
    } else if row.used {
        Some(TokenFault::Used)
    } else if row.rejected {
        Some(TokenFault::Rejected)
    } else if row.expires_at <= now {
        Some(TokenFault::Expired)
    } else if row.action != head.action.name || row.input_hash != ready.input_hash.bytes() {
        Some(TokenFault::OtherArguments)
    } else {
        None
    }
}

/// One agent cannot fill the database with prompts that it never redeems. What is read here may be a little behind, so a
/// few more may come in at once.
async fn refuse_flood(engine: &Engine, head: &Head) -> Result<(), Stop> {
    let most = engine.catalogue().server.max_held;
    if head.actor.agent().is_none()
        || engine.store().has_room_for_prompt(&caller_name(&head.actor), engine.now(), most).await?
    {
        return Ok(());
    }
    Err(Refusal::RateLimited { retry_after: 60 }.into())
}

/// A new prompt; `replaces` is the one whose values have changed, spent in the same transaction.
async fn ask(
    engine: &Engine,
    call: &Call<Claimed>,
    showing: Showing,
    replaces: Option<[u8; 32]>,
) -> Result<Answer, Stop> {
    if replaces.is_none() {
        refuse_flood(engine, &call.head).await?;
    }
    let token = PlainToken::generate(TokenKind::Confirm, engine.ambient());
    let likeness = engine.likeness(&call.head, &call.data.ready).await?;
    let now = engine.now();
    let prompt = NewPrompt {
        hash: token.hashed().0,
        caller: caller_name(&call.head.actor),
        action: call.head.action.name.clone(),
        input_hash: call.data.ready.input_hash.bytes(),
        fingerprint: showing.fingerprint,
        created_at: now,
        expires_at: now.plus_seconds(engine.seconds(engine.catalogue().server.confirm_ttl)),
    };
    let mut tx = engine.store().begin().await?;
    if let Some(old) = replaces
        && !tx.spend_prompt(old, now).await?
    {
        return Err(Refusal::ConfirmTokenInvalid(TokenFault::Used).into());
    }
    tx.insert_prompt(&prompt).await?;
    tx.insert_event(&journal::event(engine, &call.head, EventType::Refused, CallStatus::Refused)).await?;
    tx.commit().await?;
    engine.nudges().tell(call.head.id);
    Ok(Answer::Prompt(Prompt {
        status: PromptStatus::ConfirmationRequired,
        executed: false,
        confirm_token: token.reveal().to_owned(),
        preview: likeness.on(showing.preview),
        expires_at: prompt.expires_at,
        reason: replaces.map(|_| PromptReason::Changed),
    }))
}

/// The stored form of a token, if it is one.
pub(crate) fn hash_of(token: &str) -> Option<[u8; 32]> {
    PlainToken::parse(token)
        .filter(|(kind, _)| *kind == TokenKind::Confirm)
        .map(|(_, token)| token.hashed().0)
}

/// Whom a prompt is bound to.
pub(crate) fn caller_name(actor: &Actor) -> String {
    match actor {
        Actor::Person(person) => person.id().to_string(),
        Actor::Agent(agent) => agent.agent.to_string(),
        Actor::Public { client } => format!("public:{}", client.as_deref().unwrap_or_default()),
        Actor::System => "system".to_owned(),
    }
}
