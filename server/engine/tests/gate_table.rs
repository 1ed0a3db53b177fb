//! Section 5 of the contract: the gate's table, cell by cell, and what sends any caller's call to the approval queue.

mod desk;

use desk::{Desk, with};
use engine::{Actor, Arrival};
use model::answer::{Prompt, WaitingStatus};
use model::refusal::TokenFault;
use model::{Ability, Answer, CallId, Refusal, Surface};
use serde_json::json;

/// An action of every effect that everybody may call, with these further rules.
fn actions(rules: &str) -> String {
    let one = |name: &str, effect: &str, method: &str| {
        format!(
            r#"
[[action]]
name = "{name}"
title = "{name}"
description = "For the table."
effect = "{effect}"
public = true
credential = "mail"
undo_window = "0s"
{rules}
input = {{ type = "object", additionalProperties = false, properties = {{}} }}
request = {{ method = "{method}", url = "http://UPSTREAM/quota" }}
preview = {{ title = "{name}" }}
"#
        )
    };
    [
        one("read", "read", "GET"),
        one("write", "write", "PUT"),
        one("external", "external", "POST"),
        one("destructive", "destructive", "DELETE"),
    ]
    .concat()
}

/// The callers of the table, in its order.
async fn callers(desk: &Desk) -> [Actor; 5] {
    let all = [Ability::AGENT_DEFAULT, &[Ability::ApprovalsDecide]].concat();
    let (_, token) = desk.engine.add_token("max@desk.test", all).await.expect("a token");
    [
        Actor::Person(desk.visitor(&desk.max).await),
        desk.actor(token.reveal()).await,
        desk.actor(&desk.careful).await,
        desk.actor(&desk.quick).await,
        Actor::Public { client: None },
    ]
}

/// Who may decide a held call, by name.
async fn deciders(desk: &Desk, id: CallId) -> String {
    let mut names = Vec::new();
    for person in [&desk.ann, &desk.max, &desk.olga] {
        let item = desk.engine.item(&desk.visitor(person).await, id).await.expect("storage");
        if item.is_some_and(|item| item.may_decide) {
            names.push(person.name.clone());
        }
    }
    names.join(" or ")
}

/// The table's word for what becomes of a call. On the surface `queue` what passes is queued.
async fn cell(desk: &Desk, arrival: Arrival) -> String {
    match desk.engine.call(arrival, None).await {
        Ok(Answer::Done(_)) => "passes".to_owned(),
        Ok(Answer::Waiting(waiting)) if waiting.status == WaitingStatus::Queued => "passes".to_owned(),
        Ok(Answer::Waiting(waiting)) => format!("held for {}", deciders(desk, waiting.call_id).await),
        Ok(Answer::Preview(_)) => "preview".to_owned(),
        Ok(Answer::Prompt(_)) => "prompt".to_owned(),
        other => format!("{other:?}"),
    }
}

/// One row of the table: read, `dry_run` of a write, write, external, destructive.
async fn row(desk: &Desk, actor: &Actor, surface: Surface) -> [String; 5] {
    let call = |name: &str| Arrival { surface, ..desk::arrival(actor.clone(), name, json!({})) };
    [
        cell(desk, call("read")).await,
        cell(desk, with(call("external"), "dry_run", json!(true))).await,
        cell(desk, call("write")).await,
        cell(desk, call("external")).await,
        cell(desk, call("destructive")).await,
    ]
}

/// The rows of every caller, compared on every surface that actions have: the surface never changes them.
async fn compare(desk: &Desk, rules: &str, table: &[(&str, [&str; 5]); 5]) {
    desk.reload_with(&actions(rules));
    for (actor, (caller, expected)) in callers(desk).await.iter().zip(table) {
        for surface in [Surface::Api, Surface::Mcp, Surface::Form, Surface::Queue] {
            assert_eq!(row(desk, actor, surface).await, *expected, "{caller}, on {surface}, {rules}");
        }
    }
}

on_both! {
    /// Section 5, the whole table; "Each caller takes its row, the surface (queue included) never changes it"; seed: "A
    /// write of a person's live session never runs on this call, dangerous or not".
    async fn the_table(desk: Desk) {
        compare(&desk, "", &[
            //                          read      dry_run    write          external       destructive
            ("a person, live session", ["passes", "preview", "held for Max", "held for Max", "held for Max"]),
            ("a person, csu_ token",   ["passes", "preview", "held for Max", "held for Max", "held for Max"]),
            ("requires_approval",      ["passes", "preview", "held for Ann", "held for Ann", "held for Ann"]),
            ("any other key",          ["passes", "preview", "passes",       "prompt",       "prompt"]),
            ("public",                 ["passes", "preview", "passes",       "prompt",       "prompt"]),
        ]).await;
    }
}

on_both! {
    /// Section 5: "An action's `hold_when` sends any caller's call to the approval queue", a read too; who decides is
    /// "by default the agent's owner, and operators where there is no owner".
    async fn hold_when(desk: Desk) {
        let (max, ann, olga) = ("held for Max", "held for Ann", "held for Olga");
        compare(&desk, "hold_when = \"true\"", &[
            ("a person, live session", [max, "preview", max, max, max]),
            ("a person, csu_ token",   [max, "preview", max, max, max]),
            ("requires_approval",      [ann, "preview", ann, ann, ann]),
            ("any other key",          [ann, "preview", ann, ann, ann]),
            ("public",                 [olga, "preview", olga, olga, olga]),
        ]).await;
    }
}

on_both! {
    /// Section 5: an action that names `approvers` is "never let through by a token or by the caller's own session".
    async fn approvers(desk: Desk) {
        let held = ["passes", "preview", "held for Olga", "held for Olga", "held for Olga"];
        let table = ["session", "csu_", "requires_approval", "key", "public"].map(|caller| (caller, held));
        compare(&desk, "approvers = [\"role:operator\"]", &table).await;
    }
}

on_both! {
    /// Section 5: so does "a `quorum` above 1".
    async fn quorum(desk: Desk) {
        let held = "held for Max or Olga";
        let rows = ["passes", "preview", held, held, held];
        let table = ["session", "csu_", "requires_approval", "key", "public"].map(|caller| (caller, rows));
        compare(&desk, "quorum = 2\napprovers = [\"role:approver\", \"role:operator\"]", &table).await;
    }
}

on_both! {
    /// Section 5: so does `self_approval = false`, which "bars the owner".
    async fn self_approval(desk: Desk) {
        for email in ["ann@desk.test", "max@desk.test", "olga@desk.test"] {
            desk.engine.add_to_group("everybody", email).await.expect("a group");
        }
        let held = |who: &'static str| ["passes", "preview", who, who, who];
        compare(&desk, "self_approval = false\napprovers = [\"group:everybody\"]", &[
            ("a person, live session", held("held for Ann or Olga")),
            ("a person, csu_ token",   held("held for Ann or Olga")),
            ("requires_approval",      held("held for Max or Olga")),
            ("any other key",          held("held for Max or Olga")),
            ("public",                 held("held for Ann or Max or Olga")),
        ]).await;
        let id = desk.held(desk.quick("write", json!({})).await).await;
        let ann = desk.decider(&desk.ann).await;
        assert_eq!(desk.engine.decide(&ann, id, desk::confirm("x")).await, Err(Refusal::NotFound));
        assert_eq!(desk.engine.decide(&ann, id, desk::decline("no")).await, Err(Refusal::NotFound));
    }
}

async fn prompt(desk: &Desk, arrival: Arrival) -> Prompt {
    match desk.engine.call(arrival, None).await {
        Ok(Answer::Prompt(prompt)) => prompt,
        other => panic!("no prompt: {other:?}"),
    }
}

async fn redeem(desk: &Desk, arrival: Arrival, token: &str) -> Result<Answer, Refusal> {
    desk.engine.call(with(arrival, "confirm_token", json!(token)), None).await
}

on_both! {
    /// Section 5, "never let through by a token": one from before the action named approvers changes nothing, and a
    /// person's call waits with one too.
    async fn no_token_lets_through_what_people_decide(desk: Desk) {
        desk.reload_with(&actions(""));
        let token = prompt(&desk, desk.quick("external", json!({})).await).await.confirm_token;
        let person = desk::arrival(Actor::Person(desk.visitor(&desk.max).await), "external", json!({}));
        assert!(matches!(redeem(&desk, person, &token).await, Ok(Answer::Waiting(_))));
        desk.reload_with(&actions("approvers = [\"role:operator\"]"));
        let held = redeem(&desk, desk.quick("external", json!({})).await, &token).await;
        assert!(matches!(held, Ok(Answer::Waiting(_))), "{held:?}");
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// Section 5, public and dangerous: "confirmation prompt, then the token"; a prompt is its own caller's to redeem
    /// and to reject.
    async fn a_public_prompt_is_redeemed_and_rejected_by_its_client(desk: Desk) {
        desk.reload_with(&actions(""));
        let client = |name: &str| Actor::Public { client: Some(name.to_owned()) };
        let call = |actor: Actor| desk::arrival(actor, "external", json!({}));
        let (mine, other) = (client("client-number-one"), client("client-number-two"));
        let token = prompt(&desk, call(mine.clone())).await.confirm_token;
        for stranger in [other.clone(), Actor::Public { client: None }, desk.actor(&desk.quick).await] {
            assert_eq!(redeem(&desk, call(stranger), &token).await, Err(Refusal::ConfirmTokenInvalid(TokenFault::Invalid)));
        }
        assert_eq!(desk.engine.reject_prompt(&other, &token).await, Err(Refusal::NotFound));
        let done = redeem(&desk, call(mine.clone()), &token).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "{done:?}");
        let second = prompt(&desk, call(mine.clone())).await.confirm_token;
        assert_eq!(desk.engine.reject_prompt(&mine, &second).await, Ok(()));
        assert_eq!(redeem(&desk, call(mine), &second).await, Err(Refusal::ConfirmTokenInvalid(TokenFault::Rejected)));
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    /// Seed: 409 `confirm_token_invalid`, reason `invalid`, for "somebody else's".
    async fn another_agents_token_is_no_token(desk: Desk) {
        let mail = json!({ "to": "a", "body": "b" });
        let token = prompt(&desk, desk.quick("send_mail", mail.clone()).await).await.confirm_token;
        let key = desk.agent_with("another", None, None).await;
        let other = desk::arrival(desk.actor(&key).await, "send_mail", mail.clone());
        assert_eq!(redeem(&desk, other, &token).await, Err(Refusal::ConfirmTokenInvalid(TokenFault::Invalid)));
        let done = redeem(&desk, desk.quick("send_mail", mail).await, &token).await;
        assert!(matches!(done, Ok(Answer::Done(_))), "the refusal has not spent it: {done:?}");
    }
}

on_both! {
    /// Section 8: writes advertise "`confirm_token` where it applies": where the table asks this caller back.
    async fn a_token_is_offered_to_whom_the_table_asks_back(desk: Desk) {
        desk.reload_with(&actions(""));
        let callers = callers(&desk).await;
        for (actor, expected) in callers.iter().zip([false, false, false, true, true]) {
            let offered = desk.engine.offered(actor, Surface::Api, None).await.expect("a list");
            let takes = |name: &str| {
                let action = offered.iter().find(|action| action.name == name).expect("it is offered");
                action.input_schema["properties"].get("confirm_token").is_some()
            };
            assert_eq!((takes("external"), takes("destructive")), (expected, expected), "{actor:?}");
            assert!(!takes("write") && !takes("read"));
        }
        let offered = desk.engine.offered(&callers[3], Surface::Api, None).await.expect("a list");
        let queued = offered.iter().find(|action| action.name == "two_people").expect("it is offered");
        assert!(queued.input_schema["properties"].get("confirm_token").is_none(), "people decide it");
    }
}
