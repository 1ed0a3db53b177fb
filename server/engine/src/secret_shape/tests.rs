//! A corpus both ways: what has to be found, and what must not be.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use serde_json::json;
use sha2::{Digest, Sha256};
use url::Url;

use super::*;

/// Letters drawn from an alphabet, the same in every run. No example here is a secret of anybody's.
fn drawn(alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    (0_u32..)
        .flat_map(|turn| Sha256::digest(turn.to_be_bytes()).to_vec())
        .map(|byte| letters[usize::from(byte) % letters.len()])
        .take(length)
        .collect()
}

const MIXED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn request(url: &str, headers: &[(&'static str, &str)], body: &[u8]) -> Outgoing {
    Outgoing {
        method: Method::POST,
        url: Url::parse(url).expect("a URL"),
        values_encoded: false,
        headers: headers
            .iter()
            .map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value"))
            })
            .collect(),
        body: Some(Bytes::copy_from_slice(body)),
    }
}

fn in_body(body: &str) -> Vec<Finding> {
    found_in(&request("https://a.example/x", &[], body.as_bytes()))
}

/// An example of each well-known form. The prefixes are put together here so that no scanner takes them for real.
fn examples() -> Vec<String> {
    let (m, h, u) = (|n| drawn(MIXED, n), |n| drawn(HEX, n), |n| drawn(UPPER, n));
    vec![
        format!("-----BEGIN {}PRIVATE KEY-----", "RSA "),
        format!("AGE-SECRET-{}-1{}", "KEY", u(58)),
        format!("AK{}{}", "IA", u(16)),
        format!("Account{}={}==", "Key", m(86)),
        format!("AI{}{}", "za", m(35)),
        format!("GOC{}-{}", "SPX", m(28)),
        format!("ya{}.{}", "29", m(40)),
        format!("gh{}_{}", "p", m(36)),
        format!("github_{}_{}_{}", "pat", m(22), m(59)),
        format!("gl{}-{}", "pat", m(20)),
        format!("ATA{}{}", "TT3", m(120)),
        format!("xo{}-{}", "xb", m(30)),
        format!("xa{}-1-A{}-123456-{}", "pp", u(9), h(64)),
        format!("https://hooks.sl{}/services/T{}/B{}/{}", "ack.com", u(8), u(8), m(24)),
        format!("https://disc{}/api/webhooks/123456789012345678/{}", "ord.com", m(68)),
        format!("123456789:{}{}", "AA", m(33)),
        format!("sk_{}_{}", "live", m(24)),
        format!("wh{}_{}", "sec", m(32)),
        format!("sq0{}-{}", "atp", m(22)),
        format!("shp{}_{}", "at", h(32)),
        format!("sk-{}{}{}", m(24), "T3BlbkFJ", m(24)),
        format!("sk-{}-api03-{}", "ant", m(90)),
        format!("h{}_{}", "f", drawn("abcdefghijABCDEFGHIJ", 34)),
        format!("np{}_{}", "m", m(36)),
        format!("py{}-AgE{}", "pi", m(60)),
        format!("ruby{}_{}", "gems", h(48)),
        format!("ci{}{}", "o", m(32)),
        format!("dckr_{}_{}", "pat", m(27)),
        format!("S{}.{}.{}", "G", m(22), m(43)),
        format!("ke{}-{}", "y", h(32)),
        format!("{}-us{}", h(32), 7),
        format!("S{}{}", "K", h(32)),
        format!("do{}_v1_{}", "p", h(64)),
        format!("hv{}.{}", "s", m(40)),
        format!("da{}{}", "pi", h(32)),
        format!("lin_{}_{}", "api", m(40)),
        format!("nt{}_{}", "n", m(46)),
        format!("PM{}-{}-{}", "AK", h(24), h(34)),
        format!("sb{}_{}", "p", h(40)),
        format!("gl{}_{}_{}", "sa", m(32), h(8)),
        format!("sn{}_{}", "trys", m(60)),
        format!("cs{}_{}", "k", m(33)),
        format!("ey{}{}.ey{}{}.{}", "J", m(20), "J", m(40), m(43)),
        format!("postgres://desk:{}@db.house.example/x", m(12)),
    ]
}

#[test]
fn every_well_known_form_is_found_wherever_it_stands() {
    for example in examples() {
        let quoted = format!("please use {example}, thanks");
        assert!(!in_body(&quoted).is_empty(), "in a text: {example}");
        assert!(!in_body(&json!({ "a": [{ "note": quoted }] }).to_string()).is_empty(), "in JSON: {example}");
        let encoded: String = url::form_urlencoded::byte_serialize(quoted.as_bytes()).collect();
        let query = request(&format!("https://a.example/x?q={encoded}"), &[], b"");
        assert!(!found_in(&query).is_empty(), "in a query: {example}");
        let form = request(
            "https://a.example/x",
            &[("content-type", "application/x-www-form-urlencoded")],
            format!("q={encoded}").as_bytes(),
        );
        assert!(!found_in(&form).is_empty(), "in a form: {example}");
        let header = request("https://a.example/x", &[("x-note", &quoted)], b"");
        assert!(!found_in(&header).is_empty(), "in a header: {example}");
    }
}

#[test]
fn every_rule_has_an_example() {
    let told: Vec<_> =
        examples().iter().flat_map(|example| in_body(example)).map(|finding| finding.rule).collect();
    let missing: Vec<_> = rules::names().filter(|name| !told.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_random_value_under_a_telling_name_is_found() {
    let value = drawn(MIXED, 32);
    for body in [
        json!({ "password": value }).to_string(),
        json!({ "config": { "apiKey": [value] } }).to_string(),
        json!({ "note": format!("the token is: client_secret={value}") }).to_string(),
        format!("DB_PASSWORD={value}\n"),
        format!("  access-key: '{value}'"),
        format!("{{ broken json \"auth_token\": \"{value}\""),
        format!("secret => {value}"),
        format!("SIGNING_KEY={}", drawn(HEX, 40)),
        format!("api_key={}", drawn("abcdefghijklmnopqrstuvwxyz0123456789", 32)),
    ] {
        assert_eq!(in_body(&body).len(), 1, "{body}");
    }
    let header = request("https://a.example/x", &[("x-auth-token", &format!("Bearer {value}"))], b"");
    assert_eq!(found_in(&header)[0].place, Place::Header("x-auth-token".to_owned()));
    let query = request(&format!("https://a.example/x?api_key={value}"), &[], b"");
    assert_eq!(found_in(&query)[0].place, Place::Query("api_key".to_owned()));
}

#[test]
fn the_place_is_told_and_the_value_is_not() {
    let secret = format!("gh{}_{}", "p", drawn(MIXED, 36));
    let told = in_body(&json!({ "a/b": [{}, { "x": secret }] }).to_string());
    assert_eq!(
        told[0].to_string(),
        "The request may carry a secret: a GitHub token in the body, at /a~1b/1/x."
    );
    assert_eq!(in_body(&format!("one\ntwo {secret}"))[0].place, Place::Line(2));
    let path = request(&format!("https://a.example/x/{secret}"), &[], b"\xff\xfe");
    assert_eq!(found_in(&path)[0].place, Place::Path);
    let many = json!((0..50).map(|_| secret.clone()).collect::<Vec<_>>()).to_string();
    assert_eq!(in_body(&many).len(), MOST);
    let binary = [b"\xff\xfe\x00".as_slice(), secret.as_bytes()].concat();
    assert_eq!(found_in(&request("https://a.example/x", &[], &binary)).len(), 1, "in a body that is no text");
}

#[test]
fn a_secret_that_stands_where_a_name_stands_is_found() {
    let secret = format!("gh{}_{}", "p", drawn(MIXED, 36));
    let query = request(&format!("https://a.example/x?{secret}"), &[], b"");
    assert_eq!(
        found_in(&query)[0].to_string(),
        "The request may carry a secret: a GitHub token in the query, in the name of a parameter."
    );
    let form = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(
        found_in(&request("https://a.example/x", &form, secret.as_bytes()))[0].place,
        Place::FieldName
    );
    assert_eq!(in_body(&format!("{{\"{secret}\": 1}}"))[0].place, Place::Json(String::new()));
    let twice = format!("{{\"note\": \"{secret}\", \"note\": \"nothing\"}}");
    assert_eq!(in_body(&twice)[0].place, Place::Json("/note".to_owned()));
}

#[test]
fn what_people_send_every_day_raises_no_alarm() {
    let picture = STANDARD
        .encode((0_u32..4_000).flat_map(|n| Sha256::digest(n.to_be_bytes()).to_vec()).collect::<Vec<_>>());
    let sha = drawn(HEX, 40);
    let mixed = drawn(MIXED, 40);
    for body in [
        json!({ "image": picture }).to_string(),
        format!("<img src=\"data:image/png;base64,{picture}\">"),
        picture.clone(),
        json!({ "id": "0190f5b2-7c1d-7a3e-9b55-0a4f5b6c7d8e", "token": "0190f5b2-7c1d-7a3e-9b55-0a4f5b6c7d8e" }).to_string(),
        json!({ "id": "call_01h455vb4pex5vsknk084sn02q", "commit": sha, "etag": format!("\"{sha}\"") }).to_string(),
        json!({ "nextPageToken": mixed, "page_token": mixed, "cursor": mixed, "csrf_token": mixed, "sync_token": mixed }).to_string(),
        json!({ "max_tokens": 1024, "token_count": "12345678901234567890", "token_type": "Bearer", "tokenizer": "cl100k_base_abcdef123" }).to_string(),
        json!({ "integrity": format!("sha512-{}", drawn(MIXED, 86)), "resolved": "https://registry.example/a/-/a-1.0.0.tgz" }).to_string(),
        json!({ "password": "hunter2", "secret": "the quick brown fox jumps", "token": "a-long-slug-with-a-number-2024" }).to_string(),
        json!({ "password": "${DB_PASSWORD_FROM_VAULT_1}", "api_key": "<your-api-key-Goes-Here-123>", "secret": "{{ secrets.DEPLOY_Key_9 }}", "token": "xxxxXXXX11112222xxxx" }).to_string(),
        json!({ "password_policy": mixed, "secret_name": mixed, "token_url": format!("https://a.example/{mixed}") }).to_string(),
        json!({ "public_key": mixed, "fingerprint": sha, "sha256": drawn(HEX, 64), "trace_id": drawn(HEX, 32) }).to_string(),
        json!({ "text": "Forgot your password? Use the token: it expires in 15 minutes. Secret: none." }).to_string(),
        format!("<form><input type=\"hidden\" name=\"csrf_token\" value=\"{mixed}\"><input name=\"password\" type=\"password\" autocomplete=\"current-password\"></form>"),
        "<p class=\"token-list\">Passwords: see the <a href=\"https://docs.example/secret-management/rotating-keys\">guide</a></p>".to_owned(),
        "https://user@host.example/path and mailto:ann@house.example and http://a.example:8080/@scope/pkg".to_owned(),
        "Authorization: required. Token: revoked at 2026-11-30T04:23:30.123456Z by ann@house.example".to_owned(),
        "fn token_of(text: &str) -> Option<Token> { let secret: SecretString = read_secret_from_env(name)?; }".to_owned(),
        String::new(),
    ] {
        let told = in_body(&body);
        assert!(told.is_empty(), "{told:?}: {}", body.chars().take(200).collect::<String>());
    }
    let headers = [
        ("user-agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/131.0.0.0"),
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ("if-none-match", "\"33a64df551425fcc55e4d42a148795d9f25f89d4\""),
        ("x-csrf-token", &mixed),
        ("content-type", "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW"),
    ];
    let ordinary = request(
        &format!("https://a.example/repos/x/commits/{sha}?per_page=100&page_token={mixed}"),
        &headers,
        b"{}",
    );
    assert_eq!(found_in(&ordinary), []);
}
