//! The send: once, under a lease that is renewed while it lasts, and then the record of how it ended.

use std::future::Future;
use std::time::Duration;

use model::{Approval, ApprovalKind, CallId, ReceiptId, Refusal};

use crate::catalogue::Action;
use crate::completion;
use crate::conclusion::{Conclusion, conclude};
use crate::credential::Credential;
use crate::egress::{NeverLeft, Sent};
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::store::CallRow;
use crate::stored_request::StoredRequest;

/// Sends a call whose intent is durable, and records how it ended. Never fails: what cannot be recorded now is
/// recorded by recovery, as in doubt.
pub(crate) async fn carry_out(
    engine: &Engine,
    row: &CallRow,
    action: &Action,
    stored: &StoredRequest,
) -> (Conclusion, Option<ReceiptId>) {
    let sending =
        attempt(engine, action.credential.as_deref(), stored.outgoing.clone(), stored.key.as_deref());
    let sent = under_lease(engine, row.id, sending).await;
    let mut conclusion = conclude(action, &stored.input, sent);
    if !action.effect.is_write() {
        conclusion = conclusion.of_read();
        // A read leaves a receipt only when it needed an approval; then the approval is not noted with it, but stands
        // with the people who gave it.
        if stored.approval.is_some() {
            conclusion.receipt = None;
        }
    }
    if conclusion.receipt == Some(model::Outcome::InDoubt) {
        conclusion.refusal = Some(Refusal::OutcomeUnknown(row.id));
    }
    let receipt = completion::record(engine, row, action, stored, &conclusion).await;
    (conclusion, receipt)
}

/// One attempt to send.
pub(crate) async fn attempt(
    engine: &Engine,
    credential: Option<&Credential>,
    outgoing: Outgoing,
    key: Option<&str>,
) -> Sent {
    let checked = match engine.egress().check(credential, outgoing) {
        Ok(checked) => checked,
        // The rules may have changed since the call was held.
        Err(blocked) => return Sent::NeverLeft(NeverLeft::Blocked(blocked)),
    };
    let Ok(secret) = engine.secret_of(credential).await else { return Sent::NeverLeft(NeverLeft::Secret) };
    engine.egress().send(checked, secret.as_ref(), key).await
}

/// Renews the call's lease as long as the send lasts.
async fn under_lease<T>(engine: &Engine, id: CallId, sending: impl Future<Output = T>) -> T {
    let mut sending = std::pin::pin!(sending);
    let pause = (engine.catalogue().server.lease / 3).max(Duration::from_millis(50));
    loop {
        tokio::select! {
            ended = &mut sending => return ended,
            () = tokio::time::sleep(pause) => match engine.store().renew_lease(id, engine.node(), engine.lease_end()).await {
                Ok(true) => {}
                // The send goes on: its answer, when it comes, still tells the truth about the call.
                Ok(false) => tracing::warn!(call = %id, "the lease of a send was lost"),
                Err(error) => tracing::warn!(%error, call = %id, "the lease of a send could not be renewed"),
            },
        }
    }
}

/// What allowed a call: what was noted with its intent, or the confirmations of people.
pub(crate) async fn approval_of(
    engine: &Engine,
    call: CallId,
    stored: &StoredRequest,
) -> Result<Approval, crate::store::StoreError> {
    if let Some(approval) = &stored.approval {
        return Ok(approval.clone());
    }
    let confirmations = engine.store().confirmations(call).await?;
    let last = confirmations.last();
    Ok(Approval {
        id: last.map(|last| last.id),
        kind: if last.is_some() { ApprovalKind::Person } else { ApprovalKind::None },
        at: last.map(|last| last.at),
        by: confirmations.into_iter().map(|confirmation| confirmation.person).collect(),
    })
}

/// Sends a call that stands in the database as `sending` under this node's lease.
pub(crate) async fn send_confirmed(engine: &Engine, id: CallId) {
    if let Err(refusal) = load_and_send(engine, id).await {
        // The intent stays; when its lease has run out, recovery says that nobody knows.
        tracing::error!(call = %id, code = %refusal.problem().code, "a confirmed call could not be sent");
    }
}

async fn load_and_send(engine: &Engine, id: CallId) -> Result<(), Refusal> {
    let row = engine.store().call(id).await?.ok_or(Refusal::NotFound)?;
    let blob = row.input.as_deref().ok_or(Refusal::NotFound)?;
    let stored = StoredRequest::open(engine.sealer(), id, blob)?;
    let catalogue = engine.catalogue();
    let Some(action) = catalogue.action(&row.action).cloned() else {
        completion::record_unsent(engine, &row, action_is_gone()).await?;
        return Ok(());
    };
    carry_out(engine, &row, &action, &stored).await;
    Ok(())
}

/// The answer to a call that waited longer than its action stayed in the catalogue.
pub(crate) fn action_is_gone() -> Refusal {
    Refusal::Refused {
        status: 409,
        message: Some("The action is no longer in the catalogue. Nothing was sent.".to_owned()),
        upstream_status: None,
    }
}
