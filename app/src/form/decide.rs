//! Confirming or declining a held call.
#![expect(clippy::too_many_arguments, reason = "a server function has one for each field of its form")]

use engine::overriding::target_of;
use engine::passkey::StepUp;
use engine::view_token::ViewFault;
use leptos::prelude::*;
use model::refusal::PasskeyFault;
use model::{CallId, CallStatus, Decision, Preview, Refusal, Verdict};

use super::passkey::assertion;
use super::{Fault, Form, Next, Posted, visit};
use crate::parts::inbox_query::beside;

/// Records a decision. To confirm takes the version of the preview that was shown, a view token old enough for the
/// preview to have been read, and for what cannot be put back the target as the preview names it.
#[server(name = Decide, prefix = "/do", endpoint = "decide")]
pub(crate) async fn decide(
    call: String,
    decision: String,
    preview_version: String,
    view_token: String,
    target: Option<String>,
    reason: Option<String>,
    reply: Option<String>,
    list: Option<String>,
    passkey: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let decider = visit.visitor.ok_or_else(Fault::signed_out)?.decider()?;
    let id: CallId = call.parse().map_err(|_| Refusal::NotFound)?;
    visit.engine.decides(&decider, id).await?;
    let verdict: Verdict = decision.parse().map_err(|_| Fault::unreadable())?;
    let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    let reason = if verdict == Verdict::Decline { with_reply(reply.as_deref(), reason) } else { reason };
    let mut shown = None;
    if verdict == Verdict::Confirm {
        let (engine, person) = (&visit.engine, decider.actor());
        engine.view_token_fits(&view_token, person, id, &preview_version).map_err(not_read)?;
        shown = engine.preview_shown(&decider, id, &preview_version).await?;
        if let Some(preview) = &shown {
            fits_target(preview, target.as_deref().unwrap_or_default())?;
        }
    }
    let proof = passkey.filter(|text| !text.is_empty() && verdict == Verdict::Confirm);
    let proof = proof.map(|text| assertion(&text)).transpose()?;
    let session = visit.session.ok_or_else(Fault::signed_out)?;
    let proof = proof.map(|assertion| StepUp { assertion, session });
    let is_proved = proof.is_some();
    let decision = Decision { decision: verdict, preview_version: Some(preview_version), reason };
    match visit.engine.decide_with(&decider, id, decision, proof).await {
        Ok(call) => {
            let to = beside(&format!("/inbox/{}", call.id), list.as_deref().unwrap_or_default());
            Ok(after(&call, is_proved, to))
        }
        Err(refusal) => Err(refused(refusal, shown)),
    }
}

/// Where to go after a decision. A proof that came along is good for a new session only where the decision spent it: a call that
/// was refused on the way has spent none, and what was spent before proves nothing.
pub(super) fn after(call: &model::Call, is_proved: bool, to: String) -> Next {
    if is_proved && call.status != CallStatus::Refused { Next::Renewed(to) } else { Next::Go(to) }
}

/// Sentences to decline with that need no typing.
pub(crate) const REPLIES: [&str; 4] =
    ["Not now.", "Wrong recipient.", "Ask me first.", "This is not what I asked for."];

/// The sentence that was picked, then one's own words.
fn with_reply(reply: Option<&str>, reason: Option<String>) -> Option<String> {
    match (reply.filter(|reply| REPLIES.contains(reply)), reason) {
        (Some(reply), Some(reason)) => Some(format!("{reply} {reason}")),
        (Some(reply), None) => Some(reply.to_owned()),
        (None, reason) => reason,
    }
}

/// A press that cannot have been meant for this preview.
pub(super) fn not_read(fault: ViewFault) -> Fault {
    match fault {
        ViewFault::TooYoung => Fault::new(
            422,
            "Nothing was done: the button was pressed within half a second of the page appearing. Read it, then decide.",
        ),
        ViewFault::Other => Fault::new(
            409,
            "Nothing was done: the page you pressed the button on is no longer good. This is a fresh one. Read it, then decide.",
        ),
    }
}

/// What cannot be put back is confirmed only by typing what it would happen to.
fn fits_target(preview: &Preview, typed: &str) -> Result<(), Fault> {
    if target_of(preview).is_none_or(|target| typed.trim() == target.trim()) {
        return Ok(());
    }
    let message = if typed.trim().is_empty() {
        "Type the target to confirm."
    } else {
        "This is not the target. Type it exactly as the preview names it."
    };
    Err(Fault::of_field(
        "/target",
        message,
        "Nothing was sent: what cannot be put back is confirmed only with its target.",
    ))
}

pub(super) fn refused(refusal: Refusal, shown: Option<Preview>) -> Fault {
    match refusal {
        Refusal::PreviewChanged(_) => Fault {
            shown: shown.map(Box::new),
            ..Fault::new(
                409,
                "It has changed since you looked. Nothing was sent. This is the new preview, with what changed marked: read it and decide again.",
            )
        },
        Refusal::StepUpRequired { .. } => Fault::new(
            403,
            "Nothing was sent: this is confirmed with your passkey, and none came along. That takes a browser that runs scripts. The call is still held.",
        ),
        Refusal::PasskeyRefused(PasskeyFault::Unfit) => Fault::new(
            403,
            "Nothing was sent: your passkey's answer was not taken. It is good for one call as it is shown, once and for a minute. Read it and confirm again.",
        ),
        Refusal::UpstreamUnreachable | Refusal::UpstreamFailed(_) => Fault::new(
            502,
            "The service could not be asked whether this still holds. Nothing was sent, and the call is still held. Try again in a moment.",
        ),
        Refusal::Invalid(errors) => Fault {
            errors,
            ..Fault::new(422, "Nothing was done: some fields are at fault. Mend them and decide again.")
        },
        refusal => refusal.into(),
    }
}

/// The page of the call that a form names.
pub(crate) fn page_of(posted: &Posted) -> String {
    let path = posted
        .typed("call")
        .parse::<CallId>()
        .map_or_else(|_| "/inbox".to_owned(), |id| format!("/inbox/{id}"));
    beside(&path, &posted.typed("list"))
}

impl Form for Decide {
    fn page(posted: &Posted) -> String {
        page_of(posted)
    }
}
