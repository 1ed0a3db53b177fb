//! `/via` over HTTP, from small requests to a program of its own.

mod hidden;
mod smuggling;
mod streaming;

use std::net::SocketAddr;
use std::process::Command;

use engine::catalogue::Catalogue;
use serde_json::{Value, json};

use crate::demo::testing::{Desk, SECRET, Told};

/// The secret of a credential for a service that speaks raw bytes.
const RAW_SECRET: &str = "raw-secret-0123456789";

/// A desk whose one credential, `raw`, is for the service at this address.
async fn desk_in_front_of(raw: SocketAddr) -> Desk {
    let desk = Desk::open().await;
    let text = format!(
        "[[credential]]\nname = \"raw\"\nhosts = [\"{raw}\"]\nbase_url = \"http://{raw}\"\nheader = \"X-Secret\"\n\
         value = \"{{secret}}\"\nsecret = {{ store = true }}\ntrusted = true\nallow_http = true\nallow_private = true\n"
    );
    desk.engine.replace_catalogue(Catalogue::parse(&text, "c.toml").expect("a catalogue"));
    desk.engine.set_secret("raw", RAW_SECRET).await.expect("a secret");
    desk
}

fn header<'t>(told: &'t Told, name: &str) -> Vec<&'t str> {
    let pairs = told.body["headers"].as_array().expect("headers");
    pairs.iter().filter(|pair| pair[0] == name).filter_map(|pair| pair[1].as_str()).collect()
}

#[tokio::test]
async fn a_request_goes_on_as_it_came() {
    let desk = Desk::open().await;
    for method in ["GET", "DELETE", "PROPFIND", "QUERY", "POST", "PUT"] {
        let ask = desk.ask(method, "/via/odd/echo/a;b//c?x=%20&x=2&y=o'z").token(desk.quick());
        let ask =
            ask.header("x-mine", "1").header("x-mine", "2").header("cookie", "a=b").raw(b"\x00\xff".to_vec());
        let told = ask.header("countersign-session", "run-1").ok(418).await;
        assert_eq!(told.body["method"], method);
        assert_eq!(told.body["uri"], "/echo/a;b//c?x=%20&x=2&y=o%27z");
        assert_eq!((&told.body["bytes"], header(&told, "x-mine")), (&json!(2), vec!["1", "2"]));
        assert!(
            !told.bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()),
            "the secret came back"
        );
        assert!(header(&told, "cookie").is_empty() && header(&told, "countersign-session").is_empty());
        let twice: Vec<_> = told.headers.get_all("x-twice").iter().collect();
        assert_eq!(twice, ["1", "2"]);
        assert!(!told.headers.contains_key("set-cookie"));
        assert_eq!(told.headers["cache-control"], "max-age=9");
        let reads = ["GET", "QUERY"].contains(&method);
        assert_eq!(told.headers.contains_key("countersign-receipt"), !reads, "{method}");
    }
}

#[tokio::test]
async fn the_services_own_status_comes_back() {
    let desk = Desk::open().await;
    for status in [200, 204, 302, 404, 405, 500, 503] {
        let told = desk.ask("POST", &format!("/via/odd/answer/{status}")).token(desk.quick()).send().await;
        assert_eq!((told.status, told.bytes.len()), (status, 0), "nothing of the desk's own: {told:?}");
        assert_eq!(told.headers.contains_key("countersign-receipt"), status < 500);
    }
    let told = desk.ask("HEAD", "/via/odd/answer/404").token(desk.quick()).send().await;
    assert_eq!((told.status, told.bytes.len()), (404, 0));
    desk.ask("POST", "/via/odd/hang-up").token(desk.quick()).refused(409, "outcome_unknown").await;
}

#[tokio::test]
async fn what_the_desk_refuses_it_refuses_itself() {
    let desk = Desk::open().await;
    let ask = |path: &str| desk.ask("GET", path).token(desk.quick());
    for path in ["/via/none/x", "/via/none", "/via/bare/x"] {
        ask(path).refused(404, "not_found").await;
    }
    desk.ask("GET", "/via/odd/echo/x").refused(401, "unauthenticated").await;
    desk.ask("GET", "/via/odd/echo/x").header("cookie", "id=1").refused(401, "unauthenticated").await;
    ask("/via/odd/echo/%2e%2e/x").refused(403, "egress_blocked").await;
    ask("/via/odd/echo/a%2Fb").refused(403, "egress_blocked").await;
    ask("/via/odd@evil.example/x").refused(404, "not_found").await;
    ask("/via/odd/echo/x").header("idempotency-key", "a b").refused(400, "idempotency_key_invalid").await;
    let large = desk.ask("POST", "/via/odd/echo/x").token(desk.quick()).raw(vec![b'x'; (1 << 20) + 1]);
    large.refused(413, "too_large").await;
}

#[tokio::test]
async fn a_repeat_is_answered_with_the_recorded_status() {
    let desk = Desk::open().await;
    let ask = || {
        desk.ask("POST", "/via/odd/echo/x")
            .token(desk.quick())
            .header("idempotency-key", "k")
            .raw(b"x".to_vec())
    };
    let first = ask().ok(418).await;
    let again = ask().ok(418).await;
    let receipt = first.headers["countersign-receipt"].to_str().expect("text");
    let expected = json!({ "replayed": true, "receipt_id": receipt, "original_status": 418, "status": 418 });
    assert_eq!(again.body, expected);
    assert_eq!(
        (&again.headers["countersign-replayed"], &again.headers["countersign-receipt"]),
        (&"true".parse().expect("text"), &first.headers["countersign-receipt"])
    );
    let input = json!({ "credential": "odd", "method": "POST", "url": desk.odd_url("/echo/x"), "body": "x" });
    let fetch = desk.ask("POST", "/v1/fetch").token(desk.quick()).header("idempotency-key", "k").json(&input);
    assert_eq!(fetch.ok(200).await.body, expected);
}

#[tokio::test]
async fn while_a_person_is_asked_it_waits_and_then_says_held() {
    let desk = Desk::open().await;
    let ask = desk.ask("POST", "/via/guarded/x").header("x-api-key", desk.quick()).raw(b"hello".to_vec());
    let told = ask.refused(409, "held").await;
    let place = told.headers["location"].to_str().expect("text").to_owned();
    assert!(place.starts_with("/v1/calls/call_"));
    let list = desk.get("/v1/approvals", desk.ann()).ok(200).await;
    let preview = &list.body["items"][0]["preview"];
    assert_eq!(
        (&preview["request"]["path"], &preview["request"]["body"]),
        (&json!("/echo/x"), &json!("hello"))
    );
    assert_eq!(preview["request"]["headers"], json!([]), "the key is nothing of the request");
    let decision = json!({ "decision": "confirm", "preview_version": preview["version"] });
    desk.ask("POST", &format!("{place}/decision")).token(desk.ann()).json(&decision).ok(200).await;
    let call = desk.get(&place, desk.quick()).header("prefer", "wait=10").ok(200).await;
    assert_eq!((&call.body["status"], &call.body["result"]["status"]), (&json!("done"), &json!(418)));
}

/// A service's page comes from the desk's address; it gets nothing of the desk's origin, and runs nothing.
#[tokio::test]
async fn no_answer_is_a_page_of_the_desk() {
    let desk = Desk::open().await;
    let read = |path: &str| desk.ask("GET", path).token(desk.quick());
    let write = || desk.ask("POST", "/via/odd/echo/x").token(desk.quick()).header("idempotency-key", "k");
    let answers = [
        (200, read("/via/odd/answer/200")),
        (418, write()),
        (418, write()),
        (409, desk.ask("POST", "/via/odd/hang-up").token(desk.quick())),
        (409, desk.ask("POST", "/via/guarded/x").header("x-api-key", desk.quick())),
        (404, read("/via/none/x")),
        (401, desk.ask("GET", "/via/odd/echo/x")),
    ];
    for (status, ask) in answers {
        let told = ask.send().await;
        assert_eq!(told.status, status);
        let policies: Vec<_> = told.headers.get_all("content-security-policy").iter().collect();
        assert_eq!(policies, ["sandbox"], "{told:?}");
        assert_eq!(told.headers["x-content-type-options"], "nosniff");
    }
}

/// Runs `curl`, as a program does that knows its service's own ways alone: the answer's head and body.
async fn curl(arguments: Vec<String>) -> Option<String> {
    let run = move || Command::new("curl").args(["-sS", "-i", "--max-time", "30"]).args(arguments).output();
    match tokio::task::spawn_blocking(run).await.expect("no panic") {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            eprintln!("not run: curl is not here ({error})");
            None
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_works_with_another_base_url_and_another_key() {
    let desk = Desk::open().await;
    let base = desk.serve().await;
    let arguments = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let user = format!("{}:", desk.quick());
    let refund =
        ["-u", &user, "-H", "Idempotency-Key: r-1", "-d", "charge=ch_1", "-d", "metadata[order]=6735"];
    let url = format!("{base}/via/odd/echo/v1/refunds");
    let Some(told) = curl(arguments(&[&refund[..], &[&url]].concat())).await else { return };
    assert!(told.starts_with("HTTP/1.1 418") && told.contains("countersign-receipt: rct_"), "{told}");
    let body: Value = serde_json::from_str(told.split("\r\n\r\n").last().unwrap_or_default()).expect("JSON");
    assert_eq!(body["body"], "charge=ch_1&metadata[order]=6735");
    let key = format!("X-Api-Key: {}", desk.careful());
    let large = "x".repeat(1 << 19);
    let upload = [
        "-H",
        &key,
        "-H",
        "Authorization: Bearer something-else",
        "--data-binary",
        &large[..1000],
        "-X",
        "PUT",
    ];
    let told = curl(arguments(&[&upload[..], &[&format!("{base}/via/guarded/v1/files")]].concat())).await;
    assert!(told.is_some_and(|told| told.starts_with("HTTP/1.1 409") && told.contains("\"held\"")));
}
