//! A refusal as an HTTP answer: a problem document (RFC 9457).

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use model::{Problem, ProblemCode, Refusal};

/// The media type of a problem document.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// A refusal on its way to the caller.
#[derive(Debug)]
pub(crate) struct Rejected(pub(crate) Refusal);

impl From<Refusal> for Rejected {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl IntoResponse for Rejected {
    fn into_response(self) -> Response {
        let mut response = document(&self.0.problem());
        let headers = response.headers_mut();
        if matches!(self.0, Refusal::Unauthenticated) {
            // The same challenge whether a token was missing, garbled or unknown (RFC 6750, section 3).
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"countersign\""));
        }
        if let Some(call) = self.0.location()
            && let Ok(value) = HeaderValue::from_str(&format!("/v1/calls/{call}"))
        {
            headers.insert(LOCATION, value);
        }
        if let Some(seconds) = self.0.retry_after() {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// What is answered when the desk's own code panicked: nothing is claimed about what was done.
pub(crate) fn panicked() -> Response {
    let detail = "The desk met a fault of its own. What was asked may or may not have been done: look the call up, or \
                  repeat it with the same idempotency key.";
    document(&Problem::new(ProblemCode::Unavailable, 500, "Fault of the desk", detail))
}

/// Marks an answer that is somebody else's, or meant for a program that knows somebody else: it stays as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpokenElsewhere;

/// The bare document with its status.
fn document(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::CONFLICT);
    let body = serde_json::to_vec(problem).unwrap_or_default();
    (status, [(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON))], body).into_response()
}

/// Nothing is found at this path.
pub(crate) async fn not_found() -> Rejected {
    Rejected(Refusal::NotFound)
}

/// The path does not take this method. The router adds `Allow`.
pub(crate) async fn method_not_allowed() -> Rejected {
    Rejected(Refusal::MethodNotAllowed)
}

/// Tells programs as programs are told: an error page goes to those alone who asked for pages.
pub(crate) async fn instead_of_pages(request: Request, next: Next) -> Response {
    let wants_page =
        |value: &HeaderValue| value.to_str().is_ok_and(|accepted| accepted.contains("text/html"));
    let wants_page = request.headers().get_all(ACCEPT).iter().any(wants_page);
    let response = next.run(request).await;
    if response.extensions().get::<SpokenElsewhere>().is_some() {
        return response;
    }
    // MCP too answers programs in JSON, with errors of its own form.
    let is_told = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == PROBLEM_JSON || kind == "application/json");
    let refusal = match response.status() {
        StatusCode::NOT_FOUND => Refusal::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => Refusal::MethodNotAllowed,
        _ => return response,
    };
    if wants_page || is_told {
        return response;
    }
    let mut told = Rejected(refusal).into_response();
    if let Some(allow) = response.headers().get(ALLOW) {
        told.headers_mut().insert(ALLOW, allow.clone());
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CallId;

    #[test]
    fn a_missing_token_is_challenged() {
        let response = Rejected(Refusal::Unauthenticated).into_response();
        assert_eq!(response.status(), 401);
        assert_eq!(response.headers()[WWW_AUTHENTICATE], "Bearer realm=\"countersign\"");
        assert_eq!(response.headers()[CONTENT_TYPE], PROBLEM_JSON);
    }

    #[test]
    fn a_call_in_flight_is_pointed_at() {
        let call: CallId = "call_01h455vb4pex5vsknk084sn02q".parse().expect("an id");
        let response = Rejected(Refusal::IdempotencyInFlight(call)).into_response();
        assert_eq!(response.status(), 409);
        assert_eq!(response.headers()[LOCATION], format!("/v1/calls/{call}"));
        assert_eq!(response.headers()[RETRY_AFTER], "2");
    }

    #[test]
    fn a_refusal_takes_the_status_the_action_chose() {
        let refusal = Refusal::Refused { status: 423, message: None, upstream_status: None };
        assert_eq!(Rejected(refusal).into_response().status(), 423);
    }
}
