//! `POST /v1/fetch` and `/via`, through the engine: the same pipeline, with a request that the caller wrote.

mod desk;

use std::time::Duration;

use desk::{Behaviour, Desk, confirm, decline, keyed};
use engine::{Actor, Arrival, PageAsked, ReceiptFilter};
use model::answer::Waiting;
use model::passed::HeaderValues;
use model::{Answer, ApprovalKind, CallStatus, EventType, Outcome, Passed, Receipt, Refusal, Surface};
use serde_json::{Map, Value, json};

/// A request of the quick agent, or of another caller.
fn fetch(actor: Actor, desk: &Desk, credential: &str, method: &str, path: &str, more: Value) -> Arrival {
    let mut input = json!({
        "credential": credential,
        "method": method,
        "url": format!("http://{}{path}", desk.upstream.address()),
    });
    if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
        input.extend(more);
    }
    Arrival { surface: Surface::Fetch, ..desk::arrival(actor, "fetch", input) }
}

async fn quick(desk: &Desk, credential: &str, method: &str, path: &str, more: Value) -> Arrival {
    fetch(desk.actor(&desk.quick).await, desk, credential, method, path, more)
}

async fn careful(desk: &Desk, credential: &str, method: &str, path: &str, more: Value) -> Arrival {
    fetch(desk.actor(&desk.careful).await, desk, credential, method, path, more)
}

fn in_session(arrival: Arrival, session: &str) -> Arrival {
    Arrival { session: Some(session.to_owned()), ..arrival }
}

fn on_via(arrival: Arrival) -> Arrival {
    Arrival { surface: Surface::Via, action: "via".to_owned(), ..arrival }
}

async fn passed(desk: &Desk, arrival: Arrival) -> Passed {
    match desk.engine.call(arrival, None).await {
        Ok(Answer::Passed(passed)) => passed,
        other => panic!("not passed on: {other:?}"),
    }
}

async fn held(desk: &Desk, arrival: Arrival) -> Waiting {
    match desk.engine.call(arrival, None).await {
        Ok(Answer::Waiting(waiting)) => waiting,
        other => panic!("not held: {other:?}"),
    }
}

async fn receipts(desk: &Desk) -> Vec<Receipt> {
    let visitor = desk.visitor(&desk.ann).await;
    let page = desk.engine.receipts(&visitor, &ReceiptFilter::default(), &PageAsked::default()).await;
    page.expect("receipts").items
}

async fn preview(desk: &Desk, person: &model::Person) -> model::Preview {
    let page = desk.engine.approvals(&desk.decider(person).await, &PageAsked::default()).await;
    page.expect("a list").items.remove(0).preview
}

/// Ann confirms the newest call that waits for her.
async fn confirmed(desk: &Desk, waiting: &Waiting) -> model::Call {
    let version = preview(desk, &desk.ann).await.version;
    let ann = desk.decider(&desk.ann).await;
    desk.engine.decide(&ann, waiting.call_id, confirm(&version)).await.expect("recorded");
    let actor = Actor::Person(desk.visitor(&desk.ann).await);
    desk.engine.call_status(&actor, waiting.call_id, Some(Duration::from_secs(10))).await.expect("a status")
}

on_both! {
    async fn a_read_passes_and_leaves_no_receipt(desk: Desk) {
        let answer = passed(&desk, quick(&desk, "open", "GET", "/quota", json!({})).await).await;
        assert_eq!((answer.upstream.status, answer.receipt_id), (200, None));
        assert_eq!(answer.upstream.body.as_deref(), Some(r#"{"name":"Northwind","quota":5}"#));
        assert_eq!(answer.upstream.headers["content-type"], HeaderValues::One("application/json".to_owned()));
        let missing = passed(&desk, quick(&desk, "open", "GET", "/missing", json!({})).await).await;
        assert_eq!(missing.upstream.status, 404, "what the upstream says no to is an answer");
        assert!(receipts(&desk).await.is_empty());
    }
}

on_both! {
    async fn a_write_passes_with_a_receipt_and_exactly_as_written(desk: Desk) {
        let more = json!({
            "body": "hello",
            "headers": [
                { "name": "X-Twice", "value": "1" }, { "name": "X-Twice", "value": "2" },
                { "name": "Authorization", "value": "Bearer mine" }, { "name": "Cookie", "value": "a=b" },
                { "name": "Idempotency-Key", "value": "not-the-desks" },
            ],
        });
        let arrival = keyed(quick(&desk, "open", "POST", "/things?a=%20&b=1", more).await, "k1");
        let answer = passed(&desk, arrival).await;
        let writes = desk.upstream.writes();
        assert_eq!((writes.len(), writes[0].line.as_str(), writes[0].body.as_str()), (1, "POST /things?a=%20&b=1", "hello"));
        let head = writes[0].head.to_lowercase();
        assert!(head.contains("x-twice: 1\r\nx-twice: 2\r\n") && head.contains("idempotency-key: k1\r\n"), "{head}");
        assert!(!head.contains("mine") && !head.contains("cookie") && !head.contains("not-the-desks"), "{head}");
        let all = receipts(&desk).await;
        assert_eq!(Some(all[0].id), answer.receipt_id);
        assert_eq!((all[0].surface, all[0].action.as_str(), all[0].credential.as_deref()), (Surface::Fetch, "fetch", Some("open")));
        assert_eq!((all[0].approval.kind, all[0].outcome), (ApprovalKind::None, Outcome::Done));
        assert!(all[0].url.ends_with("/things"), "no query: {}", all[0].url);
    }
}

on_both! {
    async fn each_caller_takes_its_row(desk: Desk) {
        passed(&desk, careful(&desk, "open", "GET", "/quota", json!({})).await).await;
        let queued = held(&desk, careful(&desk, "open", "PUT", "/x", json!({ "body": "a" })).await).await;
        let max = Actor::Person(desk.visitor(&desk.max).await);
        let own = held(&desk, fetch(max, &desk, "open", "PUT", "/x", json!({ "body": "b" }))).await;
        let item = desk.engine.item(&desk.visitor(&desk.max).await, own.call_id).await.expect("storage");
        assert!(item.is_some_and(|item| item.may_decide), "a person's write is held for that person");
        let item = desk.engine.item(&desk.visitor(&desk.max).await, queued.call_id).await.expect("storage");
        assert!(item.is_none(), "the agent's waits for its owner");
        let nobody = fetch(Actor::Public { client: None }, &desk, "open", "GET", "/quota", json!({}));
        assert_eq!(desk.engine.call(nobody, None).await, Err(Refusal::Unauthenticated));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    async fn a_held_write_is_shown_whole_and_sent_once_when_confirmed(desk: Desk) {
        let arrival = careful(&desk, "open", "POST", "/messages?x=1", json!({ "body": "Invoice 1009", "headers": { "Cookie": "a" } })).await;
        let arrival = keyed(Arrival { reason: Some("The customer asked.".to_owned()), ..arrival }, "k1");
        let waiting = held(&desk, arrival.clone()).await;
        assert_eq!(desk.engine.call(arrival.clone(), None).await, Err(Refusal::IdempotencyInFlight(waiting.call_id)));
        let shown = preview(&desk, &desk.ann).await;
        assert_eq!(shown.title, format!("POST {}/messages", desk.upstream.address()));
        assert_eq!((shown.request.query.as_str(), shown.request.body.as_deref()), ("x=1", Some("Invoice 1009")));
        assert_eq!((shown.request.headers.len(), shown.agent_words.as_deref()), (0, Some("The customer asked.")));
        let call = confirmed(&desk, &waiting).await;
        assert_eq!((call.status, call.executed), (CallStatus::Done, Some(true)));
        assert_eq!(call.result.as_ref().map(|result| &result["status"]), Some(&json!(200)));
        let all = receipts(&desk).await;
        assert_eq!((all.len(), all[0].approval.kind, Some(all[0].id)), (1, ApprovalKind::Person, call.receipt_id));
        let Ok(Answer::Replayed(replay)) = desk.engine.call(arrival, None).await else { panic!("no replay") };
        assert_eq!((replay.receipt_id, replay.original_status, replay.result), (call.receipt_id, Some(200), None));
        assert_eq!(desk.upstream.writes().len(), 1);
        let visitor = desk.visitor(&desk.ann).await;
        let events = desk.engine.events(&visitor, &PageAsked::default()).await.expect("events");
        let types: Vec<_> = events.items.iter().rev().map(|event| event.r#type).collect();
        assert_eq!(types, [EventType::Held, EventType::Refused, EventType::Decided, EventType::Completed, EventType::Replayed]);
    }
}

on_both! {
    async fn a_credential_that_asks_for_it_holds_reads_too(desk: Desk) {
        let waiting = held(&desk, keyed(quick(&desk, "guarded", "GET", "/quota", json!({})).await, "k")).await;
        assert_eq!(preview(&desk, &desk.ann).await.warnings, ["Every request with this credential waits for a person."]);
        let call = confirmed(&desk, &waiting).await;
        assert_eq!(call.status, CallStatus::Done);
        let all = receipts(&desk).await;
        assert_eq!((all.len(), all[0].method.as_str(), all[0].approval.kind), (1, "GET", ApprovalKind::Person));
        let again = held(&desk, keyed(quick(&desk, "guarded", "GET", "/quota", json!({})).await, "k")).await;
        assert_ne!(again.call_id, waiting.call_id, "a read ignores the key");
        let ann = desk.decider(&desk.ann).await;
        desk.engine.decide(&ann, again.call_id, decline("No")).await.expect("recorded");
        let asked = desk.engine.call(quick(&desk, "guarded", "POST", "/x", json!({})).await, Some(Duration::from_millis(300))).await;
        assert!(matches!(asked, Ok(Answer::Waiting(_))), "{asked:?}");
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    async fn every_end_of_a_send(desk: Desk) {
        let write = async |key: &str, path: &str| keyed(quick(&desk, "open", "POST", path, json!({ "body": "x" })).await, key);
        desk.upstream.behave(Behaviour::Answer(422, r#"{"no":1}"#.to_owned()));
        let refused = passed(&desk, write("a", "/4xx").await).await;
        assert!(refused.upstream.status == 422 && refused.receipt_id.is_some(), "4xx is done");
        assert!(matches!(desk.engine.call(write("a", "/4xx").await, None).await, Ok(Answer::Replayed(replay)) if replay.original_status == Some(422)));
        desk.upstream.behave(Behaviour::Answer(503, "busy".to_owned()));
        assert_eq!(desk.engine.call(write("b", "/5xx").await, None).await, Err(Refusal::UpstreamFailed(Some(503))));
        desk.upstream.behave(Behaviour::Answer(201, "{}".to_owned()));
        assert_eq!(passed(&desk, write("b", "/5xx").await).await.upstream.status, 201, "the key was free");
        held(&desk, careful(&desk, "open", "POST", "/5xx", json!({ "body": "x" })).await).await;
        let warnings = preview(&desk, &desk.ann).await.warnings;
        assert!(warnings.iter().any(|warning| warning.ends_with("was tried within the last hour and failed.")), "{warnings:?}");
        desk.upstream.behave(Behaviour::Answer(504, "?".to_owned()));
        let doubt = desk.engine.call(write("c", "/504").await, None).await;
        assert!(matches!(doubt, Err(Refusal::OutcomeUnknown(_))), "{doubt:?}");
        assert_eq!(desk.engine.call(write("c", "/504").await, None).await, doubt, "never resent");
        desk.upstream.behave(Behaviour::Cut);
        let cut = desk.engine.call(write("d", "/cut").await, None).await;
        assert!(matches!(cut, Err(Refusal::OutcomeUnknown(_))), "{cut:?}");
        assert_eq!(desk.upstream.writes().len(), 5);
        let outcomes: Vec<_> = receipts(&desk).await.iter().map(|receipt| (receipt.upstream_status, receipt.outcome)).collect();
        let expected = [(None, Outcome::InDoubt), (Some(504), Outcome::InDoubt), (Some(201), Outcome::Done), (Some(422), Outcome::Done)];
        assert_eq!(outcomes, expected);
    }
}

on_both! {
    async fn a_key_belongs_to_the_person_and_the_credential(desk: Desk) {
        let first = keyed(quick(&desk, "open", "POST", "/a", json!({ "body": "x" })).await, "k");
        let receipt = passed(&desk, first).await.receipt_id;
        let same = keyed(careful(&desk, "open", "POST", "/a", json!({ "body_base64": "eA==" })).await, "k");
        let same = in_session(on_via(same), "another");
        assert!(matches!(desk.engine.call(same, None).await, Ok(Answer::Replayed(replay)) if replay.receipt_id == receipt));
        for more in [json!({ "body": "y" }), json!({ "body": "x", "method": "PUT" }), json!({ "body": "x", "url": format!("http://{}/a?q", desk.upstream.address()) })] {
            let other = keyed(quick(&desk, "open", "POST", "/a", more).await, "k");
            assert_eq!(desk.engine.call(other, None).await, Err(Refusal::IdempotencyKeyReused));
        }
        let action = keyed(desk.quick("note", json!({ "text": "x" })).await, "k");
        assert!(matches!(desk.engine.call(action, None).await, Ok(Answer::Done(_))), "another credential");
        let max = Actor::Person(desk.visitor(&desk.max).await);
        held(&desk, keyed(fetch(max, &desk, "open", "POST", "/a", json!({ "body": "x" })), "k")).await;
        assert_eq!(desk.upstream.writes().len(), 2);
    }
}

on_both! {
    async fn a_bad_key_is_told_first_and_bad_input_whole(desk: Desk) {
        for (method, keys) in [("POST", vec![""]), ("POST", vec!["a b"]), ("POST", vec!["a", "a"]), ("GET", vec!["a b"])] {
            let arrival = quick(&desk, "open", method, "/x", json!({ "unknown": 1 })).await;
            let arrival = Arrival { key_header: keys.into_iter().map(str::to_owned).collect(), ..arrival };
            assert_eq!(desk.engine.call(arrival, None).await, Err(Refusal::IdempotencyKeyInvalid));
        }
        let arrival = quick(&desk, "open", "POST", "/x", json!({ "dry_run": true, "body": 1, "headers": { "x": "a\nb" } })).await;
        let Err(Refusal::Invalid(errors)) = desk.engine.call(arrival, None).await else { panic!("not invalid") };
        assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>(), ["/body", "/dry_run", "/headers/x"], "every failing field at once");
        let arrival = quick(&desk, "open", "POST", "/x", json!({ "headers": { "x": "a\nb" } })).await;
        let Err(Refusal::Invalid(errors)) = desk.engine.call(arrival, None).await else { panic!("not invalid") };
        assert_eq!(errors[0].field, "/headers/x");
        let many: Map<String, Value> = (0..5_000).map(|n| (format!("x{n}"), json!("a\nb"))).collect();
        let flood = quick(&desk, "open", "POST", "/x", json!({ "headers": many })).await;
        let Err(Refusal::Invalid(errors)) = desk.engine.call(flood, None).await else { panic!("not invalid") };
        assert_eq!(errors.len(), 100, "a flood of faults is told in part");
        let nothing = Arrival { input: Map::new(), ..quick(&desk, "open", "POST", "/x", json!({})).await };
        let Err(Refusal::Invalid(errors)) = desk.engine.call(nothing, None).await else { panic!("not invalid") };
        assert_eq!(errors.len(), 3);
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM calls").await, 0);
    }
}

on_both! {
    async fn only_what_the_credential_allows_leaves(desk: Desk) {
        for (method, url) in [
            ("PATCH", format!("http://{}/x", desk.upstream.address())),
            ("TRACE", format!("http://{}/x", desk.upstream.address())),
            ("POST", "http://127.0.0.1:1/x".to_owned()),
            ("POST", format!("http://{}/a/../x", desk.upstream.address())),
            ("POST", format!("http://{}/a%2f..%2fx", desk.upstream.address())),
        ] {
            let arrival = quick(&desk, "open", method, "/x", json!({ "url": url })).await;
            let blocked = desk.engine.call(arrival, None).await;
            assert!(matches!(blocked, Err(Refusal::EgressBlocked(_))), "{method} {url}: {blocked:?}");
        }
        let large = quick(&desk, "open", "POST", "/x", json!({ "body": "x".repeat((1 << 20) + 1) })).await;
        assert_eq!(desk.engine.call(large, None).await, Err(Refusal::TooLarge(1 << 20)));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    async fn whoever_may_not_use_a_credential_does_not_find_it(desk: Desk) {
        let call = async |arrival| desk.engine.call(arrival, None).await;
        assert_eq!(call(quick(&desk, "none", "GET", "/quota", json!({})).await).await, Err(Refusal::NotFound));
        assert_eq!(call(quick(&desk, "grouped", "GET", "/quota", json!({})).await).await, Err(Refusal::NotFound));
        assert!(call(careful(&desk, "grouped", "GET", "/quota", json!({})).await).await.is_ok(), "by its name");
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
        assert!(call(quick(&desk, "grouped", "GET", "/quota", json!({})).await).await.is_ok(), "by its owner's group");
        for (toolset, found) in [(vec!["note".to_owned()], false), (vec!["fetch:open".to_owned()], true)] {
            let key = desk.agent_with(&format!("tools-{found}"), Some(toolset), None).await;
            let actor = desk.actor(&key).await;
            let answered = call(fetch(actor.clone(), &desk, "open", "GET", "/quota", json!({}))).await;
            assert_eq!(answered.is_ok(), found, "{answered:?}");
            assert_eq!(call(on_via(fetch(actor, &desk, "open", "GET", "/quota", json!({})))).await.is_ok(), found);
        }
    }
}

on_both! {
    async fn an_untrusted_read_taints_its_session_and_no_other(desk: Desk) {
        let write = async |session: &str| in_session(quick(&desk, "open", "POST", "/x", json!({ "body": session })).await, session);
        passed(&desk, in_session(quick(&desk, "open", "GET", "/quota", json!({})).await, "run-1")).await;
        passed(&desk, write("run-1").await).await;
        passed(&desk, in_session(quick(&desk, "mail", "GET", "/quota", json!({})).await, "run-1")).await;
        passed(&desk, in_session(quick(&desk, "mail", "GET", "/quota", json!({})).await, "run-1")).await;
        passed(&desk, write("run-2").await).await;
        let held_call = held(&desk, write("run-1").await).await;
        let warnings = preview(&desk, &desk.ann).await.warnings;
        assert!(warnings[0].starts_with("The agent has read something in this session"), "{warnings:?}");
        let other = in_session(careful(&desk, "open", "GET", "/quota", json!({})).await, "run-1");
        passed(&desk, other).await;
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM session_taints").await, 1, "sessions are per agent");
        let node = desk.second_node().await;
        assert!(matches!(node.call(write("run-1").await, None).await, Ok(Answer::Waiting(_))), "durable");
        assert_eq!(confirmed_first(&desk, &held_call).await, CallStatus::Done);
    }
}

on_both! {
    /// A preview may show what the dry run read.
    async fn a_dry_run_taints_like_any_other_read(desk: Desk) {
        let write = async || in_session(quick(&desk, "open", "POST", "/x", json!({})).await, "run-1");
        passed(&desk, write().await).await;
        let mail = desk.quick("send_mail", json!({ "to": "a@b.example", "body": "x", "dry_run": true })).await;
        let preview = desk.engine.call(in_session(mail, "run-1"), None).await;
        assert!(matches!(preview, Ok(Answer::Preview(_))), "{preview:?}");
        held(&desk, write().await).await;
    }
}

async fn confirmed_first(desk: &Desk, waiting: &Waiting) -> CallStatus {
    let ann = desk.decider(&desk.ann).await;
    let page = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list");
    let item = page.items.iter().find(|item| item.call.id == waiting.call_id).expect("it waits");
    desk.engine.decide(&ann, waiting.call_id, confirm(&item.preview.version)).await.expect("recorded");
    let actor = Actor::Person(desk.visitor(&desk.ann).await);
    let wait = Some(Duration::from_secs(10));
    desk.engine.call_status(&actor, waiting.call_id, wait).await.expect("a status").status
}

on_both! {
    async fn an_agent_marks_its_own_session(desk: Desk) {
        let actor = desk.actor(&desk.quick).await;
        assert_eq!(desk.engine.taint_session(&actor, "run-1").await, Ok(()));
        assert_eq!(desk.engine.taint_session(&actor, "run-1").await, Ok(()), "twice is once");
        held(&desk, in_session(quick(&desk, "open", "POST", "/x", json!({})).await, "run-1")).await;
        passed(&desk, in_session(quick(&desk, "open", "POST", "/x", json!({})).await, "run-2")).await;
        let action = Arrival { session: Some("run-1".to_owned()), ..desk.quick("note", json!({ "text": "x" })).await };
        assert!(matches!(desk.engine.call(action, None).await, Ok(Answer::Done(_))), "actions follow the table alone");
        for name in ["", "two words", &"x".repeat(129)] {
            assert_eq!(desk.engine.taint_session(&actor, name).await, Err(Refusal::NotFound));
        }
        let person = Actor::Person(desk.visitor(&desk.ann).await);
        assert_eq!(desk.engine.taint_session(&person, "run-1").await, Err(Refusal::Denied));
        let key = desk.agent_with("bound", None, Some("only".to_owned())).await;
        let bound = desk.actor(&key).await;
        assert_eq!(desk.engine.taint_session(&bound, "run-1").await, Err(Refusal::NotFound));
        assert_eq!(desk.engine.taint_session(&bound, "only").await, Ok(()));
        held(&desk, in_session(fetch(bound, &desk, "open", "POST", "/x", json!({})), "elsewhere")).await;
    }
}

on_both! {
    async fn via_passes_the_upstreams_failures_on(desk: Desk) {
        desk.upstream.behave(Behaviour::Answer(503, "busy".to_owned()));
        let answer = passed(&desk, on_via(quick(&desk, "open", "POST", "/x", json!({})).await)).await;
        assert_eq!((answer.upstream.status, answer.upstream.body.as_deref(), answer.receipt_id), (503, Some("busy"), None));
        assert!(receipts(&desk).await.is_empty());
        let (engine, arrival) = (desk.engine.clone(), on_via(quick(&desk, "guarded", "POST", "/x", json!({})).await));
        let waiting_agent = tokio::spawn(async move { engine.call(arrival, Some(Duration::from_secs(20))).await });
        let ann = desk.decider(&desk.ann).await;
        let (id, version) = loop {
            let page = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list");
            if let Some(held) = page.items.first() {
                break (held.call.id, held.preview.version.clone());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        desk.engine.decide(&ann, id, confirm(&version)).await.expect("recorded");
        let answer = waiting_agent.await.expect("no panic");
        assert!(matches!(&answer, Ok(Answer::Passed(passed)) if passed.upstream.status == 503), "{answer:?}");
    }
}

on_both! {
    async fn a_held_request_is_checked_again_when_it_is_confirmed(desk: Desk) {
        let waiting = held(&desk, careful(&desk, "grouped", "POST", "/x", json!({})).await).await;
        let version = preview(&desk, &desk.ann).await.version;
        assert_eq!(desk.engine.revoke_agent("careful").await, Ok(true));
        let ann = desk.decider(&desk.ann).await;
        assert_eq!(desk.engine.decide(&ann, waiting.call_id, confirm(&version)).await, Err(Refusal::Withdrawn));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    async fn a_request_that_carries_a_secret_is_looked_at(desk: Desk) {
        let token = format!("gh{}_{}", "p", "a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6");
        let body = json!({ "config": { "token": token } }).to_string();
        held(&desk, quick(&desk, "open", "POST", "/x", json!({ "body": body })).await).await;
        let shown = preview(&desk, &desk.ann).await;
        assert_eq!(shown.warnings, ["The request may carry a secret: a GitHub token in the body, at /config/token."]);
        held(&desk, quick(&desk, "open", "GET", &format!("/quota?q={token}"), json!({})).await).await;
        assert!(desk.upstream.writes().is_empty());
    }
}
