//! The main job: a write is held, a person confirms it, it is sent once, and a receipt tells.

mod desk;

use std::time::Duration;

use desk::{Behaviour, Desk, confirm, decline, keyed};
use engine::{PageAsked, ReceiptFilter};
use model::answer::Waiting;
use model::{Answer, ApprovalKind, CallStatus, EventType, Outcome, Refusal};
use serde_json::json;

fn mail() -> serde_json::Value {
    json!({ "to": "finance@northwind.example", "body": "Invoice 1009" })
}

async fn held(desk: &Desk, arrival: engine::Arrival) -> Waiting {
    match desk.engine.call(arrival, None).await {
        Ok(Answer::Waiting(waiting)) => waiting,
        other => panic!("not held: {other:?}"),
    }
}

async fn version(desk: &Desk, person: &model::Person) -> String {
    let page =
        desk.engine.approvals(&desk.decider(person).await, &PageAsked::default()).await.expect("a list");
    page.items[0].preview.version.clone()
}

async fn ended(desk: &Desk, token: &str, waiting: &Waiting) -> model::Call {
    let actor = desk.actor(token).await;
    desk.engine.call_status(&actor, waiting.call_id, Some(Duration::from_secs(10))).await.expect("a status")
}

on_both! {
    async fn is_sent_once_after_a_confirm_and_leaves_a_receipt(desk: Desk) {
        let waiting = held(&desk, desk.careful("send_mail", mail()).await).await;
        assert!(desk.upstream.writes().is_empty(), "nothing leaves before a person confirms");
        let ann = desk.decider(&desk.ann).await;
        let page = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list");
        assert_eq!(page.items.len(), 1);
        let preview = &page.items[0].preview;
        assert_eq!(preview.title, "Mail to finance@northwind.example");
        assert_eq!(preview.fields[0].value, "Northwind");
        assert!(preview.request.body.as_deref().is_some_and(|body| body.contains("Invoice 1009")));

        desk.engine.decide(&ann, waiting.call_id, confirm(&preview.version)).await.expect("recorded");
        let call = ended(&desk, &desk.careful, &waiting).await;
        assert_eq!((call.status, call.executed), (CallStatus::Done, Some(true)));
        assert_eq!(call.result, Some(json!({ "id": "m1" })));
        assert_eq!(call.reply.as_deref(), Some("The mail is queued as m1."));

        let writes = desk.upstream.writes();
        assert_eq!(writes.len(), 1);
        assert_eq!(Some(&writes[0].body), preview.request.body.as_ref(), "what was shown is what was sent");

        let visitor = desk.visitor(&desk.ann).await;
        let receipts = desk.engine.receipts(&visitor, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        assert_eq!(receipts.items.len(), 1);
        let receipt = &receipts.items[0];
        assert_eq!(Some(receipt.id), call.receipt_id);
        assert_eq!((receipt.outcome, receipt.upstream_status), (Outcome::Done, Some(200)));
        assert_eq!((receipt.approval.kind, receipt.approval.by.as_slice()), (ApprovalKind::Person, &[desk.ann.id][..]));
        assert_eq!(receipt.body_size, writes[0].body.len() as u64);
        assert!(receipt.url.ends_with("/messages"));

        let events = desk.engine.events(&visitor, &PageAsked::default()).await.expect("events");
        let types: Vec<_> = events.items.iter().rev().map(|event| event.r#type).collect();
        assert_eq!(types, [EventType::Held, EventType::Decided, EventType::Completed]);
    }
}

on_both! {
    async fn declined_calls_send_nothing_and_tell_the_words(desk: Desk) {
        let arrival = keyed(desk.careful("send_mail", mail()).await, "k1");
        let engine = desk.engine.clone();
        let waiting_agent = tokio::spawn(async move { engine.call(arrival, Some(Duration::from_secs(20))).await });
        let ann = desk.decider(&desk.ann).await;
        let id = loop {
            let page = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list");
            if let Some(held) = page.items.first() {
                break held.call.id;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let call = desk.engine.decide(&ann, id, decline("Wrong recipient")).await.expect("recorded");
        assert_eq!((call.status, call.decline_reason.as_deref()), (CallStatus::Declined, Some("Wrong recipient")));
        let answer = waiting_agent.await.expect("no panic");
        assert_eq!(answer, Err(Refusal::Declined(Some("Wrong recipient".to_owned()))));
        assert!(desk.upstream.writes().is_empty());
        assert_eq!(desk.engine.decide(&ann, id, confirm("x")).await, Err(Refusal::AlreadyDecided));
        // The key is free again.
        held(&desk, keyed(desk.careful("send_mail", mail()).await, "k1")).await;
    }
}

on_both! {
    async fn a_retry_is_answered_from_the_receipt(desk: Desk) {
        let waiting = held(&desk, keyed(desk.careful("send_mail", mail()).await, "k1")).await;
        let again = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "\"k1\""), None).await;
        assert_eq!(again, Err(Refusal::IdempotencyInFlight(waiting.call_id)));
        let other = desk.careful("send_mail", json!({ "to": "x@y.example", "body": "b" })).await;
        assert_eq!(desk.engine.call(keyed(other, "k1"), None).await, Err(Refusal::IdempotencyKeyReused));

        let version = version(&desk, &desk.ann).await;
        desk.engine.decide(&desk.decider(&desk.ann).await, waiting.call_id, confirm(&version)).await.expect("recorded");
        let call = ended(&desk, &desk.careful, &waiting).await;
        assert!(desk.upstream.writes()[0].head.to_lowercase().contains("idempotency-key: k1\r\n"), "forwarded bare");

        let Ok(Answer::Replayed(replay)) = desk.engine.call(keyed(desk.quick("send_mail", mail()).await, "k1"), None).await else {
            panic!("no replay for another agent of the same person")
        };
        assert_eq!((replay.receipt_id, replay.original_status), (call.receipt_id, Some(200)));
        assert_eq!(replay.result, Some(json!({ "id": "m1" })));
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn many_first_calls_with_one_key_hold_one(desk: Desk) {
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..12 {
            let (engine, arrival) = (desk.engine.clone(), keyed(desk.careful("send_mail", mail()).await, "same"));
            calls.spawn(async move { engine.call(arrival, None).await });
        }
        let answers = calls.join_all().await;
        let held = answers.iter().filter(|answer| matches!(answer, Ok(Answer::Waiting(_)))).count();
        let in_flight = answers.iter().filter(|answer| matches!(answer, Err(Refusal::IdempotencyInFlight(_)))).count();
        assert_eq!((held, in_flight), (1, 11), "{answers:?}");
    }
}

on_both! {
    async fn two_people_two_nodes_one_send(desk: Desk) {
        let waiting = held(&desk, desk.careful("send_mail", mail()).await).await;
        let version = version(&desk, &desk.ann).await;
        let nodes = [desk.engine.clone(), desk.second_node().await];
        let mut decisions = tokio::task::JoinSet::new();
        for turn in 0..10 {
            let (engine, ann, id, version) = (nodes[turn % 2].clone(), desk.decider(&desk.ann).await, waiting.call_id, version.clone());
            decisions.spawn(async move { engine.decide(&ann, id, confirm(&version)).await });
        }
        let decided = decisions.join_all().await;
        assert_eq!(decided.iter().filter(|decision| decision.is_ok()).count(), 1, "{decided:?}");
        let lost: Vec<_> = decided.iter().filter_map(|decision| decision.as_ref().err()).collect();
        assert!(lost.iter().all(|refusal| **refusal == Refusal::AlreadyDecided), "{lost:?}");
        assert_eq!(ended(&desk, &desk.careful, &waiting).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn confirm_and_decline_race_to_one_end(desk: Desk) {
        for _ in 0..5 {
            let sent_before = desk.upstream.writes().len();
            let waiting = held(&desk, desk.careful("send_mail", mail()).await).await;
            let version = version(&desk, &desk.ann).await;
            let ann = desk.decider(&desk.ann).await;
            let (yes, no) = tokio::join!(
                desk.engine.decide(&ann, waiting.call_id, confirm(&version)),
                desk.engine.decide(&ann, waiting.call_id, decline("no")),
            );
            assert!(yes.is_ok() != no.is_ok(), "{yes:?} {no:?}");
            let call = ended(&desk, &desk.careful, &waiting).await;
            let sent = desk.upstream.writes().len() - sent_before;
            assert_eq!(sent, usize::from(yes.is_ok()));
            assert_eq!(call.status, if yes.is_ok() { CallStatus::Done } else { CallStatus::Declined });
        }
    }
}

on_both! {
    async fn values_that_changed_are_shown_again(desk: Desk) {
        let waiting = held(&desk, desk.careful("send_mail", mail()).await).await;
        let old = version(&desk, &desk.ann).await;
        let ann = desk.decider(&desk.ann).await;
        desk.upstream.set_quota(4);
        let Err(Refusal::PreviewChanged(Some(fresh))) = desk.engine.decide(&ann, waiting.call_id, confirm(&old)).await else {
            panic!("an old preview was confirmed")
        };
        assert_eq!(fresh.fields[1].value, "4");
        assert!(desk.upstream.writes().is_empty());
        let Err(Refusal::PreviewChanged(Some(same))) = desk.engine.decide(&ann, waiting.call_id, confirm(&old)).await else {
            panic!("the replaced preview was confirmed")
        };
        assert_eq!(same.version, fresh.version);
        desk.engine.decide(&ann, waiting.call_id, confirm(&fresh.version)).await.expect("the fresh one is confirmed");
        assert_eq!(ended(&desk, &desk.careful, &waiting).await.status, CallStatus::Done);
    }
}

on_both! {
    async fn a_quorum_takes_distinct_people(desk: Desk) {
        let waiting = held(&desk, desk.careful("two_people", json!({ "target": "4211" })).await).await;
        let version = version(&desk, &desk.max).await;
        let (max, olga, ann) = (desk.decider(&desk.max).await, desk.decider(&desk.olga).await, desk.decider(&desk.ann).await);
        assert_eq!(desk.engine.decide(&ann, waiting.call_id, confirm(&version)).await, Err(Refusal::NotFound), "the owner is no approver");
        let call = desk.engine.decide(&max, waiting.call_id, confirm(&version)).await.expect("a first vote");
        assert_eq!(call.status, CallStatus::Held);
        assert_eq!(desk.engine.decide(&max, waiting.call_id, confirm(&version)).await, Err(Refusal::AlreadyDecided));
        assert!(desk.upstream.writes().is_empty());
        desk.engine.decide(&olga, waiting.call_id, confirm(&version)).await.expect("a second vote");
        assert_eq!(ended(&desk, &desk.careful, &waiting).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn a_confirm_can_be_undone_in_time(desk: Desk) {
        let waiting = held(&desk, desk.careful("undoable", json!({ "to": "a" })).await).await;
        let ann = desk.decider(&desk.ann).await;
        let first = version(&desk, &desk.ann).await;
        let call = desk.engine.decide(&ann, waiting.call_id, confirm(&first)).await.expect("recorded");
        assert_eq!(call.status, CallStatus::Approved);
        assert_eq!(desk.engine.undo(&ann, waiting.call_id).await.expect("undone").status, CallStatus::Held);
        let again = version(&desk, &desk.ann).await;
        desk.engine.decide(&ann, waiting.call_id, confirm(&again)).await.expect("recorded again");
        desk.pass(61);
        assert_eq!(desk.engine.undo(&ann, waiting.call_id).await, Err(Refusal::NotHeld));
        desk.engine.send_due_calls().await.expect("the job runs");
        assert_eq!(ended(&desk, &desk.careful, &waiting).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn nobody_answered_is_not_a_no(desk: Desk) {
        let waiting = held(&desk, keyed(desk.careful("send_mail", mail()).await, "k")).await;
        let version = version(&desk, &desk.ann).await;
        desk.pass(24 * 3_600 + 1);
        let ann = desk.decider(&desk.ann).await;
        assert_eq!(desk.engine.decide(&ann, waiting.call_id, confirm(&version)).await, Err(Refusal::Expired));
        desk.engine.expire_calls().await.expect("the job runs");
        let call = ended(&desk, &desk.careful, &waiting).await;
        assert_eq!(call.status, CallStatus::Expired);
        assert!(desk.upstream.writes().is_empty());
        held(&desk, keyed(desk.careful("send_mail", mail()).await, "k")).await;
    }
}

on_both! {
    async fn a_lost_answer_is_in_doubt_and_never_sent_again(desk: Desk) {
        desk.upstream.behave(Behaviour::Cut);
        let waiting = held(&desk, keyed(desk.careful("send_mail", mail()).await, "k")).await;
        let version = version(&desk, &desk.ann).await;
        desk.engine.decide(&desk.decider(&desk.ann).await, waiting.call_id, confirm(&version)).await.expect("recorded");
        let call = ended(&desk, &desk.careful, &waiting).await;
        assert_eq!((call.status, call.executed), (CallStatus::InDoubt, None));
        desk.upstream.behave(Behaviour::Answer(200, "{}".to_owned()));
        let retry = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await;
        assert_eq!(retry, Err(Refusal::OutcomeUnknown(waiting.call_id)));
        assert_eq!(desk.upstream.writes().len(), 1);
        let visitor = desk.visitor(&desk.ann).await;
        let receipts = desk.engine.receipts(&visitor, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        assert_eq!(receipts.items[0].outcome, Outcome::InDoubt);
    }
}

on_both! {
    async fn a_process_that_died_leaves_doubt_and_a_late_answer_ends_it(desk: Desk) {
        desk.upstream.behave(Behaviour::Wait);
        let waiting = held(&desk, keyed(desk.careful("send_mail", mail()).await, "k")).await;
        let version = version(&desk, &desk.ann).await;
        desk.engine.decide(&desk.decider(&desk.ann).await, waiting.call_id, confirm(&version)).await.expect("recorded");
        desk.upstream.until_writes(1).await;
        // Another node leaves a live lease alone.
        let other = desk.second_node().await;
        other.recover_sends().await.expect("the job runs");
        let actor = desk.actor(&desk.careful).await;
        let status = |call: model::Call| call.status;
        assert_eq!(desk.engine.call_status(&actor, waiting.call_id, None).await.map(status), Ok(CallStatus::Sending));
        // The lease runs out; whoever comes first gives the call up.
        desk.pass(60);
        other.recover_sends().await.expect("the job runs");
        assert_eq!(desk.engine.call_status(&actor, waiting.call_id, None).await.map(status), Ok(CallStatus::InDoubt));
        assert_eq!(desk.upstream.writes().len(), 1);
        // The answer comes after all.
        desk.upstream.release();
        for _ in 0..400 {
            if desk.engine.call_status(&actor, waiting.call_id, None).await.map(status) == Ok(CallStatus::Done) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let call = desk.engine.call_status(&actor, waiting.call_id, None).await.expect("a status");
        assert_eq!((call.status, call.result), (CallStatus::Done, Some(json!({ "id": "late" }))));
        let visitor = desk.visitor(&desk.ann).await;
        let receipts = desk.engine.receipts(&visitor, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        assert_eq!(receipts.items.len(), 1, "one receipt, amended");
        assert_eq!((receipts.items[0].outcome, receipts.items[0].upstream_status), (Outcome::Done, Some(200)));
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn failures_free_the_key_and_leave_no_receipt(desk: Desk) {
        desk.upstream.behave(Behaviour::Answer(503, "{}".to_owned()));
        let first = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert_eq!(first, Err(Refusal::UpstreamFailed(Some(503))));
        desk.upstream.behave(Behaviour::Answer(404, "{}".to_owned()));
        let refused = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert_eq!(refused, Err(Refusal::invalid("/text", "There is nothing to note this on.")));
        desk.upstream.behave(Behaviour::Answer(200, "{}".to_owned()));
        let done = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
        let visitor = desk.visitor(&desk.ann).await;
        let receipts = desk.engine.receipts(&visitor, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        let statuses: Vec<_> = receipts.items.iter().map(|receipt| receipt.upstream_status).collect();
        assert_eq!(statuses, [Some(200), Some(404)], "the 503 left none");
    }
}

on_both! {
    async fn nothing_of_the_input_is_left(desk: Desk) {
        const CANARY: &str = "kwijibo-canary-5471";
        let waiting = held(&desk, keyed(desk.careful("send_mail", json!({ "to": "a@b.example", "body": CANARY })).await, "k")).await;
        let version = version(&desk, &desk.ann).await;
        desk.engine.decide(&desk.decider(&desk.ann).await, waiting.call_id, confirm(&version)).await.expect("recorded");
        assert_eq!(ended(&desk, &desk.careful, &waiting).await.status, CallStatus::Done);
        assert!(desk.upstream.writes()[0].body.contains(CANARY));
        let erased = desk.database.count("SELECT COUNT(*) FROM calls WHERE input IS NULL AND preview IS NULL AND state = 'done'").await;
        assert_eq!(erased, 1);
        if let Some(bytes) = desk.file_bytes() {
            let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
            assert!(!found, "the canary stands in the database file");
        }
    }
}

on_both! {
    async fn receipts_and_events_are_append_only(desk: Desk) {
        let done = desk.engine.call(desk.quick("note", json!({ "text": "x" })).await, None).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
        for sql in [
            "UPDATE receipts SET method = 'GET'",
            "DELETE FROM receipts",
            "UPDATE events SET status = 'done'",
            "DELETE FROM events",
        ] {
            let said = desk.database.run(sql).await;
            assert!(said.as_ref().is_err_and(|error| error.contains("append-only")), "{sql}: {said:?}");
        }
    }
}

on_both! {
    async fn only_those_concerned_see_a_call(desk: Desk) {
        let waiting = held(&desk, desk.careful("send_mail", mail()).await).await;
        let quick = desk.actor(&desk.quick).await;
        assert_eq!(desk.engine.call_status(&quick, waiting.call_id, None).await, Err(Refusal::NotFound), "another agent");
        let max = desk.visitor(&desk.max).await;
        assert!(desk.engine.item(&max, waiting.call_id).await.expect("storage").is_none(), "another person");
        let olga = desk.engine.item(&desk.visitor(&desk.olga).await, waiting.call_id).await.expect("storage").expect("an operator sees it");
        assert!(olga.preview.is_none() && !olga.may_decide && olga.title == "Send a mail");
        let ann = desk.engine.item(&desk.visitor(&desk.ann).await, waiting.call_id).await.expect("storage").expect("the owner sees it");
        assert!(ann.may_decide && ann.preview.is_some());
        assert_eq!(desk.engine.withdraw(&quick, waiting.call_id).await, Err(Refusal::NotFound));
        let careful = desk.actor(&desk.careful).await;
        assert_eq!(desk.engine.withdraw(&careful, waiting.call_id).await.map(|call| call.status), Ok(CallStatus::Withdrawn));
        assert_eq!(desk.engine.withdraw(&careful, waiting.call_id).await, Err(Refusal::NotHeld));
    }
}

on_both! {
    async fn revoking_the_key_takes_its_calls_back(desk: Desk) {
        let waiting = held(&desk, desk.careful("send_mail", mail()).await).await;
        let version = version(&desk, &desk.ann).await;
        assert_eq!(desk.engine.revoke_agent("careful").await, Ok(true));
        assert_eq!(desk.engine.authenticate(&desk.careful).await.err(), Some(Refusal::Unauthenticated));
        let ann = desk.decider(&desk.ann).await;
        assert_eq!(desk.engine.decide(&ann, waiting.call_id, confirm(&version)).await, Err(Refusal::Withdrawn));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    async fn a_disabled_person_decides_nothing_and_nothing_waits_for_them_for_ever(desk: Desk) {
        let own = held(&desk, desk.careful("send_mail", mail()).await).await;
        assert_eq!(desk.engine.disable_person("ann@desk.test").await, Ok(true));
        assert_eq!(desk.engine.authenticate(&desk.careful).await.err(), Some(Refusal::Unauthenticated));
        assert!(desk.engine.visitor(desk.ann.id).await.expect("storage").is_none());
        let olga = desk.visitor(&desk.olga).await;
        let item = desk.engine.item(&olga, own.call_id).await.expect("storage").expect("an operator sees it");
        assert_eq!(item.call.status, CallStatus::Withdrawn);
    }
}

on_both! {
    async fn calls_that_nobody_else_can_decide_go_to_the_operators(desk: Desk) {
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("a group");
        let waiting = held(&desk, desk.careful("grouped", serde_json::json!({ "to": "a" })).await).await;
        let (engine, id) = (desk.engine.clone(), waiting.call_id);
        let sees = async |person: &model::Person| engine.item(&desk.visitor(person).await, id).await.expect("storage");
        assert!(sees(&desk.max).await.is_some_and(|item| item.may_decide));
        assert!(sees(&desk.olga).await.is_some_and(|item| !item.may_decide));
        assert_eq!(desk.engine.disable_person("max@desk.test").await, Ok(true));
        assert!(sees(&desk.olga).await.is_some_and(|item| item.may_decide));
    }
}

on_both! {
    async fn a_tenant_is_for_its_members(desk: Desk) {
        let call = || async {
            let arrival = engine::Arrival { tenant: Some("acme".to_owned()), ..desk.quick("note", serde_json::json!({ "text": "x" })).await };
            desk.engine.call(arrival, None).await
        };
        desk.engine.add_tenant("acme", Some("max@desk.test")).await.expect("a tenant");
        assert_eq!(call().await, Err(Refusal::NotFound), "Ann is no member");
        desk.engine.add_tenant("acme", Some("ann@desk.test")).await.expect("the same tenant");
        assert!(matches!(call().await, Ok(Answer::Done(_))));
        let tenants = desk.engine.tenants().await.expect("a list");
        assert_eq!(tenants.len(), 1);
        assert_eq!(tenants[0].members, ["ann@desk.test", "max@desk.test"]);
        assert_eq!(desk.engine.remove_tenant("acme", Some("ann@desk.test")).await, Ok(true));
        assert_eq!(call().await, Err(Refusal::NotFound));
        assert_eq!(desk.engine.remove_tenant("acme", None).await, Ok(true));
        assert_eq!(desk.engine.remove_tenant("acme", None).await, Ok(false));
    }
}

on_both! {
    async fn revoking_the_key_leaves_what_is_being_sent_alone(desk: Desk) {
        desk.upstream.behave(Behaviour::Wait);
        let waiting = held(&desk, keyed(desk.careful("send_mail", mail()).await, "k")).await;
        let version = version(&desk, &desk.ann).await;
        let ann = desk.decider(&desk.ann).await;
        desk.engine.decide(&ann, waiting.call_id, confirm(&version)).await.expect("recorded");
        desk.upstream.until_writes(1).await;
        assert_eq!(desk.engine.revoke_agent("careful").await, Ok(true));
        desk.upstream.release();
        let owner = engine::Actor::Person(desk.visitor(&desk.ann).await);
        let call = desk.engine.call_status(&owner, waiting.call_id, Some(Duration::from_secs(10))).await.expect("a status");
        assert_eq!(call.status, CallStatus::Done, "what was sent is told as sent");
        assert!(call.receipt_id.is_some());
    }
}

on_both! {
    async fn two_votes_at_once_make_a_quorum_and_one_send(desk: Desk) {
        for turn in 0..4 {
            let input = serde_json::json!({ "target": format!("thing-{turn}") });
            let waiting = held(&desk, desk.careful("two_people", input).await).await;
            let version = version(&desk, &desk.max).await;
            let (max, olga) = (desk.decider(&desk.max).await, desk.decider(&desk.olga).await);
            let other = desk.second_node().await;
            let (first, second) = tokio::join!(
                desk.engine.decide(&max, waiting.call_id, confirm(&version)),
                other.decide(&olga, waiting.call_id, confirm(&version)),
            );
            assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
            assert_eq!(ended(&desk, &desk.careful, &waiting).await.status, CallStatus::Done);
            assert_eq!(desk.upstream.writes().len(), turn + 1);
        }
    }
}

on_both! {
    async fn different_people_race_to_one_decision(desk: Desk) {
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("a member");
        desk.engine.add_to_group("mailers", "olga@desk.test").await.expect("a member");
        for turn in 0..4 {
            let waiting = held(&desk, desk.careful("grouped", serde_json::json!({ "to": turn.to_string() })).await).await;
            let version = version(&desk, &desk.max).await;
            let (max, olga) = (desk.decider(&desk.max).await, desk.decider(&desk.olga).await);
            let (yes, no) = tokio::join!(
                desk.engine.decide(&max, waiting.call_id, confirm(&version)),
                desk.engine.decide(&olga, waiting.call_id, decline("no")),
            );
            assert!(yes.is_ok() != no.is_ok(), "{yes:?} {no:?}");
            let call = ended(&desk, &desk.careful, &waiting).await;
            assert_eq!(call.status, if yes.is_ok() { CallStatus::Done } else { CallStatus::Declined });
        }
    }
}

on_both! {
    async fn what_nobody_can_decide_goes_to_the_operators_at_once(desk: Desk) {
        let waiting = held(&desk, desk.careful("grouped", serde_json::json!({ "to": "a@b.example" })).await).await;
        let olga = desk.decider(&desk.olga).await;
        let page = desk.engine.approvals(&olga, &PageAsked::default()).await.expect("a list");
        assert_eq!(page.items.len(), 1, "the group is empty");
        assert_eq!(page.items[0].call.id, waiting.call_id);
    }
}

on_both! {
    async fn a_result_that_was_answered_is_not_kept_for_a_day(desk: Desk) {
        let answer = desk.engine.call(desk.quick("note", serde_json::json!({ "text": "x" })).await, None).await;
        assert!(matches!(answer, Ok(Answer::Done(_))), "{answer:?}");
        let kept = "SELECT COUNT(*) FROM calls WHERE result IS NOT NULL";
        assert_eq!(desk.database.count(kept).await, 1);
        desk.pass(601);
        desk.engine.erase().await.expect("the job runs");
        assert_eq!(desk.database.count(kept).await, 0);
    }
}

on_both! {
    async fn a_tenant_is_the_same_by_id_and_by_name(desk: Desk) {
        let id = desk.engine.add_tenant("acme", Some("ann@desk.test")).await.expect("a tenant");
        for tenant in ["acme".to_owned(), id.to_string()] {
            let call = desk.quick("at_acme", serde_json::json!({})).await;
            let arrival = engine::Arrival { tenant: Some(tenant.clone()), ..call };
            assert!(matches!(desk.engine.call(arrival, None).await, Ok(Answer::Done(_))), "{tenant}");
            let actor = desk.actor(&desk.quick).await;
            let offered = desk.engine.offered(&actor, model::Surface::Api, Some(&tenant)).await.expect("a list");
            assert!(offered.iter().any(|action| action.name == "at_acme"), "{tenant}");
        }
        let nowhere = desk.engine.call(desk.quick("at_acme", serde_json::json!({})).await, None).await;
        assert_eq!(nowhere, Err(Refusal::NotFound));
    }
}

on_both! {
    /// Votes of people who are gone do not count with those of people who are there.
    async fn a_quorum_is_of_people_who_may_decide_now(desk: Desk) {
        let wanted = engine::registry::PersonWanted { email: "eve@desk.test".to_owned(), name: "Eve".to_owned(), roles: vec![model::Role::Approver], password: None };
        let eve = desk.engine.add_person(wanted).await.expect("a person");
        let waiting = held(&desk, desk.careful("two_people", serde_json::json!({ "target": "x" })).await).await;
        let version = version(&desk, &desk.max).await;
        let vote = async |person: &model::Person| {
            let decider = desk.decider(person).await;
            desk.engine.decide(&decider, waiting.call_id, confirm(&version)).await.expect("recorded").status
        };
        assert_eq!(vote(&eve).await, CallStatus::Held);
        desk.engine.disable_person("eve@desk.test").await.expect("disabled");
        assert_eq!(vote(&desk.max).await, CallStatus::Held, "one of two");
        vote(&desk.olga).await;
        assert_eq!(ended(&desk, &desk.careful, &waiting).await.status, CallStatus::Done);
        let visitor = desk.visitor(&desk.olga).await;
        let receipts = desk.engine.receipts(&visitor, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        assert_eq!(receipts.items[0].approval.by, [desk.max.id, desk.olga.id]);
    }
}
