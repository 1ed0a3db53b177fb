//! Steps 12 and 13: the run, then receipt and the one ending event.
//!
//! A read is sent and answered. A write leaves a durable intent before its first byte, in the transaction that claims
//! its key and spends its prompt.

use model::answer::{Done, DoneStatus};
use model::{Answer, Surface};

use super::stage::{Answered, Call, Cleared, Clearing};
use super::stop::Stop;
use super::{intent, journal};
use crate::conclusion::{Conclusion, conclude};
use crate::engine::Engine;
use crate::store::CallState;
use crate::{handling, passing_on, sending, upstream};

pub(super) async fn run(engine: &Engine, call: Call<Cleared>) -> Answered {
    // A read that a standing grant let through leaves what a confirmed one leaves.
    let is_kept = call.head.action.effect.is_write() || call.data.granted.is_some();
    if is_kept { write(engine, call).await } else { read(engine, call).await }
}

/// Sends a read. It leaves no row and no receipt, only its event.
async fn read(engine: &Engine, call: Call<Cleared>) -> Answered {
    let (head, Clearing { ready, outgoing, .. }) = (call.head, call.data);
    engine
        .taint_by_read(
            head.action.credential.as_deref(),
            head.actor.agent().map(|agent| agent.agent),
            head.session.as_deref(),
        )
        .await?;
    let credential = head.action.credential.as_deref();
    let (conclusion, opened) = if let Some(handler) = head.action.handler() {
        (handling::read(engine, handler, &head, &ready).await, None)
    } else if head.action.tool_call().is_some() {
        (upstream::read(engine, &head.action, &ready.input, outgoing).await, None)
    } else if let Some(server) = head.action.asks() {
        (upstream::answer(engine, server, outgoing).await, None)
    } else {
        let (sent, opened) = sending::attempt_for(engine, head.id, credential, outgoing, None).await;
        (conclude(&head.action, &ready.input, sent), opened)
    };
    let conclusion = conclusion.of_read();
    let mut event = journal::event(engine, &head, conclusion.event_type(), conclusion.status);
    event.upstream_status = conclusion.upstream_status;
    engine.note(event).await;
    sending::hand_over(engine, head.id, &conclusion, opened, None);
    answer(head.surface, conclusion, None)
}

/// Sends a write, or what was approved, once.
async fn write(engine: &Engine, call: Call<Cleared>) -> Answered {
    let (head, clearing) = (call.head, call.data);
    // The durable intent.
    let state = CallState::Sending { lease_until: engine.lease_end() };
    let (row, stored) = intent::store(engine, &head, clearing, state).await?;
    let (conclusion, receipt) = sending::carry_out(engine, &row, &head.action, &stored).await;
    answer(head.surface, conclusion, receipt)
}

/// What the caller gets for how it ended.
fn answer(surface: Surface, conclusion: Conclusion, receipt: Option<model::ReceiptId>) -> Answered {
    let result = conclusion.result.as_ref().map(|stored| &stored.result);
    if let Some(passed) = passing_on::answer(surface, conclusion.status, result, receipt) {
        return passed.map_err(Stop::Ended);
    }
    if let Some(refusal) = conclusion.refusal {
        return Err(Stop::Ended(refusal));
    }
    let (result, reply) =
        conclusion.result.map_or((serde_json::Value::Null, None), |stored| (stored.result, stored.reply));
    Ok(Answer::Done(Done { status: DoneStatus::Done, executed: true, result, reply, receipt_id: receipt }))
}
