//! A person tells how a call ended whose outcome was not known.

mod desk;

use std::time::Duration;

use desk::{Behaviour, Desk, confirm, keyed};
use engine::{PageAsked, ReceiptFilter};
use model::answer::Waiting;
use model::{Answer, CallStatus, EventType, Finding, Outcome, Refusal, Settlement};
use serde_json::json;

fn found(outcome: Finding) -> Settlement {
    Settlement { outcome, reason: Some("looked it up".to_owned()) }
}

fn mail() -> serde_json::Value {
    json!({ "to": "a@b.example", "body": "text" })
}

/// A keyed call that was confirmed while the upstream behaves like this.
async fn confirmed(desk: &Desk, behaviour: Behaviour) -> Waiting {
    desk.upstream.behave(behaviour);
    let answer = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await;
    let Ok(Answer::Waiting(waiting)) = answer else { panic!("not held: {answer:?}") };
    let ann = desk.decider(&desk.ann).await;
    let version = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list").items[0]
        .preview
        .version
        .clone();
    desk.engine.decide(&ann, waiting.call_id, confirm(&version)).await.expect("recorded");
    waiting
}

async fn in_doubt(desk: &Desk) -> Waiting {
    let waiting = confirmed(desk, Behaviour::Cut).await;
    let actor = desk.actor(&desk.careful).await;
    let call = desk
        .engine
        .call_status(&actor, waiting.call_id, Some(Duration::from_secs(10)))
        .await
        .expect("a status");
    assert_eq!(call.status, CallStatus::InDoubt);
    waiting
}

async fn outcome(desk: &Desk) -> Outcome {
    let page = desk
        .engine
        .receipts(&desk.visitor(&desk.olga).await, &ReceiptFilter::default(), &PageAsked::default())
        .await;
    page.expect("receipts").items[0].outcome
}

on_both! {
    async fn settled_as_happened_the_key_replays(desk: Desk) {
        let waiting = in_doubt(&desk).await;
        let ann = desk.visitor(&desk.ann).await;
        let max = desk.visitor(&desk.max).await;
        assert_eq!(desk.engine.settle(&max, waiting.call_id, found(Finding::Happened)).await, Err(Refusal::NotFound));
        let call = desk.engine.settle(&ann, waiting.call_id, found(Finding::Happened)).await.expect("settled");
        assert_eq!((call.status, call.executed), (CallStatus::Done, Some(true)));
        assert_eq!(outcome(&desk).await, Outcome::SettledHappened);
        assert_eq!(desk.engine.settle(&ann, waiting.call_id, found(Finding::DidNotHappen)).await, Err(Refusal::AlreadyDecided));
        let again = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await;
        let Ok(Answer::Replayed(replay)) = again else { panic!("no replay: {again:?}") };
        assert_eq!((replay.original_status, replay.receipt_id), (None, call.receipt_id));
        assert_eq!(desk.upstream.writes().len(), 1);
        let events = desk.engine.events(&ann, &PageAsked::default()).await.expect("events");
        assert!(events.items.iter().any(|event| event.r#type == EventType::Settled && event.status == CallStatus::Done));
        let kept = desk.database.count("SELECT COUNT(*) FROM calls WHERE input IS NOT NULL OR preview IS NOT NULL").await;
        assert_eq!(kept, 0, "settling erases what was kept for it");
    }
}

on_both! {
    async fn settled_as_not_happened_the_key_is_free(desk: Desk) {
        let waiting = in_doubt(&desk).await;
        let olga = desk.visitor(&desk.olga).await;
        let call = desk.engine.settle(&olga, waiting.call_id, found(Finding::DidNotHappen)).await.expect("an operator settles");
        assert_eq!((call.status, call.executed), (CallStatus::Failed, Some(false)));
        assert_eq!(outcome(&desk).await, Outcome::SettledDidNotHappen);
        let again = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await;
        assert!(matches!(again, Ok(Answer::Waiting(_))), "asked about again: {again:?}");
    }
}

on_both! {
    async fn an_answer_that_still_comes_overrides_the_settlement(desk: Desk) {
        let waiting = confirmed(&desk, Behaviour::Wait).await;
        desk.upstream.until_writes(1).await;
        let other = desk.second_node().await;
        desk.pass(60);
        other.recover_sends().await.expect("the job runs");
        let olga = desk.visitor(&desk.olga).await;
        other.settle(&olga, waiting.call_id, found(Finding::DidNotHappen)).await.expect("settled");
        desk.upstream.release();
        let actor = desk.actor(&desk.careful).await;
        for _ in 0..400 {
            if outcome(&desk).await == Outcome::Done {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let call = desk.engine.call_status(&actor, waiting.call_id, None).await.expect("a status");
        assert_eq!((call.status, outcome(&desk).await), (CallStatus::Done, Outcome::Done));
        let again = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await;
        assert!(matches!(again, Ok(Answer::Replayed(_))), "the key is taken back: {again:?}");
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// "… overrides the settlement and takes the key back": also from a call that has it by now and waits for a person,
    /// who would send the same a second time.
    async fn an_answer_that_still_comes_takes_its_key_back_from_a_call_that_waits(desk: Desk) {
        let first = confirmed(&desk, Behaviour::Wait).await;
        desk.upstream.until_writes(1).await;
        let other = desk.second_node().await;
        desk.pass(60);
        other.recover_sends().await.expect("the job runs");
        let olga = desk.visitor(&desk.olga).await;
        other.settle(&olga, first.call_id, found(Finding::DidNotHappen)).await.expect("settled");
        let again = || async { other.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await };
        let answer = again().await;
        let Ok(Answer::Waiting(second)) = answer else { panic!("the key is free: {answer:?}") };
        let version = desk.preview(&desk.ann, second.call_id).await.version;
        desk.upstream.release();
        let actor = desk.actor(&desk.careful).await;
        let ended = other.call_status(&actor, second.call_id, Some(Duration::from_secs(20))).await.expect("a status");
        assert_eq!((ended.status, ended.executed), (CallStatus::Withdrawn, Some(false)));
        assert_eq!(outcome(&desk).await, Outcome::Done);
        let late = other.decide(&desk.decider(&desk.ann).await, second.call_id, confirm(&version)).await;
        assert_eq!(late.map(|_| ()), Err(Refusal::Withdrawn));
        let answer = again().await;
        assert!(matches!(&answer, Ok(Answer::Replayed(_))), "{answer:?}");
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Section 4: "The input and preview are erased when the call ends (in doubt: when it is settled)". Nobody was shown
    /// a preview of a call that passed; whoever has to say what became of it is shown what was sent.
    async fn a_call_in_doubt_that_nobody_was_asked_about_is_not_settled_blind(desk: Desk) {
        desk.upstream.behave(Behaviour::Cut);
        let lost = desk.engine.call(desk.quick("note", json!({ "text": "the words" })).await, None).await;
        let Err(Refusal::OutcomeUnknown(id)) = lost else { panic!("{lost:?}") };
        let ann = desk.visitor(&desk.ann).await;
        let item = desk.engine.item(&ann, id).await.expect("storage").expect("hers");
        assert!(item.may_settle);
        let request = item.preview.expect("what was sent").request;
        assert!(request.body.is_some_and(|body| body.contains("the words")));
        let olga = desk.visitor(&desk.olga).await;
        let seen = desk.engine.item(&olga, id).await.expect("storage").expect("an operator's");
        assert_eq!((seen.may_settle, seen.preview), (true, None), "operators see no input");
        desk.engine.settle(&ann, id, found(Finding::Happened)).await.expect("settled");
        let item = desk.engine.item(&ann, id).await.expect("storage").expect("hers");
        assert_eq!(item.preview, None, "erased");
    }
}

on_both! {
    /// Section 7: "A call can be settled once its lease has run out and its connection is closed."
    async fn a_call_whose_connection_is_open_is_not_settled(desk: Desk) {
        let waiting = confirmed(&desk, Behaviour::WaitThenCut).await;
        desk.upstream.until_writes(1).await;
        desk.pass(60);
        desk.second_node().await.recover_sends().await.expect("the job runs");
        let olga = desk.visitor(&desk.olga).await;
        for finding in [Finding::Happened, Finding::DidNotHappen] {
            assert_eq!(desk.engine.settle(&olga, waiting.call_id, found(finding)).await, Err(Refusal::StillSending));
        }
        assert_eq!(outcome(&desk).await, Outcome::InDoubt, "nothing was settled");
        let again = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await;
        assert_eq!(again, Err(Refusal::OutcomeUnknown(waiting.call_id)), "the key is kept");
        desk.upstream.release();
        let settled = loop {
            match desk.engine.settle(&olga, waiting.call_id, found(Finding::DidNotHappen)).await {
                Err(Refusal::StillSending) => tokio::time::sleep(Duration::from_millis(10)).await,
                other => break other.expect("the connection is closed"),
            }
        };
        assert_eq!(settled.status, CallStatus::Failed);
        let again = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await;
        assert!(matches!(again, Ok(Answer::Waiting(_))), "asked about again: {again:?}");
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Ann is alone with an agent whose writes pass: nobody else could settle.
    async fn the_owner_settles_a_call_that_passed(desk: Desk) {
        desk.upstream.behave(Behaviour::Cut);
        let note = || async { keyed(desk.quick("note", json!({ "text": "x" })).await, "k") };
        let Err(Refusal::OutcomeUnknown(id)) = desk.engine.call(note().await, None).await else { panic!("known") };
        let (ann, max) = (desk.visitor(&desk.ann).await, desk.visitor(&desk.max).await);
        assert_eq!(desk.engine.settle(&max, id, found(Finding::DidNotHappen)).await, Err(Refusal::NotFound));
        let call = desk.engine.settle(&ann, id, found(Finding::DidNotHappen)).await.expect("settled");
        assert_eq!(call.status, CallStatus::Failed);
        desk.upstream.behave(Behaviour::Answer(200, "{}".to_owned()));
        assert!(matches!(desk.engine.call(note().await, None).await, Ok(Answer::Done(_))), "the key is free");
    }
}

on_both! {
    /// The settling node's clock is ahead, so its line has the larger id.
    async fn a_late_answer_overrides_a_settlement_of_the_future(desk: Desk) {
        let waiting = confirmed(&desk, Behaviour::Wait).await;
        desk.upstream.until_writes(1).await;
        let other = desk.second_node().await;
        desk.pass(600);
        other.recover_sends().await.expect("the job runs");
        let olga = desk.visitor(&desk.olga).await;
        other.settle(&olga, waiting.call_id, found(Finding::DidNotHappen)).await.expect("settled");
        desk.pass(-600);
        desk.upstream.release();
        let actor = desk.actor(&desk.careful).await;
        while desk.engine.call_status(&actor, waiting.call_id, None).await.expect("a status").status != CallStatus::Done {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(outcome(&desk).await, Outcome::Done);
    }
}

on_both! {
    async fn in_doubt_it_is_pinned_for_whoever_may_settle_it(desk: Desk) {
        let waiting = in_doubt(&desk).await;
        let (ann, max, olga) =
            (desk.visitor(&desk.ann).await, desk.visitor(&desk.max).await, desk.visitor(&desk.olga).await);
        assert!(desk.engine.in_doubt(&max).await.expect("a list").is_empty());
        assert_eq!(desk.engine.inbox_count(&max).await, Ok(0));
        let pinned = desk.engine.in_doubt(&ann).await.expect("a list");
        assert_eq!(pinned.iter().map(|item| (item.call.id, item.title.as_str())).collect::<Vec<_>>(), [(waiting.call_id, "Mail to a@b.example")]);
        assert_eq!(desk.engine.inbox_count(&ann).await, Ok(1));
        let pinned = desk.engine.in_doubt(&olga).await.expect("a list");
        assert_eq!((pinned[0].title.as_str(), pinned[0].preview.is_none(), pinned[0].may_settle), ("Send a mail", true, true));
        let item = desk.engine.item(&olga, waiting.call_id).await.expect("storage").expect("the call");
        let sent = item.sent.expect("where to look");
        assert_eq!((sent.method.as_str(), sent.url.ends_with("/messages")), ("POST", true));
        assert!(item.preview.is_none() && item.may_settle && !item.may_decide && item.settled.is_none());

        desk.engine.settle(&olga, waiting.call_id, found(Finding::Happened)).await.expect("settled");
        let item = desk.engine.item(&ann, waiting.call_id).await.expect("storage").expect("the call");
        let settled = item.settled.expect("a settlement");
        assert_eq!((settled.finding, settled.by.as_deref(), settled.reason.as_deref()), (Finding::Happened, Some("Olga"), Some("looked it up")));
        assert!(!item.may_settle && item.sent.is_none());
        for person in [&ann, &olga] {
            assert!(desk.engine.in_doubt(person).await.expect("a list").is_empty());
            assert_eq!(desk.engine.inbox_count(person).await, Ok(0));
        }
    }
}
