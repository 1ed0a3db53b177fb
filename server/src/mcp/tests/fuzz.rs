//! What anybody may send: messages and states with parts taken out, put in and turned. None of it makes the desk fall
//! over, and no state is taken that was not sealed here.
//!
//! A run has a fixed number of cases from a fixed seed; `FUZZ_SECONDS=600` goes on for so long, each time with new ones.

use std::time::{Duration, Instant};

use axum::body::Body;
use http::Request;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::fixture::{Client, House, NEWEST, Reply, UNREACHED, send};

/// How many cases a usual run has.
const CASES: u32 = 256;

/// Nobody waits longer for an answer; a client that has gone only stops waiting.
const PATIENCE: Duration = Duration::from_secs(2);

/// One thing that is done to a message.
#[derive(Debug, Clone)]
enum Turn {
    /// Another value in this place.
    Put(Index, Value),
    /// The place is taken out of its object or list.
    Take(Index),
    /// A field more in the object at this place.
    Add(Index, String, Value),
    /// The bytes end here.
    End(Index),
    /// Another byte here.
    Byte(Index, u8),
}

/// Messages that the desk understands, for the turns to begin with.
fn messages() -> Vec<Value> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    });
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments, "_meta": meta });
    let request = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let about = json!({ "type": "ref/prompt", "name": "t_greet" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } });
    vec![
        request("initialize", hello),
        request("server/discover", json!({ "_meta": meta })),
        request("tools/list", json!({ "cursor": "x", "_meta": meta })),
        request("tools/call", call("count", json!({}))),
        request("tools/call", call("note", json!({ "text": "hello", "idempotency_key": "k" }))),
        request("tools/call", call("send_mail", json!({ "to": "bo", "dry_run": true }))),
        request("tools/call", call("send_mail", json!({ "to": "bo", "confirm_token": "cft_x" }))),
        request(
            "tools/call",
            call("call_status", json!({ "call_id": "call_01h455vb4pex5vsknk084sn02q", "wait_seconds": 0 })),
        ),
        request("tasks/get", json!({ "taskId": "call_01h455vb4pex5vsknk084sn02q", "_meta": meta })),
        request("tasks/update", json!({ "taskId": "x", "inputResponses": {}, "_meta": meta })),
        request("tasks/cancel", json!({ "taskId": "call_01h455vb4pex5vsknk084sn02q", "_meta": meta })),
        request("prompts/list", json!({ "_meta": meta })),
        request("prompts/get", json!({ "name": "t_greet", "arguments": { "who": "bo" }, "_meta": meta })),
        request("resources/list", json!({ "cursor": "x", "_meta": meta })),
        request("resources/templates/list", json!({ "_meta": meta })),
        request("resources/read", json!({ "uri": "tickets://87", "_meta": meta })),
        request(
            "completion/complete",
            json!({ "ref": about, "argument": { "name": "who", "value": "b" }, "_meta": meta }),
        ),
        request("ping", json!({})),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!([request("ping", json!({})), request("tools/list", json!({}))]),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!(18_446_744_073_709_551_615_u64)),
        "\\PC{0,12}".prop_map(Value::from),
        select(vec!["\0", "tools/call", "2025-03-26", NEWEST, "../..", "call_status", "\u{202e}x"])
            .prop_map(Value::from),
        Just(Value::from("x".repeat(70_000))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let object = proptest::collection::btree_map("\\PC{0,6}", inner.clone(), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            object.prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        4 => (any::<Index>(), value()).prop_map(|(at, value)| Turn::Put(at, value)),
        3 => any::<Index>().prop_map(Turn::Take),
        2 => (any::<Index>(), "[a-zA-Z_/]{1,14}", value()).prop_map(|(at, name, value)| Turn::Add(at, name, value)),
        1 => any::<Index>().prop_map(Turn::End),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Turn::Byte(at, byte)),
    ]
}

/// Every place in a message, as JSON Pointers.
fn places(value: &Value, at: String, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(entries) => entries
            .iter()
            .map(|(name, inner)| (format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), inner))
            .collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, inner)| (format!("{at}/{index}"), inner)).collect()
        }
        _ => Vec::new(),
    };
    found.push(at);
    for (at, inner) in inner {
        places(inner, at, found);
    }
}

/// The bytes of a message after its turns.
fn turned(message: &Value, turns: &[Turn]) -> Vec<u8> {
    let mut message = message.clone();
    for turn in turns {
        let mut found: Vec<String> = Vec::new();
        places(&message, String::new(), &mut found);
        match turn {
            Turn::Put(at, value) => {
                if let Some(place) = message.pointer_mut(at.get(found.as_slice()).as_str()) {
                    *place = value.clone();
                }
            }
            Turn::Take(at) => take(&mut message, at.get(found.as_slice()).as_str()),
            Turn::Add(at, name, value) => {
                if let Some(Value::Object(entries)) = message.pointer_mut(at.get(found.as_slice()).as_str()) {
                    entries.insert(name.clone(), value.clone());
                }
            }
            Turn::End(_) | Turn::Byte(..) => {}
        }
    }
    let mut bytes = message.to_string().into_bytes();
    for turn in turns {
        match turn {
            Turn::End(at) if !bytes.is_empty() => bytes.truncate(at.index(bytes.len())),
            Turn::Byte(at, byte) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            _ => {}
        }
    }
    bytes
}

fn take(message: &mut Value, place: &str) {
    let Some((parent, name)) = place.rsplit_once('/') else { return };
    match message.pointer_mut(parent) {
        Some(Value::Object(entries)) => {
            entries.remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(items)) => {
            if let Some(index) = name.parse().ok().filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

/// Runs the cases: so many, or for so long.
fn fuzz<S: Strategy>(strategy: &S, test: impl Fn(S::Value)) {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let all = |mut runner: TestRunner| {
        runner.run(strategy, |case| {
            test(case);
            Ok(())
        })
    };
    match std::env::var("FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok()) {
        None => {
            let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            all(TestRunner::new_with_rng(config, rng)).unwrap_or_else(|error| panic!("{error}"));
        }
        Some(seconds) => {
            let (begun, mut cases) = (Instant::now(), 0_u64);
            while begun.elapsed() < Duration::from_secs(seconds) {
                all(TestRunner::new(config.clone())).unwrap_or_else(|error| panic!("{error}"));
                cases += u64::from(CASES);
            }
            println!("{cases} cases in {} s", begun.elapsed().as_secs());
        }
    }
}

/// The answer to these bytes; `None`: it takes its time.
fn answer(
    runtime: &Runtime,
    client: &Client,
    headers: &[(&'static str, String)],
    bytes: Vec<u8>,
) -> Option<Reply> {
    let mut request = Request::post("/mcp")
        .header("host", "127.0.0.1:8087")
        .header("authorization", format!("Bearer {}", client.key))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let request = request.body(Body::from(bytes)).expect("a request");
    runtime.block_on(async { tokio::time::timeout(PATIENCE, send(&client.app, request)).await.ok() })
}

#[test]
fn no_message_makes_the_desk_fall_over() {
    let runtime = Runtime::new().expect("a runtime");
    let house = runtime.block_on(House::open_with(UNREACHED));
    let client = house.plain(&house.quick);
    let header = || {
        let word = select(vec!["tools/call", "tools/list", "count", "note", "tasks/get", "\u{e9}", "", "x"]);
        prop_oneof![Just(None), word.prop_map(|word| Some(word.to_owned()))]
    };
    let version =
        select(vec![Some(NEWEST), Some("2025-03-26"), Some("2025-11-25"), Some("1999-01-01"), None]);
    let turns = proptest::collection::vec(turn(), 0..4);
    let strategy = (select(messages()), turns, version, prop::bool::ANY, header(), header());
    fuzz(&strategy, |(message, turns, version, agrees, method, name)| {
        let own = |key: &str| message[key].as_str().map(str::to_owned);
        let params = &message["params"];
        let named = ["name", "taskId", "uri"].iter().find_map(|key| params[*key].as_str()).map(str::to_owned);
        let (method, name) = if agrees { (own("method"), named) } else { (method, name) };
        let headers = [
            ("mcp-protocol-version", version.map(str::to_owned)),
            ("mcp-method", method),
            ("mcp-name", name),
        ];
        let headers: Vec<_> = headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let bytes = turned(&message, &turns);
        let shown = String::from_utf8_lossy(&bytes).chars().take(2_000).collect::<String>();
        if let Some(reply) = answer(&runtime, &client, &headers, bytes) {
            assert!(reply.status < 500, "{} {}\n{headers:?}\n{shown}", reply.status, reply.text);
        }
    });
}

#[test]
fn no_state_is_taken_that_was_not_sealed_here() {
    let runtime = Runtime::new().expect("a runtime");
    let house = runtime.block_on(House::open());
    let client = house.client(&house.careful, NEWEST, json!({ "elicitation": { "url": {} } }));
    let asked = runtime.block_on(client.tool("send_mail", json!({ "to": "bo" })));
    let state = asked["requestState"].as_str().expect("a state").to_owned();
    let call = asked["_meta"]["countersign/call"]["id"].as_str().expect("an id").to_owned();
    let letter = select("ABCxyz019-_.= \u{e9}".chars().collect::<Vec<_>>());
    let turns = proptest::collection::vec((any::<Index>(), 0..4_u8, letter), 1..5);
    let headers = [client.headers("tools/call"), vec![("mcp-name", "send_mail".to_owned())]].concat();
    fuzz(&turns, |turns| {
        let mut letters: Vec<char> = state.chars().collect();
        for (at, kind, letter) in turns {
            let at = at.index(letters.len().max(1)).min(letters.len());
            match kind {
                0 if at < letters.len() => letters[at] = letter,
                1 => letters.insert(at, letter),
                2 if at < letters.len() => drop(letters.remove(at)),
                _ => letters.truncate(at),
            }
        }
        let turned: String = letters.into_iter().collect();
        if turned == state {
            return;
        }
        // Taken, this would withdraw the call.
        let params = json!({ "name": "send_mail", "arguments": { "to": "bo" }, "requestState": turned,
            "inputResponses": { "approval": { "action": "decline" } } });
        let bytes = client.message("tools/call", params).to_string().into_bytes();
        let reply = answer(&runtime, &client, &headers, bytes).expect("an answer at once");
        assert_eq!(reply.json["error"]["code"], -32602, "{turned}\n{}", reply.text);
    });
    assert_eq!(runtime.block_on(house.call(&call))["status"], "held");
}
