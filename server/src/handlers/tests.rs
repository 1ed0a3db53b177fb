//! An action written in Rust, from outside: over HTTP, over MCP and on the pages it is one like every other.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use engine::catalogue::Catalogue;
use engine::{Failure, Handler, Handlers, Job};
use serde_json::{Value, json};

use crate::demo::testing::{Desk, Told};

const PULL_LEVER: &str = r#"
name = "pull_lever"
title = "Pull the lever"
description = "Pulls one lever."
effect = "external"
undo_window = "0s"
input = { type = "object", required = ["lever"], additionalProperties = false, properties = { lever = { type = "string" } } }
preview = { title = "Pull {{ input.lever }}" }
reply = "It moved."
"#;

/// Remembers which levers were pulled.
#[derive(Clone, Default)]
struct Lever {
    pulled: Arc<Mutex<Vec<Value>>>,
}

#[async_trait]
impl Handler for Lever {
    async fn run(&self, job: Job) -> Result<Value, Failure> {
        if job.input["lever"] == "stuck" {
            return Err(Failure::Invalid { field: "lever", message: "This one is stuck." });
        }
        self.pulled.lock().expect("lock").push(job.input);
        Ok(json!({ "moved": true }))
    }
}

async fn desk() -> (Desk, Lever) {
    let (desk, lever) = (Desk::open().await, Lever::default());
    let handlers = Handlers::new().action(PULL_LEVER, lever.clone());
    desk.engine.replace_catalogue(Catalogue::parse_with("", "c.toml", &handlers).expect("a catalogue"));
    (desk, lever)
}

impl Lever {
    fn pulled(&self) -> Vec<Value> {
        self.pulled.lock().expect("lock").clone()
    }
}

async fn receipts(desk: &Desk) -> Value {
    desk.get("/v1/receipts", desk.ann()).ok(200).await.body["items"].clone()
}

#[tokio::test]
async fn over_http_it_is_held_confirmed_and_answered_from_its_receipt() {
    let (desk, lever) = desk().await;
    let (id, version) = desk.held("pull_lever", &json!({ "lever": "red" })).await;
    let listed = desk.get("/v1/approvals", desk.ann()).ok(200).await;
    let request = &listed.body["items"][0]["preview"]["request"];
    assert_eq!(
        (&request["method"], &request["body"]),
        (&json!("RUN"), &json!("{\"lever\":\"red\"}")),
        "{request}"
    );
    assert!(lever.pulled().is_empty());
    let decision = json!({ "decision": "confirm", "preview_version": version });
    let decide = desk.ask("POST", &format!("/v1/calls/{id}/decision")).token(desk.ann()).json(&decision);
    let done = decide.header("prefer", "wait=20").ok(200).await;
    assert_eq!((&done.body["status"], &done.body["result"]), (&json!("done"), &json!({ "moved": true })));
    assert_eq!(lever.pulled(), [json!({ "lever": "red" })]);
    let receipts = receipts(&desk).await;
    assert_eq!((&receipts[0]["method"], &receipts[0]["url"]), (&json!("RUN"), &json!("handler:pull_lever")));

    let keyed = async || {
        let call =
            desk.call("pull_lever", desk.careful(), &json!({ "lever": "blue", "idempotency_key": "k" }));
        call.send().await
    };
    let (held, again) = (keyed().await, keyed().await);
    assert_eq!((held.status, again.status), (202, 409), "{again:?}");
}

#[tokio::test]
async fn its_words_come_back_on_the_field() {
    let (desk, lever) = desk().await;
    let prompt = desk.call("pull_lever", desk.quick(), &json!({ "lever": "stuck" })).ok(202).await;
    let token = prompt.body["confirm_token"].as_str().expect("a token");
    let redeemed =
        desk.call("pull_lever", desk.quick(), &json!({ "lever": "stuck", "confirm_token": token }));
    let refused = redeemed.refused(422, "invalid").await;
    assert_eq!(refused.body["errors"], json!([{ "field": "/lever", "message": "This one is stuck." }]));
    assert!(lever.pulled().is_empty());
}

#[tokio::test]
async fn over_mcp_it_is_a_tool() {
    let (desk, lever) = desk().await;
    let listed = rpc(&desk, "tools/list", None, json!({})).await;
    let tools = listed.body["result"]["tools"].as_array().expect("tools").clone();
    let tool = tools.iter().find(|tool| tool["name"] == "pull_lever").expect("the tool is offered");
    assert_eq!(tool["annotations"]["openWorldHint"], true);
    let arguments = json!({ "lever": "green" });
    let params = json!({ "name": "pull_lever", "arguments": arguments });
    let prompt = rpc(&desk, "tools/call", Some("pull_lever"), params).await;
    let token = prompt.body["result"]["_meta"]["countersign/call"]["confirm_token"].clone();
    assert!(token.is_string(), "{prompt:?}");
    let arguments = json!({ "lever": "green", "confirm_token": token });
    let params = json!({ "name": "pull_lever", "arguments": arguments });
    let done = rpc(&desk, "tools/call", Some("pull_lever"), params).await;
    assert_eq!(done.body["result"]["structuredContent"], json!({ "moved": true }), "{done:?}");
    assert_eq!(lever.pulled(), [json!({ "lever": "green" })]);
}

/// A request of the newest revision by the agent whose dangerous calls need a token.
async fn rpc(desk: &Desk, method: &str, name: Option<&str>, mut params: Value) -> Told {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let ask = desk.ask("POST", "/mcp").token(desk.quick()).json(&body).header("mcp-method", method);
    let ask = ask.header("host", "127.0.0.1:8087").header("mcp-protocol-version", "2026-07-28");
    let ask = ask.header("accept", "application/json, text/event-stream");
    match name {
        Some(name) => ask.header("mcp-name", name).ok(200).await,
        None => ask.ok(200).await,
    }
}

#[tokio::test]
async fn on_the_pages_it_is_a_form_a_held_call_and_a_receipt() {
    let (desk, lever) = desk().await;
    let cookie = desk.sign_in_as_ann().await;
    let form = page(&desk, &cookie, "/run/pull_lever").await;
    assert!(form.contains("name=\"input/lever\""), "{form}");
    let run = post(&desk, &cookie, "/do/run", &[("action", "pull_lever"), ("input/lever", "white")]).await;
    assert_eq!(run.status, 303, "{run:?}");
    let item = run.headers["location"].to_str().expect("text").to_owned();
    let shown = page(&desk, &cookie, &item).await;
    assert!(shown.contains("Pull white") && lever.pulled().is_empty());
    // Nobody confirms within half a second of seeing it.
    tokio::time::sleep(Duration::from_millis(600)).await;
    let call = item.rsplit('/').next().expect("an id");
    let (version, view) = (hidden(&shown, "preview_version"), hidden(&shown, "view_token"));
    let fields =
        [("call", call), ("preview_version", &version), ("view_token", &view), ("decision", "confirm")];
    let decided = post(&desk, &cookie, "/do/decide", &fields).await;
    assert_eq!(decided.status, 303, "{}", String::from_utf8_lossy(&decided.bytes));
    desk.get(&format!("/v1/calls/{call}"), desk.ann()).header("prefer", "wait=20").ok(200).await;
    assert_eq!(lever.pulled(), [json!({ "lever": "white" })]);
    let done = page(&desk, &cookie, "/done").await;
    assert!(done.contains("handler:pull_lever"), "{done}");
}

async fn page(desk: &Desk, cookie: &str, path: &str) -> String {
    let told = desk.ask("GET", path).header("cookie", cookie).header("accept", "text/html").ok(200).await;
    String::from_utf8(told.bytes).expect("text")
}

async fn post(desk: &Desk, cookie: &str, path: &str, fields: &[(&str, &str)]) -> Told {
    desk.ask("POST", path).header("cookie", cookie).form(fields).send().await
}

/// The value of a hidden field of the page.
fn hidden(page: &str, name: &str) -> String {
    let rest = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_default();
    rest.split('"').next().unwrap_or_default().to_owned()
}
