//! The table of section 5, the answers of the steps before it, and the confirm token.

mod desk;

use desk::{Desk, keyed, with};
use model::refusal::TokenFault;
use model::{Answer, FieldError, Refusal};
use serde_json::{Value, json};

fn mail() -> Value {
    json!({ "to": "finance@northwind.example", "body": "Invoice 1009" })
}

async fn prompt(desk: &Desk) -> model::answer::Prompt {
    match desk.engine.call(desk.quick("send_mail", mail()).await, None).await {
        Ok(Answer::Prompt(prompt)) => prompt,
        other => panic!("no prompt: {other:?}"),
    }
}

fn fields(refusal: &Result<Answer, Refusal>) -> Vec<&str> {
    match refusal {
        Err(Refusal::Invalid(errors)) => {
            errors.iter().map(|error: &FieldError| error.field.as_str()).collect()
        }
        other => panic!("not invalid: {other:?}"),
    }
}

on_both! {
    async fn each_caller_takes_its_row(desk: Desk) {
        let read = desk.engine.call(desk.careful("read_quota", json!({})).await, None).await;
        assert!(matches!(&read, Ok(Answer::Done(done)) if done.receipt_id.is_none() && done.result["quota"] == 5), "{read:?}");
        let dry = desk.engine.call(with(desk.careful("send_mail", mail()).await, "dry_run", json!(true)), None).await;
        assert!(matches!(dry, Ok(Answer::Preview(_))), "{dry:?}");
        let queued = desk.engine.call(desk.careful("note", json!({ "text": "x" })).await, None).await;
        assert!(matches!(queued, Ok(Answer::Waiting(_))), "{queued:?}");
        let passed = desk.engine.call(desk.quick("note", json!({ "text": "x" })).await, None).await;
        assert!(matches!(&passed, Ok(Answer::Done(done)) if done.receipt_id.is_some()), "{passed:?}");
        let person = desk::arrival(engine::Actor::Person(desk.visitor(&desk.max).await), "note", json!({ "text": "x" }));
        let held = desk.engine.call(person, None).await;
        let Ok(Answer::Waiting(waiting)) = held else { panic!("a person's write was not held: {held:?}") };
        let item = desk.engine.item(&desk.visitor(&desk.max).await, waiting.call_id).await.expect("storage");
        assert!(item.is_some_and(|item| item.may_decide), "held for that person");
        let refused = desk.engine.call(with(desk.careful("send_mail", mail()).await, "confirm_token", json!("cft_x")), None).await;
        assert_eq!(refused, Err(Refusal::ConfirmTokenInvalid(TokenFault::Invalid)));
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn a_confirm_token_runs_once_and_for_its_arguments(desk: Desk) {
        let prompt = prompt(&desk).await;
        let redeem = |arrival, token: &str| with(arrival, "confirm_token", json!(token));
        let invalid = |fault| Err(Refusal::ConfirmTokenInvalid(fault));
        let other = desk.quick("send_mail", json!({ "to": "x@y.example", "body": "b" })).await;
        assert_eq!(desk.engine.call(redeem(other, &prompt.confirm_token), None).await, invalid(TokenFault::OtherArguments));
        assert_eq!(desk.engine.call(redeem(desk.quick("send_mail", mail()).await, "cft_nonsense"), None).await, invalid(TokenFault::Invalid));
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (engine, arrival) = (desk.engine.clone(), redeem(desk.quick("send_mail", mail()).await, &prompt.confirm_token));
            calls.spawn(async move { engine.call(arrival, None).await });
        }
        let answers = calls.join_all().await;
        assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(Answer::Done(_)))).count(), 1, "{answers:?}");
        assert_eq!(answers.iter().filter(|answer| **answer == invalid(TokenFault::Used)).count(), 7, "{answers:?}");
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn a_confirm_token_lapses_and_notices_changes(desk: Desk) {
        let first = prompt(&desk).await;
        desk.upstream.set_quota(4);
        let redeemed = desk.engine.call(with(desk.quick("send_mail", mail()).await, "confirm_token", json!(first.confirm_token)), None).await;
        let Ok(Answer::Prompt(second)) = redeemed else { panic!("{redeemed:?}") };
        assert_eq!(second.reason, Some(model::answer::PromptReason::Changed));
        assert_ne!(second.confirm_token, first.confirm_token);
        let spent = desk.engine.call(with(desk.quick("send_mail", mail()).await, "confirm_token", json!(first.confirm_token)), None).await;
        assert_eq!(spent, Err(Refusal::ConfirmTokenInvalid(TokenFault::Used)));
        desk.pass(601);
        let late = desk.engine.call(with(desk.quick("send_mail", mail()).await, "confirm_token", json!(second.confirm_token)), None).await;
        assert_eq!(late, Err(Refusal::ConfirmTokenInvalid(TokenFault::Expired)));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    async fn bad_input_is_told_whole_and_nothing_is_written(desk: Desk) {
        let bad = |input| async { desk.engine.call(desk.careful("send_mail", input).await, None).await };
        assert_eq!(fields(&bad(json!({ "to": 1, "extra": "x" })).await), ["/extra", "/body", "/to"]);
        assert_eq!(fields(&bad(json!({ "to": "a\0b", "body": "x" })).await), ["/to"]);
        assert_eq!(fields(&bad(json!({ "to": "a", "body": "x", "dry_run": "yes" })).await), ["/dry_run"]);
        let twice = desk.careful("send_mail", mail()).await;
        let twice = engine::Arrival { key_header: vec!["a".to_owned(), "a".to_owned()], ..twice };
        assert_eq!(fields(&desk.engine.call(twice, None).await), ["/idempotency_key"]);
        let different = with(keyed(desk.careful("send_mail", mail()).await, "a"), "idempotency_key", json!("b"));
        assert_eq!(fields(&desk.engine.call(different, None).await), ["/idempotency_key"]);
        for table in ["calls", "claims", "receipts"] {
            assert_eq!(desk.database.count(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
        }
    }
}

on_both! {
    async fn what_one_may_not_see_is_not_there(desk: Desk) {
        let call = |action: &'static str| async { desk.engine.call(desk.careful(action, json!({})).await, None).await };
        assert_eq!(call("hidden").await, Err(Refusal::NotFound));
        assert_eq!(call("nothing").await, Err(Refusal::NotFound));
        assert_eq!(call("denied").await, Err(Refusal::Denied));
        let offered = desk.engine.offered(&desk.actor(&desk.careful).await, model::Surface::Api, None).await.expect("a list");
        let names: Vec<_> = offered.iter().map(|action| action.name.as_str()).collect();
        assert_eq!(names, ["read_quota", "note", "send_mail", "undoable", "two_people", "grouped", "free"]);
        let tenant = engine::Arrival { tenant: Some("acme".to_owned()), ..desk.quick("note", json!({ "text": "x" })).await };
        assert_eq!(desk.engine.call(tenant, None).await, Err(Refusal::NotFound), "no member");
        let nobody = desk::arrival(engine::Actor::Public { client: None }, "note", json!({ "text": "x" }));
        assert_eq!(desk.engine.call(nobody, None).await, Err(Refusal::Unauthenticated));
    }
}

on_both! {
    async fn an_upstream_that_knows_nobody_holds_nothing(desk: Desk) {
        let refused = desk.engine.call(desk.careful("send_mail", json!({ "to": "missing", "body": "b" })).await, None).await;
        assert!(matches!(refused, Err(Refusal::Refused { status: 409, upstream_status: Some(404), .. })), "{refused:?}");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM calls").await, 0);
    }
}

on_both! {
    async fn what_could_not_be_kept_as_it_is_is_refused(desk: Desk) {
        let deep = (0..80).fold(json!(1), |inner, _| json!([inner]));
        for body in [json!({ "$serde_json::private::RawValue": "{\"x\":1}" }), deep] {
            let input = json!({ "to": "a", "body": "b", "extra": body });
            assert_eq!(fields(&desk.engine.call(desk.careful("free", input).await, None).await).len(), 1);
        }
        let many: serde_json::Map<String, Value> = (0..50_000).map(|n| (format!("k{n}"), json!(1))).collect();
        let told = desk.engine.call(desk.careful("note", Value::Object(many)).await, None).await;
        assert!(fields(&told).len() <= 101, "a flood of faults is told in part");
    }
}
