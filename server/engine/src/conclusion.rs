//! What follows from how a send ended (the table "What a send can end as"). Pure.

use model::{CallId, CallStatus, EventType, Outcome, Refusal};

use crate::catalogue::Action;
use crate::egress::{BodyRead, NeverLeft, Response, Sent};
use crate::passing_on;
use crate::pipeline::json_or_text;
use crate::stored_result::StoredResult;

/// What follows from how a send ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conclusion {
    /// `Done`, `Refused`, `Failed` or `InDoubt`.
    pub(crate) status: CallStatus,
    /// What the caller is told, unless it was done.
    pub(crate) refusal: Option<Refusal>,
    /// What the caller gets, when it was done.
    pub(crate) result: Option<StoredResult>,
    /// What the upstream answered.
    pub(crate) upstream_status: Option<u16>,
    /// What the receipt says; `None`: there is none.
    pub(crate) receipt: Option<Outcome>,
    /// Whether the idempotency key stays used.
    pub(crate) keeps_key: bool,
}

impl Conclusion {
    /// Known not to have happened: no receipt, and the key is free.
    pub(crate) const fn failed(refusal: Refusal, upstream_status: Option<u16>) -> Self {
        Self {
            status: CallStatus::Failed,
            refusal: Some(refusal),
            result: None,
            upstream_status,
            receipt: None,
            keeps_key: false,
        }
    }

    /// Another process has recorded the call as in doubt before this one could send it.
    pub(crate) fn given_up(call: CallId) -> Self {
        Self { refusal: Some(Refusal::OutcomeUnknown(call)), ..Self::in_doubt(None) }
    }

    /// Nobody knows: a receipt says so, and the key is kept until a person settles it.
    pub(crate) const fn in_doubt(upstream_status: Option<u16>) -> Self {
        Self {
            status: CallStatus::InDoubt,
            refusal: None,
            result: None,
            upstream_status,
            receipt: Some(Outcome::InDoubt),
            keeps_key: true,
        }
    }

    /// The same for a read: nothing can have been done, so nothing is in doubt.
    pub(crate) fn of_read(self) -> Self {
        match self.status {
            CallStatus::InDoubt => {
                Self::failed(Refusal::UpstreamFailed(self.upstream_status), self.upstream_status)
            }
            _ => self,
        }
    }

    /// What an answer that comes late says of the receipt of a call that was given up as in doubt; `None`: nothing
    /// definite.
    pub(crate) const fn late_outcome(&self) -> Option<Outcome> {
        match self.status {
            CallStatus::Done | CallStatus::Refused => Some(Outcome::Done),
            CallStatus::Failed => Some(Outcome::SettledDidNotHappen),
            _ => None,
        }
    }

    /// The event that ends the call.
    pub(crate) const fn event_type(&self) -> EventType {
        match self.status {
            CallStatus::Done => EventType::Completed,
            CallStatus::Refused => EventType::Refused,
            CallStatus::InDoubt => EventType::InDoubt,
            _ => EventType::Failed,
        }
    }
}

/// What follows from how a send of this action ended.
pub(crate) fn conclude(action: &Action, input: &serde_json::Value, sent: Sent) -> Conclusion {
    if action.passes_on() {
        return passing_on::conclude(action, sent);
    }
    let doubtful = |status| {
        action.credential.as_ref().is_some_and(|credential| credential.in_doubt_on.contains(&status))
    };
    match sent {
        Sent::NeverLeft(why) => Conclusion::failed(never_left(why), None),
        Sent::Unknown(_) => Conclusion::in_doubt(None),
        Sent::Answered(response) if doubtful(response.status) => Conclusion::in_doubt(Some(response.status)),
        Sent::Answered(response) => match response.status {
            500.. => {
                Conclusion::failed(Refusal::UpstreamFailed(Some(response.status)), Some(response.status))
            }
            400..500 => refused(action, response.status),
            _ => done(action, input, response),
        },
    }
}

/// Whatever kept the request from leaving, the caller may try again.
pub(crate) fn never_left(why: NeverLeft) -> Refusal {
    tracing::warn!(%why, "a request did not leave");
    why.into()
}

fn refused(action: &Action, status: u16) -> Conclusion {
    Conclusion {
        status: CallStatus::Refused,
        refusal: Some(action.refusal_for(status)),
        result: None,
        upstream_status: Some(status),
        receipt: Some(Outcome::Done),
        keeps_key: false,
    }
}

fn done(action: &Action, input: &serde_json::Value, response: Response) -> Conclusion {
    let result = match response.body {
        BodyRead::Whole(body) => {
            let output = action.project(&json_or_text(&body));
            StoredResult { reply: action.reply(input, &output), result: output }
        }
        BodyRead::TooLarge { limit } => {
            unread(format!("It was done. The answer was larger than {limit} bytes and was not kept."))
        }
        BodyRead::Cut | BodyRead::Streamed => {
            unread("It was done. The answer broke off and was not kept.".to_owned())
        }
    };
    Conclusion {
        status: CallStatus::Done,
        refusal: None,
        result: Some(result),
        upstream_status: Some(response.status),
        receipt: Some(Outcome::Done),
        keeps_key: true,
    }
}

pub(crate) const fn unread(reply: String) -> StoredResult {
    StoredResult { result: serde_json::Value::Null, reply: Some(reply) }
}
