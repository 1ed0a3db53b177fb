//! The envelope: keys, origins, revisions, required headers, error codes and HTTP statuses.

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use super::fixture::{House, LEGACY, NEWEST, UNREACHED, send};

fn bare(key: Option<&str>) -> http::request::Builder {
    let request = Request::post("/mcp")
        .header("host", "127.0.0.1:8087")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    match key {
        Some(key) => request.header("authorization", format!("Bearer {key}")),
        None => request,
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn without_a_known_key_nothing_is_said() {
    let house = House::open().await;
    let cut = &house.careful[..house.careful.len() - 1];
    let mut texts = Vec::new();
    for key in [None, Some("csk_x"), Some(cut)] {
        let reply = send(&house.app, bare(key).body(Body::from(PING)).expect("a request")).await;
        assert_eq!(reply.status, 401);
        assert!(reply.headers["www-authenticate"].to_str().expect("text").starts_with("Bearer"));
        texts.push(reply.text);
    }
    assert!(texts.iter().all(|text| *text == texts[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_desks_own_pages_and_names_are_let_in() {
    let house = House::open().await;
    let status = async |name: &'static str, value: &'static str| {
        let mut request = bare(Some(&house.careful)).body(Body::from(PING)).expect("a request");
        request.headers_mut().insert(name, http::HeaderValue::from_static(value));
        send(&house.app, request).await.status
    };
    assert_eq!(status("origin", "http://127.0.0.1:8087").await, 200);
    assert_eq!(status("origin", "http://localhost:8087").await, 200);
    assert_eq!(status("host", "localhost:8087").await, 200);
    for origin in
        ["https://evil.example", "null", "http://127.0.0.1:9999", "http://127.0.0.1.evil.example:8087"]
    {
        assert_eq!(status("origin", origin).await, 403, "{origin}");
    }
    assert_eq!(status("host", "evil.example").await, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_method_and_one_type_are_taken() {
    let house = House::open().await;
    for method in ["GET", "DELETE"] {
        let request = bare(Some(&house.careful)).method(method).body(Body::empty()).expect("a request");
        let reply = send(&house.app, request).await;
        assert_eq!((reply.status, reply.headers["allow"].to_str().ok()), (405, Some("POST")), "{method}");
    }
    let mut request = bare(Some(&house.careful)).body(Body::from(PING)).expect("a request");
    request.headers_mut().insert("content-type", http::HeaderValue::from_static("text/plain"));
    assert_eq!(send(&house.app, request).await.status, 415);
    let mut request = bare(Some(&house.careful)).body(Body::from(PING)).expect("a request");
    request.headers_mut().insert("accept", http::HeaderValue::from_static("application/json"));
    assert_eq!(send(&house.app, request).await.status, 406);
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(2 << 20));
    let request = bare(Some(&house.careful)).body(Body::from(large)).expect("a request");
    assert_eq!(send(&house.app, request).await.status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_has_its_code() {
    let house = House::open().await;
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32700),
        ("{}", -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        ("[]", -32600),
    ] {
        let reply =
            send(&house.app, bare(Some(&house.careful)).body(Body::from(body)).expect("a request")).await;
        assert_eq!(
            (reply.status, &reply.json["error"]["code"]),
            (400, &json!(code)),
            "{body}: {}",
            reply.text
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn older_revisions_are_agreed_on_and_need_no_session() {
    let house = House::open().await;
    for (asked, agreed) in
        LEGACY.map(|version| (version, version)).into_iter().chain([("2024-11-05", "2025-11-25")])
    {
        let client = house.client(&house.careful, LEGACY[0], json!({}));
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } });
        let reply = client.send(&client.message("initialize", params), &[]).await;
        let result = &reply.json["result"];
        assert_eq!(result["protocolVersion"], agreed, "{}", reply.text);
        assert_eq!(result["serverInfo"]["name"], "countersign");
        assert!(result["capabilities"]["tools"].is_object());
        assert!(reply.headers.get("mcp-session-id").is_none());
        assert_eq!(reply.headers["cache-control"], "no-store");
    }
    for version in LEGACY {
        let client = house.client(&house.careful, version, json!({}));
        assert!(client.result("tools/list", json!({})).await["tools"].is_array(), "{version}");
        assert_eq!(client.result("ping", json!({})).await, json!({}));
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.send(&told, &client.headers("")).await.status, 202);
        let unknown = client.ask("no/such/method", json!({})).await;
        assert_eq!((unknown.status, &unknown.json["error"]["code"]), (200, &json!(-32601)), "{version}");
        let wrong = client.ask("tools/call", json!({ "name": 5 })).await;
        assert_eq!(wrong.json["error"]["code"], -32602, "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_revision_is_discovered() {
    let house = House::open().await;
    let found = house.plain(&house.careful).result("server/discover", json!({})).await;
    assert_eq!(found["resultType"], "complete");
    let versions = found["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!(NEWEST)) && versions.contains(&json!("2025-03-26")));
    assert!(!versions.contains(&json!("2024-11-05")));
    assert!(found["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object());
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "countersign");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_revision_wants_its_headers_and_fields() {
    let house = House::open().await;
    let client = house.plain(&house.careful);
    let message = client.message("tools/list", json!({}));
    let version = || ("mcp-protocol-version", NEWEST.to_owned());
    let method = |name: &str| ("mcp-method", name.to_owned());
    let code = async |message: &Value, headers: &[(&'static str, String)]| {
        let reply = client.send(message, headers).await;
        (reply.status, reply.json["error"]["code"].as_i64().unwrap_or_default())
    };
    assert_eq!(code(&message, &[version(), method("tools/list")]).await, (200, 0));
    assert_eq!(code(&message, &[version()]).await, (400, -32020), "no Mcp-Method");
    assert_eq!(code(&message, &[version(), method("tools/call")]).await, (400, -32020), "another method");
    assert_eq!(code(&message, &[method("tools/list")]).await, (400, -32020), "no version in the header");
    let older = ("mcp-protocol-version", "2025-11-25".to_owned());
    assert_eq!(code(&message, &[older, method("tools/list")]).await, (400, -32020), "two versions");
    let mut without = message.clone();
    without["params"] = json!({});
    assert_eq!(code(&without, &[version(), method("tools/list")]).await, (400, -32602), "no _meta");
    let mut half = message.clone();
    half["params"]["_meta"]
        .as_object_mut()
        .expect("meta")
        .remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(code(&half, &[version(), method("tools/list")]).await, (400, -32602), "no capabilities");
    let unknown = client.ask("no/such/method", json!({})).await;
    assert_eq!((unknown.status, &unknown.json["error"]["code"]), (404, &json!(-32601)));
    let gone = client.ask("ping", json!({})).await;
    assert_eq!((gone.status, &gone.json["error"]["code"]), (404, &json!(-32601)), "it has no ping");
    let future = "2030-01-01";
    let mut message = message;
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(future);
    let headers = [("mcp-protocol-version", future.to_owned()), method("tools/list")];
    assert_eq!(code(&message, &headers).await, (400, -32022), "an unknown version");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_answered_together() {
    let house = House::open().await;
    let client = house.client(&house.careful, LEGACY[0], json!({}));
    let call = |id: Value, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": {} } });
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let batch =
        json!([call(json!(1), "count"), told, call(json!("b"), "nothing"), { "jsonrpc": "1.0", "id": 3 }]);
    let reply = client.send(&batch, &[]).await;
    let answers = reply.json.as_array().expect("a list");
    assert_eq!((reply.status, answers.len()), (200, 3));
    assert_eq!((&answers[0]["id"], &answers[0]["result"]["isError"]), (&json!(1), &json!(false)));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!("b"), &json!(-32602)));
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["code"]), (&json!(3), &json!(-32600)));
    assert_eq!(client.send(&json!([told]), &[]).await.status, 202);
    let begins = json!([{ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }]);
    assert_eq!(client.send(&begins, &[]).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_surface_that_is_off_is_not_there() {
    let house = House::open_with("[surfaces]\nmcp = false").await;
    let reply = send(&house.app, bare(Some(&house.careful)).body(Body::from(PING)).expect("a request")).await;
    assert_eq!((reply.status, &reply.json["code"]), (404, &json!("not_found")));
}

/// Whether there is such a method, and what is told of a server that cannot be asked.
#[tokio::test(flavor = "multi_thread")]
async fn prompts_and_resources_are_there_where_the_catalogue_opens_them() {
    let questions = [
        ("prompts/list", json!({}), -32603),
        ("prompts/get", json!({ "name": "t_greet" }), -32603),
        ("prompts/get", json!({ "name": "greet" }), -32602),
        ("resources/list", json!({}), -32603),
        ("resources/templates/list", json!({}), -32603),
        ("resources/read", json!({ "uri": "tickets://87" }), -32603),
        ("resources/read", json!({ "uri": "file:///etc/hosts" }), -32602),
    ];
    let (closed, open) = (House::open().await, House::open_with(UNREACHED).await);
    for (method, params, code) in questions {
        for (house, key, expected) in
            [(&closed, &closed.quick, -32601), (&open, &open.quick, code), (&open, &open.narrow, -32601)]
        {
            let reply = house.plain(key).ask(method, params.clone()).await;
            assert_eq!(reply.json["error"]["code"], expected, "{method} {params}: {}", reply.text);
            assert!(reply.status < 500, "{method}: {}", reply.status);
        }
    }
    let found = async |house: &House, key: &str| {
        let told = house.plain(key).ask("server/discover", json!({})).await;
        told.json["result"]["capabilities"].get("prompts").is_some()
    };
    assert!(found(&open, &open.quick).await);
    assert!(!found(&open, &open.narrow).await && !found(&closed, &closed.quick).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_up_only_stops_waiting() {
    let house = House::open().await;
    let client = house.plain(&house.careful);
    let held = client.tool("send_mail", json!({ "to": "bo" })).await;
    let id = held["_meta"]["countersign/call"]["id"].as_str().expect("an id").to_owned();
    let watching = {
        let (client, id) = (client.clone(), id.clone());
        tokio::spawn(
            async move { client.tool("call_status", json!({ "call_id": id, "wait_seconds": 25 })).await },
        )
    };
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    watching.abort();
    assert!(watching.await.is_err());
    assert_eq!(house.call(&id).await["status"], "held");
    house.confirm(&id).await;
    assert_eq!(house.writes(), 1);
}
