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
use super::prefer::{self, Wait};
use super::query::Query;
use crate::problem::Rejected;

/// The longest a call waits for a person, in seconds.
pub(super) const LONGEST_WAIT: u64 = 300;

/// When it is worth asking again about a call that waits, in seconds.
const ASK_AGAIN: u16 = 5;

/// The actions this caller would be offered now.
///
/// Built for the caller by every check that needs no input.
#[utoipa::path(
    get, path = "/actions", operation_id = "listActions", tag = "actions",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "The most items of a page; 50 when it is not given."),
        ("cursor" = Option<String>, Query, min_length = 1, max_length = 1000, description = "The `next_cursor` of the page before."),
        ("Countersign-Tenant" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$", description = "The tenant the actions are for."),
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
    let most = page.limit.unwrap_or(Listing::<OfferedAction>::DEFAULT_LIMIT) as usize;
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
        ("Prefer" = Option<String>, Header, description = "`respond-async` puts the call into the durable queue: it is answered `queued` and run later. `wait=N` holds the answer for up to N ≤ 300 seconds until the call has ended (RFC 7240). Both together queue the call and wait for its end."),
        ("Idempotency-Key" = Option<String>, Header, description = "1 to 128 visible ASCII characters, bare or as a quoted string. A repeat with the same key is answered from the receipt and never sent again."),
        ("Countersign-Session" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$", description = "The agent's own run, 1 to 128 visible characters."),
        ("Countersign-Tenant" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$", description = "The tenant the call is for."),
        ("Countersign-Client" = Option<String>, Header, min_length = 16, max_length = 128, pattern = "^[!-~]+$", description = "16 to 128 visible characters that name a caller without a token: the scope of its idempotency keys."),
        ("Countersign-Reason" = Option<String>, Header, pattern = "^([ -$&-~]|%[2-9A-Fa-f][0-9A-Fa-f])*$", description = "Why the agent wants this, at most 2000 characters of UTF-8, percent-encoded where needed. Shown to the person as the agent's own words."),
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
            ("Preference-Applied" = Option<String>, description = "The preferences that were kept."),
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
    let respond_async = prefer::respond_async(&headers);
    let surface = if respond_async { Surface::Queue } else { Surface::Api };
    let arrival = Arrival { actor, surface, action, input, key_header, session, tenant, reason };
    let answer = engine.call(arrival, wait.map(Wait::duration)).await?;
    let mut response = render(&answer);
    // A prompt, a preview and a replay are answered at once: then nothing was put off.
    let put_off = respond_async && matches!(answer, Answer::Waiting(_));
    prefer::note(response.headers_mut(), put_off, wait);
    Ok(response)
}

/// An answer with the status and headers that go with it.
pub(super) fn render(answer: &Answer) -> Response {
    let status = match answer {
        Answer::Done(_) | Answer::Passed(_) | Answer::Replayed(_) | Answer::Preview(_) => StatusCode::OK,
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
        Answer::Done(_) | Answer::Passed(_) | Answer::Preview(_) | Answer::Prompt(_) => {}
    }
    response
}

/// Says that nothing was sent this time, and which receipt answered.
pub(super) fn note_replay(replayed: &Replayed, headers: &mut HeaderMap) {
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
    use crate::demo::testing::Desk;
    use model::answer::{DoneStatus, Waiting, WaitingStatus};
    use model::{Effect, action::Annotations};
    use serde_json::{Value, json};
    use std::time::Duration;

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

    /// Section 4: lists have 50 items a page unless the caller says otherwise.
    #[test]
    fn a_page_of_actions_has_fifty_unless_more_are_asked_for() {
        let names: Vec<_> = (0..60).map(|number| format!("action_{number}")).collect();
        let all: Vec<_> = names.iter().map(String::as_str).collect();
        let first = paged(offered(&all), &PageAsked::default()).expect("a page");
        assert_eq!(first.items.len(), 50);
        let rest = PageAsked { limit: None, cursor: first.next_cursor };
        assert_eq!(paged(offered(&all), &rest).expect("a page").items.len(), 10);
        let more = PageAsked { limit: Some(60), cursor: None };
        assert_eq!(paged(offered(&all), &more).expect("a page").items.len(), 60);
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

    #[tokio::test]
    async fn the_list_is_the_callers_own() {
        let desk = Desk::open().await;
        let told = desk.get("/v1/actions", desk.quick()).ok(200).await;
        let items = told.body["items"].as_array().expect("items");
        let names: Vec<_> = items.iter().filter_map(|item| item["name"].as_str()).collect();
        assert!(names.contains(&"send_mail") && !names.contains(&"denied"), "{names:?}");
        assert_eq!(told.body["next_cursor"], Value::Null);
        let first = desk.get("/v1/actions?limit=1", desk.quick()).ok(200).await;
        let link = first.headers["link"].to_str().expect("text").to_owned();
        let next = link.trim_start_matches('<').split('>').next().expect("an address").to_owned();
        let second = desk.get(&next, desk.quick()).ok(200).await;
        assert_eq!(second.body["items"][0]["name"], names[1]);
    }

    #[tokio::test]
    async fn a_call_is_queued_and_told_where_it_stands() {
        let desk = Desk::open().await;
        let input = json!({ "ticket": "T-101", "state": "closed" });
        let call = |key: &str| {
            let ask = desk.call("move_ticket", desk.quick(), &input);
            ask.header("prefer", "respond-async").header("idempotency-key", key)
        };
        let told = call("k1").ok(202).await;
        assert_eq!((&told.body["status"], &told.body["executed"]), (&json!("queued"), &json!(false)));
        assert!(told.body["message"].as_str().is_some_and(|text| text.starts_with("Nothing has been done.")));
        let place = told.body["poll"].as_str().expect("a path").to_owned();
        assert_eq!(told.headers["location"], place.as_str());
        assert_eq!(
            (&told.headers["preference-applied"], &told.headers["retry-after"]),
            (&"respond-async".parse().expect("text"), &"5".parse().expect("text"))
        );
        let flying = call("k1").refused(409, "idempotency_in_flight").await;
        assert_eq!(flying.headers["location"], place.as_str());
        assert_eq!(desk.get(&place, desk.quick()).ok(200).await.body["status"], "queued");
        desk.ask("DELETE", &place).token(desk.quick()).refused(409, "not_held").await;
        let jobs = desk.engine.start_jobs();
        let done = desk.get(&place, desk.quick()).header("prefer", "wait=30").ok(200).await;
        assert_eq!((&done.body["status"], &done.body["surface"]), (&json!("done"), &json!("queue")));
        let again = call("k1").ok(200).await;
        assert_eq!(again.headers["countersign-receipt"], done.body["receipt_id"].as_str().expect("an id"));
        let waited = call("k2").header("prefer", "wait=30").ok(200).await;
        assert_eq!(
            (&waited.body["status"], &waited.headers["preference-applied"]),
            (&json!("done"), &"wait=30".parse().expect("text"))
        );
        let prompt = desk.call(
            "send_mail",
            desk.quick(),
            &json!({ "to": "bo@customers.test", "subject": "s", "body": "b" }),
        );
        let prompt = prompt.header("prefer", "respond-async").ok(202).await;
        assert_eq!(
            (&prompt.body["status"], prompt.headers.get("preference-applied")),
            (&json!("confirmation_required"), None)
        );
        assert_eq!(desk.upstream().await["writes_received"], 2);
        jobs.stop().await;
    }

    #[tokio::test]
    async fn a_read_passes_and_a_preview_changes_nothing() {
        let desk = Desk::open().await;
        let read = desk.call("list_tickets", desk.careful(), &json!({})).ok(200).await;
        assert_eq!((&read.body["status"], &read.body["executed"]), (&json!("done"), &json!(true)));
        let input = json!({ "ticket": "T-101", "state": "closed", "dry_run": true });
        let preview = desk.call("move_ticket", desk.quick(), &input).ok(200).await;
        assert_eq!(preview.body["status"], "preview");
        assert_eq!(preview.body["preview"]["fields"][0]["before"], "open");
        assert_eq!(desk.upstream().await["writes_received"], 0);
    }

    #[tokio::test]
    async fn a_dangerous_call_is_prompted_for_and_its_token_redeemed() {
        let desk = Desk::open().await;
        let mut input = json!({ "to": "bo@customers.test", "subject": "s", "body": "b" });
        let prompt = desk.call("send_mail", desk.quick(), &input).ok(202).await;
        assert_eq!(prompt.body["status"], "confirmation_required");
        input["confirm_token"] = prompt.body["confirm_token"].clone();
        desk.call("send_mail", desk.careful(), &input).refused(409, "confirm_token_invalid").await;
        let done = desk.call("send_mail", desk.quick(), &input).ok(200).await;
        assert_eq!(done.body["reply"], "The mail is queued as M-1.");
        let used = desk.call("send_mail", desk.quick(), &input).refused(409, "confirm_token_invalid").await;
        assert_eq!(used.body["context"]["reason"], "used");
        assert_eq!(desk.upstream().await["writes_received"], 1);
    }

    #[tokio::test]
    async fn a_held_call_is_pointed_at_and_its_reason_shown_as_the_agents_words() {
        let desk = Desk::open().await;
        let ask = desk.call("move_ticket", desk.careful(), &json!({ "ticket": "T-101", "state": "closed" }));
        let told = ask.header("countersign-reason", "caf%C3%A9").header("prefer", "wait=1").ok(202).await;
        assert_eq!(told.body["status"], "held");
        assert_eq!(told.headers["location"], told.body["poll"].as_str().expect("a path"));
        assert_eq!(told.headers["preference-applied"], "wait=1");
        assert!(told.headers.contains_key("retry-after"));
        let list = desk.get("/v1/approvals", desk.ann()).ok(200).await;
        assert_eq!(list.body["items"][0]["preview"]["agent_words"], "café");
    }

    #[tokio::test]
    async fn a_repeat_with_its_key_is_answered_from_the_receipt() {
        let desk = Desk::open().await;
        let call = |state: &str, key: &str| {
            let input = json!({ "ticket": "T-101", "state": state });
            desk.call("move_ticket", desk.quick(), &input).header("idempotency-key", key)
        };
        let first = call("closed", "k1").ok(200).await;
        let again = call("closed", "\"k1\"").ok(200).await;
        assert_eq!(again.body["replayed"], true);
        assert_eq!(again.body["result"], first.body["result"]);
        assert_eq!(again.headers["countersign-replayed"], "true");
        assert_eq!(again.headers["idempotent-replayed"], "true");
        assert_eq!(
            again.headers["countersign-receipt"],
            first.body["receipt_id"].as_str().expect("a receipt")
        );
        call("open", "k1").refused(409, "idempotency_key_reused").await;
        let doubled = call("open", "k2").header("idempotency-key", "k2").refused(422, "invalid").await;
        assert_eq!(doubled.body["errors"][0]["field"], "/idempotency_key");
        call("open", "").refused(422, "invalid").await;
        call("open", "kéy").refused(422, "invalid").await;
        assert_eq!(desk.upstream().await["writes_received"], 1);
    }

    #[tokio::test]
    async fn a_repeat_of_a_call_that_waits_is_pointed_at_it() {
        let desk = Desk::open().await;
        let call = || {
            let input = json!({ "ticket": "T-101", "state": "closed" });
            desk.call("move_ticket", desk.careful(), &input).header("idempotency-key", "k")
        };
        let held = call().ok(202).await;
        let told = call().refused(409, "idempotency_in_flight").await;
        assert_eq!(told.headers["location"], held.headers["location"]);
        assert!(told.headers.contains_key("retry-after"));
    }

    #[tokio::test]
    async fn what_is_wrong_with_an_input_is_told_at_once() {
        let desk = Desk::open().await;
        let input = json!({ "ticket": "X", "state": 1, "colour": "red" });
        let told = desk.call("move_ticket", desk.careful(), &input).refused(422, "invalid").await;
        let fields: Vec<_> = told.body["errors"]
            .as_array()
            .expect("errors")
            .iter()
            .map(|error| error["field"].clone())
            .collect();
        assert_eq!(fields.len(), 3, "{fields:?}");
        assert!(!told.body.to_string().contains("red"));
        let nul = json!({ "ticket": "T-10\u{0}", "state": "open" });
        desk.call("move_ticket", desk.careful(), &nul).refused(422, "invalid").await;
        desk.call("move_ticket", desk.careful(), &json!({})).refused(422, "invalid").await;
    }

    #[tokio::test]
    async fn headers_out_of_form_are_refused() {
        let desk = Desk::open().await;
        let input = json!({ "ticket": "T-101", "state": "closed" });
        for (name, value) in [
            ("countersign-session", "two words"),
            ("countersign-tenant", ""),
            ("countersign-reason", "line%0Abreak"),
        ] {
            desk.call("move_ticket", desk.quick(), &input).header(name, value).refused(422, "invalid").await;
        }
        assert_eq!(desk.upstream().await["writes_received"], 0);
    }

    #[tokio::test]
    async fn what_the_upstream_does_is_told() {
        let desk = Desk::open().await;
        let answer_with = |status: u16| desk.call("answer_with", desk.quick(), &json!({ "status": status }));
        answer_with(204).ok(200).await;
        let refused = answer_with(418).refused(409, "refused").await;
        assert_eq!(refused.body["context"]["upstream_status"], 418);
        let failed = answer_with(503).refused(502, "upstream_failed").await;
        assert_eq!(failed.body["context"]["upstream_status"], 503);
        desk.call("dial_nobody", desk.quick(), &json!({})).refused(502, "upstream_unreachable").await;
        let unknown = desk.call("hang_up", desk.quick(), &json!({})).refused(409, "outcome_unknown").await;
        assert!(unknown.headers.contains_key("location"));
        desk.call("denied", desk.quick(), &json!({})).refused(403, "denied").await;
        let gone = json!({ "ticket": "T-999", "state": "open" });
        let mapped = desk.call("move_ticket", desk.quick(), &gone).refused(422, "invalid").await;
        assert_eq!(mapped.body["errors"][0]["field"], "/ticket");
    }

    #[tokio::test]
    async fn a_public_action_needs_no_token_and_takes_no_wrong_one() {
        let desk = Desk::open().await;
        let call = || desk.ask("POST", "/v1/actions/open_tickets").json(&json!({}));
        assert_eq!(call().ok(200).await.body["status"], "done");
        call().header("countersign-client", "sixteen-letters!").ok(200).await;
        call().header("countersign-client", "short").refused(422, "invalid").await;
        call().token("csk_wrong").refused(401, "unauthenticated").await;
    }

    #[tokio::test]
    async fn a_call_that_is_withdrawn_while_it_waits_is_told_so() {
        let desk = Desk::open().await;
        let input = json!({ "ticket": "T-101", "state": "closed" });
        let call = desk.call("move_ticket", desk.careful(), &input).header("prefer", "wait=20").send();
        let withdraw = async {
            let id = loop {
                let list = desk.get("/v1/approvals", desk.ann()).ok(200).await.body;
                match list["items"][0]["id"].as_str() {
                    Some(id) => break id.to_owned(),
                    None => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            };
            desk.ask("DELETE", &format!("/v1/calls/{id}")).token(desk.ann()).ok(200).await
        };
        let (told, _) = tokio::join!(call, withdraw);
        assert_eq!((told.status, &told.body["code"]), (409, &json!("withdrawn")));
    }

    #[tokio::test]
    async fn at_a_shutdown_whoever_waits_is_answered_with_what_is_known() {
        let desk = Desk::open().await;
        desk.engine.stop_waiting();
        let input = json!({ "ticket": "T-101", "state": "closed" });
        let call = desk.call("move_ticket", desk.careful(), &input).header("prefer", "wait=300").send();
        let told = tokio::time::timeout(Duration::from_secs(10), call).await.expect("an answer in time");
        assert_eq!((told.status, &told.body["status"]), (202, &json!("held")));
    }

    #[tokio::test]
    async fn an_agent_may_have_so_many_calls_open() {
        let desk = Desk::open().await;
        let mut told = Vec::new();
        for number in 0..=crate::demo::testing::MAX_HELD {
            let input = json!({ "to": "bo@customers.test", "subject": number.to_string(), "body": "b" });
            told.push(desk.call("send_mail", desk.careful(), &input).send().await);
        }
        let last = told.pop().expect("answers");
        assert!(told.iter().all(|told| told.status == 202));
        assert_eq!((last.status, &last.body["code"]), (429, &json!("rate_limited")));
        assert!(last.headers.contains_key("retry-after"));
    }
}
