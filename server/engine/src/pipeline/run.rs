//! Steps 12 and 13: the run, then receipt and the one ending event.
//!
//! A read is sent and answered. A write leaves a durable intent before its first byte, in the transaction that claims
//! its key and spends its prompt.

use model::answer::{Done, DoneStatus};
use model::refusal::TokenFault;
use model::{Answer, CallStatus, Refusal};

use super::stage::{Answered, Call, Cleared, Clearing, Head};
use super::stop::Stop;
use super::{claim, journal};
use crate::conclusion::{Conclusion, conclude};
use crate::engine::Engine;
use crate::sending;
use crate::store::{CallRow, CallState, NewCall};
use crate::stored_request::StoredRequest;

pub(super) async fn run(engine: &Engine, call: Call<Cleared>) -> Answered {
    if call.head.action.effect.is_write() { write(engine, call).await } else { read(engine, call).await }
}

/// Sends a read. It leaves no row and no receipt, only its event.
async fn read(engine: &Engine, call: Call<Cleared>) -> Answered {
    let (head, Clearing { ready, outgoing, .. }) = (call.head, call.data);
    let sent = sending::attempt(engine, head.action.credential.as_deref(), outgoing, None).await;
    let mut conclusion = conclude(&head.action, &ready.input, sent);
    if conclusion.status == CallStatus::InDoubt {
        // Nothing can have been done, so nothing is in doubt.
        conclusion = Conclusion::failed(
            Refusal::UpstreamFailed(conclusion.upstream_status),
            conclusion.upstream_status,
        );
    }
    let mut event = journal::event(engine, &head, conclusion.event_type(), conclusion.status);
    event.upstream_status = conclusion.upstream_status;
    journal::write(engine, &event).await?;
    answer(conclusion, None)
}

/// Sends a write, once.
async fn write(engine: &Engine, call: Call<Cleared>) -> Answered {
    let (head, clearing) = (call.head, call.data);
    let (row, stored) = intend(engine, &head, clearing).await?;
    let (conclusion, receipt) = sending::carry_out(engine, &row, &head.action, &stored).await;
    answer(conclusion, receipt)
}

/// The durable intent.
async fn intend(engine: &Engine, head: &Head, clearing: Clearing) -> Result<(CallRow, StoredRequest), Stop> {
    let Clearing { ready, claim, outgoing, approval, prompt } = clearing;
    let stored = StoredRequest {
        arguments: ready.arguments,
        input: ready.input,
        key: ready.control.key.map(|key| key.as_str().to_owned()),
        reason: head.reason.clone(),
        approval: Some(approval),
        outgoing,
    };
    let new = NewCall {
        row: CallRow {
            state: CallState::Sending { lease_until: engine.lease_end() },
            claim_slot: claim.map(|claim| claim.slot),
            claim_hash: claim.map(|claim| claim.request_hash),
            input: Some(stored.seal(engine.sealer(), head.id)),
            ..CallRow::fresh(head)
        },
        input_hash: ready.input_hash.bytes(),
        approvers: Vec::new(),
        self_approval: head.action.self_approval,
        lease_owner: Some(engine.node().to_owned()),
    };
    let mut tx = engine.store().begin().await?;
    if let Some(prompt) = prompt
        && !tx.spend_prompt(prompt, head.at).await?
    {
        return Err(Refusal::ConfirmTokenInvalid(TokenFault::Used).into());
    }
    tx.insert_call(&new).await?;
    if let Some(claim) = claim
        && !tx.insert_claim(claim, head.id, head.at).await?
    {
        drop(tx);
        claim::answer_of(engine, head, claim).await?;
        return Err(Refusal::Unavailable.into());
    }
    tx.commit().await?;
    engine.nudges().tell(head.id);
    Ok((new.row, stored))
}

/// What the caller gets for how it ended.
fn answer(conclusion: Conclusion, receipt: Option<model::ReceiptId>) -> Answered {
    if let Some(refusal) = conclusion.refusal {
        return Err(Stop::Ended(refusal));
    }
    let (result, reply) =
        conclusion.result.map_or((serde_json::Value::Null, None), |stored| (stored.result, stored.reply));
    Ok(Answer::Done(Done { status: DoneStatus::Done, executed: true, result, reply, receipt_id: receipt }))
}
