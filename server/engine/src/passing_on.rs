//! What becomes of the answer to a request that was passed on (fetch and via).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue};
use model::passed::{HeaderValues, LostBody, UpstreamAnswer};
use model::{Answer, CallStatus, Outcome, Passed, ReceiptId, Refusal, Surface};

use crate::catalogue::Action;
use crate::conclusion::{Conclusion, never_left};
use crate::egress::{BodyRead, Response, Sent};
use crate::stored_result::StoredResult;

/// What follows from how the send of such a request ended: whatever is answered below 500 is the answer. Pure.
pub(crate) fn conclude(action: &Action, sent: Sent) -> Conclusion {
    let doubtful = |status| {
        let credential = action.credential.as_ref().filter(|_| action.effect.is_write());
        credential.is_some_and(|credential| credential.in_doubt_on.contains(&status))
    };
    match sent {
        Sent::NeverLeft(why) => Conclusion::failed(never_left(why), None),
        Sent::Unknown(_) => Conclusion::in_doubt(None),
        Sent::Answered(response) if doubtful(response.status) => Conclusion::in_doubt(Some(response.status)),
        Sent::Answered(response) if response.status >= 500 => failed(action, response),
        Sent::Answered(response) => done(response),
    }
}

/// The upstream failed. On via its own words are the answer, so they are kept like a result.
fn failed(action: &Action, response: Response) -> Conclusion {
    let status = response.status;
    let whole = matches!(response.body, BodyRead::Whole(_));
    let result = (whole && action.is_exposed_on(Surface::Via)).then(|| kept(response));
    Conclusion { result, ..Conclusion::failed(Refusal::UpstreamFailed(Some(status)), Some(status)) }
}

fn done(response: Response) -> Conclusion {
    Conclusion {
        status: CallStatus::Done,
        refusal: None,
        upstream_status: Some(response.status),
        result: Some(kept(response)),
        receipt: Some(Outcome::Done),
        keeps_key: true,
    }
}

fn kept(response: Response) -> StoredResult {
    let answer = told(response);
    let result =
        serde_json::to_value(answer).unwrap_or_else(|_| unreachable!("plain data always serializes"));
    StoredResult { result, reply: None }
}

/// The answer in the form that callers get it in.
fn told(response: Response) -> UpstreamAnswer {
    let mut answer = UpstreamAnswer {
        status: response.status,
        headers: headers(&response.headers),
        body: None,
        body_base64: None,
        lost: None,
    };
    match response.body {
        BodyRead::Whole(bytes) => match std::str::from_utf8(&bytes) {
            Ok(text) => answer.body = Some(text.to_owned()),
            Err(_) => answer.body_base64 = Some(STANDARD.encode(&bytes)),
        },
        BodyRead::TooLarge { limit } => answer.lost = Some(LostBody::LargerThan(limit)),
        BodyRead::Cut => answer.lost = Some(LostBody::BrokeOff),
        BodyRead::Streamed => answer.lost = Some(LostBody::Streamed),
    }
    answer
}

fn headers(headers: &HeaderMap) -> BTreeMap<String, HeaderValues> {
    let mut told: BTreeMap<String, HeaderValues> = BTreeMap::new();
    for (name, value) in headers {
        let value = text(value);
        match told.get_mut(name.as_str()) {
            Some(values) => values.push(value),
            None => drop(told.insert(name.to_string(), HeaderValues::One(value))),
        }
    }
    told
}

/// A header's value as text: UTF-8, else each byte as a letter, as HTTP has long read them (ISO-8859-1).
fn text(value: &HeaderValue) -> String {
    let bytes = value.as_bytes();
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().copied().map(char::from).collect(), str::to_owned)
}

/// What the caller gets. `None`: there is nothing to pass on, and the refusal stands.
pub(crate) fn answer(
    surface: Surface,
    status: CallStatus,
    result: Option<&serde_json::Value>,
    receipt_id: Option<ReceiptId>,
) -> Option<Result<Answer, Refusal>> {
    let passes = match status {
        CallStatus::Done => surface.takes_requests(),
        // An SDK understands its own service's failures.
        CallStatus::Failed => surface == Surface::Via,
        _ => false,
    };
    let upstream: UpstreamAnswer = serde_json::from_value(result.filter(|_| passes)?.clone()).ok()?;
    Some(match upstream.lost {
        Some(why) => Err(Refusal::AnswerLost { upstream_status: upstream.status, why, receipt: receipt_id }),
        None => Ok(Answer::Passed(Passed { upstream, receipt_id })),
    })
}
