//! What holds for the API as a whole: who gets in, what is malformed, and what every answer carries.

use serde_json::{Value, json};

use crate::demo::testing::Desk;

const V1_PATHS: [(&str, &str); 17] = [
    ("GET", "/v1/actions"),
    ("GET", "/v1/calls/call_01h455vb4pex5vsknk084sn02q"),
    ("DELETE", "/v1/calls/call_01h455vb4pex5vsknk084sn02q"),
    ("GET", "/v1/approvals"),
    ("POST", "/v1/calls/call_01h455vb4pex5vsknk084sn02q/decision"),
    ("DELETE", "/v1/calls/call_01h455vb4pex5vsknk084sn02q/decision"),
    ("POST", "/v1/calls/call_01h455vb4pex5vsknk084sn02q/settlement"),
    ("GET", "/v1/receipts"),
    ("GET", "/v1/receipts/rct_01h455vb4pex5vsknk084sn02q"),
    ("GET", "/v1/events"),
    ("DELETE", "/v1/confirmations/cft_nonsense"),
    ("DELETE", "/v1/confirmations/a/b"),
    ("PATCH", "/v1/nothing/here"),
    ("POST", "/v1/fetch"),
    ("POST", "/v1/sessions/run-1/taint"),
    ("PROPFIND", "/via/odd/echo/x"),
    ("GET", "/via/nothing"),
];

#[tokio::test]
async fn without_a_valid_token_every_path_is_the_same_401() {
    let desk = Desk::open().await;
    let revoked = {
        let told = desk.engine.add_token("ann@demo.test", Vec::new()).await;
        let (id, token) = told.expect("a token");
        assert!(desk.engine.revoke_token(id).await.expect("storage"));
        token.reveal().to_owned()
    };
    let cut = &desk.careful()[..39];
    let mut answers = Vec::new();
    for (method, path) in
        V1_PATHS.into_iter().chain([("POST", "/v1/actions/send_mail"), ("POST", "/v1/actions/no")])
    {
        answers.push(desk.ask(method, path).refused(401, "unauthenticated").await);
        for value in ["Bearer x", "Basic x", "Bearer", &format!("Bearer {cut}"), &format!("Bearer {revoked}")]
        {
            let ask = desk.ask(method, path).header("authorization", value);
            answers.push(ask.refused(401, "unauthenticated").await);
        }
    }
    for answer in &answers {
        assert_eq!(answer.bytes, answers[0].bytes);
        assert_eq!(answer.headers["www-authenticate"], "Bearer realm=\"countersign\"");
    }
}

#[tokio::test]
async fn a_cookie_opens_nothing() {
    let desk = Desk::open().await;
    desk.ask("GET", "/v1/receipts").header("cookie", "id=abc").refused(401, "unauthenticated").await;
}

#[tokio::test]
async fn unknown_paths_and_methods_are_told() {
    let desk = Desk::open().await;
    for path in ["/v1", "/v1/", "/v1/nothing", "/v1/actions/", "/v1/actions/send_mail/x", "/v1/calls"] {
        desk.get(path, desk.ann()).refused(404, "not_found").await;
    }
    desk.ask("GET", "/nothing").refused(404, "not_found").await;
    let page = desk.ask("GET", "/nothing").header("accept", "text/html,*/*;q=0.8").ok(404).await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    for (method, path, allowed) in [
        ("PUT", "/v1/actions", "GET,HEAD"),
        ("GET", "/v1/actions/send_mail", "POST"),
        ("POST", "/v1/calls/call_01h455vb4pex5vsknk084sn02q", "GET,HEAD,DELETE"),
        ("GET", "/v1/calls/call_01h455vb4pex5vsknk084sn02q/decision", "POST,DELETE"),
        ("GET", "/v1/calls/call_01h455vb4pex5vsknk084sn02q/settlement", "POST"),
        ("DELETE", "/v1/receipts", "GET,HEAD"),
        ("POST", "/healthz", "GET,HEAD"),
        ("POST", "/openapi.json", "GET,HEAD"),
    ] {
        let told = desk.ask(method, path).token(desk.ann()).refused(405, "method_not_allowed").await;
        let allow: Vec<_> = told.headers["allow"].to_str().expect("text").split(',').map(str::trim).collect();
        assert_eq!(allow.len(), allowed.split(',').count(), "{path}: {allow:?}");
        assert!(allowed.split(',').all(|method| allow.contains(&method)), "{path}: {allow:?}");
    }
}

#[tokio::test]
async fn a_bad_body_is_refused_and_nothing_is_written() {
    let desk = Desk::open().await;
    let call = || desk.ask("POST", "/v1/actions/move_ticket").token(desk.careful());
    for body in
        ["", "nonsense", "[]", "null", "{", "{\"a\":1,\"a\":2}", "{\"a\":\"\\ud800\"}", "{\"a\":1e999}"]
    {
        call().bytes(body.as_bytes().to_vec()).refused(400, "malformed").await;
    }
    call().bytes(b"{\"ticket\":\"\xff\"}".to_vec()).refused(400, "malformed").await;
    call().bytes(format!("{{\"a\":{}", "[".repeat(500_000)).into_bytes()).refused(400, "malformed").await;
    call().bytes(vec![b' '; 2 << 20]).refused(413, "too_large").await;
    for content_type in
        ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]
    {
        let ask = call().header("content-type", content_type).raw(b"{}".to_vec());
        ask.refused(415, "unsupported_media_type").await;
    }
    call().raw(b"{}".to_vec()).refused(415, "unsupported_media_type").await;
    assert_eq!(desk.get("/v1/events", desk.olga()).ok(200).await.body["items"], json!([]));
    assert_eq!(desk.get("/v1/approvals", desk.ann()).ok(200).await.body["items"], json!([]));
}

#[tokio::test]
async fn an_id_that_cannot_be_read_is_as_unknown_as_one_that_was_never_given_out() {
    let desk = Desk::open().await;
    let unknown =
        desk.get("/v1/calls/call_01h455vb4pex5vsknk084sn02q", desk.ann()).refused(404, "not_found").await;
    for path in [
        "/v1/calls/nonsense",
        "/v1/calls/rct_01h455vb4pex5vsknk084sn02q",
        "/v1/calls/%ff",
        "/v1/calls/%00",
        "/v1/receipts/nonsense",
        "/v1/receipts/rct_01h455vb4pex5vsknk084sn02q",
    ] {
        assert_eq!(desk.get(path, desk.ann()).refused(404, "not_found").await.bytes, unknown.bytes, "{path}");
    }
    for action in ["no_such_action", "%ff", "send%00mail"] {
        let told = desk.call(action, desk.careful(), &json!({})).refused(404, "not_found").await;
        assert_eq!(told.bytes, unknown.bytes, "{action}");
    }
}

#[tokio::test]
async fn bad_queries_are_told_field_by_field() {
    let desk = Desk::open().await;
    for path in ["/v1/receipts", "/v1/events", "/v1/approvals", "/v1/actions"] {
        for (query, field) in [
            ("limit=501", "/limit"),
            ("limit=0", "/limit"),
            ("limit=x", "/limit"),
            ("limit=1&limit=1", "/limit"),
            ("cursor=nonsense", "/cursor"),
            ("cursor=", "/cursor"),
            ("colour=red", ""),
        ] {
            let told = desk.get(&format!("{path}?{query}"), desk.ann()).refused(422, "invalid").await;
            assert_eq!(told.body["errors"][0]["field"], field, "{path}?{query}");
        }
        desk.get(&format!("{path}?limit=500"), desk.ann()).ok(200).await;
    }
    for query in ["outcome=perhaps", "from=yesterday", "to=1", "user_id=ann"] {
        desk.get(&format!("/v1/receipts?{query}"), desk.ann()).refused(422, "invalid").await;
    }
}

#[tokio::test]
async fn every_answer_carries_its_headers() {
    let desk = Desk::open().await;
    for (path, token) in
        [("/healthz", ""), ("/v1/actions", desk.ann()), ("/v1/nothing", "x"), ("/nothing", "")]
    {
        let told = desk.get(path, token).header("x-request-id", "mine-1").send().await;
        assert_eq!(told.headers["x-request-id"], "mine-1", "{path}");
        assert_eq!(told.headers["x-content-type-options"], "nosniff", "{path}");
        let made = desk.get(path, token).header("x-request-id", "not mine").send().await;
        assert_eq!(made.headers["x-request-id"].len(), 36, "{path}");
    }
    assert_eq!(desk.get("/v1/actions", desk.ann()).ok(200).await.headers["cache-control"], "no-store");
    assert!(
        desk.get("/v1/actions", desk.ann())
            .ok(200)
            .await
            .headers
            .get("access-control-allow-origin")
            .is_none()
    );
}

#[tokio::test]
async fn the_probes_and_the_document_are_open() {
    let desk = Desk::open().await;
    assert_eq!(desk.ask("GET", "/healthz").ok(200).await.body, json!({ "status": "ok" }));
    assert_eq!(desk.ask("GET", "/readyz").ok(200).await.body, json!({ "status": "ok" }));
    let document = desk.ask("GET", "/openapi.json").ok(200).await;
    assert_eq!(document.headers["content-type"], "application/json");
    assert_eq!(document.body["openapi"], Value::from("3.1.0"));
}
