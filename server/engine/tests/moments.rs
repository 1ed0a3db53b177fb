//! The moments between: what changes after a person has looked, just before the bytes leave, and after all was given up.

mod desk;

use std::time::Duration;

use desk::{Behaviour, Database, Desk, confirm, keyed, parsed};
use engine::{Engine, PageAsked, ReceiptFilter};
use model::answer::Waiting;
use model::{Answer, Call, CallId, CallStatus, Outcome, Refusal};
use serde_json::json;

const CATALOGUE: &str = include_str!("desk/catalogue.toml");

/// The desk's catalogue with something else in its first credential.
fn changed(desk: &Desk, from: &str, to: &str) {
    let text = CATALOGUE.replacen(from, to, 1);
    assert_ne!(text, CATALOGUE, "{from}");
    desk.engine.replace_catalogue(parsed(&text.replace("UPSTREAM", &desk.upstream.address())));
}

async fn held(desk: &Desk, action: &str) -> Waiting {
    let input = if action == "undoable" { json!({ "to": "a@b.example" }) } else { json!({ "text": "x" }) };
    match desk.engine.call(keyed(desk.careful(action, input).await, "k"), None).await {
        Ok(Answer::Waiting(waiting)) => waiting,
        other => panic!("not held: {other:?}"),
    }
}

async fn version(desk: &Desk) -> String {
    let ann = desk.decider(&desk.ann).await;
    let list = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list");
    list.items[0].preview.version.clone()
}

async fn decide(desk: &Desk, id: CallId) -> Result<Call, Refusal> {
    let version = version(desk).await;
    desk.engine.decide(&desk.decider(&desk.ann).await, id, confirm(&version)).await
}

/// The call once it has ended.
async fn ended(desk: &Desk, engine: &Engine, id: CallId) -> Call {
    let actor = desk.actor(&desk.careful).await;
    engine.call_status(&actor, id, Some(Duration::from_secs(10))).await.expect("a status")
}

async fn outcomes(desk: &Desk) -> Vec<Outcome> {
    let olga = desk.visitor(&desk.olga).await;
    let page = desk.engine.receipts(&olga, &ReceiptFilter::default(), &PageAsked::default()).await;
    page.expect("receipts").items.iter().map(|receipt| receipt.outcome).collect()
}

/// What an operator may change in a credential of which a person was shown that it goes with the request.
const CHANGES: [(&str, &str); 4] = [
    (r#"header = "Authorization""#, r#"header = "X-Api-Key""#),
    (r#"value = "Bearer {secret}""#, r#"value = "Token {secret}""#),
    (r#"hosts = ["UPSTREAM"]"#, r#"hosts = ["UPSTREAM", "elsewhere.example"]"#),
    (r#"secret = { env = "PATH" }"#, r#"secret = { env = "HOME" }"#),
];

on_both! {
    async fn a_credential_changed_while_a_call_is_held_is_asked_about_again(desk: Desk) {
        for (from, to) in CHANGES {
            desk.engine.replace_catalogue(desk.catalogue());
            let waiting = held(&desk, "note").await;
            changed(&desk, from, to);
            let before = version(&desk).await;
            let said = decide(&desk, waiting.call_id).await;
            assert!(matches!(said, Err(Refusal::PreviewChanged(_))), "{to}: {said:?}");
            assert_ne!(version(&desk).await, before, "{to}: the old preview confirms nothing any more");
            assert!(desk.upstream.writes().is_empty(), "{to}");
            desk.engine.withdraw(&desk.actor(&desk.careful).await, waiting.call_id).await.expect("withdrawn");
        }
    }
}

on_both! {
    async fn a_credential_changed_between_confirm_and_send_is_not_sent(desk: Desk) {
        for (from, to) in CHANGES {
            desk.engine.replace_catalogue(desk.catalogue());
            let waiting = held(&desk, "undoable").await;
            assert_eq!(decide(&desk, waiting.call_id).await.expect("recorded").status, CallStatus::Approved);
            changed(&desk, from, to);
            desk.pass(61);
            desk.engine.send_due_calls().await.expect("the job runs");
            let call = ended(&desk, &desk.engine, waiting.call_id).await;
            assert_eq!((call.status, call.executed), (CallStatus::Failed, Some(false)), "{to}");
            assert!(desk.upstream.writes().is_empty(), "{to}");
            assert!(outcomes(&desk).await.is_empty(), "{to}");
        }
    }
}

/// One number, from within a clock.
fn count_now(database: &Database, sql: &'static str) -> i64 {
    let database = database.clone();
    let counted = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(database.count(sql))
    });
    counted.join().expect("no panic")
}

fn run_now(database: &Database, sql: &'static str) {
    let database = database.clone();
    let done = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(database.run(sql))
    });
    done.join().expect("no panic").expect("run");
}

const INTENTS: &str = "SELECT COUNT(*) FROM calls WHERE state = 'sending'";

on_both! {
    async fn a_process_that_slept_through_its_lease_sends_nothing_when_the_call_was_given_up(desk: Desk) {
        let database = desk.database.clone();
        // The process is suspended right after its durable intent; meanwhile another node's recovery comes by.
        desk.leap_when(Box::new(move || {
            if count_now(&database, INTENTS) == 0 {
                return None;
            }
            run_now(&database, "UPDATE calls SET state = 'in_doubt', ended_at = 1, lease_until = NULL, lease_owner = NULL WHERE state = 'sending'");
            Some(60)
        }));
        let answer = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        let Err(Refusal::OutcomeUnknown(id)) = answer else { panic!("not given up: {answer:?}") };
        assert!(desk.upstream.writes().is_empty(), "what was given up must not become true afterwards");
        let again = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert_eq!(again, Err(Refusal::OutcomeUnknown(id)));
    }
}

on_both! {
    async fn a_process_that_slept_and_still_has_its_call_renews_the_lease_and_sends_once(desk: Desk) {
        let database = desk.database.clone();
        desk.leap_when(Box::new(move || (count_now(&database, INTENTS) > 0).then_some(60)));
        let answer = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert!(matches!(answer, Ok(Answer::Done(_))), "{answer:?}");
        assert_eq!((desk.upstream.writes().len(), outcomes(&desk).await), (1, vec![Outcome::Done]));
    }
}

/// A call of the quick agent whose answer comes after another node has given it up.
async fn answered_late(desk: &Desk, status: u16) -> CallId {
    desk.upstream.behave(Behaviour::WaitThen(status));
    let (engine, call) = (desk.engine.clone(), keyed(desk.quick("note", json!({ "text": "x" })).await, "k"));
    let calling = tokio::spawn(async move { engine.call(call, None).await });
    desk.upstream.until_writes(1).await;
    let other = desk.second_node().await;
    desk.pass(60);
    other.recover_sends().await.expect("the job runs");
    assert_eq!(outcomes(desk).await, [Outcome::InDoubt]);
    let id = desk.database.texts("SELECT id FROM calls").await[0].parse().expect("an id");
    desk.upstream.release();
    drop(calling.await.expect("no panic"));
    id
}

on_both! {
    async fn a_late_no_of_the_upstream_ends_the_doubt_and_frees_the_key(desk: Desk) {
        let id = answered_late(&desk, 404).await;
        let call = desk.engine.call_status(&desk.actor(&desk.quick).await, id, None).await.expect("a status");
        assert_eq!(call.status, CallStatus::Refused);
        assert_eq!(outcomes(&desk).await, [Outcome::Done], "it was answered: that is known");
        desk.upstream.behave(Behaviour::Answer(200, "{}".to_owned()));
        let again = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert!(matches!(again, Ok(Answer::Done(_))), "a no frees the key: {again:?}");
        assert_eq!(desk.upstream.writes().len(), 2);
    }
}

on_both! {
    async fn a_late_failure_of_the_upstream_ends_the_doubt_and_frees_the_key(desk: Desk) {
        let id = answered_late(&desk, 503).await;
        let call = desk.engine.call_status(&desk.actor(&desk.quick).await, id, None).await.expect("a status");
        assert_eq!((call.status, call.executed), (CallStatus::Failed, Some(false)));
        assert_eq!(outcomes(&desk).await, [Outcome::SettledDidNotHappen]);
        desk.upstream.behave(Behaviour::Answer(200, "{}".to_owned()));
        let again = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert!(matches!(again, Ok(Answer::Done(_))), "it may be tried again: {again:?}");
    }
}

on_both! {
    async fn a_late_yes_is_the_truth_and_the_key_replays(desk: Desk) {
        let id = answered_late(&desk, 201).await;
        let call = desk.engine.call_status(&desk.actor(&desk.quick).await, id, None).await.expect("a status");
        assert_eq!((call.status, outcomes(&desk).await), (CallStatus::Done, vec![Outcome::Done]));
        let again = desk.engine.call(keyed(desk.quick("note", json!({ "text": "x" })).await, "k"), None).await;
        assert!(matches!(again, Ok(Answer::Replayed(_))), "{again:?}");
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}
