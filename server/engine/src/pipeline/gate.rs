//! Step 11, the gate: passes, is held, is a preview, or asks its caller back (section 5 of the contract).

mod attention;
mod hold;
mod prompt;
mod route;
mod showing;

use model::answer::{DryRun, DryRunStatus};
use model::{Answer, Approval, ApprovalKind, CallStatus, EventType, Refusal};

pub(crate) use self::hold::sealed_row;
pub(crate) use self::prompt::{caller_name, hash_of};
use self::route::Route;
pub(crate) use self::route::named_approvers;
pub(super) use self::route::{approvers, control_fields};
pub(crate) use self::showing::{Showing, json_or_text, render, show};
use super::journal;
use super::stage::{Call, Claimed, Claiming, Cleared, Clearing, Head, Ready};
use super::stop::Stop;
use crate::engine::Engine;
use crate::grant::{self, Granted};
use crate::outgoing::Outgoing;
use crate::store::NewClaim;

pub(super) async fn pass(engine: &Engine, call: Call<Claimed>) -> Result<Call<Cleared>, Stop> {
    if call.data.ready.control.dry_run {
        return Err(Stop::answered(preview(engine, &call).await?));
    }
    let (head, ready) = (&call.head, &call.data.ready);
    match route::of(engine, head, ready, attention::of(engine, head, ready).await?) {
        Route::Pass => {
            let outgoing = showing::render(engine, &call.head, &call.data.ready)?;
            Ok(clear(call, outgoing, nobody(), None))
        }
        Route::Hold { approvers, alone } => {
            let granted = if alone { grant::granted(engine, head, ready, &approvers).await? } else { None };
            match granted {
                Some(granted) => Ok(let_through(call, granted)),
                None => Err(Stop::answered(hold::hold(engine, call, approvers).await?)),
            }
        }
        Route::Prompt => prompt::prompt_or_redeem(engine, call).await,
        Route::TokenRefused(refusal) => Err(refusal.into()),
    }
}

/// Whether a held call waits for no other reason than that it needs an approval.
pub(crate) async fn waits_for_approval_alone(
    engine: &Engine,
    head: &Head,
    ready: &Ready,
) -> Result<bool, Refusal> {
    let attention = attention::of(engine, head, ready).await?;
    Ok(matches!(route::of(engine, head, ready, attention), Route::Hold { alone: true, .. }))
}

/// Who decides a call.
pub(crate) fn approvers_of(head: &Head) -> Vec<String> {
    approvers(&head.action, head.actor.person())
}

/// Holds a call after all that a standing grant was to let through.
pub(super) async fn hold_after_all(
    engine: &Engine,
    head: &Head,
    claim: Option<NewClaim>,
    granted: Granted,
) -> Result<Answer, Stop> {
    let (ready, showing, approvers) = granted.into_held();
    hold::hold_shown(engine, Call::new(head.clone(), Claiming { ready, claim }), approvers, showing).await
}

/// The answer of a dry run.
async fn preview(engine: &Engine, call: &Call<Claimed>) -> Result<Answer, Stop> {
    let (head, ready) = (&call.head, &call.data.ready);
    let shown = show(engine, head, ready).await?.preview;
    let preview = engine.likeness(head, ready).await?.on(shown);
    engine.note(journal::event(engine, &call.head, EventType::Completed, CallStatus::Done)).await;
    Ok(Answer::Preview(DryRun { status: DryRunStatus::Preview, executed: false, preview }))
}

fn clear(
    call: Call<Claimed>,
    outgoing: Outgoing,
    approval: Approval,
    prompt: Option<[u8; 32]>,
) -> Call<Cleared> {
    let granted = None;
    call.become_with(|Claiming { ready, claim }| Clearing {
        ready,
        claim,
        outgoing,
        approval,
        prompt,
        granted,
    })
}

fn let_through(call: Call<Claimed>, granted: Granted) -> Call<Cleared> {
    let (outgoing, approval) = (granted.showing.outgoing.clone(), granted.approval.clone());
    let granted = Some(Box::new(granted));
    call.become_with(|Claiming { ready, claim }| Clearing {
        ready,
        claim,
        outgoing,
        approval,
        prompt: None,
        granted,
    })
}

/// Nobody had to approve.
const fn nobody() -> Approval {
    Approval { id: None, kind: ApprovalKind::None, by: Vec::new(), r#for: Vec::new(), reason: None, at: None }
}
