//! Problem documents (RFC 9457).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::words::words;

words! {
    /// What kind of problem it is, for programs.
    ProblemCode {
        /// 401
        Unauthenticated = "unauthenticated",
        /// 403
        Denied = "denied",
        /// 403: to confirm this takes a passkey, in the browser (`context.approve_url`).
        StepUpRequired = "step_up_required",
        /// 403: the passkey's answer does not fit. On the desk's pages alone.
        PasskeyRefused = "passkey_refused",
        /// 403: a person said no.
        Declined = "declined",
        /// 404
        NotFound = "not_found",
        /// 405
        MethodNotAllowed = "method_not_allowed",
        /// 409, or the action's own status.
        Refused = "refused",
        /// 422
        Invalid = "invalid",
        /// 400: not JSON, not an object.
        Malformed = "malformed",
        /// 413
        TooLarge = "too_large",
        /// 415
        UnsupportedMediaType = "unsupported_media_type",
        /// 429
        RateLimited = "rate_limited",
        /// 400, on fetch and via.
        IdempotencyKeyInvalid = "idempotency_key_invalid",
        /// 409: the key was used for another request.
        IdempotencyKeyReused = "idempotency_key_reused",
        /// 409: the first request with the key has not ended.
        IdempotencyInFlight = "idempotency_in_flight",
        /// 409: the key was used, and its receipt has passed its retention.
        IdempotencyKeyForgotten = "idempotency_key_forgotten",
        /// 409: nobody knows whether it happened.
        OutcomeUnknown = "outcome_unknown",
        /// 409
        ConfirmTokenInvalid = "confirm_token_invalid",
        /// 409
        PreviewChanged = "preview_changed",
        /// 409
        AlreadyDecided = "already_decided",
        /// 409
        NotHeld = "not_held",
        /// 409
        Expired = "expired",
        /// 409
        Withdrawn = "withdrawn",
        /// 409, on via alone: it waits for a person.
        Held = "held",
        /// 503
        Paused = "paused",
        /// 403
        EgressBlocked = "egress_blocked",
        /// 502
        UpstreamUnreachable = "upstream_unreachable",
        /// 502
        UpstreamFailed = "upstream_failed",
        /// 503
        Unavailable = "unavailable",
    }
}

/// A problem document. `detail` says what happened, what was or was not done, and what to do next; it never repeats a
/// caller's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// A URI that names the kind of problem.
    pub r#type: String,
    /// The kind of problem in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened, what was or was not done, and what to do next.
    pub detail: String,
    /// The kind of problem for programs.
    pub code: ProblemCode,
    /// Every field that is at fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// Facts that go with the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub context: Option<Value>,
}

impl Problem {
    /// A problem of this kind; the URI follows from the code.
    pub fn new(code: ProblemCode, status: u16, title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            r#type: format!("urn:countersign:problem:{code}"),
            title: title.into(),
            status,
            detail: detail.into(),
            code,
            errors: Vec::new(),
            context: None,
        }
    }

    /// The same problem with facts that go with its code.
    #[must_use]
    pub fn with_context(mut self, context: Value) -> Self {
        self.context = Some(context);
        self
    }
}

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// A JSON Pointer into the input (RFC 6901); empty for the input as a whole.
    pub field: String,
    /// A sentence for people that never repeats the caller's value.
    pub message: String,
}

impl FieldError {
    /// What is wrong with the field at this JSON Pointer.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}
