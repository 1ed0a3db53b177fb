//! Taking a held call back.

use engine::Actor;
use leptos::prelude::*;
use model::{CallId, Refusal};

use super::{Fault, Form, Next, Posted, visit};

/// Takes a held call back, for the person it is for.
#[server(name = Withdraw, prefix = "/do", endpoint = "withdraw")]
pub(crate) async fn withdraw(call: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id: CallId = call.parse().map_err(|_| Refusal::NotFound)?;
    match visit.engine.withdraw(&Actor::Person(me), id).await {
        Ok(call) => Ok(Next::Go(format!("/inbox/{}", call.id))),
        Err(Refusal::NotHeld) => Err(Fault::new(
            409,
            "It was too late to withdraw it: somebody has decided it, or it lapsed. This is how it stands now.",
        )),
        Err(refusal) => Err(refusal.into()),
    }
}

impl Form for Withdraw {
    fn page(posted: &Posted) -> String {
        super::decide::page_of(posted)
    }
}
