//! Section 6 of the contract: which calls have a key, whose it is, when it is free again, and what a repeat is told.

mod desk;

use desk::{Behaviour, Desk, keyed, with};
use engine::{Actor, Arrival};
use model::answer::Replayed;
use model::{Answer, CallStatus, Finding, Refusal, Settlement, Surface};
use serde_json::{Value, json};

fn mail() -> Value {
    json!({ "to": "a@b.example", "body": "text" })
}

async fn claims(desk: &Desk) -> i64 {
    desk.database.count("SELECT COUNT(*) FROM claims").await
}

async fn done(desk: &Desk, arrival: Arrival) {
    let answer = desk.engine.call(arrival, None).await;
    assert!(matches!(answer, Ok(Answer::Done(_))), "{answer:?}");
}

async fn replayed(desk: &Desk, arrival: Arrival) -> Replayed {
    match desk.engine.call(arrival, None).await {
        Ok(Answer::Replayed(replayed)) => replayed,
        other => panic!("no replay: {other:?}"),
    }
}

/// Actions with and without a credential, a replay, and a public caller.
const KEYED: &str = r#"
[[action]]
name = "open_note"
title = "Open note"
description = "Anybody may."
effect = "write"
public = true
credential = "mail"
input = { type = "object", required = ["text"], additionalProperties = false, properties = { text = { type = "string" } } }
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }
preview = { title = "x" }

[[action]]
name = "open_held"
title = "Open and held"
description = "Anybody may, and somebody looks."
effect = "write"
public = true
approvers = ["role:operator"]
credential = "mail"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "PUT", url = "http://UPSTREAM/note" }
dry_run = { method = "GET", url = "http://UPSTREAM/quota" }
preview = { title = "{{ dry_run.quota }}" }

[[action]]
name = "unrepeatable"
title = "Unrepeatable"
description = "Each call counts."
effect = "write"
replay = false
credential = "mail"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/messages" }
preview = { title = "x" }

[[action]]
name = "secretive"
title = "Secretive"
description = "Its answer holds a secret."
effect = "write"
credential = "mail"
credential_fields = ["secret_note"]
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/messages" }
preview = { title = "x" }

[[credential]]
name = "away"
hosts = ["127.0.0.1:1"]
secret = { env = "PATH" }
allow_http = true
allow_private = true

[[action]]
name = "far"
title = "Far"
description = "Reaches nobody."
effect = "write"
credential = "away"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://127.0.0.1:1/messages" }
preview = { title = "x" }
"#;

on_both! {
    /// Seed and section 3, step 10: "A dry run never claims": neither a free key nor one that is in use.
    async fn a_dry_run_never_claims(desk: Desk) {
        let dry = async |arrival| desk.engine.call(with(keyed(arrival, "k"), "dry_run", json!(true)), None).await;
        for _ in 0..2 {
            assert!(matches!(dry(desk.careful("send_mail", mail()).await).await, Ok(Answer::Preview(_))));
        }
        assert_eq!(claims(&desk).await, 0);
        desk.held(keyed(desk.careful("send_mail", mail()).await, "k")).await;
        assert!(matches!(dry(desk.careful("send_mail", mail()).await).await, Ok(Answer::Preview(_))), "nor is it answered from one");
        assert_eq!(claims(&desk).await, 1);
    }
}

on_both! {
    /// Seed: "A public call without a client token has no scope to claim in and ignores the key"; section 6:
    /// `Countersign-Client` is then the scope.
    async fn a_public_call_has_the_scope_it_names(desk: Desk) {
        desk.reload_with(KEYED);
        let call = |client: Option<&str>, text: &str| {
            let actor = Actor::Public { client: client.map(str::to_owned) };
            keyed(desk::arrival(actor, "open_note", json!({ "text": text })), "k")
        };
        done(&desk, call(None, "a")).await;
        done(&desk, call(None, "a")).await;
        done(&desk, call(None, "b")).await;
        assert_eq!((claims(&desk).await, desk.upstream.writes().len()), (0, 3));
        assert!(!desk.upstream.writes()[0].head.to_lowercase().contains("idempotency-key"), "nor is it forwarded");
        done(&desk, call(Some("client-number-one"), "a")).await;
        replayed(&desk, call(Some("client-number-one"), "a")).await;
        assert_eq!(desk.engine.call(call(Some("client-number-one"), "b"), None).await, Err(Refusal::IdempotencyKeyReused));
        done(&desk, call(Some("client-number-two"), "b")).await;
        done(&desk, keyed(desk.quick("open_note", json!({ "text": "c" })).await, "k")).await;
        assert_eq!((claims(&desk).await, desk.upstream.writes().len()), (3, 6));
    }
}

on_both! {
    /// Section 5, "the whole path is walked again": a public caller's key is its own after a changed preview too, and is
    /// forwarded.
    async fn a_held_public_call_keeps_its_key(desk: Desk) {
        desk.reload_with(KEYED);
        let client = Actor::Public { client: Some("client-number-one".to_owned()) };
        let arrival = || keyed(desk::arrival(client.clone(), "open_held", json!({})), "k-public");
        let id = desk.held(arrival()).await;
        desk.upstream.set_quota(4);
        let changed = desk.confirms(&desk.olga, id).await;
        assert!(matches!(changed, Err(Refusal::PreviewChanged(_))), "{changed:?}");
        desk.confirms(&desk.olga, id).await.expect("recorded");
        for _ in 0..400 {
            if desk.database.count("SELECT COUNT(*) FROM calls WHERE state = 'done'").await == 1 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(desk.upstream.writes()[0].head.to_lowercase().contains("idempotency-key: k-public\r\n"));
        assert_eq!(replayed(&desk, arrival()).await.receipt_id, Some(desk.receipts().await[0].id));
    }
}

on_both! {
    /// Section 6: "Read actions and actions with `replay = false` ignore the header; so does MCP, where the key is the
    /// argument"; seed: the same, whatever the header holds.
    async fn what_ignores_the_header(desk: Desk) {
        desk.reload_with(KEYED);
        let headers = |arrival: Arrival, keys: &[&str]| Arrival { key_header: keys.iter().map(ToString::to_string).collect(), ..arrival };
        for keys in [&["k"][..], &["k"], &["a b"], &["a", "b"]] {
            done(&desk, headers(desk.quick("read_quota", json!({})).await, keys)).await;
            done(&desk, headers(desk.quick("unrepeatable", json!({})).await, keys)).await;
            let on_mcp = Arrival { surface: Surface::Mcp, ..desk.quick("note", json!({ "text": "x" })).await };
            done(&desk, headers(on_mcp, keys)).await;
        }
        assert_eq!((claims(&desk).await, desk.upstream.writes().len()), (0, 8));
        assert!(desk.upstream.writes().iter().all(|write| !write.head.to_lowercase().contains("idempotency-key")));
        let argument = async || {
            let arrival = Arrival { surface: Surface::Mcp, ..desk.quick("note", json!({ "text": "x" })).await };
            headers(with(arrival, "idempotency_key", json!("k")), &["another"])
        };
        done(&desk, argument().await).await;
        replayed(&desk, argument().await).await;
    }
}

on_both! {
    /// Section 6: "A key is scoped to the person and the credential (for an action without one, to the person and the
    /// action); not to the session or the key that carried it."
    async fn whose_a_key_is(desk: Desk) {
        let note = json!({ "text": "x" });
        done(&desk, keyed(desk.quick("note", note.clone()).await, "k")).await;
        let other = desk.agent_with("another", None, None).await;
        let elsewhere = Arrival { session: Some("elsewhere".to_owned()), ..desk::arrival(desk.actor(&other).await, "note", note) };
        replayed(&desk, keyed(elsewhere, "k")).await;
        let same = keyed(desk.quick("free", json!({ "to": "x" })).await, "k");
        assert_eq!(desk.engine.call(same, None).await, Err(Refusal::IdempotencyKeyReused), "another action, one credential");
        let max = Actor::Person(desk.visitor(&desk.max).await);
        desk.held(keyed(desk::arrival(max, "note", json!({ "text": "x" })), "k")).await;
        let bare = |name: &str| format!(r#"
[[action]]
name = "{name}"
title = "x"
description = "Without a credential."
effect = "write"
approvers = ["role:operator"]
input = {{ type = "object", additionalProperties = false, properties = {{}} }}
request = {{ method = "POST", url = "https://api.example/x" }}
preview = {{ title = "x" }}
"#);
        desk.reload_with(&[bare("first"), bare("second")].concat());
        let first = desk.held(keyed(desk.quick("first", json!({})).await, "k")).await;
        desk.held(keyed(desk.quick("second", json!({})).await, "k")).await;
        let again = desk.engine.call(keyed(desk.quick("first", json!({})).await, "k"), None).await;
        assert_eq!(again, Err(Refusal::IdempotencyInFlight(first)));
    }
}

on_both! {
    /// Section 5: "A prompt releases the idempotency claim; redeeming claims it again."
    async fn a_prompt_leaves_the_key_free_and_redeeming_takes_it(desk: Desk) {
        let asked = desk.engine.call(keyed(desk.quick("send_mail", mail()).await, "k"), None).await;
        let Ok(Answer::Prompt(prompt)) = asked else { panic!("no prompt: {asked:?}") };
        assert_eq!(claims(&desk).await, 0);
        let redeem = async || with(keyed(desk.quick("send_mail", mail()).await, "k"), "confirm_token", json!(prompt.confirm_token));
        done(&desk, redeem().await).await;
        assert_eq!(claims(&desk).await, 1);
        replayed(&desk, keyed(desk.quick("send_mail", mail()).await, "k")).await;
        replayed(&desk, redeem().await).await;
        assert!(desk.upstream.writes()[0].head.to_lowercase().contains("idempotency-key: k\r\n"));
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Section 5, the same the other way: a prompt's key that another call has taken meanwhile is that call's.
    async fn a_key_that_was_taken_meanwhile_is_not_redeemed_over(desk: Desk) {
        let asked = desk.engine.call(keyed(desk.quick("send_mail", mail()).await, "k"), None).await;
        let Ok(Answer::Prompt(prompt)) = asked else { panic!("no prompt: {asked:?}") };
        done(&desk, keyed(desk.quick("note", json!({ "text": "x" })).await, "k")).await;
        let redeem = with(keyed(desk.quick("send_mail", mail()).await, "k"), "confirm_token", json!(prompt.confirm_token));
        assert_eq!(desk.engine.call(redeem, None).await, Err(Refusal::IdempotencyKeyReused));
        done(&desk, with(desk.quick("send_mail", mail()).await, "confirm_token", json!(prompt.confirm_token))).await;
    }
}

on_both! {
    /// Section 6 and 7: "never-sent calls free the key"; no byte left is `failed`, 502, and leaves no receipt.
    async fn what_never_left_frees_its_key(desk: Desk) {
        desk.reload_with(KEYED);
        for _ in 0..2 {
            let far = keyed(desk.quick("far", json!({})).await, "k");
            assert_eq!(desk.engine.call(far, None).await, Err(Refusal::UpstreamUnreachable));
        }
        assert_eq!(claims(&desk).await, 0);
        assert!(desk.receipts().await.is_empty());
        let id = desk.held(keyed(desk.careful("far", json!({})).await, "k")).await;
        desk.confirms(&desk.ann, id).await.expect("recorded");
        let call = desk.ended(id).await;
        assert_eq!((call.status, call.receipt_id, call.attempts.len()), (CallStatus::Failed, None, 1));
        assert_eq!(claims(&desk).await, 0);
    }
}

on_both! {
    /// Seed: an answer is stored "given the tool's own credential fields"; section 6: one that may not be stored "still
    /// keeps the key, and a repeat gets the replay without `result`", and so does one above `store_limit`.
    async fn an_answer_that_may_not_be_stored_still_keeps_the_key(desk: Desk) {
        desk.reload_with(KEYED);
        let call = async |action: &str, input: Value, key: &str| keyed(desk.quick(action, input).await, key);
        done(&desk, call("secretive", json!({}), "secret").await).await;
        let replay = replayed(&desk, call("secretive", json!({}), "secret").await).await;
        assert_eq!((replay.result, replay.original_status, replay.receipt_id.is_some()), (None, Some(200), true));
        let note = || json!({ "text": "x" });
        done(&desk, call("note", note(), "small").await).await;
        assert!(replayed(&desk, call("note", note(), "small").await).await.result.is_some());
        desk.reload("store_limit = 20", KEYED);
        done(&desk, call("note", note(), "large").await).await;
        let replay = replayed(&desk, call("note", note(), "large").await).await;
        assert_eq!((replay.result, replay.receipt_id.is_some()), (None, true));
        assert_eq!(desk.upstream.writes().len(), 3);
    }
}

on_both! {
    /// Section 4: an answer stored for replay stays for `answer_ttl`; "after that a repeat is still recognised and
    /// answered without the result".
    async fn after_its_time_a_repeat_is_recognised_without_the_answer(desk: Desk) {
        let note = async || keyed(desk.quick("note", json!({ "text": "x" })).await, "k");
        done(&desk, note().await).await;
        desk.pass(24 * 3_600 - 10);
        desk.engine.erase().await.expect("the job runs");
        assert!(replayed(&desk, note().await).await.result.is_some());
        desk.pass(20);
        desk.engine.erase().await.expect("the job runs");
        let replay = replayed(&desk, note().await).await;
        assert_eq!((replay.result, replay.original_status), (None, Some(200)));
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Section 7: an answer that still arrives "takes the key back"; one that a retry has in use meanwhile is left to it.
    async fn a_late_answer_leaves_a_key_alone_whose_call_was_sent(desk: Desk) {
        desk.upstream.behave(Behaviour::Wait);
        let id = desk.held(keyed(desk.careful("send_mail", mail()).await, "k")).await;
        desk.confirms(&desk.ann, id).await.expect("recorded");
        desk.upstream.until_writes(1).await;
        let other = desk.second_node().await;
        desk.pass(60);
        other.recover_sends().await.expect("the job runs");
        assert_eq!(desk.ended(id).await.status, CallStatus::InDoubt);
        let nothing = Settlement { outcome: Finding::DidNotHappen, reason: None };
        other.settle(&desk.visitor(&desk.ann).await, id, nothing).await.expect("settled");
        let retry = desk.held(keyed(desk.careful("send_mail", mail()).await, "k")).await;
        desk.confirms(&desk.ann, retry).await.expect("recorded, with both warnings shown");
        desk.upstream.until_writes(2).await;
        desk.upstream.release();
        for _ in 0..400 {
            if desk.ended(id).await.status == CallStatus::Done {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(desk.ended(id).await.status, CallStatus::Done, "the late answer is the truth");
        let retry = desk.ended(retry).await;
        assert_eq!(retry.status, CallStatus::Done, "what was sent is not taken back");
        let again = desk.engine.call(keyed(desk.careful("send_mail", mail()).await, "k"), None).await;
        let Ok(Answer::Replayed(replay)) = again else { panic!("no replay: {again:?}") };
        assert_eq!(replay.receipt_id, retry.receipt_id, "the key is the retry's");
    }
}
