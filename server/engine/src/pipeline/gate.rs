//! Step 11, the gate: passes, is held, is a preview, or asks its caller back (section 5 of the contract).

mod attention;
mod hold;
mod prompt;
mod route;
mod showing;

use model::answer::{DryRun, DryRunStatus};
use model::{Answer, Approval, ApprovalKind, CallStatus, EventType};

pub(crate) use self::hold::sealed_row;
pub(crate) use self::prompt::{caller_name, hash_of};
use self::route::Route;
pub(crate) use self::route::named_approvers;
pub(super) use self::route::{approvers, control_fields};
pub(crate) use self::showing::{Showing, json_or_text, show};
use super::journal;
use super::stage::{Call, Claimed, Claiming, Cleared, Clearing};
use super::stop::Stop;
use crate::engine::Engine;
use crate::outgoing::Outgoing;

pub(super) async fn pass(engine: &Engine, call: Call<Claimed>) -> Result<Call<Cleared>, Stop> {
    if call.data.ready.control.dry_run {
        return Err(Stop::answered(preview(engine, &call).await?));
    }
    match route::of(engine, &call, attention::is_wanted(engine, &call).await?) {
        Route::Pass => {
            let outgoing = showing::render(engine, &call.head, &call.data.ready)?;
            Ok(clear(call, outgoing, nobody(), None))
        }
        Route::Hold(approvers) => Err(Stop::answered(hold::hold(engine, call, approvers).await?)),
        Route::Prompt => prompt::prompt_or_redeem(engine, call).await,
        Route::TokenRefused(refusal) => Err(refusal.into()),
    }
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
    call.become_with(|Claiming { ready, claim }| Clearing { ready, claim, outgoing, approval, prompt })
}

/// Nobody had to approve.
const fn nobody() -> Approval {
    Approval { id: None, kind: ApprovalKind::None, by: Vec::new(), r#for: Vec::new(), reason: None, at: None }
}
