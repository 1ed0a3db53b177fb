//! The durable queue: gated first, run once, whatever ends in between.

mod desk;

use std::time::Duration;

use desk::{Behaviour, Desk, confirm, keyed, with};
use engine::{Arrival, Engine, PageAsked, ReceiptFilter};
use model::answer::{Waiting, WaitingStatus};
use model::refusal::TokenFault;
use model::{Answer, ApprovalKind, CallStatus, EventType, Refusal, Surface};
use serde_json::json;

fn queue(arrival: Arrival) -> Arrival {
    Arrival { surface: Surface::Queue, ..arrival }
}

async fn note(desk: &Desk, key: &str) -> Arrival {
    queue(keyed(desk.quick("note", json!({ "text": key })).await, key))
}

async fn waiting(engine: &Engine, arrival: Arrival) -> Waiting {
    match engine.call(arrival, None).await {
        Ok(Answer::Waiting(waiting)) => waiting,
        other => panic!("it does not wait: {other:?}"),
    }
}

async fn ended(desk: &Desk, token: &str, waiting: &Waiting) -> model::Call {
    let actor = desk.actor(token).await;
    desk.engine.call_status(&actor, waiting.call_id, Some(Duration::from_secs(20))).await.expect("a status")
}

async fn status(desk: &Desk, token: &str, waiting: &Waiting) -> CallStatus {
    let actor = desk.actor(token).await;
    desk.engine.call_status(&actor, waiting.call_id, None).await.expect("a status").status
}

on_both! {
    async fn what_passes_is_queued_and_run_once(desk: Desk) {
        let first = waiting(&desk.engine, note(&desk, "k").await).await;
        assert_eq!((first.status, first.executed), (WaitingStatus::Queued, false));
        assert!(first.message.starts_with("Nothing has been done."), "{}", first.message);
        assert_eq!(status(&desk, &desk.quick, &first).await, CallStatus::Queued);
        assert!(desk.upstream.writes().is_empty(), "no worker has run");
        let again = desk.engine.call(note(&desk, "k").await, None).await;
        assert_eq!(again, Err(Refusal::IdempotencyInFlight(first.call_id)));

        desk.engine.run_queue().await.expect("the queue runs");
        let call = ended(&desk, &desk.quick, &first).await;
        assert_eq!((call.status, call.surface, call.executed), (CallStatus::Done, Surface::Queue, Some(true)));
        assert!(call.receipt_id.is_some() && call.result.is_some());
        let writes = desk.upstream.writes();
        assert_eq!(writes.len(), 1);
        assert!(writes[0].head.to_lowercase().contains("idempotency-key: k"), "forwarded");
        desk.engine.run_queue().await.expect("the queue runs");
        assert_eq!(desk.upstream.writes().len(), 1, "nothing is left");

        let Ok(Answer::Replayed(replay)) = desk.engine.call(note(&desk, "k").await, None).await else { panic!("no replay") };
        assert_eq!(replay.receipt_id, call.receipt_id);
        let ann = desk.visitor(&desk.ann).await;
        let receipts = desk.engine.receipts(&ann, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        assert_eq!((receipts.items[0].surface, receipts.items[0].approval.kind), (Surface::Queue, ApprovalKind::None));
        let events = desk.engine.events(&ann, &PageAsked::default()).await.expect("events");
        let types: Vec<_> = events.items.iter().rev().map(|event| (event.r#type, event.surface)).collect();
        let expected = [EventType::Refused, EventType::Completed, EventType::Replayed].map(|r#type| (r#type, Surface::Queue));
        assert_eq!(types, expected, "the repeat in flight was refused, the one after the end replayed");
    }
}

on_both! {
    async fn a_read_is_queued_too_and_leaves_no_receipt(desk: Desk) {
        let read = waiting(&desk.engine, queue(desk.careful("read_quota", json!({})).await)).await;
        assert_eq!(read.status, WaitingStatus::Queued);
        desk.engine.run_queue().await.expect("the queue runs");
        let call = ended(&desk, &desk.careful, &read).await;
        assert_eq!((call.status, call.receipt_id), (CallStatus::Done, None));
        assert_eq!(call.result.expect("a result")["quota"], 5);
        let ann = desk.visitor(&desk.ann).await;
        let receipts = desk.engine.receipts(&ann, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        assert!(receipts.items.is_empty());
    }
}

on_both! {
    async fn a_held_one_is_queued_when_it_is_confirmed(desk: Desk) {
        let held = waiting(&desk.engine, queue(keyed(desk.careful("send_mail", json!({ "to": "a", "body": "b" })).await, "k"))).await;
        assert_eq!(held.status, WaitingStatus::Held);
        desk.engine.run_queue().await.expect("the queue runs");
        assert_eq!(status(&desk, &desk.careful, &held).await, CallStatus::Held, "it is not queued before");
        let ann = desk.decider(&desk.ann).await;
        let page = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list");
        let decided = desk.engine.decide(&ann, held.call_id, confirm(&page.items[0].preview.version)).await.expect("recorded");
        assert_eq!(decided.status, CallStatus::Queued);
        assert!(desk.upstream.writes().is_empty());
        desk.engine.run_queue().await.expect("the queue runs");
        assert_eq!(ended(&desk, &desk.careful, &held).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1);
        let visitor = desk.visitor(&desk.ann).await;
        let receipts = desk.engine.receipts(&visitor, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        assert_eq!((receipts.items[0].approval.kind, receipts.items[0].approval.by.as_slice()), (ApprovalKind::Person, &[desk.ann.id][..]));
    }
}

on_both! {
    async fn an_undo_window_comes_before_the_queue(desk: Desk) {
        let held = waiting(&desk.engine, queue(desk.careful("undoable", json!({ "to": "a" })).await)).await;
        let ann = desk.decider(&desk.ann).await;
        let page = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list");
        let decided = desk.engine.decide(&ann, held.call_id, confirm(&page.items[0].preview.version)).await.expect("recorded");
        assert_eq!(decided.status, CallStatus::Approved);
        desk.pass(61);
        desk.engine.send_due_calls().await.expect("the job runs");
        assert_eq!(status(&desk, &desk.careful, &held).await, CallStatus::Queued);
        assert!(desk.upstream.writes().is_empty());
        desk.engine.run_queue().await.expect("the queue runs");
        assert_eq!(ended(&desk, &desk.careful, &held).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn a_prompt_is_answered_at_once_and_its_token_is_queued(desk: Desk) {
        let mail = json!({ "to": "a", "body": "b" });
        let asked = desk.engine.call(queue(desk.quick("send_mail", mail.clone()).await), None).await;
        let Ok(Answer::Prompt(prompt)) = asked else { panic!("no prompt: {asked:?}") };
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM calls").await, 0, "nothing is queued");
        let redeem = with(desk.quick("send_mail", mail.clone()).await, "confirm_token", json!(prompt.confirm_token));
        let queued = waiting(&desk.engine, queue(redeem.clone())).await;
        assert_eq!(queued.status, WaitingStatus::Queued);
        let spent = desk.engine.call(queue(redeem), None).await;
        assert_eq!(spent, Err(Refusal::ConfirmTokenInvalid(TokenFault::Used)));
        desk.engine.run_queue().await.expect("the queue runs");
        assert_eq!(ended(&desk, &desk.quick, &queued).await.status, CallStatus::Done);
        let ann = desk.visitor(&desk.ann).await;
        let receipts = desk.engine.receipts(&ann, &ReceiptFilter::default(), &PageAsked::default()).await.expect("receipts");
        assert_eq!(receipts.items[0].approval.kind, ApprovalKind::ConfirmToken);
        let dry = desk.engine.call(queue(with(desk.quick("note", json!({ "text": "x" })).await, "dry_run", json!(true))), None).await;
        assert!(matches!(dry, Ok(Answer::Preview(_))), "{dry:?}");
    }
}

on_both! {
    async fn a_rejected_prompt_confirms_nothing(desk: Desk) {
        let mail = json!({ "to": "a", "body": "b" });
        let asked = desk.engine.call(desk.quick("send_mail", mail.clone()).await, None).await;
        let Ok(Answer::Prompt(prompt)) = asked else { panic!("no prompt: {asked:?}") };
        let (quick, careful) = (desk.actor(&desk.quick).await, desk.actor(&desk.careful).await);
        assert_eq!(desk.engine.reject_prompt(&quick, "cft_nonsense").await, Err(Refusal::NotFound));
        assert_eq!(desk.engine.reject_prompt(&careful, &prompt.confirm_token).await, Err(Refusal::NotFound), "not its own");
        assert_eq!(desk.engine.reject_prompt(&quick, &prompt.confirm_token).await, Ok(()));
        assert_eq!(desk.engine.reject_prompt(&quick, &prompt.confirm_token).await, Err(Refusal::NotFound), "there is none left");
        let redeem = |token: &str| { let token = token.to_owned(); let mail = mail.clone(); let desk = &desk; async move {
            desk.engine.call(with(desk.quick("send_mail", mail).await, "confirm_token", json!(token)), None).await
        } };
        assert_eq!(redeem(&prompt.confirm_token).await, Err(Refusal::ConfirmTokenInvalid(TokenFault::Rejected)));
        assert!(desk.upstream.writes().is_empty());
        let Ok(Answer::Prompt(second)) = desk.engine.call(desk.quick("send_mail", mail.clone()).await, None).await else { panic!("no prompt") };
        assert!(matches!(redeem(&second.confirm_token).await, Ok(Answer::Done(_))));
        assert_eq!(desk.engine.reject_prompt(&quick, &second.confirm_token).await, Err(Refusal::NotFound), "used");
    }
}

on_both! {
    async fn a_waiting_caller_gets_the_end(desk: Desk) {
        let working = desk.engine.start_jobs();
        let answer = desk.engine.call(note(&desk, "k").await, Some(Duration::from_secs(20))).await;
        assert!(matches!(&answer, Ok(Answer::Done(done)) if done.receipt_id.is_some()), "{answer:?}");
        desk.upstream.behave(Behaviour::Answer(503, "{}".to_owned()));
        let failed = desk.engine.call(note(&desk, "l").await, Some(Duration::from_secs(20))).await;
        assert_eq!(failed, Err(Refusal::UpstreamFailed(Some(503))));
        desk.upstream.behave(Behaviour::Wait);
        let slow = desk.engine.call(note(&desk, "m").await, Some(Duration::from_millis(300))).await;
        assert!(matches!(&slow, Ok(Answer::Waiting(waiting)) if waiting.status == WaitingStatus::Queued), "{slow:?}");
        desk.upstream.release();
        working.stop().await;
    }
}

on_both! {
    async fn what_may_no_longer_be_done_is_refused_and_frees_its_key(desk: Desk) {
        let gone = waiting(&desk.engine, note(&desk, "k").await).await;
        desk.engine.replace_catalogue(desk::parsed(""));
        desk.engine.run_queue().await.expect("the queue runs");
        let call = ended(&desk, &desk.quick, &gone).await;
        assert_eq!((call.status, call.executed), (CallStatus::Refused, Some(false)));
        assert!(call.problem.expect("a problem").detail.contains("no longer in the catalogue"));
        desk.engine.replace_catalogue(desk.catalogue());
        let again = waiting(&desk.engine, note(&desk, "k").await).await;
        assert_eq!(desk.engine.withdraw(&desk.actor(&desk.quick).await, again.call_id).await, Err(Refusal::NotHeld));
        assert_eq!(desk.engine.revoke_agent("quick").await, Ok(true));
        desk.engine.run_queue().await.expect("the queue runs");
        let ann = engine::Actor::Person(desk.visitor(&desk.ann).await);
        let call = desk.engine.call_status(&ann, again.call_id, None).await.expect("a status");
        assert_eq!(call.status, CallStatus::Withdrawn);
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    async fn two_nodes_run_each_call_once(desk: Desk) {
        let mut queued = Vec::new();
        for turn in 0..24 {
            queued.push(waiting(&desk.engine, note(&desk, &format!("k{turn}")).await).await);
        }
        let other = desk.second_node().await;
        let (one, two) = tokio::join!(desk.engine.run_queue(), other.run_queue());
        assert!(one.is_ok() && two.is_ok());
        for call in &queued {
            assert_eq!(ended(&desk, &desk.quick, call).await.status, CallStatus::Done);
        }
        assert_eq!(desk.upstream.writes().len(), 24);
    }
}

on_both! {
    async fn a_read_whose_process_died_is_read_again_and_a_write_is_in_doubt(desk: Desk) {
        let read = waiting(&desk.engine, queue(desk.quick("read_quota", json!({})).await)).await;
        let write = waiting(&desk.engine, note(&desk, "k").await).await;
        for (id, state) in [(read.call_id, "running"), (write.call_id, "sending")] {
            let taken = format!("UPDATE calls SET state = '{state}', lease_owner = 'gone', lease_until = 1 WHERE id = '{id}'");
            desk.database.run(&taken).await.expect("taken by a node that is gone");
        }
        desk.engine.recover_reads().await.expect("the job runs");
        desk.engine.recover_sends().await.expect("the job runs");
        assert_eq!(status(&desk, &desk.quick, &read).await, CallStatus::Queued);
        assert_eq!(status(&desk, &desk.quick, &write).await, CallStatus::InDoubt);
        desk.engine.run_queue().await.expect("the queue runs");
        let call = ended(&desk, &desk.quick, &read).await;
        assert_eq!((call.status, call.attempts.len()), (CallStatus::Done, 1));
        assert!(desk.upstream.writes().is_empty(), "never sent again");
        let again = desk.engine.call(note(&desk, "k").await, None).await;
        assert_eq!(again, Err(Refusal::OutcomeUnknown(write.call_id)));
    }
}

on_both! {
    async fn nothing_of_a_queued_input_is_in_the_clear(desk: Desk) {
        const CANARY: &str = "kwijibo-canary-8112";
        let queued = waiting(&desk.engine, queue(desk.quick("note", json!({ "text": CANARY })).await)).await;
        desk.engine.run_queue().await.expect("the queue runs");
        assert_eq!(ended(&desk, &desk.quick, &queued).await.status, CallStatus::Done);
        if let Some(bytes) = desk.file_bytes() {
            assert!(!bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()));
        }
    }
}
