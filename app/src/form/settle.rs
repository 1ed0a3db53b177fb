//! Telling how a call ended whose outcome is not known.

use leptos::prelude::*;
use model::{CallId, FieldError, Finding, Refusal, Settlement};

use super::{Fault, Form, Next, Posted, visit};

/// Settles a call in doubt, with words.
#[server(name = Settle, prefix = "/do", endpoint = "settle")]
pub(crate) async fn settle(
    call: String,
    outcome: Option<String>,
    reason: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id: CallId = call.parse().map_err(|_| Refusal::NotFound)?;
    // Whoever may not settle it learns nothing about the fields either.
    let item = visit.engine.item(&me, id).await?.ok_or(Refusal::NotFound)?;
    let settlement = match filled_in(outcome, reason) {
        Err(fault) if item.may_settle => return Err(fault),
        settlement => settlement.unwrap_or(NOTHING),
    };
    match visit.engine.settle(&me, id, settlement).await {
        Ok(call) => Ok(Next::Go(format!("/inbox/{}", call.id))),
        Err(Refusal::AlreadyDecided) => Err(Fault::new(
            409,
            "Nothing was changed: this call is not in doubt any more. This is how it stands now.",
        )),
        Err(Refusal::Invalid(errors)) => Err(at_fault(errors)),
        Err(refusal) => Err(refusal.into()),
    }
}

/// For a call that this person cannot settle: the engine says why not, and looks at nothing else.
const NOTHING: Settlement = Settlement { outcome: Finding::DidNotHappen, reason: None };

fn filled_in(outcome: Option<String>, reason: Option<String>) -> Result<Settlement, Fault> {
    let outcome = outcome.and_then(|word| word.parse::<Finding>().ok());
    let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
    let mut errors = Vec::new();
    if outcome.is_none() {
        errors.push(FieldError::new("/outcome", "Say whether it happened."));
    }
    if reason.is_none() {
        errors.push(FieldError::new("/reason", "Say how you know."));
    }
    match outcome {
        Some(outcome) if errors.is_empty() => Ok(Settlement { outcome, reason }),
        _ => Err(at_fault(errors)),
    }
}

fn at_fault(errors: Vec<FieldError>) -> Fault {
    Fault {
        errors,
        ..Fault::new(422, "Nothing was settled. Fill in what is missing and press Settle again.")
    }
}

impl Form for Settle {
    fn page(posted: &Posted) -> String {
        super::decide::page_of(posted)
    }
}
