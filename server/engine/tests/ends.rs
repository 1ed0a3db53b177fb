//! Section 7, "What a send can end as", for actions; and the one event that every end leaves.

mod desk;

use std::collections::BTreeSet;
use std::time::Duration;

use desk::{Behaviour, Desk, decline, keyed, with};
use engine::{Arrival, PageAsked, PersonActor};
use model::{Answer, CallId, CallStatus, EventType, Outcome, Refusal, Surface};
use serde_json::{Value, json};

fn mail() -> Value {
    json!({ "to": "a@b.example", "body": "text" })
}

/// A keyed call of the careful agent that waits for Ann.
async fn held(desk: &Desk, key: &str) -> CallId {
    desk.held(keyed(desk.careful("send_mail", mail()).await, key)).await
}

/// The same, confirmed, while the upstream behaves like this.
async fn sent(desk: &Desk, key: &str, behaviour: Behaviour) -> CallId {
    let id = held(desk, key).await;
    desk.upstream.behave(behaviour);
    desk.confirms(&desk.ann, id).await.expect("recorded");
    desk.ended(id).await;
    id
}

fn answer(status: u16) -> Behaviour {
    Behaviour::Answer(status, r#"{"id":"m1"}"#.to_owned())
}

on_both! {
    /// Seed, step 12, and section 4: "ending, exactly one per call": each end of a held call leaves its own event.
    async fn every_end_has_its_event(desk: Desk) {
        use EventType::{Decided, Held};
        let (ann, careful) = (desk.decider(&desk.ann).await, desk.actor(&desk.careful).await);
        let declined = held(&desk, "declined").await;
        desk.engine.decide(&ann, declined, decline("no")).await.expect("recorded");
        let withdrawn = held(&desk, "withdrawn").await;
        desk.engine.withdraw(&careful, withdrawn).await.expect("withdrawn");
        let ends = [
            (sent(&desk, "done", answer(200)).await, vec![Held, Decided, EventType::Completed]),
            (sent(&desk, "refused", answer(422)).await, vec![Held, Decided, EventType::Refused]),
            (sent(&desk, "failed", answer(503)).await, vec![Held, Decided, EventType::Failed]),
            (sent(&desk, "in_doubt", Behaviour::Cut).await, vec![Held, Decided, EventType::InDoubt]),
            (declined, vec![Held, Decided, EventType::Declined]),
            (withdrawn, vec![Held, EventType::Withdrawn]),
        ];
        for (id, types) in ends {
            assert_eq!(desk.events_of(id).await, types);
        }
        let expired = held(&desk, "expired").await;
        desk.pass(24 * 3_600 + 1);
        desk.engine.expire_calls().await.expect("the job runs");
        assert_eq!(desk.events_of(expired).await, [Held, EventType::Expired]);
    }
}

on_both! {
    /// The same for calls that nobody holds: one event each, of a refused step, a prompt, a preview, a failed send, and a
    /// replay.
    async fn every_call_that_passed_the_door_has_one_ending_event(desk: Desk) {
        let last = async || {
            let olga = desk.visitor(&desk.olga).await;
            let page = desk.engine.events(&olga, &PageAsked { limit: Some(500), cursor: None }).await.expect("events");
            (page.items.len(), page.items[0].r#type, page.items[0].upstream_status)
        };
        let note = async |key: &str| keyed(desk.quick("note", json!({ "text": "x" })).await, key);
        desk.engine.call(desk.quick("nothing", json!({})).await, None).await.expect_err("no such action");
        desk.engine.call(desk.quick("denied", json!({})).await, None).await.expect_err("denied");
        assert_eq!(last().await, (1, EventType::Refused, None), "what did not pass the door has none");
        desk.engine.call(desk.quick("send_mail", mail()).await, None).await.expect("a prompt");
        assert_eq!(last().await, (2, EventType::Refused, None));
        desk.engine.call(with(note("p").await, "dry_run", json!(true)), None).await.expect("a preview");
        assert_eq!(last().await.0, 3);
        desk.upstream.behave(answer(503));
        desk.engine.call(note("k").await, None).await.expect_err("503");
        assert_eq!(last().await, (4, EventType::Failed, Some(503)));
        desk.upstream.behave(answer(200));
        desk.engine.call(note("k").await, None).await.expect("done");
        assert_eq!(last().await, (5, EventType::Completed, Some(200)));
        desk.engine.call(note("k").await, None).await.expect("a replay");
        assert_eq!(last().await, (6, EventType::Replayed, Some(200)));
    }
}

on_both! {
    /// Section 4, `call.undone`: an undone Confirm has its event and is no end.
    async fn an_undone_confirm_has_its_event(desk: Desk) {
        let id = desk.held(desk.careful("undoable", json!({ "to": "a" })).await).await;
        desk.confirms(&desk.ann, id).await.expect("recorded");
        desk.engine.undo(&desk.decider(&desk.ann).await, id).await.expect("undone");
        assert_eq!(desk.events_of(id).await, [EventType::Held, EventType::Decided, EventType::Undone]);
    }
}

/// An action whose credential says that a 504 tells nothing.
const DOUBTFUL: &str = r#"
[[action]]
name = "doubtful"
title = "Doubtful"
description = "A 504 tells nothing."
effect = "write"
credential = "open"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/messages" }
preview = { title = "x" }
"#;

on_both! {
    /// Section 7: "a status in `in_doubt_on`" of an action: in doubt, with a receipt, and the key is kept.
    async fn a_status_that_tells_nothing_is_in_doubt(desk: Desk) {
        desk.reload_with(DOUBTFUL);
        desk.upstream.behave(answer(504));
        let call = async || desk.engine.call(keyed(desk.quick("doubtful", json!({})).await, "k"), None).await;
        let Err(Refusal::OutcomeUnknown(id)) = call().await else { panic!("not in doubt") };
        assert_eq!(desk.ended(id).await.status, CallStatus::InDoubt);
        let receipts = desk.receipts().await;
        assert_eq!((receipts.len(), receipts[0].outcome, receipts[0].upstream_status), (1, Outcome::InDoubt, Some(504)));
        desk.upstream.behave(answer(200));
        assert_eq!(call().await, Err(Refusal::OutcomeUnknown(id)), "never resent");
        assert_eq!(desk.upstream.writes().len(), 1);
        // Any other failure of the same upstream did not happen.
        desk.upstream.behave(answer(503));
        let other = desk.engine.call(keyed(desk.quick("doubtful", json!({})).await, "other"), None).await;
        assert_eq!(other, Err(Refusal::UpstreamFailed(Some(503))));
    }
}

on_both! {
    /// Section 7: after a 5xx "the next try is asked about again and shows the earlier attempt".
    async fn the_next_try_shows_the_one_that_failed(desk: Desk) {
        let first = sent(&desk, "k", answer(503)).await;
        let call = desk.ended(first).await;
        assert_eq!((call.status, call.receipt_id, call.attempts[0].upstream_status), (CallStatus::Failed, None, Some(503)));
        let again = held(&desk, "k").await;
        let warnings = desk.preview(&desk.ann, again).await.warnings;
        assert_eq!(warnings, ["The same call, with the same arguments, was tried within the last hour and failed."]);
    }
}

on_both! {
    /// Section 7: "Response bodies are capped … 502 with a clear detail": the write was done, its receipt says so, and
    /// its key is kept.
    async fn an_answer_that_is_too_large_is_lost_and_the_write_is_not(desk: Desk) {
        let url = format!("http://{}/messages", desk.upstream.address());
        let input = json!({ "credential": "open", "method": "POST", "url": url, "body": "x" });
        let fetch = async || keyed(Arrival { surface: Surface::Fetch, ..desk.quick("fetch", input.clone()).await }, "k");
        let large = format!("\"{}\"", "x".repeat(10 << 20));
        desk.upstream.behave(Behaviour::Answer(200, large));
        let lost = desk.engine.call(fetch().await, None).await;
        let Err(Refusal::AnswerLost { upstream_status: 200, receipt: Some(receipt), .. }) = lost else { panic!("{lost:?}") };
        assert_eq!(desk.receipts().await[0].id, receipt);
        let again = desk.engine.call(fetch().await, None).await;
        assert!(matches!(&again, Ok(Answer::Replayed(replay)) if replay.receipt_id == Some(receipt)), "{again:?}");
        let note = desk.engine.call(desk.quick("note", json!({ "text": "x" })).await, None).await;
        assert!(matches!(&note, Ok(Answer::Done(done)) if done.result == Value::Null && done.receipt_id.is_some()), "{note:?}");
        assert_eq!(desk.upstream.writes().len(), 2);
    }
}

on_both! {
    /// Seed, finish: "Never raises: the handler has already run, so a store that fails (a database hiccup) is logged and
    /// the answer is sent anyway": here the record is made once the database is back.
    async fn a_database_that_is_away_after_the_send_loses_nothing(desk: Desk) {
        desk.upstream.behave(Behaviour::Wait);
        let (engine, arrival) = (desk.engine.clone(), keyed(desk.quick("note", json!({ "text": "x" })).await, "k"));
        let caller = tokio::spawn(async move { engine.call(arrival, None).await });
        desk.upstream.until_writes(1).await;
        desk.database.run("ALTER TABLE receipts RENAME TO receipts_away").await.expect("away");
        desk.upstream.release();
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM calls WHERE state = 'sending'").await, 1, "nothing half recorded");
        desk.database.run("ALTER TABLE receipts_away RENAME TO receipts").await.expect("back");
        let answer = caller.await.expect("no panic");
        assert!(matches!(&answer, Ok(Answer::Done(done)) if done.receipt_id.is_some()), "{answer:?}");
        assert_eq!((desk.receipts().await.len(), desk.upstream.writes().len()), (1, 1));
    }
}

on_both! {
    /// Seed, release: "Called when the request is refused: gives the idempotency claim up. Never raises."
    async fn a_database_that_is_away_when_a_key_is_given_up_frees_it_later(desk: Desk) {
        desk.upstream.behave(Behaviour::WaitThen(503));
        let (engine, arrival) = (desk.engine.clone(), keyed(desk.quick("note", json!({ "text": "x" })).await, "k"));
        let again = arrival.clone();
        let caller = tokio::spawn(async move { engine.call(arrival, None).await });
        desk.upstream.until_writes(1).await;
        desk.database.run("ALTER TABLE claims RENAME TO claims_away").await.expect("away");
        desk.upstream.release();
        tokio::time::sleep(Duration::from_millis(150)).await;
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM calls WHERE state = 'sending'").await, 1, "nothing half recorded");
        desk.database.run("ALTER TABLE claims_away RENAME TO claims").await.expect("back");
        let refused = caller.await.expect("no panic");
        assert_eq!(refused, Err(Refusal::UpstreamFailed(Some(503))));
        desk.upstream.behave(answer(200));
        let done = desk.engine.call(again, None).await;
        assert!(matches!(&done, Ok(Answer::Done(_))), "the key is free: {done:?}");
    }
}

on_both! {
    /// "… the answer is sent anyway; the claim then runs out with its lease": what is not known to the desk is in doubt
    /// for it, and nothing is sent again.
    async fn a_database_that_stays_away_keeps_no_answer_back(desk: Desk) {
        desk.upstream.behave(Behaviour::Wait);
        let (engine, arrival) = (desk.engine.clone(), keyed(desk.quick("note", json!({ "text": "x" })).await, "k"));
        let again = arrival.clone();
        let caller = tokio::spawn(async move { engine.call(arrival, None).await });
        desk.upstream.until_writes(1).await;
        desk.database.run("ALTER TABLE receipts RENAME TO receipts_away").await.expect("away");
        desk.upstream.release();
        let answer = caller.await.expect("no panic");
        assert!(matches!(&answer, Ok(Answer::Done(done)) if done.executed && done.receipt_id.is_none()), "{answer:?}");
        desk.database.run("ALTER TABLE receipts_away RENAME TO receipts").await.expect("back");
        desk.pass(3_600);
        desk.engine.recover_sends().await.expect("the job runs");
        let repeated = desk.engine.call(again, None).await;
        assert!(matches!(repeated, Err(Refusal::OutcomeUnknown(_))), "{repeated:?}");
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Section 3: "Steps that say not found answer byte for byte like an action that does not exist": the caller's own
    /// journal does not say otherwise. Operators see who knocked.
    async fn the_journal_names_no_hidden_action_to_its_caller(desk: Desk) {
        let hidden = |name: &str, why: &str| {
            format!("[[action]]\nname = \"{name}\"\neffect = \"write\"\ncredential = \"mail\"\n{why}\nrequest = {{ method = \"POST\", url = \"http://UPSTREAM/x\" }}\n")
        };
        let text = [
            hidden("unregistered", "register_when = \"false\""),
            hidden("of_a_tenant", "tenants = [\"acme\"]"),
            hidden("denied_quietly", "authorize = \"false\"\ndeny_as_not_found = true"),
            hidden("denied_after_all", "authorize_input = \"false\"\ndeny_as_not_found = true"),
            hidden("denied_aloud", "authorize = \"false\""),
        ];
        desk.reload_with(&text.join("\n"));
        let ann = desk.visitor(&desk.ann).await;
        let mut feed = desk.engine.feed(ann.clone(), None).await.expect("a feed");
        for action in ["unregistered", "of_a_tenant", "denied_quietly", "denied_after_all"] {
            assert_eq!(desk.engine.call(desk.quick(action, json!({})).await, None).await, Err(Refusal::NotFound));
        }
        assert_eq!(desk.engine.call(desk.quick("denied_aloud", json!({})).await, None).await, Err(Refusal::Denied));
        let names = async |who: &PersonActor| {
            let page = desk.engine.events(who, &PageAsked::default()).await.expect("events");
            page.items.into_iter().map(|event| event.action).collect::<BTreeSet<_>>()
        };
        assert_eq!(names(&ann).await, BTreeSet::from(["denied_aloud".to_owned()]));
        let all = ["unregistered", "of_a_tenant", "denied_quietly", "denied_after_all", "denied_aloud"];
        assert_eq!(names(&desk.visitor(&desk.olga).await).await, all.map(str::to_owned).into());
        let streamed = loop {
            let more = feed.next().await.expect("storage").expect("it goes on");
            if !more.is_empty() {
                break more;
            }
        };
        assert_eq!(streamed.iter().map(|event| event.action.as_str()).collect::<Vec<_>>(), ["denied_aloud"]);
    }
}

on_both! {
    /// Section 4, `Prefer: wait` on the call itself: the final answer is the problem `expired` or `withdrawn`, and never
    /// `declined`.
    async fn whoever_waits_is_told_how_it_ended_without_a_person(desk: Desk) {
        let waiting = async |key: &str| {
            let (engine, arrival) = (desk.engine.clone(), keyed(desk.careful("send_mail", mail()).await, key));
            let caller = tokio::spawn(async move { engine.call(arrival, Some(Duration::from_secs(20))).await });
            let ann = desk.decider(&desk.ann).await;
            loop {
                let page = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list");
                if let Some(held) = page.items.first() {
                    break (caller, held.call.id);
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let (caller, id) = waiting("a").await;
        desk.engine.withdraw(&desk.actor(&desk.careful).await, id).await.expect("withdrawn");
        assert_eq!(caller.await.expect("no panic"), Err(Refusal::Withdrawn));
        let (caller, _) = waiting("b").await;
        desk.pass(24 * 3_600 + 1);
        desk.engine.expire_calls().await.expect("the job runs");
        assert_eq!(caller.await.expect("no panic"), Err(Refusal::Expired));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// Section 4: 429 `rate_limited` "when an agent has `max_held` calls open", those in the queue counted too.
    async fn an_agent_cannot_flood_the_queue(desk: Desk) {
        desk.reload("max_held = 2", "");
        let queued = async || Arrival { surface: Surface::Queue, ..desk.quick("note", json!({ "text": "x" })).await };
        for _ in 0..2 {
            desk.held(queued().await).await;
        }
        let flooded = desk.engine.call(queued().await, None).await;
        assert!(matches!(flooded, Err(Refusal::RateLimited { .. })), "{flooded:?}");
        desk.engine.run_queue().await.expect("the queue runs");
        desk.upstream.until_writes(2).await;
        for _ in 0..400 {
            if desk.database.count("SELECT COUNT(*) FROM calls WHERE state = 'done'").await == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        desk.held(queued().await).await;
    }
}

on_both! {
    /// Section 7: "A read through a credential that is not `trusted` taints the session", an action's read too.
    async fn an_actions_read_taints_its_session(desk: Desk) {
        let write = async |session: &str| {
            let url = format!("http://{}/x", desk.upstream.address());
            let input = json!({ "credential": "open", "method": "POST", "url": url, "body": session });
            Arrival { surface: Surface::Fetch, session: Some(session.to_owned()), ..desk.quick("fetch", input).await }
        };
        let read = Arrival { session: Some("run-1".to_owned()), ..desk.quick("read_quota", json!({})).await };
        assert!(matches!(desk.engine.call(read, None).await, Ok(Answer::Done(_))));
        assert!(matches!(desk.engine.call(write("run-2").await, None).await, Ok(Answer::Passed(_))));
        desk.held(write("run-1").await).await;
    }
}

on_both! {
    /// Section 7: a credential's `allow` list names agents, groups and people.
    async fn a_credential_can_be_one_persons(desk: Desk) {
        let allow = |who: &str| format!(r#"
[[credential]]
name = "personal"
hosts = ["UPSTREAM"]
allow = ["person:{who}"]
secret = {{ env = "PATH" }}
allow_http = true
allow_private = true
"#);
        let url = format!("http://{}/quota", desk.upstream.address());
        let input = json!({ "credential": "personal", "method": "GET", "url": url });
        for surface in [Surface::Fetch, Surface::Via] {
            let call = async || desk.engine.call(Arrival { surface, ..desk.quick(surface.as_str(), input.clone()).await }, None).await;
            desk.reload_with(&allow("max@desk.test"));
            assert_eq!(call().await, Err(Refusal::NotFound));
            desk.reload_with(&allow("Ann@desk.test"));
            assert!(matches!(call().await, Ok(Answer::Passed(_))));
        }
    }
}
