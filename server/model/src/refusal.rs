//! Every way a call can end without being done. Closed: each variant has exactly one problem document.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::passed::LostBody;
use crate::{CallId, FieldError, Preview, Problem, ProblemCode, ReceiptId};

/// Every way a call, or a request about a call, is answered with a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No token, or none that is known and in force.
    Unauthenticated,
    /// The caller may see the thing, but not do this with it.
    Denied,
    /// A person said no, perhaps with words.
    Declined(Option<String>),
    /// It does not exist, or not for this caller: the two are never told apart.
    NotFound,
    /// The path exists, this method does not.
    MethodNotAllowed,
    /// The action or its upstream said no.
    Refused {
        /// 409, or the action's own.
        status: u16,
        /// A fixed text of the catalogue.
        message: Option<String>,
        /// What the upstream answered, if it was asked.
        upstream_status: Option<u16>,
    },
    /// Fields are at fault; all of them are listed.
    Invalid(Vec<FieldError>),
    /// Not JSON, or not an object. The text says which. Never stored: such a request never becomes a call.
    Malformed(#[serde(skip)] &'static str),
    /// The body is larger than this many bytes.
    TooLarge(usize),
    /// The body is of a type that is not taken.
    UnsupportedMediaType,
    /// Too many calls of this agent are open, or too many requests came.
    RateLimited {
        /// Seconds until it is worth another try.
        retry_after: u32,
    },
    /// The idempotency key is invalid or given twice (fetch and via).
    IdempotencyKeyInvalid,
    /// The idempotency key was used for another request.
    IdempotencyKeyReused,
    /// The first call with this key has not ended.
    IdempotencyInFlight(CallId),
    /// The key was used; its receipt has passed its retention.
    IdempotencyKeyForgotten,
    /// Nobody knows whether the call with this id happened.
    OutcomeUnknown(CallId),
    /// The confirm token does not fit.
    ConfirmTokenInvalid(TokenFault),
    /// The preview that was confirmed is not the newest, or the values have changed since.
    PreviewChanged(Option<Box<Preview>>),
    /// To confirm takes a passkey, in the browser, on the page of the call.
    StepUpRequired {
        /// That page.
        approve_url: String,
    },
    /// The passkey's answer is not taken.
    PasskeyRefused(PasskeyFault),
    /// Somebody has decided already.
    AlreadyDecided,
    /// The call is past holding, or the person has no vote to take back.
    NotHeld,
    /// Nobody decided in time.
    Expired,
    /// The agent or its owner took the call back.
    Withdrawn,
    /// It waits for a person (via alone).
    Held(CallId),
    /// The agent, or everything, is paused.
    Paused,
    /// The request may not leave the desk. The text says why, without the caller's values.
    EgressBlocked(String),
    /// No byte reached the upstream.
    UpstreamUnreachable,
    /// The upstream failed; `None`: it answered nothing usable.
    UpstreamFailed(Option<u16>),
    /// The upstream answered, and the body of its answer could not be taken in (fetch and via).
    AnswerLost {
        /// What it answered.
        upstream_status: u16,
        /// Why there is no body.
        why: LostBody,
        /// The receipt, if one was written.
        receipt: Option<ReceiptId>,
    },
    /// The call's connection is still open: its answer may come, so nobody can say yet how it ended.
    StillSending,
    /// The desk itself cannot do it now; nothing was done.
    Unavailable,
}

crate::words::words! {
    /// What is wrong with a confirm token.
    TokenFault {
        /// Unknown, or somebody else's, or not taken from this caller.
        Invalid = "invalid",
        /// Made for other arguments.
        OtherArguments = "other_arguments",
        /// Used before.
        Used = "used",
        /// Rejected by its caller.
        Rejected = "rejected",
        /// Older than its time.
        Expired = "expired",
    }
}

crate::words::words! {
    /// Why a passkey's answer is not taken.
    PasskeyFault {
        /// It is for something else or of somebody else, was used before, is too old, or does not hold.
        Unfit = "unfit",
        /// The passkey's count of its signatures went back, as that of a copy does.
        WentBack = "went_back",
    }
}

impl Refusal {
    /// One field is at fault.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::new(field, message)])
    }

    /// The problem document of this refusal.
    pub fn problem(&self) -> Problem {
        use ProblemCode as Code;
        match self {
            Self::Unauthenticated => Problem::new(Code::Unauthenticated, 401, "Not signed in", "This needs a token that is known and in force. Nothing was done. Send it as “Authorization: Bearer …”."),
            Self::Denied => Problem::new(Code::Denied, 403, "Not allowed", "You may not do this. Nothing was done."),
            Self::Declined(words) => {
                let detail = match words {
                    Some(words) => format!("A person declined this call. Nothing was sent. Their words: {words}"),
                    None => "A person declined this call. Nothing was sent.".to_owned(),
                };
                Problem::new(Code::Declined, 403, "Declined", detail).with_context(json!({ "reason": words }))
            }
            Self::NotFound => Problem::new(Code::NotFound, 404, "Not found", "There is nothing here for you. Nothing was done."),
            Self::MethodNotAllowed => Problem::new(Code::MethodNotAllowed, 405, "Method not allowed", "This address does not take that method. Nothing was done."),
            Self::Refused { status, message, upstream_status } => {
                let detail = message.clone().unwrap_or_else(|| "The service said no. Nothing was changed there.".to_owned());
                Problem::new(Code::Refused, *status, "Refused", detail).with_context(json!({ "upstream_status": upstream_status }))
            }
            Self::Invalid(errors) => {
                let mut problem = Problem::new(Code::Invalid, 422, "Invalid", "Some fields are at fault. Nothing was done. Mend every field listed and call again.");
                problem.errors.clone_from(errors);
                problem
            }
            Self::Malformed(what) => Problem::new(Code::Malformed, 400, "Malformed", format!("{what} Nothing was done.")),
            Self::TooLarge(limit) => Problem::new(Code::TooLarge, 413, "Too large", format!("The body is larger than {limit} bytes. Nothing was done.")),
            Self::UnsupportedMediaType => Problem::new(Code::UnsupportedMediaType, 415, "Unsupported media type", "The body has to be JSON: send “Content-Type: application/json”. Nothing was done."),
            Self::RateLimited { retry_after } => Problem::new(Code::RateLimited, 429, "Too many", format!("Too many calls are open or were made. Nothing was done. Try again in {retry_after} s.")),
            Self::IdempotencyKeyInvalid => Problem::new(Code::IdempotencyKeyInvalid, 400, "Idempotency key invalid", "The idempotency key has to be 1 to 128 visible ASCII characters, given once. Nothing was sent."),
            Self::IdempotencyKeyReused => Problem::new(Code::IdempotencyKeyReused, 409, "Idempotency key reused", "This idempotency key was used for another request. Nothing was sent. Use a new key for a new request."),
            Self::IdempotencyInFlight(call) => Problem::new(Code::IdempotencyInFlight, 409, "Idempotency key in flight", "The first call with this idempotency key has not ended. Nothing more was sent. Ask how it stands.").with_context(whereabouts(*call)),
            Self::IdempotencyKeyForgotten => Problem::new(Code::IdempotencyKeyForgotten, 409, "Idempotency key forgotten", "This idempotency key was used, and what was done with it is no longer kept. Nothing was sent. Use a new key for a new request."),
            Self::OutcomeUnknown(call) => Problem::new(Code::OutcomeUnknown, 409, "Outcome unknown", "The call was sent and its answer was lost: it may or may not have happened. It is not sent again. A person has to settle it.").with_context(whereabouts(*call)),
            Self::ConfirmTokenInvalid(fault) => Problem::new(Code::ConfirmTokenInvalid, 409, "Confirm token invalid", token_detail(*fault)).with_context(json!({ "reason": fault })),
            Self::PreviewChanged(preview) => {
                let problem = Problem::new(Code::PreviewChanged, 409, "Preview changed", "What would be sent is not what was shown. Nothing was sent. Read the new preview and decide again.");
                match preview {
                    Some(preview) => problem.with_context(json!({ "preview": preview })),
                    None => problem,
                }
            }
            Self::StepUpRequired { approve_url } => Problem::new(Code::StepUpRequired, 403, "Passkey needed", "This is confirmed with a passkey, by a person in the browser, one call at a time. Nothing was sent, and the call is still held. Open its page to confirm it there.").with_context(json!({ "approve_url": approve_url })),
            Self::PasskeyRefused(fault) => Problem::new(Code::PasskeyRefused, 403, "Passkey refused", passkey_detail(*fault)).with_context(json!({ "reason": fault })),
            Self::AlreadyDecided => Problem::new(Code::AlreadyDecided, 409, "Already decided", "Somebody has decided this call already. This decision changed nothing."),
            Self::NotHeld => Problem::new(Code::NotHeld, 409, "Not held", "The call is past holding, or nothing of yours is there to take back. This request changed nothing."),
            Self::Expired => Problem::new(Code::Expired, 409, "Expired", "Nobody decided in time. Nothing was sent. Call again if it is still wanted."),
            Self::Withdrawn => Problem::new(Code::Withdrawn, 409, "Withdrawn", "The call was taken back. Nothing was sent."),
            Self::Held(call) => Problem::new(Code::Held, 409, "Held", "Nothing has been sent: the call waits for a person. Ask how it stands, or repeat it with its idempotency key.").with_context(whereabouts(*call)),
            Self::Paused => Problem::new(Code::Paused, 503, "Paused", "Calls are paused. Nothing was done. Try again later."),
            Self::EgressBlocked(why) => Problem::new(Code::EgressBlocked, 403, "Egress blocked", format!("{why} Nothing was sent.")),
            Self::UpstreamUnreachable => Problem::new(Code::UpstreamUnreachable, 502, "Upstream unreachable", "The service could not be reached. Nothing was sent. It is safe to call again."),
            Self::AnswerLost { upstream_status, why, receipt } => Problem::new(Code::UpstreamFailed, 502, "Answer lost", lost_detail(*upstream_status, *why)).with_context(json!({ "upstream_status": upstream_status, "receipt_id": receipt })),
            Self::UpstreamFailed(status) => {
                let detail = match status {
                    Some(_) => "The service failed to do this and said so. Nothing was changed there; call again if it is still wanted.",
                    None => "The service gave no usable answer. Nothing was changed by this; call again if it is still wanted.",
                };
                Problem::new(Code::UpstreamFailed, 502, "Upstream failed", detail)
                    .with_context(json!({ "upstream_status": status }))
            }
            Self::StillSending => Problem::new(Code::Unavailable, 503, "Still being sent", "The connection to the service is still open, so its answer may come yet. Nothing was settled. Try again when the call's time limit has passed."),
            Self::Unavailable => Problem::new(Code::Unavailable, 503, "Unavailable", "The desk cannot do this now. Nothing was done. Try again in a moment."),
        }
    }

    /// The call that the caller should ask about, where there is one (the header `Location`).
    pub const fn location(&self) -> Option<CallId> {
        match self {
            Self::IdempotencyInFlight(call) | Self::OutcomeUnknown(call) | Self::Held(call) => Some(*call),
            _ => None,
        }
    }

    /// Seconds after which a repeat is worth it (the header `Retry-After`).
    pub const fn retry_after(&self) -> Option<u32> {
        match self {
            Self::RateLimited { retry_after } => Some(*retry_after),
            Self::IdempotencyInFlight(_) | Self::StillSending | Self::Unavailable => Some(2),
            Self::Paused => Some(60),
            _ => None,
        }
    }
}

/// The call and where to poll it.
fn whereabouts(call: CallId) -> serde_json::Value {
    json!({ "call_id": call, "poll": format!("/v1/calls/{call}") })
}

/// What became of an answer whose body could not be taken in.
fn lost_detail(status: u16, why: LostBody) -> String {
    let why = match why {
        LostBody::LargerThan(limit) => format!("the body of its answer is larger than {limit} bytes"),
        LostBody::BrokeOff => "its answer broke off".to_owned(),
        LostBody::Streamed => "its answer went to the caller as it arrived and was not kept".to_owned(),
    };
    format!(
        "The service answered {status}, but {why}, so it is not passed on. What was asked has reached the service: do not send it again without its idempotency key."
    )
}

/// Why a passkey's answer is not taken, and what to do.
const fn passkey_detail(fault: PasskeyFault) -> &'static str {
    match fault {
        PasskeyFault::Unfit => {
            "The passkey's answer was not taken: it is for something else, was used before, is too old, or is of no passkey of yours. Nothing was done. Try again from this page."
        }
        PasskeyFault::WentBack => {
            "This passkey was not taken: it counts its signatures, and the count went back, as it does when there is a copy of it. Nothing was done. Use another passkey, and remove this one under Account."
        }
    }
}

/// What is wrong with a confirm token, and what to do.
const fn token_detail(fault: TokenFault) -> &'static str {
    match fault {
        TokenFault::Invalid => {
            "This confirm token cannot be used here. Nothing was done. Call without it to be asked anew."
        }
        TokenFault::OtherArguments => {
            "This confirm token was made for other arguments. Nothing was done. Repeat the arguments that were shown, or call without it."
        }
        TokenFault::Used => {
            "This confirm token was used before. Nothing more was done. Call without it to be asked anew."
        }
        TokenFault::Rejected => {
            "This confirm token was rejected. Nothing was done. Call without it to be asked anew."
        }
        TokenFault::Expired => {
            "This confirm token has lapsed. Nothing was done. Call without it to be asked anew."
        }
    }
}
