//! Taking a Confirm back within its window.

use leptos::prelude::*;
use model::{CallId, Refusal};

use super::{Fault, Form, Next, Posted, visit};

/// Takes a Confirm back. The call is held again.
#[server(name = Undo, prefix = "/do", endpoint = "undo")]
pub(crate) async fn undo(call: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let decider = visit.visitor.ok_or_else(Fault::signed_out)?.decider()?;
    let id: CallId = call.parse().map_err(|_| Refusal::NotFound)?;
    match visit.engine.undo(&decider, id).await {
        Ok(call) => Ok(Next::Go(format!("/inbox/{}", call.id))),
        Err(Refusal::NotHeld | Refusal::AlreadyDecided) => {
            Err(Fault::new(409, "It was too late to take it back: it is being sent, or was."))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

impl Form for Undo {
    fn page(posted: &Posted) -> String {
        super::decide::page_of(posted)
    }
}
