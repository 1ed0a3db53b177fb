//! The send: once, under a lease that is renewed while it lasts, and then the record of how it ended.

use std::convert::Infallible;
use std::future::Future;
use std::time::{Duration, Instant};

use model::{Approval, ApprovalKind, CallId, CallStatus, ReceiptId, Refusal};

use crate::catalogue::Action;
use crate::completion;
use crate::conclusion::{Conclusion, conclude};
use crate::credential::Credential;
use crate::egress::{NeverLeft, Response, Sent};
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::pipeline::SharedAction;
use crate::store::{CallRow, CallState, StoreError};
use crate::stored_request::StoredRequest;
use crate::streams::Opened;
use crate::{fail_point, handling, upstream};

/// Sends a call whose intent is durable, and records how it ended. Never fails: what cannot be recorded now is
/// recorded by recovery, as in doubt.
pub(crate) async fn carry_out(
    engine: &Engine,
    row: &CallRow,
    action: &SharedAction,
    stored: &StoredRequest,
) -> (Conclusion, Option<ReceiptId>) {
    let begun = Instant::now();
    let open = engine.open_sends().begin(row.id);
    let marked = mark(engine, row, action).await;
    if !holds_lease(engine, row).await {
        // Somebody else has given the call up by now; sending it would make that untrue.
        tracing::error!(call = %row.id, "a call was not sent: its lease had run out before");
        return (Conclusion::given_up(row.id), None);
    }
    fail_point::reach("before-connect").await;
    let (ended, opened) = match marked {
        Ok(()) => work(engine, row, action, stored).await,
        Err(error) => {
            tracing::error!(%error, call = %row.id, "a session could not be marked, so nothing was read");
            (conclude(action, &stored.input, Sent::NeverLeft(NeverLeft::Unmarked)), None)
        }
    };
    let conclusion = of_call(row, action, stored, ended);
    fail_point::reach("answered").await;
    // Nothing more will be heard of a call in doubt: whoever sees that it is may settle it at once.
    let open = Some(open).filter(|_| conclusion.status != CallStatus::InDoubt);
    let receipt = completion::record(engine, row, action, stored, &conclusion).await;
    engine.metrics().sent(conclusion.status, begun.elapsed());
    // In the span of whoever set it off, if that was a request: its id, the call and the receipt in one line.
    let number = receipt.map(|id| id.to_string());
    tracing::info!(call = %row.id, receipt = number, status = conclusion.status.as_str(), "a send ended");
    drop(open);
    hand_over(engine, row.id, &conclusion, opened, receipt);
    (conclusion, receipt)
}

/// What the end of the work means for this call.
pub(crate) fn of_call(
    row: &CallRow,
    action: &Action,
    stored: &StoredRequest,
    mut conclusion: Conclusion,
) -> Conclusion {
    if !action.effect.is_write() {
        conclusion = conclusion.of_read();
        // A read leaves a receipt only when it needed an approval; then the approval is not noted with it, but stands
        // with the people who gave it.
        if stored.approval.as_ref().is_some_and(|approval| approval.kind != ApprovalKind::Grant) {
            conclusion.receipt = None;
        }
    }
    if conclusion.receipt == Some(model::Outcome::InDoubt) {
        conclusion.refusal = Some(Refusal::OutcomeUnknown(row.id));
    }
    conclusion
}

/// Sends the call, or has its handler do it, under the lease.
async fn work(
    engine: &Engine,
    row: &CallRow,
    action: &SharedAction,
    stored: &StoredRequest,
) -> (Conclusion, Option<Opened>) {
    if action.handler().is_some() {
        return (under_lease(engine, row.id, handling::carry_out(engine, row, action, stored)).await, None);
    }
    if action.tool_call().is_some() {
        return (under_lease(engine, row.id, upstream::carry_out(engine, row, action, stored)).await, None);
    }
    let credential = action.credential.as_deref();
    let (sent, opened) = if action.binding() == stored.binding {
        let sending = attempt_for(engine, row.id, credential, stored.outgoing.clone(), stored.key.as_deref());
        under_lease(engine, row.id, sending).await
    } else {
        // Confirmed with one credential, and the catalogue has another by now.
        (Sent::NeverLeft(NeverLeft::CredentialChanged), None)
    };
    (conclude(action, &stored.input, sent), opened)
}

/// Marks the session of a read through a credential that nobody vouches for.
async fn mark(engine: &Engine, row: &CallRow, action: &Action) -> Result<(), StoreError> {
    if action.effect.is_write() {
        return Ok(());
    }
    engine.taint_by_read(action.credential.as_deref(), row.agent_id, row.session.as_deref()).await
}

/// Whether this process still answers for the call just before it connects. A process that was suspended since the
/// intent finds its lease run out on the clock; one that is merely late renews it.
pub(crate) async fn holds_lease(engine: &Engine, row: &CallRow) -> bool {
    let CallState::Sending { lease_until } = row.state else { return true };
    let lease = i64::try_from(engine.catalogue().server.lease.as_millis()).unwrap_or(i64::MAX);
    let fresh = engine.now() < lease_until.plus_millis(-lease / 2);
    fresh || matches!(engine.store().renew_lease(row.id, engine.node(), engine.lease_end()).await, Ok(true))
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

/// The same, where the caller may take the body as it arrives: then the answer is there as soon as its head has come.
pub(crate) async fn attempt_for(
    engine: &Engine,
    id: CallId,
    credential: Option<&Credential>,
    outgoing: Outgoing,
    key: Option<&str>,
) -> (Sent, Option<Opened>) {
    if !engine.streams().is_awaited(id) {
        return (attempt(engine, credential, outgoing, key).await, None);
    }
    let checked = match engine.egress().check(credential, outgoing) {
        Ok(checked) => checked,
        Err(blocked) => return (Sent::NeverLeft(NeverLeft::Blocked(blocked)), None),
    };
    let Ok(secret) = engine.secret_of(credential).await else {
        return (Sent::NeverLeft(NeverLeft::Secret), None);
    };
    match engine.egress().open(checked, secret.as_ref(), key).await {
        Ok((response, body)) if !engine.streams().is_awaited(id) => {
            // The caller has given up waiting meanwhile; the answer is kept for whoever asks how the call ended.
            (Sent::Answered(Response { body: body.collect().await, ..response }), None)
        }
        Ok((response, body)) => {
            let opened = Opened::new(&response, body);
            (Sent::Answered(response), Some(opened))
        }
        Err(sent) => (sent, None),
    }
}

/// Hands the answer to a caller that takes its body as it arrives, when the service's own words are the answer.
pub(crate) fn hand_over(
    engine: &Engine,
    id: CallId,
    conclusion: &Conclusion,
    opened: Option<Opened>,
    receipt: Option<ReceiptId>,
) {
    if let Some(opened) =
        opened.filter(|_| matches!(conclusion.status, CallStatus::Done | CallStatus::Failed))
    {
        engine.hand_over(id, opened, receipt);
    }
}

/// Renews the call's lease as long as the send lasts. Both go on side by side: a slow database does not keep the send
/// from its answer.
async fn under_lease<T>(engine: &Engine, id: CallId, sending: impl Future<Output = T>) -> T {
    tokio::select! {
        ended = sending => ended,
        never = renew_again_and_again(engine, id) => match never {},
    }
}

async fn renew_again_and_again(engine: &Engine, id: CallId) -> Infallible {
    let pause = (engine.catalogue().server.lease / 3).max(Duration::from_millis(50));
    loop {
        tokio::time::sleep(pause).await;
        match engine.store().renew_lease(id, engine.node(), engine.lease_end()).await {
            Ok(true) => {}
            // The send goes on: its answer, when it comes, still tells the truth about the call.
            Ok(false) => tracing::warn!(call = %id, "the lease of a send was lost"),
            Err(error) => tracing::warn!(%error, call = %id, "the lease of a send could not be renewed"),
        }
    }
}

/// What allowed a call: what was noted with its intent, or the confirmations of people.
pub(crate) async fn approval_of(
    engine: &Engine,
    call: CallId,
    stored: &StoredRequest,
) -> Result<Approval, StoreError> {
    if let Some(approval) = &stored.approval {
        return Ok(approval.clone());
    }
    let confirmations = engine.store().confirmations(call).await?;
    let last = confirmations.last();
    Ok(Approval {
        id: last.map(|last| last.id),
        kind: match last {
            Some(last) if last.is_override => ApprovalKind::Override,
            Some(_) => ApprovalKind::Person,
            None => ApprovalKind::None,
        },
        at: last.map(|last| last.at),
        reason: last.filter(|last| last.is_override).and_then(|last| last.reason.clone()),
        r#for: confirmations.iter().map(|confirmation| confirmation.r#for).collect(),
        by: confirmations.into_iter().map(|confirmation| confirmation.person).collect(),
    })
}

/// The answer to a call that waited longer than its action stayed in the catalogue.
pub(crate) fn action_is_gone() -> Refusal {
    Refusal::Refused {
        status: 409,
        message: Some("The action is no longer in the catalogue. Nothing was sent.".to_owned()),
        upstream_status: None,
    }
}
