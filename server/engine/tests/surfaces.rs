//! The same call through `form`, `api`, `mcp`, `queue` and `code`: the same decision, receipt and event, in every row
//! of the gate's table (section 5 of the contract).

mod desk;

use std::time::Duration;

use desk::{Desk, confirm, parsed, with};
use engine::{Actor, Arrival, PageAsked, ReceiptFilter};
use model::answer::WaitingStatus;
use model::{Ability, Answer, CallId, CallStatus, EventType, Refusal, Surface};
use serde_json::{Value, json};

/// The surfaces that are compared with `api`.
const OTHERS: [Surface; 4] = [Surface::Form, Surface::Mcp, Surface::Queue, Surface::Code];

const CATALOGUE: &str = r#"
[[credential]]
name = "mail"
hosts = ["UPSTREAM"]
secret = { env = "PATH" }
trusted = true
allow_http = true
allow_private = true

[[action]]
name = "look"
effect = "read"
public = true
credential = "mail"
request = { url = "http://UPSTREAM/quota" }

[[action]]
name = "note"
effect = "write"
public = true
credential = "mail"
input = { type = "object", required = ["text"], properties = { text = { type = "string" } } }
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }

[[action]]
name = "send"
effect = "external"
public = true
credential = "mail"
undo_window = "0s"
input = { type = "object", required = ["text"], properties = { text = { type = "string" } } }
request = { method = "POST", url = "http://UPSTREAM/messages", json = "{{ input }}" }
dry_run = { url = "http://UPSTREAM/recipients/x" }

[[action]]
name = "watched"
effect = "write"
public = true
credential = "mail"
hold_when = "size(input.text) > 0"
approvers = ["role:operator"]
input = { type = "object", required = ["text"], properties = { text = { type = "string" } } }
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }
"#;

/// What came of one call, with everything left out that may differ: the surface, ids and times.
#[derive(Debug, Clone, PartialEq)]
struct Told {
    decision: String,
    /// How it ended after whoever had to confirm did.
    end: String,
    receipts: Vec<Value>,
    events: Vec<Value>,
    sent: usize,
}

/// Makes the call on a surface and lets whoever has to confirm confirm it.
async fn told(desk: &Desk, actor: &Actor, action: &str, input: &Value, surface: Surface) -> Told {
    let (receipts, events, sent) =
        (receipts(desk).await.len(), events(desk).await.len(), desk.upstream.writes().len());
    let arrival = Arrival { surface, ..desk::arrival(actor.clone(), action, input.clone()) };
    let first = desk.engine.call(arrival.clone(), None).await;
    let decision = decision(&first);
    let end = match first {
        Ok(Answer::Prompt(prompt)) => {
            let redeemed =
                desk.engine.call(with(arrival, "confirm_token", json!(prompt.confirm_token)), None).await;
            ended(desk, redeemed).await
        }
        other => ended(desk, other).await,
    };
    // The event of a “not found” is written beside its answer.
    assert!(desk.engine.drain(Duration::from_secs(20)).await);
    let fresh =
        |all: Vec<Value>, before: usize| all[before..].iter().map(|one| blanked(one, surface)).collect();
    Told {
        decision,
        end,
        receipts: fresh(self::receipts(desk).await, receipts),
        events: fresh(self::events(desk).await, events),
        sent: desk.upstream.writes().len() - sent,
    }
}

/// What the gate decided: that a call which passed was put into the queue is no decision of the gate's.
fn decision(answer: &Result<Answer, Refusal>) -> String {
    match answer {
        Ok(Answer::Done(_)) => "passes".to_owned(),
        Ok(Answer::Waiting(waiting)) if waiting.status == WaitingStatus::Queued => "passes".to_owned(),
        Ok(Answer::Waiting(_)) => "held".to_owned(),
        Ok(Answer::Prompt(_)) => "prompt".to_owned(),
        Ok(Answer::Preview(_)) => "preview".to_owned(),
        Ok(other) => panic!("{other:?}"),
        Err(refusal) => refusal.problem().code.to_string(),
    }
}

async fn ended(desk: &Desk, answer: Result<Answer, Refusal>) -> String {
    match answer {
        Ok(Answer::Waiting(waiting)) => {
            if waiting.status == WaitingStatus::Held {
                confirm_it(desk, waiting.call_id).await;
            }
            desk.engine.run_queue().await.expect("the queue runs");
            let call =
                desk.engine.call_status(&Actor::System, waiting.call_id, Some(Duration::from_secs(20))).await;
            let call = call.expect("a status");
            assert_ne!(call.status, CallStatus::Queued);
            call.status.to_string()
        }
        Ok(Answer::Done(done)) => done.status.to_string(),
        Ok(Answer::Preview(preview)) => preview.status.to_string(),
        Ok(other) => panic!("{other:?}"),
        Err(refusal) => refusal.problem().code.to_string(),
    }
}

/// Whoever may decide it confirms it: exactly one of the three has it in the inbox.
async fn confirm_it(desk: &Desk, call: CallId) {
    let mut who_did = 0;
    for person in [&desk.ann, &desk.max, &desk.olga] {
        let decider = desk.decider(person).await;
        let page = desk.engine.approvals(&decider, &PageAsked::default()).await.expect("a list");
        if let Some(held) = page.items.iter().find(|held| held.call.id == call) {
            desk.engine.decide(&decider, call, confirm(&held.preview.version)).await.expect("confirmed");
            who_did += 1;
        }
    }
    assert_eq!(who_did, 1, "one person decides");
}

async fn receipts(desk: &Desk) -> Vec<Value> {
    let olga = desk.visitor(&desk.olga).await;
    let page = PageAsked { limit: Some(500), cursor: None };
    let items = desk.engine.receipts(&olga, &ReceiptFilter::default(), &page).await.expect("receipts").items;
    items.iter().rev().map(|receipt| json!(receipt)).collect()
}

async fn events(desk: &Desk) -> Vec<Value> {
    let olga = desk.visitor(&desk.olga).await;
    let page = PageAsked { limit: Some(500), cursor: None };
    let items = desk.engine.events(&olga, &page).await.expect("events").items;
    items.iter().rev().map(|event| json!(event)).collect()
}

/// A receipt or an event without what may differ.
fn blanked(one: &Value, surface: Surface) -> Value {
    let mut one = one.clone();
    assert_eq!(one["surface"], surface.as_str(), "it says where the call came in");
    let fields = one.as_object_mut().expect("an object");
    for name in ["id", "at", "surface", "call_id"] {
        fields.remove(name);
    }
    for pointer in ["/receipt_id", "/approval/id", "/approval/at"] {
        if let Some(value) = one.pointer_mut(pointer).filter(|value| !value.is_null()) {
            *value = json!("some");
        }
    }
    if one["type"] == EventType::Decided.as_str() {
        // It goes to where it is run: on the queue's surface into the queue, else out.
        assert_eq!(one["status"] == "queued", surface == Surface::Queue, "{one}");
        one["status"] = json!("on its way");
    }
    one
}

on_both! {
    async fn every_surface_takes_the_callers_row(desk: Desk) {
        desk.engine.replace_catalogue(parsed(&CATALOGUE.replace("UPSTREAM", &desk.upstream.address())));
        let abilities = Ability::AGENT_DEFAULT.to_vec();
        let token = desk.engine.add_token("ann@desk.test", abilities).await.expect("a token").1;
        let callers = [
            ("a person's session", Actor::Person(desk.visitor(&desk.max).await), ["passes", "preview", "preview", "held", "held"]),
            ("a person's token", desk.actor(token.reveal()).await, ["passes", "preview", "preview", "held", "held"]),
            ("a key with requires_approval", desk.actor(&desk.careful).await, ["passes", "preview", "preview", "held", "held"]),
            ("any other key", desk.actor(&desk.quick).await, ["passes", "preview", "preview", "passes", "prompt"]),
            ("Rust code", Actor::System, ["passes", "preview", "preview", "passes", "prompt"]),
            ("public", Actor::Public { client: None }, ["passes", "preview", "preview", "passes", "prompt"]),
        ];
        let columns = [
            ("look", json!({})),
            ("look", json!({ "dry_run": true })),
            ("send", json!({ "text": "a", "dry_run": true })),
            ("note", json!({ "text": "b" })),
            ("send", json!({ "text": "c" })),
        ];
        for (who, actor, row) in &callers {
            for ((action, input), decision) in columns.iter().zip(row) {
                let api = told(&desk, actor, action, input, Surface::Api).await;
                assert_eq!(api.decision, *decision, "{who}: {action} {input}");
                let writes = usize::from(matches!((*action, *decision), ("note" | "send", "passes" | "held" | "prompt")));
                assert_eq!((api.sent, api.receipts.len()), (writes, writes), "{who}: {action} {input}");
                let endings = api.events.iter().filter(|event| event["type"].as_str().is_some_and(|kind| kind.starts_with("action.")));
                // A prompt ends its call, and its redemption is another one.
                assert_eq!(endings.count(), 1 + usize::from(*decision == "prompt"), "{who}: {action} {input}: {:?}", api.events);
                for surface in OTHERS {
                    assert_eq!(told(&desk, actor, action, input, surface).await, api, "{who} on {surface}: {action} {input}");
                }
            }
            let watched = told(&desk, actor, "watched", &json!({ "text": "d" }), Surface::Api).await;
            assert_eq!((watched.decision.as_str(), watched.end.as_str()), ("held", "done"), "{who}");
            for surface in OTHERS {
                assert_eq!(told(&desk, actor, "watched", &json!({ "text": "d" }), surface).await, watched, "{who} on {surface}");
            }
        }
    }
}

on_both! {
    async fn every_surface_says_no_in_the_same_way(desk: Desk) {
        let careful = desk.actor(&desk.careful).await;
        for (action, input, code) in [
            ("send_mail", json!({ "to": "a", "body": "b", "confirm_token": "cft_x" }), "confirm_token_invalid"),
            ("denied", json!({}), "denied"),
            ("hidden", json!({}), "not_found"),
            ("note", json!({ "text": 1 }), "invalid"),
            ("note", json!({ "text": "a\u{0}" }), "invalid"),
        ] {
            for surface in OTHERS.into_iter().chain([Surface::Api]) {
                let told = told(&desk, &careful, action, &input, surface).await;
                assert_eq!((told.decision.as_str(), told.sent, told.receipts.len()), (code, 0, 0), "{surface}: {action} {input}");
            }
        }
    }
}
