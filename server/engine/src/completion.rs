//! The record of how a send ended: receipt, completion and event in one transaction, while the call is still open.

use std::time::Duration;

use model::{Attempt, CallId, CallStatus, EventId, EventType, Outcome, Receipt, ReceiptId, Surface, Time};
use sha2::{Digest, Sha256};

use crate::catalogue::Action;
use crate::conclusion::Conclusion;
use crate::engine::Engine;
use crate::fail_point;
use crate::outgoing::Outgoing;
use crate::seal::Purpose;
use crate::sending::approval_of;
use crate::store::{Amendment, CallRow, NewClaim, NewReceipt, SendEnd, StoreError, Tx, Unsent};
use crate::stored_request::StoredRequest;
use crate::unsent::UnsentEnd;

/// How long a result is kept when nobody fetches it, in seconds: section 4 of the contract.
const UNFETCHED: i64 = 86_400;

/// How long to wait before the record is tried again, in milliseconds: 18 seconds in all.
const PAUSES: [u64; 6] = [50, 150, 450, 1_350, 4_000, 12_000];

/// Records how a send ended that `row` says is under way. Never raises: a database that is away is asked again for a
/// while, then the log is told and recovery takes over.
pub(crate) async fn record(
    engine: &Engine,
    row: &CallRow,
    action: &Action,
    stored: &StoredRequest,
    conclusion: &Conclusion,
) -> Option<ReceiptId> {
    for pause in PAUSES.into_iter().map(Some).chain([None]) {
        match try_record(engine, row, action, stored, conclusion).await {
            Ok(receipt) => {
                engine.nudges().tell(row.id);
                return receipt;
            }
            Err(error) => {
                tracing::error!(%error, call = %row.id, "the end of a send could not be recorded yet");
            }
        }
        if let Some(pause) = pause {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }
    tracing::error!(call = %row.id, status = %conclusion.status, "the end of a send was not recorded; the call becomes in doubt");
    None
}

async fn try_record(
    engine: &Engine,
    row: &CallRow,
    action: &Action,
    stored: &StoredRequest,
    conclusion: &Conclusion,
) -> Result<Option<ReceiptId>, StoreError> {
    let at = engine.now();
    let receipt = match conclusion.receipt {
        Some(outcome) => {
            Some(new_receipt(engine, row, stored, outcome, conclusion.upstream_status, at).await?)
        }
        None => None,
    };
    let receipt_id = receipt.as_ref().map(|new| new.receipt.id);
    let result =
        conclusion.result.as_ref().map(|result| result.seal(engine.sealer(), Purpose::Result, row.id));
    let attempts = attempts(row, conclusion, at);
    let end = SendEnd {
        status: conclusion.status,
        at,
        result: result.as_deref(),
        erase_at: result.as_ref().map(|_| at.plus_seconds(kept_for(engine, row, stored))),
        problem: conclusion.refusal.as_ref(),
        upstream_status: conclusion.upstream_status,
        receipt_id,
        attempts: &attempts,
    };
    let mut tx = engine.store().begin().await?;
    if tx.end_sending(row.id, &end).await? {
        if let Some(new) = &receipt {
            tx.insert_receipt(new).await?;
        }
        write_key(engine, &mut tx, row, action, conclusion, at).await?;
        write_event(engine, &mut tx, row, conclusion, conclusion.event_type(), receipt_id, at).await?;
        fail_point::reach("end-uncommitted").await;
        tx.commit().await?;
        fail_point::reach("ended").await;
        return Ok(receipt_id);
    }
    drop(tx);
    record_late(engine, row, action, conclusion, end).await
}

/// How long the result can be read, in seconds. A call that passed is answered with it here and now; every other
/// waits to be fetched.
fn kept_for(engine: &Engine, row: &CallRow, stored: &StoredRequest) -> i64 {
    let is_answered_now = stored.approval.is_some() && row.surface != Surface::Queue;
    if is_answered_now { engine.seconds(engine.catalogue().server.result_ttl) } else { UNFETCHED }
}

/// The lease had run out and the call was given up as in doubt; then its answer came. It is the truth, whatever a
/// person has found meanwhile.
async fn record_late(
    engine: &Engine,
    row: &CallRow,
    action: &Action,
    conclusion: &Conclusion,
    end: SendEnd<'_>,
) -> Result<Option<ReceiptId>, StoreError> {
    let Some(now) = engine.store().call(row.id).await? else { return Ok(None) };
    let known = now.receipt_id;
    let Some(outcome) = conclusion.late_outcome() else { return Ok(known) };
    let mut tx = engine.store().begin().await?;
    if !tx.end_late(row.id, &end).await? {
        return Ok(known);
    }
    if let Some(receipt) = known {
        let id = ReceiptId::from_uuid(engine.ambient().uuid());
        let upstream_status = conclusion.upstream_status;
        let late =
            Amendment { id, receipt, at: end.at, outcome, upstream_status, person: None, reason: None };
        tx.insert_amendment(&late).await?;
    }
    if conclusion.keeps_key {
        take_key_back(engine, &mut tx, row, end.at).await?;
    }
    write_key(engine, &mut tx, row, action, conclusion, end.at).await?;
    // It had its one ending event when it was given up.
    write_event(engine, &mut tx, row, conclusion, EventType::Settled, known, end.at).await?;
    tx.commit().await?;
    Ok(known)
}

/// A key that was freed when a person found that nothing had happened is used again. A call that has it by now and is
/// not sent yet would do the same a second time: it is taken back with its key.
async fn take_key_back(engine: &Engine, tx: &mut Tx, row: &CallRow, at: Time) -> Result<(), StoreError> {
    let Some((slot, request_hash)) = row.claim_slot.zip(row.claim_hash) else { return Ok(()) };
    let claim = NewClaim { slot, request_hash };
    let is_back = tx.insert_claim(claim, row.id, at).await?
        || (end_heir(engine, tx, slot, row.id).await? && tx.insert_claim(claim, row.id, at).await?);
    if !is_back {
        tracing::info!(call = %row.id, "the key of a call that was done after all is in use already");
    }
    Ok(())
}

/// Withdraws the call that has the key of another one now. `false`: it is sent already, or it is that other one.
async fn end_heir(engine: &Engine, tx: &mut Tx, slot: [u8; 32], of: CallId) -> Result<bool, StoreError> {
    let Some(heir) = tx.claim_holder(slot).await?.filter(|heir| *heir != of) else { return Ok(false) };
    let Some(heir) = engine.store().call(heir).await? else { return Ok(false) };
    let end = UnsentEnd::plain(Unsent::Any, CallStatus::Withdrawn, EventType::Withdrawn);
    let ended = engine.end_unsent(tx, &heir, end).await?;
    if ended {
        tracing::warn!(call = %heir.id, done = %of, "a call was withdrawn: the one whose key it had was done after all");
    }
    Ok(ended)
}

/// The key stays used, with the answer where it may be stored, or is free again.
async fn write_key(
    engine: &Engine,
    tx: &mut Tx,
    row: &CallRow,
    action: &Action,
    conclusion: &Conclusion,
    at: Time,
) -> Result<(), StoreError> {
    let Some(slot) = row.claim_slot else { return Ok(()) };
    if !conclusion.keeps_key {
        return tx.free_claim(slot, row.id).await;
    }
    let settings = &engine.catalogue().server;
    let storable = conclusion
        .result
        .as_ref()
        // A repeat of a request that was passed on is told the status alone.
        .filter(|_| !action.passes_on())
        .filter(|result| result.may_be_replayed(settings.store_limit, &action.credential_fields));
    if let Some(result) = storable {
        let sealed = result.seal(engine.sealer(), Purpose::Answer, row.id);
        tx.store_answer(slot, row.id, &sealed, at.plus_seconds(engine.seconds(settings.answer_ttl))).await?;
    }
    Ok(())
}

async fn write_event(
    engine: &Engine,
    tx: &mut Tx,
    row: &CallRow,
    conclusion: &Conclusion,
    r#type: EventType,
    receipt: Option<ReceiptId>,
    at: Time,
) -> Result<(), StoreError> {
    let id = EventId::from_uuid(engine.ambient().uuid());
    let mut event = row.event(id, at, r#type, conclusion.status);
    event.upstream_status = conclusion.upstream_status;
    event.receipt_id = receipt;
    tx.insert_event(&event).await
}

/// All sends that are known not to have happened.
fn attempts(row: &CallRow, conclusion: &Conclusion, at: Time) -> Vec<Attempt> {
    let mut attempts = row.attempts.clone();
    if conclusion.status == CallStatus::Failed {
        attempts.push(Attempt { at, upstream_status: conclusion.upstream_status });
    }
    attempts
}

/// The receipt of a call, from what was sent.
pub(crate) async fn new_receipt(
    engine: &Engine,
    row: &CallRow,
    stored: &StoredRequest,
    outcome: Outcome,
    upstream_status: Option<u16>,
    at: Time,
) -> Result<NewReceipt, StoreError> {
    let body = stored.outgoing.body.as_deref().unwrap_or_default();
    Ok(NewReceipt {
        call: row.id,
        host: host_of(&stored.outgoing),
        receipt: Receipt {
            id: ReceiptId::from_uuid(engine.ambient().uuid()),
            at,
            person_id: row.person_id,
            agent_id: row.agent_id,
            session: row.session.clone(),
            credential: stored.credential.clone(),
            action: row.action.clone(),
            surface: row.surface,
            method: stored.outgoing.method.to_string(),
            url: bare_url(&stored.outgoing),
            body_size: body.len() as u64,
            body_sha256: data_encoding::HEXLOWER.encode(&Sha256::digest(body)),
            approval: approval_of(engine, row.id, stored).await?,
            upstream_status,
            outcome,
        },
    })
}

/// The host, with its port when that is not the scheme's default.
fn host_of(outgoing: &Outgoing) -> String {
    let host = outgoing.url.host_str().unwrap_or_default();
    outgoing.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The address without query, fragment and user info; of a handler its name.
fn bare_url(outgoing: &Outgoing) -> String {
    if outgoing.handler().is_some() {
        return outgoing.url.to_string();
    }
    format!("{}://{}{}", outgoing.url.scheme(), host_of(outgoing), outgoing.url.path())
}
