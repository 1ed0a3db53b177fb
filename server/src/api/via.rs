//! `/via/{credential}/{path}`: the broker for programs that know their own service alone. They change the base URL and
//! the key; method, path, query, headers and body go on as they came.

mod address;
mod desk_key;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::catalogue::raw_request;
use engine::streams::{Answering, Streamed};
use engine::{Arrival, Engine};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};
use model::{Answer, Passed, ReceiptId, Refusal, Surface};

use self::address::Address;
use super::actions::note_replay;
use super::body;
use super::call_headers::CallHeaders;
use super::documented::ViaProblems;
use super::fetch::FetchReplayed;
use crate::problem::{Rejected, SpokenElsewhere};

/// Where it is mounted. The rest is read as it was written.
pub(crate) const ROUTE: &str = "/via/{*rest}";

/// Pass a request on to a service.
///
/// Every method is taken, not this one alone. The request goes to the credential's `base_url`, with its query, its
/// headers and its body, and the service's own answer comes back, also when it failed. The desk's key may come as
/// `Authorization: Bearer`, as the user of `Authorization: Basic`, or in the credential's own header. While a person is
/// asked it waits up to `via_wait`; then it answers 409 `held`, so that nobody takes it for success.
#[utoipa::path(
    post, path = "/via/{credential}/{path}", operation_id = "via", tag = "broker",
    params(
        ("credential" = String, Path, description = "The credential, which has a `base_url`."),
        ("path" = String, Path, description = "The path below the `base_url`, and the query, as the service takes them."),
        ("Idempotency-Key" = Option<String>, Header, description = "1 to 128 visible ASCII characters, bare or as a quoted string. A repeat of a write with the same key is answered from the receipt and never sent again."),
        ("Countersign-Session" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$", description = "The agent's own run, 1 to 128 visible characters."),
        ("Countersign-Tenant" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$", description = "The tenant the call is for."),
        ("Countersign-Reason" = Option<String>, Header, pattern = "^([ -$&-~]|%[2-9A-Fa-f][0-9A-Fa-f])*$", description = "Why the agent wants this, percent-encoded where needed."),
    ),
    responses(
        (status = 200, description = "What the service answered: its own status, whatever it is, its headers and its body. From the receipt: the recorded status.", headers(
            ("Countersign-Receipt" = Option<String>, description = "The receipt, where there is one."),
            ("Countersign-Replayed" = Option<String>, description = "`true` when it was answered from the receipt."),
        )),
        ViaProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn pass_on(State(engine): State<Engine>, request: Request) -> Response {
    let mut response = match answered(&engine, request).await {
        Ok(response) => response,
        Err(rejected) => rejected.into_response(),
    };
    let headers = response.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    // A service's page is no page of the desk, though it comes from its address: beside whatever policy the service
    // itself has, it gets an origin of its own and runs nothing.
    headers.append(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    // Whatever this says, a page instead of it would be wrong.
    response.extensions_mut().insert(SpokenElsewhere);
    response
}

async fn answered(engine: &Engine, request: Request) -> Result<Response, Rejected> {
    let (parts, body) = request.into_parts();
    let address = Address::of(&parts.uri);
    let credential = engine.catalogue().credential(&address.credential).cloned();
    let key = desk_key::of(&parts.headers, credential.as_deref()).ok_or(Refusal::Unauthenticated)?;
    let actor = engine.authenticate(&key.text).await?;
    if key.in_own_header && !engine.catalogue().lets_pass_on(Surface::Via, &address.credential, &actor) {
        // Where there is no such credential nobody would have looked for a key in that header.
        return Err(Refusal::Unauthenticated.into());
    }
    let CallHeaders { keys: key_header, session, tenant, reason } = CallHeaders::read(&parts.headers)?;
    let (limit, wait) = {
        let settings = &engine.catalogue().server;
        (settings.request_limit, settings.via_wait)
    };
    let body = body::bytes(&parts.headers, body, limit).await?;
    // Only now, so that a credential that is not there is told like one that the caller may not use.
    let url = engine.catalogue().via_address(&address.credential, &address.tail);
    let Some(url) = url else {
        engine.refuse_paused(&actor).await?;
        return Err(Refusal::NotFound.into());
    };
    let headers = for_the_service(parts.headers);
    let input = raw_request::arguments(&address.credential, &parts.method, &url, &headers, &body);
    let (surface, action) = (Surface::Via, Surface::Via.to_string());
    let arrival = Arrival { actor, surface, action, input, key_header, session, tenant, reason };
    let answer = match engine.call_streamed(arrival, Some(wait)).await? {
        Answering::Streamed(streamed) => return Ok(streamed_on(streamed)?),
        Answering::Whole(answer) => *answer,
    };
    match answer {
        Answer::Passed(passed) => Ok(passed_on(&passed)?),
        Answer::Replayed(replayed) => {
            let status = replayed.original_status.and_then(|status| StatusCode::from_u16(status).ok());
            let mut response =
                (status.unwrap_or(StatusCode::OK), Json(FetchReplayed::of(&replayed))).into_response();
            note_replay(&replayed, response.headers_mut());
            Ok(response)
        }
        Answer::Waiting(waiting) => Err(Refusal::Held(waiting.call_id).into()),
        Answer::Done(_) | Answer::Preview(_) | Answer::Prompt(_) => Err(Refusal::Unavailable.into()),
    }
}

/// The headers without those that speak to the desk.
fn for_the_service(mut headers: HeaderMap) -> HeaderMap {
    let own: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with("countersign-")).cloned().collect();
    for name in own {
        headers.remove(name);
    }
    headers
}

/// The service's answer, its body as it arrives.
fn streamed_on(streamed: Streamed) -> Result<Response, Refusal> {
    let Streamed { status, headers, receipt_id, body } = streamed;
    let pieces = futures::stream::unfold(body, |mut body| async { Some((body.recv().await?, body)) });
    let mut response = Response::new(Body::from_stream(pieces));
    *response.status_mut() = StatusCode::from_u16(status).map_err(|_| Refusal::Unavailable)?;
    *response.headers_mut() = headers;
    note_receipt(receipt_id, response.headers_mut());
    Ok(response)
}

fn note_receipt(receipt: Option<ReceiptId>, headers: &mut HeaderMap) {
    if let Some(value) = receipt.and_then(|id| HeaderValue::from_str(&id.to_string()).ok()) {
        headers.insert(HeaderName::from_static("countersign-receipt"), value);
    }
}

/// The service's answer that was kept, as it was.
fn passed_on(passed: &Passed) -> Result<Response, Refusal> {
    let upstream = &passed.upstream;
    let body = match (&upstream.body, &upstream.body_base64) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(coded)) => BASE64_STANDARD.decode(coded).map_err(|_| Refusal::Unavailable)?,
        (None, None) => Vec::new(),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(upstream.status).map_err(|_| Refusal::Unavailable)?;
    let headers = response.headers_mut();
    for (name, values) in &upstream.headers {
        let Ok(name) = HeaderName::try_from(name.as_str()) else { continue };
        for value in values.all() {
            if let Ok(value) =
                HeaderValue::from_str(value).or_else(|_| HeaderValue::from_bytes(value.as_bytes()))
            {
                headers.append(name.clone(), value);
            }
        }
    }
    note_receipt(passed.receipt_id, headers);
    Ok(response)
}

#[cfg(test)]
mod tests;
