//! `/v1/actions`: what a caller may call, and the call itself.

use axum::Json;
use axum::extract::{OriginalUri, State};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use engine::{Arrival, Engine, PageAsked};
use http::header::{HeaderName, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use model::answer::Replayed;
use model::{Answer, Listing, OfferedAction, Refusal, Surface};

use super::bearer::Caller;
use super::body::JsonObject;
use super::call_headers::{self, CallHeaders};
use super::documented::{CallProblems, DoneOrPreview, ListProblems, PromptOrWaiting};
use super::list_answer::list_answer;
use super::path_id::PathId;
use super::prefer::Wait;
use super::query::Query;
use crate::problem::Rejected;

/// The longest a call waits for a person, in seconds.
const LONGEST_WAIT: u64 = 300;

/// When it is worth asking again about a call that waits, in seconds.
const ASK_AGAIN: u16 = 5;

/// The actions this caller would be offered now.
///
/// Built for the caller by every check that needs no input. Without `limit` all of them are on one page.
#[utoipa::path(
    get, path = "/actions", operation_id = "listActions", tag = "actions",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "The most items of a page."),
        ("cursor" = Option<String>, Query, description = "The `next_cursor` of the page before."),
        ("Countersign-Tenant" = Option<String>, Header, description = "The tenant the actions are for."),
    ),
    responses(
        (status = 200, description = "The actions, in the order of the catalogue.", body = Listing<OfferedAction>,
         headers(("Link" = String, description = "`rel=\"next\"`, when there is another page."))),
        ListProblems,
    ),
)]
pub(crate) async fn list(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, Rejected> {
    let mut query = Query::of(uri.query());
    let page = query.page();
    query.finish()?;
    let tenant = call_headers::tenant(&headers)?;
    let offered = engine.offered(&actor, Surface::Api, tenant.as_deref()).await?;
    Ok(list_answer(&uri, paged(offered, &page)?))
}

/// One page of the actions. The cursor names the last action of the page before.
fn paged(offered: Vec<OfferedAction>, page: &PageAsked) -> Result<Listing<OfferedAction>, Refusal> {
    let start = match &page.cursor {
        None => 0,
        Some(cursor) => 1 + position(&offered, cursor).ok_or_else(unknown_cursor)?,
    };
    let most = page.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let more = offered.len().saturating_sub(start) > most;
    let items: Vec<_> = offered.into_iter().skip(start).take(most).collect();
    let last = items.last().filter(|_| more);
    let next_cursor = last.map(|action| BASE64_URL_SAFE_NO_PAD.encode(&action.name));
    Ok(Listing { items, next_cursor })
}

fn position(offered: &[OfferedAction], cursor: &str) -> Option<usize> {
    let name = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?;
    offered.iter().position(|action| action.name.as_bytes() == name)
}

fn unknown_cursor() -> Refusal {
    Refusal::invalid("/cursor", "This cursor is not one that this list gave. Start without it.")
}

/// Call an action.
///
/// The body is the input object, the control fields `dry_run`, `confirm_token` and `idempotency_key` included. An
/// action that is public needs no token.
#[utoipa::path(
    post, path = "/actions/{name}", operation_id = "callAction", tag = "actions",
    params(
        ("name" = String, Path, description = "The action's name."),
        ("Prefer" = Option<String>, Header, description = "`wait=N` holds the answer for up to N ≤ 300 seconds until a person has decided (RFC 7240)."),
        ("Idempotency-Key" = Option<String>, Header, description = "1 to 128 visible ASCII characters, bare or as a quoted string. A repeat with the same key is answered from the receipt and never sent again."),
        ("Countersign-Session" = Option<String>, Header, description = "The agent's own run, 1 to 128 visible characters."),
        ("Countersign-Tenant" = Option<String>, Header, description = "The tenant the call is for."),
        ("Countersign-Client" = Option<String>, Header, description = "16 to 128 visible characters that name a caller without a token: the scope of its idempotency keys."),
        ("Countersign-Reason" = Option<String>, Header, description = "Why the agent wants this, at most 2000 characters of UTF-8, percent-encoded where needed. Shown to the person as the agent's own words."),
    ),
    request_body(content = Object, description = "The input, as the action's `input_schema` says.", content_type = "application/json"),
    responses(
        (status = 200, description = "Done, answered from the receipt, or a preview.", body = DoneOrPreview, headers(
            ("Countersign-Replayed" = Option<String>, description = "`true` when it was answered from the receipt."),
            ("Countersign-Receipt" = Option<String>, description = "The receipt it was answered from."),
            ("Idempotent-Replayed" = Option<String>, description = "`true` when it was answered from the receipt."),
            ("Preference-Applied" = Option<String>, description = "The wait that was kept."),
        )),
        (status = 202, description = "Nothing has been done: it waits for a person or in the queue, or the caller has to confirm.", body = PromptOrWaiting, headers(
            ("Location" = Option<String>, description = "Where to ask how the call stands."),
            ("Retry-After" = Option<u32>, description = "Seconds until it is worth asking."),
            ("Preference-Applied" = Option<String>, description = "The wait that was kept."),
        )),
        CallProblems,
    ),
    security(("bearer" = []), ()),
)]
pub(crate) async fn call(
    State(engine): State<Engine>,
    Caller(actor): Caller,
    PathId(action): PathId<String>,
    headers: HeaderMap,
    JsonObject(input): JsonObject,
) -> Result<Response, Rejected> {
    let CallHeaders { keys: key_header, session, tenant, reason } = CallHeaders::read(&headers)?;
    let wait = Wait::asked(&headers, LONGEST_WAIT);
    let arrival =
        Arrival { actor, surface: Surface::Api, action, input, key_header, session, tenant, reason };
    let answer = engine.call(arrival, wait.map(Wait::duration)).await?;
    let mut response = render(&answer);
    if let Some(wait) = wait {
        wait.note(response.headers_mut());
    }
    Ok(response)
}

/// An answer with the status and headers that go with it.
fn render(answer: &Answer) -> Response {
    let status = match answer {
        Answer::Done(_) | Answer::Replayed(_) | Answer::Preview(_) => StatusCode::OK,
        Answer::Prompt(_) | Answer::Waiting(_) => StatusCode::ACCEPTED,
    };
    let mut response = (status, Json(answer)).into_response();
    let headers = response.headers_mut();
    match answer {
        Answer::Replayed(replayed) => note_replay(replayed, headers),
        Answer::Waiting(waiting) => {
            if let Ok(value) = HeaderValue::from_str(&waiting.poll) {
                headers.insert(LOCATION, value);
            }
            headers.insert(RETRY_AFTER, HeaderValue::from(ASK_AGAIN));
        }
        Answer::Done(_) | Answer::Preview(_) | Answer::Prompt(_) => {}
    }
    response
}

/// Says that nothing was sent this time, and which receipt answered.
fn note_replay(replayed: &Replayed, headers: &mut HeaderMap) {
    let yes = HeaderValue::from_static("true");
    headers.insert(HeaderName::from_static("countersign-replayed"), yes.clone());
    headers.insert(HeaderName::from_static("idempotent-replayed"), yes);
    if let Some(value) = replayed.receipt_id.and_then(|id| HeaderValue::from_str(&id.to_string()).ok()) {
        headers.insert(HeaderName::from_static("countersign-receipt"), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::answer::{DoneStatus, Waiting, WaitingStatus};
    use model::{Effect, action::Annotations};

    fn offered(names: &[&str]) -> Vec<OfferedAction> {
        let action = |name: &&str| OfferedAction {
            name: (*name).to_owned(),
            title: String::new(),
            description: String::new(),
            effect: Effect::Read,
            input_schema: serde_json::Value::Null,
            annotations: Annotations::of(Effect::Read, true),
        };
        names.iter().map(action).collect()
    }

    #[test]
    fn actions_come_in_pages_that_join_up() {
        let names = |listing: &Listing<OfferedAction>| {
            listing.items.iter().map(|action| action.name.clone()).collect::<Vec<_>>()
        };
        let all = paged(offered(&["a", "b", "c"]), &PageAsked::default()).expect("a page");
        assert_eq!((names(&all).len(), all.next_cursor), (3, None));
        let first = PageAsked { limit: Some(2), cursor: None };
        let first = paged(offered(&["a", "b", "c"]), &first).expect("a page");
        assert_eq!(names(&first), ["a", "b"]);
        let second = PageAsked { limit: Some(2), cursor: first.next_cursor };
        let second = paged(offered(&["a", "b", "c"]), &second).expect("a page");
        assert_eq!((names(&second), second.next_cursor), (vec!["c".to_owned()], None));
    }

    #[test]
    fn a_cursor_from_elsewhere_is_invalid() {
        for cursor in ["%%%", "Yg", ""] {
            let page = PageAsked { limit: None, cursor: Some(cursor.to_owned()) };
            assert!(matches!(paged(offered(&["a"]), &page), Err(Refusal::Invalid(_))), "{cursor}");
        }
    }

    #[test]
    fn a_held_call_says_where_to_ask() {
        let call_id = "call_01h455vb4pex5vsknk084sn02q".parse().expect("an id");
        let response = render(&Answer::Waiting(Waiting {
            status: WaitingStatus::Held,
            executed: false,
            call_id,
            approve_url: String::new(),
            poll: format!("/v1/calls/{call_id}"),
            expires_at: None,
            message: String::new(),
        }));
        assert_eq!(response.status(), 202);
        assert_eq!(response.headers()[LOCATION], format!("/v1/calls/{call_id}"));
        assert_eq!(response.headers()[RETRY_AFTER], "5");
    }

    #[test]
    fn a_replay_says_so_in_its_headers() {
        let receipt_id = "rct_01h455vb4pex5vsknk084sn02q".parse().ok();
        let response = render(&Answer::Replayed(Replayed {
            replayed: true,
            receipt_id,
            original_status: Some(201),
            status: DoneStatus::Done,
            result: None,
        }));
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["countersign-replayed"], "true");
        assert_eq!(response.headers()["idempotent-replayed"], "true");
        assert_eq!(response.headers()["countersign-receipt"], "rct_01h455vb4pex5vsknk084sn02q");
    }
}
