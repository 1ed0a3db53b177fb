//! Which tools a caller has, and what a call is answered with.

use serde_json::{Value, json};

use super::fixture::{House, LEGACY, NEWEST};

fn names(result: &Value) -> Vec<&str> {
    let tools = result["tools"].as_array().expect("tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

fn tool<'a>(result: &'a Value, name: &str) -> &'a Value {
    result["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == name).expect("the tool")
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_are_what_this_key_would_be_offered() {
    let house = House::open().await;
    let all = house.plain(&house.careful).result("tools/list", json!({})).await;
    assert_eq!(names(&all), ["count", "list", "note", "send_mail", "call_status"]);
    assert_eq!((&all["ttlMs"], &all["cacheScope"]), (&json!(0), &json!("private")));
    let narrow = house.plain(&house.narrow).result("tools/list", json!({})).await;
    assert_eq!(names(&narrow), ["count", "call_status"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_say_what_they_do_and_what_they_take() {
    let house = House::open().await;
    let all = house.plain(&house.quick).result("tools/list", json!({})).await;
    let hints = |name| tool(&all, name)["annotations"].clone();
    let hint = |read, destructive, idempotent, open| json!({ "readOnlyHint": read, "destructiveHint": destructive, "idempotentHint": idempotent, "openWorldHint": open });
    assert_eq!(hints("count"), hint(true, false, false, false));
    assert_eq!(hints("note"), hint(false, false, true, false));
    assert_eq!(hints("send_mail"), hint(false, false, true, true));
    assert_eq!(hints("call_status"), hint(true, false, false, false));
    let takes = |name| {
        let properties =
            tool(&all, name)["inputSchema"]["properties"].as_object().expect("properties").clone();
        properties.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(takes("count"), Vec::<String>::new());
    assert_eq!(takes("note"), ["text", "dry_run", "idempotency_key"]);
    assert_eq!(takes("send_mail"), ["to", "dry_run", "idempotency_key", "confirm_token"]);
    assert_eq!(tool(&all, "send_mail")["title"], "Send a mail");
    assert!(tool(&all, "send_mail").get("outputSchema").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_one_may_not_see_is_one_that_does_not_exist() {
    let house = House::open().await;
    let narrow = house.plain(&house.narrow);
    let call = |name: &str| json!({ "name": name, "arguments": { "to": "x" } });
    let none = narrow.ask("tools/call", call("no_such_tool")).await;
    assert_eq!(none.json["error"]["code"], -32602);
    for name in ["send_mail", "api_only", "note"] {
        let hidden = narrow.ask("tools/call", call(name)).await;
        assert_eq!((hidden.status, &hidden.text), (none.status, &none.text), "{name}");
    }
    for version in LEGACY {
        let old = house.client(&house.narrow, version, json!({}));
        let (none, hidden) =
            (old.ask("tools/call", call("nothing")).await, old.ask("tools/call", call("note")).await);
        assert_eq!((hidden.status, &hidden.text), (none.status, &none.text), "{version}");
    }
    assert_eq!(house.writes(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_is_done_at_once() {
    let house = House::open().await;
    let done = house.plain(&house.careful).tool("count", json!({ "surplus": 1 })).await;
    assert_eq!(done["resultType"], "complete");
    assert_eq!(done["isError"], false);
    assert_eq!(text(&done), "0 mails.");
    assert_eq!(done["structuredContent"], json!({ "count": 0 }));
    assert_eq!(done["_meta"]["countersign/call"]["status"], "done");
    let old = house.client(&house.careful, "2025-06-18", json!({})).tool("list", json!({})).await;
    assert!(old.get("resultType").is_none(), "older revisions have no such field: {old}");
    assert!(old.get("structuredContent").is_none(), "nor structured content that is no object: {old}");
    assert_eq!(text(&old), r#"["a","b"]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_of_a_quick_agent_passes_and_is_replayed_by_its_key() {
    let house = House::open().await;
    let quick = house.plain(&house.quick);
    let arguments = json!({ "text": "x", "idempotency_key": "k1" });
    let done = quick.tool("note", arguments.clone()).await;
    assert_eq!(done["structuredContent"]["id"], "m1");
    let again = quick.tool("note", arguments).await;
    assert_eq!((&again["isError"], &again["structuredContent"]["id"]), (&json!(false), &json!("m1")));
    assert_eq!(again["_meta"]["countersign/call"]["replayed"], true);
    assert_eq!(house.writes(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_is_a_preview() {
    let house = House::open().await;
    let preview = house.plain(&house.careful).tool("send_mail", json!({ "to": "bo", "dry_run": true })).await;
    assert_eq!(preview["isError"], false);
    assert_eq!(preview["structuredContent"]["preview"]["title"], "Mail to bo");
    assert!(text(&preview).contains("nothing was done") && text(&preview).contains("Recipient: bo"));
    assert_eq!(house.writes(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dangerous_call_asks_for_its_token() {
    let house = House::open().await;
    let quick = house.plain(&house.quick);
    let asked = quick.tool("send_mail", json!({ "to": "bo" })).await;
    let token = asked["_meta"]["countersign/call"]["confirm_token"].as_str().expect("a token").to_owned();
    assert_eq!(asked["isError"], true);
    assert!(asked.get("structuredContent").is_none());
    assert!(text(&asked).starts_with("NOT DONE.") && text(&asked).contains(&token), "{}", text(&asked));
    assert_eq!(house.writes(), 0);
    let other = quick.tool("send_mail", json!({ "to": "al", "confirm_token": token })).await;
    assert_eq!(other["_meta"]["countersign/call"]["code"], "confirm_token_invalid");
    let done = quick.tool("send_mail", json!({ "to": "bo", "confirm_token": token })).await;
    assert_eq!(text(&done), "The mail is queued as m1.");
    assert_eq!(done["structuredContent"], json!({ "id": "m1" }));
    assert_eq!(house.writes(), 1);
}

/// Section 8: "`confirm_token`, where it applies": a key whose writes wait for a person is offered none.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_offered_to_whom_it_lets_through() {
    let house = House::open().await;
    for (key, expected) in [(&house.careful, false), (&house.quick, true)] {
        let all = house.plain(key).result("tools/list", json!({})).await;
        let taken = tool(&all, "send_mail")["inputSchema"]["properties"].get("confirm_token").is_some();
        assert_eq!(taken, expected);
    }
    let refused =
        house.plain(&house.careful).tool("send_mail", json!({ "to": "bo", "confirm_token": "cft_x" })).await;
    assert_eq!(
        refused["_meta"]["countersign/call"]["code"], "confirm_token_invalid",
        "one that is sent is refused"
    );
}

/// Section 6, and the seed: MCP does not read the header `Idempotency-Key`; "its key is the argument".
#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_the_header_does_nothing_here() {
    let house = House::open().await;
    let quick = house.plain(&house.quick);
    for _ in 0..2 {
        let message = quick.message("tools/call", json!({ "name": "note", "arguments": { "text": "x" } }));
        let mut headers = quick.headers("tools/call");
        headers.push(("idempotency-key", "k1".to_owned()));
        let done = quick.send(&message, &headers).await.json;
        assert_eq!(done["result"]["isError"], false, "{done}");
    }
    assert_eq!(house.writes(), 2);
}

const REFUSING: &str = r#"
[[action]]
name = "refusing"
title = "Refusing"
description = "The house has no such place."
effect = "write"
credential = "house"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/nowhere" }
preview = { title = "x" }
refusals = [ { status = 404, as = 410, message = "There is nothing there." } ]
"#;

/// Seed: `Actions::refuse()` turns an exception into a refusal "on every surface".
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_the_upstream_is_told_in_the_actions_words() {
    let house = House::open_with(REFUSING).await;
    let refused = house.plain(&house.quick).tool("refusing", json!({})).await;
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("There is nothing there."), "{}", text(&refused));
    let call = &refused["_meta"]["countersign/call"];
    assert_eq!((&call["code"], &call["status"]), (&json!("refused"), &json!(410)), "{call}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_is_told_at_once_and_is_an_error_of_the_tool() {
    let house = House::open().await;
    let refused = house.plain(&house.quick).tool("note", json!({ "text": 5, "dry_run": "yes" })).await;
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).starts_with("NOT DONE. Invalid:"), "{}", text(&refused));
    assert!(text(&refused).contains("\ntext: ") && text(&refused).contains("\ndry_run: "));
    assert_eq!(refused["_meta"]["countersign/call"]["errors"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_call_is_answered_plainly_to_whoever_cannot_wait() {
    let house = House::open().await;
    for version in [LEGACY[0], LEGACY[1], LEGACY[2], NEWEST] {
        let client = house.client(&house.careful, version, json!({ "elicitation": { "form": {} } }));
        let held = client.tool("send_mail", json!({ "to": "bo" })).await;
        let call = &held["_meta"]["countersign/call"];
        let (id, words) = (call["id"].as_str().expect("an id"), text(&held));
        assert_eq!((&held["isError"], &call["status"]), (&json!(true), &json!("held")), "{version}");
        assert!(held.get("structuredContent").is_none());
        assert!(words.starts_with("NOT DONE.") && words.contains("call_status"), "{words}");
        assert!(
            words.contains(&format!("http://127.0.0.1:8087/inbox/{id}")) && words.contains(id),
            "{words}"
        );
    }
    assert_eq!(house.writes(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn call_status_tells_the_end() {
    let house = House::open().await;
    let careful = house.plain(&house.careful);
    let held = careful.tool("send_mail", json!({ "to": "bo" })).await;
    let id = held["_meta"]["countersign/call"]["id"].as_str().expect("an id").to_owned();
    let waiting = careful.tool("call_status", json!({ "call_id": id })).await;
    assert_eq!(
        (&waiting["isError"], &waiting["structuredContent"]["status"]),
        (&json!(false), &json!("held"))
    );
    let watching = careful.clone();
    let asked = id.clone();
    let ended = tokio::spawn(async move {
        watching.tool("call_status", json!({ "call_id": asked, "wait_seconds": 20 })).await
    });
    house.confirm(&id).await;
    let ended = ended.await.expect("an answer");
    assert_eq!(ended["structuredContent"]["status"], "done");
    assert_eq!(ended["structuredContent"]["result"], json!({ "id": "m1" }));
    assert_eq!(text(&ended), "The mail is queued as m1.");
    for other in [&house.quick, &house.narrow] {
        let hidden = house.plain(other).tool("call_status", json!({ "call_id": id })).await;
        assert_eq!(hidden["_meta"]["countersign/call"]["code"], "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn call_status_reads_its_arguments() {
    let house = House::open().await;
    let careful = house.plain(&house.careful);
    for (arguments, code) in [
        (json!({}), "invalid"),
        (json!({ "call_id": 5 }), "invalid"),
        (json!({ "call_id": "nonsense" }), "not_found"),
        (json!({ "call_id": "call_01h455vb4pex5vsknk084sn02q" }), "not_found"),
        (json!({ "call_id": "call_01h455vb4pex5vsknk084sn02q", "wait_seconds": "x" }), "invalid"),
        (json!({ "call_id": "call_01h455vb4pex5vsknk084sn02q", "wait_seconds": -1 }), "invalid"),
    ] {
        let refused = careful.tool("call_status", arguments.clone()).await;
        assert_eq!(refused["_meta"]["countersign/call"]["code"], code, "{arguments}");
        assert_eq!(refused["isError"], true);
    }
}
