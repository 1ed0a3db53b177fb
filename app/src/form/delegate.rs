//! Letting somebody decide in one's place for a while, and ending that.

use engine::DelegationWanted;
use leptos::prelude::*;
use model::{DelegationId, Refusal};

use super::account::changed;
use super::{Fault, Form, Next, Posted, visit};

/// Passes one's own voice on, from the first to the last moment in one's own time zone.
#[server(name = Delegate, prefix = "/do", endpoint = "delegate")]
pub(crate) async fn delegate(to: String, from: String, until: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let wanted = DelegationWanted { to: &to, from: &from, until: &until };
    visit.engine.delegate(&me, wanted).await?;
    Ok(changed("delegated"))
}

/// Ends a delegation that one has given or received.
#[server(name = EndDelegation, prefix = "/do", endpoint = "end-delegation")]
pub(crate) async fn end_delegation(delegation: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id: DelegationId = delegation.parse().map_err(|_| Refusal::NotFound)?;
    match visit.engine.end_delegation(&me, id).await {
        Ok(()) => Ok(changed("delegation")),
        Err(Refusal::NotFound) => {
            Err(Fault::new(404, "Nothing was changed: it is over already, or it is not yours."))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

impl Form for Delegate {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}

impl Form for EndDelegation {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}
