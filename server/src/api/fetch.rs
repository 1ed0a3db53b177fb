//! `POST /v1/fetch`: a request that the caller writes, sent with a credential it never sees.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use engine::{Arrival, Engine};
use http::HeaderMap;
use model::answer::{Replayed, Waiting};
use model::{Answer, Passed, ReceiptId, Refusal, Surface};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::actions::{LONGEST_WAIT, note_replay, render};
use super::bearer::Caller;
use super::body;
use super::call_headers::{self, CallHeaders};
use super::documented::FetchProblems;
use super::prefer::Wait;
use super::strict_json;
use crate::problem::Rejected;

/// What a request may need around its body: address, headers and JSON.
const AROUND_BODY: usize = 256 * 1024;

/// A request for the desk to send: a shape for the document alone. The pipeline reads the input, and tells every fault.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchRequest {
    /// The credential whose secret is put in.
    credential: String,
    /// The method, in capitals. GET, HEAD, OPTIONS and QUERY read; everything else is a write.
    method: String,
    /// The address, written exactly as it is to be sent.
    url: String,
    /// An object of names and values (a list of values where one header comes several times), or a list of
    /// `{"name","value"}` where the order counts.
    #[schema(value_type = Option<Object>)]
    headers: Option<Value>,
    /// The body, when it is text.
    body: Option<String>,
    /// The body, when it is not.
    body_base64: Option<String>,
    /// Why the agent wants this. Shown to the person as the agent's own words.
    reason: Option<String>,
}

/// The request was sent before: this is its receipt. Nothing was sent now.
#[derive(Serialize, ToSchema)]
pub(crate) struct FetchReplayed {
    /// `true`.
    replayed: bool,
    /// The first request's receipt.
    receipt_id: Option<ReceiptId>,
    /// What the upstream answered then; `null` when a person settled it.
    original_status: Option<u16>,
    /// The same.
    status: Option<u16>,
}

/// What came back, or the receipt of the first time.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a shape for the document alone")]
pub(crate) enum PassedOrReplayed {
    /// The upstream answered.
    Passed(Passed),
    /// Answered from the receipt.
    Replayed(FetchReplayed),
}

/// Send a request with a credential.
///
/// The secret is put in last; it never comes back. What the upstream answers below 500 is the answer. A write is held
/// where the caller's key or the credential asks for it, where the request holds something shaped like a secret, and
/// where the agent's session has read something nobody vouches for.
#[utoipa::path(
    post, path = "/fetch", operation_id = "fetch", tag = "broker",
    params(
        ("Prefer" = Option<String>, Header, description = "`wait=N` holds the answer for up to N ≤ 300 seconds until a person has decided (RFC 7240)."),
        ("Idempotency-Key" = Option<String>, Header, description = "1 to 128 visible ASCII characters, bare or as a quoted string. Belongs to the person and the credential. A repeat of a write with the same key is answered from the receipt and never sent again."),
        ("Countersign-Session" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$", description = "The agent's own run, 1 to 128 visible characters."),
        ("Countersign-Tenant" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$", description = "The tenant the call is for."),
        ("Countersign-Reason" = Option<String>, Header, pattern = "^([ -$&-~]|%[2-9A-Fa-f][0-9A-Fa-f])*$", description = "The same as `reason`; the body's counts."),
    ),
    request_body(content = FetchRequest, content_type = "application/json"),
    responses(
        (status = 200, description = "The upstream's answer, or the receipt of the first time.", body = PassedOrReplayed, headers(
            ("Countersign-Replayed" = Option<String>, description = "`true` when it was answered from the receipt."),
            ("Countersign-Receipt" = Option<String>, description = "The receipt it was answered from."),
            ("Idempotent-Replayed" = Option<String>, description = "`true` when it was answered from the receipt."),
            ("Preference-Applied" = Option<String>, description = "The wait that was kept."),
        )),
        (status = 202, description = "Nothing has been done: it waits for a person.", body = Waiting, headers(
            ("Location" = Option<String>, description = "Where to ask how the call stands."),
            ("Retry-After" = Option<u32>, description = "Seconds until it is worth asking."),
            ("Preference-Applied" = Option<String>, description = "The wait that was kept."),
        )),
        FetchProblems,
    ),
)]
pub(crate) async fn fetch(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Rejected> {
    let CallHeaders { keys: key_header, session, tenant, reason } = CallHeaders::read(&headers)?;
    let wait = Wait::asked(&headers, LONGEST_WAIT);
    // The coded body is larger than the body; the pipeline judges the body itself.
    let limit = engine.catalogue().server.request_limit.saturating_mul(2).saturating_add(AROUND_BODY);
    let mut input = strict_json::object(&body::json_up_to(request, limit).await?)?;
    // A field that says nothing is not there.
    input.retain(|_, value| !value.is_null());
    let reason = own_reason(&mut input)?.or(reason);
    let (surface, action) = (Surface::Fetch, Surface::Fetch.to_string());
    let arrival = Arrival { actor, surface, action, input, key_header, session, tenant, reason };
    let answer = engine.call(arrival, wait.map(Wait::duration)).await?;
    let mut response = told(&answer);
    if let Some(wait) = wait {
        wait.note(response.headers_mut());
    }
    Ok(response)
}

/// Takes the agent's reason out of the input: it is no part of the request.
fn own_reason(input: &mut Map<String, Value>) -> Result<Option<String>, Refusal> {
    match input.remove("reason") {
        None => Ok(None),
        Some(Value::String(text)) => call_headers::words(&text, || {
            Refusal::invalid(
                "/reason",
                "The reason takes at most 2000 characters, without control characters.",
            )
        }),
        Some(_) => Err(Refusal::invalid("/reason", "This has to be a text.")),
    }
}

fn told(answer: &Answer) -> Response {
    match answer {
        Answer::Passed(passed) => Json(passed).into_response(),
        Answer::Replayed(replayed) => {
            let mut response = Json(FetchReplayed::of(replayed)).into_response();
            note_replay(replayed, response.headers_mut());
            response
        }
        other => render(other),
    }
}

impl FetchReplayed {
    /// The same in the form that fetch and via tell it.
    pub(crate) fn of(replayed: &Replayed) -> Self {
        Self {
            replayed: true,
            receipt_id: replayed.receipt_id,
            original_status: replayed.original_status,
            status: replayed.original_status,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::demo::testing::{Desk, SECRET};

    fn request(desk: &Desk, method: &str, path: &str) -> Value {
        json!({ "credential": "odd", "method": method, "url": desk.odd_url(path) })
    }

    #[tokio::test]
    async fn an_answer_comes_back_less_what_must_not() {
        let desk = Desk::open().await;
        let mut input = request(&desk, "POST", "/echo/x?y=1");
        input["headers"] = json!({ "X-Mine": ["1", "2"], "Authorization": "Bearer mine" });
        input["body_base64"] = json!("AP8=");
        input["body"] = Value::Null;
        let told = desk.ask("POST", "/v1/fetch").token(desk.quick()).json(&input).ok(200).await;
        assert_eq!(
            (&told.body["status"], &told.body["headers"]["x-twice"]),
            (&json!(418), &json!(["1", "2"]))
        );
        assert!(told.body["headers"].get("set-cookie").is_none());
        assert!(told.body["receipt_id"].as_str().is_some_and(|id| id.starts_with("rct_")));
        let echo: Value = serde_json::from_str(told.body["body"].as_str().expect("text")).expect("JSON");
        assert_eq!((&echo["uri"], &echo["bytes"]), (&json!("/echo/x?y=1"), &json!(2)));
        let all = String::from_utf8_lossy(&told.bytes);
        assert!(!all.contains(SECRET) && !all.contains("Bearer mine"), "{all}");
        let read = desk.ask("POST", "/v1/fetch").token(desk.quick()).json(&request(&desk, "GET", "/echo/x"));
        assert_eq!(read.ok(200).await.body["receipt_id"], Value::Null);
    }

    #[tokio::test]
    async fn a_write_that_waits_says_where_and_carries_the_agents_words() {
        let desk = Desk::open().await;
        let mut input = request(&desk, "PUT", "/answer/201");
        input["reason"] = json!("The customer asked.");
        let ask = desk.ask("POST", "/v1/fetch").token(desk.careful()).header("prefer", "wait=1");
        let told = ask.json(&input).ok(202).await;
        let place = told.headers["location"].to_str().expect("text").to_owned();
        assert_eq!(
            (&told.body["status"], told.body["poll"].as_str()),
            (&json!("held"), Some(place.as_str()))
        );
        assert_eq!(told.headers["preference-applied"], "wait=1");
        let list = desk.get("/v1/approvals", desk.ann()).ok(200).await;
        assert_eq!(list.body["items"][0]["preview"]["agent_words"], "The customer asked.");
        let decision = json!({ "decision": "decline", "reason": "No" });
        desk.ask("POST", &format!("{place}/decision")).token(desk.ann()).json(&decision).ok(200).await;
        assert_eq!(desk.get(&place, desk.careful()).ok(200).await.body["status"], "declined");
    }

    #[tokio::test]
    async fn what_is_refused() {
        let desk = Desk::open().await;
        let ask = || desk.ask("POST", "/v1/fetch").token(desk.quick());
        let write = |path: &str| request(&desk, "POST", path);
        ask().json(&write("/answer/503")).refused(502, "upstream_failed").await;
        ask().json(&write("/hang-up")).refused(409, "outcome_unknown").await;
        ask()
            .json(&json!({ "credential": "none", "method": "GET", "url": "https://a.example/" }))
            .refused(404, "not_found")
            .await;
        ask()
            .json(&json!({ "credential": "odd", "method": "GET", "url": "https://a.example/" }))
            .refused(403, "egress_blocked")
            .await;
        ask()
            .json(&json!({ "credential": "odd", "method": "GET", "url": "http://127.0.0.1:1/" }))
            .refused(502, "upstream_unreachable")
            .await;
        ask()
            .header("idempotency-key", "a b")
            .json(&write("/answer/200"))
            .refused(400, "idempotency_key_invalid")
            .await;
        ask()
            .header("idempotency-key", "a")
            .header("idempotency-key", "a")
            .json(&write("/answer/200"))
            .refused(400, "idempotency_key_invalid")
            .await;
        ask().raw(b"{}".to_vec()).refused(415, "unsupported_media_type").await;
        for (field, value) in [
            ("reason", json!(1)),
            ("reason", json!("a\u{7}")),
            ("colour", json!(1)),
            ("headers", json!({ "a b": "c" })),
        ] {
            let mut input = write("/answer/200");
            input[field] = value;
            let told = ask().json(&input).refused(422, "invalid").await;
            assert!(
                told.body["errors"][0]["field"]
                    .as_str()
                    .is_some_and(|at| at.starts_with(&format!("/{field}"))),
                "{told:?}"
            );
        }
        let mut input = write("/answer/200");
        input["body"] = json!("x".repeat((1 << 20) + 1));
        ask().json(&input).refused(413, "too_large").await;
    }
}
