//! What the `OpenAPI` document says about answers: the problems of each endpoint, and answers of several shapes.
#![expect(dead_code, clippy::large_enum_variant, reason = "shapes for the document alone")]

use std::collections::BTreeMap;

use model::answer::{Done, DryRun, Prompt, Replayed, Waiting};
use model::{Problem, ProblemCode};
use serde_json::json;
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::problem::PROBLEM_JSON;

/// Done, answered from the receipt, or a dry run's preview.
#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum DoneOrPreview {
    /// Answered from the receipt; nothing was sent.
    Replayed(Replayed),
    /// It was done.
    Done(Done),
    /// What would be sent.
    Preview(DryRun),
}

/// Nothing has been done yet.
#[derive(serde::Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum PromptOrWaiting {
    /// The caller has to confirm.
    Prompt(Prompt),
    /// It waits.
    Waiting(Waiting),
}

/// The status that a problem of this kind has unless the action chose one.
const fn status_of(code: ProblemCode) -> u16 {
    use ProblemCode as Code;
    match code {
        Code::Malformed | Code::IdempotencyKeyInvalid => 400,
        Code::Unauthenticated => 401,
        Code::Denied | Code::Declined | Code::EgressBlocked | Code::StepUpRequired | Code::PasskeyRefused => {
            403
        }
        Code::NotFound => 404,
        Code::MethodNotAllowed => 405,
        Code::TooLarge => 413,
        Code::UnsupportedMediaType => 415,
        Code::Invalid => 422,
        Code::RateLimited => 429,
        Code::UpstreamUnreachable | Code::UpstreamFailed => 502,
        Code::Paused | Code::Unavailable => 503,
        _ => 409,
    }
}

/// One answer for each status, which lists the codes it may carry.
fn responses(codes: &[ProblemCode]) -> BTreeMap<String, RefOr<Response>> {
    let mut by_status: BTreeMap<u16, Vec<ProblemCode>> = BTreeMap::new();
    for code in codes {
        by_status.entry(status_of(*code)).or_default().push(*code);
    }
    by_status.iter().map(|(status, codes)| (status.to_string(), RefOr::T(response(codes)))).collect()
}

/// A problem document with one of these codes.
fn response(codes: &[ProblemCode]) -> Response {
    let words: Vec<_> = codes.iter().map(|code| format!("`{code}`")).collect();
    let values = codes.iter().map(|code| json!(code));
    let code = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(values));
    let code = ObjectBuilder::new().property("code", code);
    let schema = AllOfBuilder::new().item(Ref::from_schema_name(Problem::name())).item(code);
    let content = ContentBuilder::new().schema(Some(schema)).build();
    ResponseBuilder::new().description(words.join(", ")).content(PROBLEM_JSON, content).build()
}

/// Defines a set of problems that an endpoint may answer with.
macro_rules! problems {
    ($(#[$doc:meta])* $name:ident: $($code:ident),+ $(,)?) => {
        $(#[$doc])*
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                responses(&[$(ProblemCode::$code),+])
            }
        }
    };
}

problems! { /// Of a list.
ListProblems: Unauthenticated, Denied, Invalid, RateLimited, Unavailable }
problems! { /// Of one receipt.
ReceiptProblems: Unauthenticated, Denied, NotFound, RateLimited, Unavailable }
problems! { /// Of a call.
CallProblems: Malformed, Unauthenticated, Denied, Declined, EgressBlocked, NotFound, Refused,
IdempotencyKeyReused, IdempotencyInFlight, IdempotencyKeyForgotten, OutcomeUnknown, ConfirmTokenInvalid, Expired,
Withdrawn, TooLarge, UnsupportedMediaType, Invalid, RateLimited, UpstreamUnreachable, UpstreamFailed, Paused,
Unavailable }
problems! { /// Of a request that is passed on.
FetchProblems: Malformed, IdempotencyKeyInvalid, Unauthenticated, Declined, EgressBlocked, NotFound, Refused,
IdempotencyKeyReused, IdempotencyInFlight, IdempotencyKeyForgotten, OutcomeUnknown, Expired, Withdrawn, TooLarge,
UnsupportedMediaType, Invalid, RateLimited, UpstreamUnreachable, UpstreamFailed, Paused, Unavailable }
problems! { /// The same on via.
ViaProblems: Malformed, IdempotencyKeyInvalid, Unauthenticated, Declined, EgressBlocked, NotFound, Refused,
IdempotencyKeyReused, IdempotencyInFlight, IdempotencyKeyForgotten, OutcomeUnknown, Held, Expired, Withdrawn,
TooLarge, Invalid, RateLimited, UpstreamUnreachable, UpstreamFailed, Paused, Unavailable }
problems! { /// Of marking a session.
TaintProblems: Unauthenticated, Denied, NotFound, RateLimited, Unavailable }
problems! { /// Of asking how a call stands.
CallStatusProblems: Unauthenticated, NotFound, RateLimited, Unavailable }
problems! { /// Of taking a call back.
WithdrawProblems: Unauthenticated, NotFound, NotHeld, RateLimited, Unavailable }
problems! { /// Of rejecting a prompt.
RejectProblems: Unauthenticated, NotFound, Invalid, RateLimited, Unavailable }
problems! { /// Of deciding.
DecisionProblems: Malformed, Unauthenticated, Denied, StepUpRequired, EgressBlocked, NotFound, PreviewChanged, AlreadyDecided,
NotHeld, Expired, Withdrawn, Refused, TooLarge, UnsupportedMediaType, Invalid, RateLimited, UpstreamUnreachable,
UpstreamFailed, Paused, Unavailable }
problems! { /// Of taking a Confirm back.
UndoProblems: Unauthenticated, Denied, NotFound, AlreadyDecided, NotHeld, RateLimited, Unavailable }
problems! { /// Of a settlement.
SettlementProblems: Malformed, Unauthenticated, Denied, NotFound, AlreadyDecided, TooLarge, UnsupportedMediaType,
Invalid, RateLimited, Unavailable }
problems! { /// Of the newest checkpoint: there is none before the first was signed.
NoCheckpoint: NotFound, Unavailable }
problems! { /// Of the readiness probe.
NotReady: Unavailable }
