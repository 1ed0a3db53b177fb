//! The pages over a real engine, asked as a browser asks.

mod account;
mod provider;
mod run;
mod said;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use engine::ambient::{Ambient, Clock, SystemClock, SystemEntropy};
use engine::catalogue::Catalogue;
use engine::registry::{AgentWanted, PersonWanted};
use engine::seal::Sealer;
use engine::{Arrival, Engine, OpenOptions};
use http_body_util::BodyExt as _;
use model::{Ability, Answer, CallId, CallStatus, Person, Role, Surface, Time};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::router;
use crate::session_store::Sessions;

const CATALOGUE: &str = r#"
[server]
public_url = "http://127.0.0.1:8087"

[[action]]
name = "post_note"
title = "Post a note"
description = "Posts one note."
effect = "external"
input = { type = "object", required = ["text"], additionalProperties = false, properties = { text = { type = "string", minLength = 3 }, body = { type = "string" }, count = { type = "integer" } } }
request = { method = "POST", url = "https://notes.test/notes", json = "{{ input }}" }
preview = { title = "Post {{ input.text }}" }

[[action]]
name = "order"
title = "Order"
description = "Orders things."
effect = "external"
tenants = ["acme"]
input = { type = "object", required = ["lines", "address"], additionalProperties = false, properties = { lines = { type = "array", maxItems = 3, items = { type = "object", required = ["what", "count"], additionalProperties = false, properties = { what = { type = "string", minLength = 3 }, count = { type = "integer", default = 1 } } } }, copies = { type = "array", items = { type = "string" } }, address = { type = "object", required = ["street"], additionalProperties = false, properties = { street = { type = "string" } } } } }
request = { method = "POST", url = "https://notes.test/orders", json = "{{ input }}" }
preview = { title = "Order for {{ input.address.street }}" }

[[action]]
name = "pair_note"
title = "Post a note of two"
description = "Posts one note, when two people have confirmed."
effect = "external"
approvers = ["person:ann@desk.test", "person:ben@desk.test"]
quorum = 2
input = { type = "object", required = ["text"], properties = { text = { type = "string" } } }
request = { method = "POST", url = "https://notes.test/notes", json = "{{ input }}" }
preview = { title = "Post {{ input.text }} together" }

[[action]]
name = "burn_note"
title = "Burn a note"
description = "Burns one note."
effect = "destructive"
input = { type = "object", required = ["text"], properties = { text = { type = "string" } } }
request = { method = "DELETE", url = "https://notes.test/notes/{{ input.text }}" }
preview = { title = "Burn {{ input.text }}", target = "{{ input.text }}" }
"#;

const OWN: &str = "http://127.0.0.1:8087";
const PASSWORD: &str = "correct horse battery staple";

/// A clock that a test can move on.
#[derive(Clone)]
struct MovableClock(Arc<AtomicI64>);

impl Clock for MovableClock {
    fn now(&self) -> Time {
        SystemClock.now().plus_millis(self.0.load(Ordering::SeqCst))
    }
}

/// A desk with two members, an operator and an admin, asked without a network.
struct Desk {
    engine: Engine,
    router: Router,
    clock: MovableClock,
    ann: Person,
    key: String,
    _folder: tempfile::TempDir,
}

/// What came back.
struct Came {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Came {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The session cookie that was set, as a browser sends it back.
    fn cookie(&self) -> String {
        self.header("set-cookie").split(';').next().unwrap_or_default().to_owned()
    }

    /// The value of a hidden field of the page.
    fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let rest = self.text.split(&start).nth(1).unwrap_or_default();
        rest.split('"').next().unwrap_or_default().to_owned()
    }
}

impl Desk {
    async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = MovableClock(Arc::new(AtomicI64::new(0)));
        let key = Sealer::generate(&Ambient::system());
        let engine = Engine::open(OpenOptions {
            catalogue: Catalogue::parse(CATALOGUE, "countersign.toml").expect("a catalogue"),
            database_url: "sqlite:countersign.db".to_owned(),
            base: folder.path().to_owned(),
            sealer: Sealer::parse(&key, Ambient::system()).expect("a sealer"),
            ambient: Ambient::new(clock.clone(), SystemEntropy),
            roots: None,
        })
        .await
        .expect("an engine");
        let ann = person(&engine, "ann@desk.test", "Ann", vec![]).await;
        person(&engine, "ben@desk.test", "Ben", vec![]).await;
        person(&engine, "olga@desk.test", "Olga", vec![Role::Operator]).await;
        person(&engine, "ada@desk.test", "Ada", vec![Role::Admin]).await;
        let wanted = AgentWanted {
            name: "careful".to_owned(),
            owner: "ann@desk.test".to_owned(),
            requires_approval: true,
            abilities: Ability::AGENT_DEFAULT.to_vec(),
            toolset: None,
            session: None,
        };
        let (_, token) = engine.add_agent(wanted).await.expect("an agent");
        let router = router(engine.clone(), Sessions::new(engine.clone()));
        Self { engine, router, clock, ann, key: token.reveal().to_owned(), _folder: folder }
    }

    fn pass(&self, millis: i64) {
        self.clock.0.fetch_add(millis, Ordering::SeqCst);
    }

    async fn send(&self, request: Request<Body>) -> Came {
        let response = self.router.clone().oneshot(request).await.expect("infallible");
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        Came {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    async fn get(&self, path: &str, cookie: &str) -> Came {
        self.send(request(Method::GET, path, cookie, &[], String::new())).await
    }

    async fn post(&self, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Came {
        self.send(request(Method::POST, path, cookie, &[("origin", OWN)], encoded(fields))).await
    }

    async fn sign_in(&self, email: &str) -> String {
        let came = self.post("/do/sign-in", "", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!(came.status, StatusCode::SEE_OTHER, "{}", came.text);
        came.cookie()
    }

    /// A held call of Ann's agent.
    async fn hold(&self, action: &str, text: &str) -> CallId {
        let Value::Object(input) = json!({ "text": text }) else { panic!("an object") };
        let arrival = Arrival {
            actor: self.engine.authenticate(&self.key).await.expect("a key"),
            surface: Surface::Api,
            action: action.to_owned(),
            input,
            key_header: Vec::new(),
            session: None,
            tenant: None,
            reason: None,
        };
        match self.engine.call(arrival, None).await.expect("held") {
            Answer::Waiting(waiting) => waiting.call_id,
            other => panic!("{other:?}"),
        }
    }

    async fn status(&self, id: CallId) -> CallStatus {
        let ann = self.engine.visitor(self.ann.id).await.expect("storage").expect("Ann");
        self.engine.item(&ann, id).await.expect("storage").expect("the call").call.status
    }
}

async fn person(engine: &Engine, email: &str, name: &str, roles: Vec<Role>) -> Person {
    let wanted = PersonWanted {
        email: email.to_owned(),
        name: name.to_owned(),
        roles,
        password: Some(PASSWORD.to_owned()),
    };
    engine.add_person(wanted).await.expect("a person")
}

fn request(
    method: Method,
    path: &str,
    cookie: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).header(header::COOKIE, cookie);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let urlencoded = "application/x-www-form-urlencoded";
    request.header(header::CONTENT_TYPE, urlencoded).body(Body::from(body)).expect("a request")
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
    fields
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect::<Vec<_>>()
        .join("&")
}

#[tokio::test]
async fn signed_out_every_page_leads_to_the_sign_in() {
    let desk = Desk::open().await;
    for path in ["/inbox", "/done?host=a%26b", "/calls", "/run/post_note", "/people", "/journal"] {
        let came = desk.get(path, "").await;
        assert_eq!(came.status, StatusCode::SEE_OTHER, "{path}");
        assert!(came.header("location").starts_with("/sign-in?next=/"), "{}", came.header("location"));
        assert!(came.headers.get("set-cookie").is_none(), "a passer-by leaves no session");
    }
    let came = desk.get("/done?host=a%26b", "").await;
    assert_eq!(came.header("location"), "/sign-in?next=/done%3Fhost%3Da%2526b");
    assert_eq!(desk.get("/no-such-page", "").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_session_begins_at_sign_in_and_ends_at_sign_out() {
    let desk = Desk::open().await;
    let fields = [("email", "ann@desk.test"), ("password", PASSWORD), ("next", "//evil.example")];
    let came = desk.post("/do/sign-in", "countersign-8087=chosenbysomebodyelse", &fields).await;
    assert_eq!((came.status, came.header("location")), (StatusCode::SEE_OTHER, "/inbox"));
    let set = came.header("set-cookie");
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax") && set.contains("Path=/"), "{set}");
    assert!(!set.contains("Secure"), "the address is plain http");
    let first = came.cookie();
    let again = desk.post("/do/sign-in", &first, &fields).await.cookie();
    assert_ne!(first, again, "the id changes at every sign-in");
    assert_eq!(desk.get("/inbox", &first).await.status, StatusCode::SEE_OTHER, "the old id opens nothing");
    assert_eq!(desk.get("/inbox", &again).await.status, StatusCode::OK);
    desk.post("/do/sign-out", &again, &[]).await;
    assert_eq!(desk.get("/inbox", &again).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_wrong_password_keeps_the_email_and_tells_nothing() {
    let desk = Desk::open().await;
    let known = desk.post("/do/sign-in", "", &[("email", "ann@desk.test"), ("password", "sesame\"")]).await;
    assert_eq!(known.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(known.text.contains("value=\"ann@desk.test\"") && !known.text.contains("sesame"));
    assert!(known.headers.get("set-cookie").is_none());
    desk.engine.disable_person("ben@desk.test").await.expect("disabled");
    let guest = PersonWanted {
        email: "guest@desk.test".to_owned(),
        name: "Guest".to_owned(),
        roles: vec![],
        password: None,
    };
    desk.engine.add_person(guest).await.expect("a person");
    // Nobody, somebody disabled with the right password, somebody without one: the same words after the same work.
    for (who, password) in [("nobody", "x"), ("ben", PASSWORD), ("guest", "")] {
        let looked_at = desk.engine.passwords_verified();
        let email = format!("{who}@desk.test");
        let came = desk.post("/do/sign-in", "", &[("email", &email), ("password", password)]).await;
        assert_eq!(came.status, known.status, "{who}");
        assert_eq!(known.text.replace("ann@", ""), came.text.replace(&format!("{who}@"), ""), "{who}");
        assert_eq!(came.headers.len(), known.headers.len(), "{who}: {:?}", came.headers);
        assert_eq!(desk.engine.passwords_verified(), looked_at + 1, "{who}");
    }
}

#[tokio::test]
async fn every_answer_has_the_headers() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    for path in ["/sign-in", "/inbox", "/no-such-page", "/do/decide"] {
        let came = desk.get(path, &cookie).await;
        let policy = came.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{path}");
        assert!(!policy.contains("nonce") && !policy.contains("unsafe"), "{path}");
        assert_eq!(came.header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(came.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(came.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(came.header("cache-control"), "no-store", "{path}");
    }
}

#[tokio::test]
async fn assets_are_kept_for_ever() {
    let desk = Desk::open().await;
    let page = desk.get("/sign-in", "").await;
    for ending in ["css", "js", "svg"] {
        let address = page.text.split('"').find(|part| part.starts_with("/style/") && part.ends_with(ending));
        let came = desk.get(address.expect("an address"), "").await;
        assert_eq!(came.status, StatusCode::OK);
        assert_eq!(came.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(came.header("x-content-type-options"), "nosniff");
    }
    assert_eq!(desk.get("/style/countersign.css", "").await.status, StatusCode::NOT_FOUND);
    assert_eq!(desk.get("/style/..%2Fcountersign.key", "").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_form_from_elsewhere_is_refused() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    for headers in [&[][..], &[("origin", "https://evil.example")], &[("sec-fetch-site", "cross-site")]] {
        for path in app::form::ALL {
            let came = desk.send(request(Method::POST, path, &cookie, headers, String::new())).await;
            assert_eq!(came.status, StatusCode::FORBIDDEN, "{path} {headers:?}");
        }
    }
    assert_eq!(desk.get("/inbox", &cookie).await.status, StatusCode::OK, "still signed in");
}

#[tokio::test]
async fn a_press_before_half_a_second_does_nothing() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    let id = desk.hold("post_note", "hello").await;
    let page = desk.get(&format!("/inbox/{id}"), &cookie).await;
    let (version, token) = (page.hidden("preview_version"), page.hidden("view_token"));
    let call = id.to_string();
    let fields = [
        ("call", call.as_str()),
        ("preview_version", &version),
        ("view_token", &token),
        ("decision", "confirm"),
        ("reason", "</textarea><script>1</script>"),
    ];
    let came = desk.post("/do/decide", &cookie, &fields).await;
    assert_eq!(came.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(came.text.contains("Nothing was done: the button was pressed within half a second"));
    assert!(
        came.text.contains("&lt;/textarea>&lt;script>") && !came.text.contains("<script>1"),
        "typed text is kept, as text"
    );
    assert_eq!(desk.status(id).await, CallStatus::Held);
    for method in [Method::GET, Method::HEAD] {
        let path = format!("/do/decide?{}", encoded(&fields));
        desk.pass(600);
        desk.send(request(method, &path, &cookie, &[("origin", OWN)], String::new())).await;
        assert_eq!(desk.status(id).await, CallStatus::Held);
    }
    let forged = desk
        .post(
            "/do/decide",
            &cookie,
            &[
                ("call", &call),
                ("preview_version", &version),
                ("view_token", "AAAA"),
                ("decision", "confirm"),
            ],
        )
        .await;
    assert_eq!(forged.status, StatusCode::CONFLICT);
    assert_eq!(desk.status(id).await, CallStatus::Held);
    let came = desk.post("/do/decide", &cookie, &fields).await;
    assert_eq!(
        (came.status, came.header("location")),
        (StatusCode::SEE_OTHER, format!("/inbox/{id}").as_str())
    );
    assert_eq!(desk.status(id).await, CallStatus::Approved);
    let page = desk.get(&format!("/inbox/{id}"), &cookie).await;
    assert!(
        page.text.contains("<noscript><meta http-equiv=\"refresh\"") && page.text.contains(">Undo</button>")
    );
    let second = desk.post("/do/decide", &cookie, &fields).await;
    assert_eq!(second.status, StatusCode::CONFLICT, "a second press changes nothing");
    desk.post("/do/undo", &cookie, &[("call", &call)]).await;
    assert_eq!(desk.status(id).await, CallStatus::Held);
}

#[tokio::test]
async fn what_cannot_be_put_back_takes_its_target() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    let id = desk.hold("burn_note", "diary").await;
    let page = desk.get(&format!("/inbox/{id}"), &cookie).await;
    desk.pass(600);
    let (version, token, call) = (page.hidden("preview_version"), page.hidden("view_token"), id.to_string());
    for typed in ["", "Diary", "\"><script>1</script>"] {
        let fields = [
            ("call", call.as_str()),
            ("preview_version", &version),
            ("view_token", &token),
            ("decision", "confirm"),
            ("target", typed),
        ];
        let came = desk.post("/do/decide", &cookie, &fields).await;
        assert_eq!(came.status, StatusCode::UNPROCESSABLE_ENTITY, "{typed}");
        assert!(came.text.contains("id=\"target-wrong\"") && !came.text.contains("<script>1"), "{typed}");
        assert_eq!(desk.status(id).await, CallStatus::Held, "{typed}");
    }
    let fields = [
        ("call", call.as_str()),
        ("preview_version", &version),
        ("view_token", &token),
        ("decision", "confirm"),
        ("target", " diary "),
    ];
    assert_eq!(desk.post("/do/decide", &cookie, &fields).await.status, StatusCode::SEE_OTHER);
    assert_eq!(desk.status(id).await, CallStatus::Approved);
}

#[tokio::test]
async fn what_can_be_put_back_no_more_is_shown_again_and_takes_its_target() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    let reload = |effect: &str| {
        let text = CATALOGUE.replace("effect = \"destructive\"", &format!("effect = \"{effect}\""));
        desk.engine.replace_catalogue(Catalogue::parse(&text, "countersign.toml").expect("a catalogue"));
    };
    reload("write");
    let id = desk.hold("burn_note", "diary").await;
    let path = format!("/inbox/{id}");
    let harmless = desk.get(&path, &cookie).await;
    assert!(!harmless.text.contains("Type the target"));
    reload("destructive");
    let call = id.to_string();
    let press = async |page: &Came, typed: &str| {
        desk.pass(600);
        let (version, token) = (page.hidden("preview_version"), page.hidden("view_token"));
        let fields = [
            ("call", call.as_str()),
            ("preview_version", &version),
            ("view_token", &token),
            ("decision", "confirm"),
            ("target", typed),
        ];
        desk.post("/do/decide", &cookie, &fields).await
    };
    let fresh = press(&harmless, "").await;
    assert_eq!(fresh.status, StatusCode::CONFLICT, "{}", fresh.text);
    assert_eq!(desk.status(id).await, CallStatus::Held);
    assert!(
        fresh.text.contains("Type the target") && fresh.text.contains(">changed</span>"),
        "{}",
        fresh.text
    );
    assert!(fresh.text.contains("effect-final"), "the head says so too: {}", fresh.text);
    assert_eq!(press(&fresh, "").await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(press(&fresh, "diary").await.status, StatusCode::SEE_OTHER);
    assert_eq!(desk.status(id).await, CallStatus::Approved);
}

#[tokio::test]
async fn a_likeness_that_has_gone_lets_nobody_around_the_target() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    let (id, other) = (desk.hold("burn_note", "diary").await, desk.hold("burn_note", "diary").await);
    let page = desk.get(&format!("/inbox/{id}"), &cookie).await;
    assert!(page.text.contains("class=\"warning\""), "it looks like the other: {}", page.text);
    let (gone, call) = (other.to_string(), id.to_string());
    let declined =
        [("call", gone.as_str()), ("preview_version", ""), ("view_token", ""), ("decision", "decline")];
    assert_eq!(desk.post("/do/decide", &cookie, &declined).await.status, StatusCode::SEE_OTHER);
    desk.pass(600);
    let (version, token) = (page.hidden("preview_version"), page.hidden("view_token"));
    for (typed, status) in [("", StatusCode::UNPROCESSABLE_ENTITY), ("diary", StatusCode::SEE_OTHER)] {
        let fields = [
            ("call", call.as_str()),
            ("preview_version", &version),
            ("view_token", &token),
            ("decision", "confirm"),
            ("target", typed),
        ];
        assert_eq!(desk.post("/do/decide", &cookie, &fields).await.status, status, "{typed}");
    }
    assert_eq!(desk.status(id).await, CallStatus::Approved);
}

#[tokio::test]
async fn a_decline_takes_no_target_and_keeps_the_words() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    let id = desk.hold("burn_note", "diary").await;
    let call = id.to_string();
    let fields = [
        ("call", call.as_str()),
        ("preview_version", "x"),
        ("view_token", "x"),
        ("decision", "decline"),
        ("reason", "  Not the diary. "),
    ];
    assert_eq!(desk.post("/do/decide", &cookie, &fields).await.status, StatusCode::SEE_OTHER);
    assert_eq!(desk.status(id).await, CallStatus::Declined);
    let page = desk.get(&format!("/inbox/{id}"), &cookie).await;
    assert!(
        page.text.contains("Not the diary.") && !page.text.contains("diary</bdi></h1>"),
        "the preview is gone, the words stay"
    );
}

#[tokio::test]
async fn what_is_not_yours_is_what_does_not_exist() {
    let desk = Desk::open().await;
    let id = desk.hold("post_note", "hello").await;
    let cookie = desk.sign_in("ben@desk.test").await;
    let nothing = desk.get("/no-such-page", &cookie).await;
    assert_eq!(nothing.status, StatusCode::NOT_FOUND);
    let other = format!("/people/{}/receipts", desk.ann.id);
    for path in [
        "/people",
        "/agents",
        "/actions",
        "/credentials",
        "/journal",
        other.as_str(),
        "/people/nonsense",
        "/inbox/nonsense",
    ] {
        let came = desk.get(path, &cookie).await;
        assert_eq!(came.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(main_part(&came.text), main_part(&nothing.text), "{path}");
    }
    let there = desk.get(&format!("/inbox/{id}"), &cookie).await;
    let not_there = desk.get("/inbox/call_01h455vb4pex5vsknk084sn02q", &cookie).await;
    assert_eq!((there.status, &there.text), (not_there.status, &not_there.text));
    let call = id.to_string();
    let fields =
        [("call", call.as_str()), ("preview_version", ""), ("view_token", ""), ("decision", "decline")];
    assert_eq!(desk.post("/do/decide", &cookie, &fields).await.status, StatusCode::NOT_FOUND);
    assert_eq!(desk.status(id).await, CallStatus::Held);
}

fn main_part(html: &str) -> &str {
    html.split("<main").nth(1).unwrap_or_default()
}

#[tokio::test]
async fn a_form_of_an_action_is_held_or_comes_back_with_what_was_typed() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    let fields = [
        ("action", "post_note"),
        ("input/text", "a\""),
        ("input/body", "</textarea><script>1</script>"),
        ("input/count", "many"),
    ];
    let came = desk.post("/do/run", &cookie, &fields).await;
    assert_eq!(came.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        came.text.contains("id=\"field-text-wrong\"") && came.text.contains("id=\"field-count-wrong\""),
        "every fault at once"
    );
    assert!(
        came.text.contains(">\na\"</textarea>") && came.text.contains("value=\"many\""),
        "what was typed is kept"
    );
    assert!(!came.text.contains("<script>1"));
    let came = desk
        .post("/do/run", &cookie, &[("action", "post_note"), ("input/text", "hello"), ("input/count", "")])
        .await;
    assert_eq!(came.status, StatusCode::SEE_OTHER, "{}", came.text);
    let page = desk.get(came.header("location"), &cookie).await;
    assert!(page.text.contains("Post hello") && page.text.contains(", by form"));
    assert_eq!(desk.post("/do/run", &cookie, &[("action", "no_such")]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn operators_see_their_pages() {
    let desk = Desk::open().await;
    desk.hold("post_note", "secret words").await;
    let cookie = desk.sign_in("olga@desk.test").await;
    let receipts = format!("/people/{}/receipts", desk.ann.id);
    for path in [
        "/people",
        "/agents",
        "/actions",
        "/credentials",
        "/journal",
        "/done",
        "/calls",
        "/run",
        receipts.as_str(),
    ] {
        let came = desk.get(path, &cookie).await;
        assert_eq!(came.status, StatusCode::OK, "{path}");
        assert!(!came.text.contains("secret words"), "{path}");
        assert!(!came.text.contains("<!>") && !came.text.contains("<style"), "{path}");
    }
}

#[tokio::test]
async fn rows_come_and_go_with_what_was_typed() {
    let desk = Desk::open().await;
    desk.engine.add_tenant("acme", Some("ann@desk.test")).await.expect("a tenant");
    let cookie = desk.sign_in("ann@desk.test").await;
    let page = desk.get("/run/order", &cookie).await;
    assert!(
        page.text.contains("Runs in the tenant") && page.text.contains("name=\"rows/lines\" value=\"0\"")
    );
    let typed = [
        ("action", "order"),
        ("tenant", "acme"),
        ("rows/lines", "2"),
        ("rows/copies", "1"),
        ("input/lines/0/what", "no"),
        ("input/lines/0/count", "many"),
        ("input/lines/1/what", "cups</b>"),
        ("input/lines/1/count", "2"),
        ("input/copies/0", ""),
        ("input/address/street", ""),
    ];
    let with = |name: &'static str, value: &'static str| [&typed[..], &[(name, value)]].concat();
    let added = desk.post("/do/run", &cookie, &with("add", "/lines")).await;
    assert_eq!(added.status, StatusCode::OK, "nothing is wrong with a form that is still filled in");
    for expected in
        ["name=\"rows/lines\" value=\"3\"", "value=\"many\"", "value=\"cups&lt;/b&gt;\"", "That is as many"]
    {
        assert!(added.text.contains(expected), "{expected}: {}", main_part(&added.text));
    }
    assert!(!added.text.contains("aria-invalid"), "nothing is checked before it is meant");
    assert_eq!(
        added.text.matches(" autofocus").count(),
        2,
        "the new row's own controls: {}",
        main_part(&added.text)
    );
    let removed = desk.post("/do/run", &cookie, &with("remove", "/lines/0")).await;
    assert!(
        removed.text.contains("name=\"rows/lines\" value=\"1\"") && !removed.text.contains("value=\"many\"")
    );
    assert_eq!(removed.hidden("input/lines/0/what"), "", "it is no hidden field");
    let refused = desk.post("/do/run", &cookie, &typed).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    for field in ["lines-0-what", "lines-0-count", "copies-0", "address-street"] {
        assert!(
            refused.text.contains(&format!("id=\"field-{field}-wrong\"")),
            "{field}: {}",
            main_part(&refused.text)
        );
    }
    assert!(
        !refused.text.contains("id=\"field-lines-1-what-wrong\"")
            && refused.text.contains("Fill this in, or remove it.")
    );
    let good = [
        ("action", "order"),
        ("tenant", "acme"),
        ("rows/lines", "1"),
        ("input/lines/0/what", "cups"),
        ("input/lines/0/count", "2"),
        ("input/address/street", "Bay 1"),
    ];
    let came = desk.post("/do/run", &cookie, &good).await;
    assert_eq!(came.status, StatusCode::SEE_OTHER, "{}", came.text);
    let call = desk.get(came.header("location"), &cookie).await;
    assert!(call.text.contains("Order for Bay 1") && call.text.contains(", tenant "));
    let other = desk.sign_in("ben@desk.test").await;
    assert_eq!(desk.get("/run/order", &other).await.status, StatusCode::NOT_FOUND);
    assert_eq!(desk.post("/do/run", &other, &good).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn only_admins_change_groups_and_tenants() {
    let desk = Desk::open().await;
    let add = [("kind", "tenant"), ("act", "add"), ("at", ""), ("name", "acme"), ("email", "Ann@desk.test")];
    for email in ["olga@desk.test", "ann@desk.test"] {
        let cookie = desk.sign_in(email).await;
        for path in ["/people/tenants", "/people/groups"] {
            assert_eq!(desk.get(path, &cookie).await.status, StatusCode::NOT_FOUND, "{email} {path}");
        }
        assert_eq!(desk.post("/do/circle", &cookie, &add).await.status, StatusCode::NOT_FOUND, "{email}");
    }
    assert!(desk.engine.tenants().await.expect("tenants").is_empty());
    let cookie = desk.sign_in("ada@desk.test").await;
    let came = desk.post("/do/circle", &cookie, &add).await;
    assert_eq!((came.status, came.header("location")), (StatusCode::SEE_OTHER, "/people/tenants#acme"));
    let wrong =
        [("kind", "group"), ("act", "add"), ("at", ""), ("name", "a b"), ("email", "nobody@desk.test")];
    let came = desk.post("/do/circle", &cookie, &wrong).await;
    assert_eq!(came.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        came.text.contains("id=\"name-wrong\"") && came.text.contains("id=\"email-wrong\""),
        "every fault at once"
    );
    assert!(
        came.text.contains("value=\"a b\"") && came.text.contains("value=\"nobody@desk.test\""),
        "what was typed is kept"
    );
    let without = [("kind", "group"), ("act", "add"), ("at", ""), ("name", "mailers"), ("email", "")];
    let came = desk.post("/do/circle", &cookie, &without).await;
    assert!(came.text.contains("id=\"email-wrong\""), "a group begins with somebody");
    let out =
        [("kind", "tenant"), ("act", "remove"), ("at", "acme"), ("name", "acme"), ("email", "ann@desk.test")];
    assert_eq!(desk.post("/do/circle", &cookie, &out).await.status, StatusCode::SEE_OTHER);
    assert_eq!(desk.post("/do/circle", &cookie, &out).await.status, StatusCode::CONFLICT);
    let gone = [("kind", "tenant"), ("act", "remove"), ("at", "acme"), ("name", "acme")];
    assert_eq!(desk.post("/do/circle", &cookie, &gone).await.status, StatusCode::SEE_OTHER);
    assert!(desk.engine.tenants().await.expect("tenants").is_empty());
}

#[tokio::test]
async fn a_held_call_is_withdrawn_by_whom_it_is_for() {
    let desk = Desk::open().await;
    let call = desk.hold("post_note", "hello").await;
    let id = call.to_string();
    for email in ["ben@desk.test", "olga@desk.test"] {
        let cookie = desk.sign_in(email).await;
        assert_eq!(desk.post("/do/withdraw", &cookie, &[("call", &id)]).await.status, StatusCode::NOT_FOUND);
    }
    let cookie = desk.sign_in("ann@desk.test").await;
    assert!(desk.get(&format!("/inbox/{id}"), &cookie).await.text.contains(">Withdraw</button>"));
    assert_eq!(desk.post("/do/withdraw", &cookie, &[("call", &id)]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(desk.status(call).await, CallStatus::Withdrawn);
    assert_eq!(desk.post("/do/withdraw", &cookie, &[("call", &id)]).await.status, StatusCode::CONFLICT);
    let settle = [("call", id.as_str()), ("outcome", "happened"), ("reason", "seen")];
    assert_eq!(
        desk.post("/do/settle", &cookie, &settle).await.status,
        StatusCode::CONFLICT,
        "it is not in doubt"
    );
}

#[tokio::test]
async fn an_operator_who_may_not_decide_is_told_of_nothing() {
    let desk = Desk::open().await;
    let id = desk.hold("post_note", "hello").await.to_string();
    let cookie = desk.sign_in("olga@desk.test").await;
    for decision in ["confirm", "decline"] {
        let fields =
            [("call", id.as_str()), ("preview_version", "x"), ("view_token", "x"), ("decision", decision)];
        assert_eq!(
            desk.post("/do/decide", &cookie, &fields).await.status,
            StatusCode::NOT_FOUND,
            "{decision}"
        );
    }
}

#[tokio::test]
async fn what_is_too_large_or_no_form_is_told_so() {
    let desk = Desk::open().await;
    let cookie = desk.sign_in("ann@desk.test").await;
    let large = "x".repeat(super::forms::LARGEST + 1);
    let came = desk.post("/do/run", &cookie, &[("action", &large)]).await;
    assert_eq!(came.status, StatusCode::PAYLOAD_TOO_LARGE);
    let mut json = request(Method::POST, "/do/run", &cookie, &[("origin", OWN)], "{}".to_owned());
    json.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().expect("a value"));
    assert_eq!(desk.send(json).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(desk.post("/do/run", &cookie, &[]).await.status, StatusCode::UNPROCESSABLE_ENTITY);
}
