//! At most once, whatever crashes: the real server is stopped at every step of a held write and killed there, in front
//! of a service that misbehaves in every way; then it is started again, and the call is repeated with its key.
//!
//! Each cell asserts the answers of the contract, that the service was asked at most once, and that nothing that was
//! done is told as not done. The table of all outcomes is printed.

#[path = "crash_matrix/desk.rs"]
mod desk;
#[path = "crash_matrix/http.rs"]
mod http;
#[path = "crash_matrix/upstream.rs"]
mod upstream;

use std::sync::Arc;
use std::time::Duration;

use desk::{Process, Template};
use http::{Answer, request};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use upstream::{Behaviour, Upstream};

/// How many desks run at once.
const AT_ONCE: usize = 6;

/// Longer than anything takes that is not lost.
const PATIENCE: Duration = Duration::from_mins(2);

/// Where the process is killed, and what is known of the call there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crash {
    /// It is not killed.
    Never,
    /// The call is not durable: nothing of it is there.
    Unheld(&'static str),
    /// The call is held, and its caller does not know it.
    Held(&'static str),
    /// A person has pressed Confirm, and nothing of it is there.
    Undecided(&'static str),
    /// Confirmed, within its undo window or behind it: it goes on.
    Approved(&'static str),
    /// The intent is durable and not all of the request has left.
    Unsent(&'static str),
    /// The same behind an undo window.
    UnsentSoon(&'static str),
    /// The whole request has come in.
    Whole,
    /// The service has had the whole request, and how it ended is not durable.
    Sent(&'static str),
    /// How it ended is durable, and nobody was told.
    Ended(&'static str),
    /// As `Unsent("before-connect")`, and recovery is killed as well.
    Twice(&'static str),
}

impl Crash {
    const fn place(self) -> Option<&'static str> {
        match self {
            Self::Never | Self::Whole => None,
            Self::Twice(_) => Some("before-connect"),
            Self::Unheld(place)
            | Self::Held(place)
            | Self::Undecided(place)
            | Self::Approved(place)
            | Self::Unsent(place)
            | Self::UnsentSoon(place)
            | Self::Sent(place)
            | Self::Ended(place) => Some(place),
        }
    }

    const fn action(self) -> &'static str {
        if matches!(self, Self::Approved(_) | Self::UnsentSoon(_)) { "note_soon" } else { "note" }
    }

    /// Whether the end of the call is lost with the process, so that nobody knows it.
    const fn loses_the_end(self) -> bool {
        matches!(self, Self::Unsent(_) | Self::UnsentSoon(_) | Self::Whole | Self::Sent(_) | Self::Twice(_))
    }

    /// Whether the whole request reaches the service.
    const fn sends_whole(self) -> bool {
        !matches!(self, Self::Unsent(_) | Self::UnsentSoon(_) | Self::Twice(_))
    }

    fn name(self) -> String {
        match self {
            Self::Never => "(not killed)".to_owned(),
            Self::Whole => "whole request sent".to_owned(),
            Self::Twice(place) => format!("before-connect, {place}"),
            Self::Approved(place) | Self::UnsentSoon(place) => format!("{place} (undo window)"),
            _ => self.place().unwrap_or_default().to_owned(),
        }
    }
}

/// Every cell: where the process is killed, and what the service does. A service that is never asked behaves in one
/// way only.
fn cells() -> Vec<(Crash, Behaviour)> {
    use Crash::{Approved, Ended, Held, Never, Sent, Twice, Undecided, Unheld, Unsent, UnsentSoon, Whole};
    let under_every = [
        Never,
        Unheld("unheld"),
        Unheld("hold-uncommitted"),
        Held("held"),
        Undecided("decision-uncommitted"),
        Approved("decided"),
        Approved("intent-uncommitted"),
        Sent("answered"),
        Sent("end-uncommitted"),
        Ended("ended"),
    ];
    let under_answering = [Sent("answer-begun"), Sent("status-line-read")];
    let unsent = ["decided", "before-connect", "connected", "half-sent"];
    let mut cells = Vec::new();
    cells.extend(under_every.into_iter().flat_map(|crash| Behaviour::ALL.map(|how| (crash, how))));
    let answering = Behaviour::ALL.into_iter().filter(|how| how.answers());
    cells.extend(answering.flat_map(|how| under_answering.map(|crash| (crash, how))));
    cells.push((Sent("answer-begun"), Behaviour::HalfStatusLine));
    cells.push((Whole, Behaviour::Hangs));
    cells.extend(unsent.map(|place| (Unsent(place), Behaviour::Answers)));
    cells.push((UnsentSoon("intended"), Behaviour::Answers));
    cells.extend(["doubt-uncommitted", "given-up"].map(|place| (Twice(place), Behaviour::Answers)));
    cells
}

/// How a call has to end: its status, `executed`, the code it is told with, and the answer to its repeat.
#[derive(Debug, PartialEq, Eq)]
struct End {
    status: &'static str,
    executed: Option<bool>,
    code: Option<&'static str>,
    repeat: (u16, &'static str),
    receipt: Option<&'static str>,
}

/// The table "What a send can end as" and section 6 of the contract.
fn end(crash: Crash, how: Behaviour) -> End {
    let free = (202, "held");
    match how {
        _ if crash.loses_the_end() => doubt(),
        Behaviour::Answers | Behaviour::AnswersLate => End {
            status: "done",
            executed: Some(true),
            code: None,
            repeat: (200, "replayed"),
            receipt: Some("done"),
        },
        Behaviour::Refuses => End {
            status: "refused",
            executed: Some(false),
            code: Some("refused"),
            repeat: free,
            receipt: Some("done"),
        },
        Behaviour::Fails => End {
            status: "failed",
            executed: Some(false),
            code: Some("upstream_failed"),
            repeat: free,
            receipt: None,
        },
        _ => doubt(),
    }
}

const fn doubt() -> End {
    End {
        status: "in_doubt",
        executed: None,
        code: Some("outcome_unknown"),
        repeat: (409, "outcome_unknown"),
        receipt: Some("in_doubt"),
    }
}

/// What its caller is told who waits for the end.
fn final_answer(end: &End) -> (u16, &'static str) {
    match end.status {
        "done" => (200, "done"),
        "failed" => (502, "upstream_failed"),
        "refused" => (409, "refused"),
        _ => (409, "outcome_unknown"),
    }
}

/// The agent and the person at one desk.
struct Cell {
    template: Arc<Template>,
    crash: Crash,
}

impl Cell {
    async fn call(&self, process: &Process, headers: &[(&str, &str)]) -> Option<Answer> {
        let line = format!("POST /v1/actions/{}", self.crash.action());
        let headers = [&[("Idempotency-Key", "note-1")], headers].concat();
        let body = json!({ "text": "late" });
        request(&process.authority, &self.template.agent, &line, &headers, Some(&body)).await
    }

    async fn seen(&self, process: &Process, path: &str, headers: &[(&str, &str)]) -> Value {
        let line = format!("GET {path}");
        let answer = request(&process.authority, &self.template.ann, &line, headers, None).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }

    /// The one held call and the version of its preview, as soon as it is there.
    async fn held(&self, process: &Process) -> (String, String) {
        loop {
            let list = self.seen(process, "/v1/approvals", &[]).await;
            let items = list["items"].as_array().expect("items");
            assert!(items.len() <= 1, "one call is held: {list}");
            if let Some(item) = items.first() {
                let text = |value: &Value| value.as_str().expect("a text").to_owned();
                return (text(&item["id"]), text(&item["preview"]["version"]));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn press(&self, process: &Process, id: &str, version: &str) -> Option<Answer> {
        let line = format!("POST /v1/calls/{id}/decision");
        let body = json!({ "decision": "confirm", "preview_version": version });
        request(&process.authority, &self.template.ann, &line, &[], Some(&body)).await
    }

    /// The call when it has ended.
    async fn ended(&self, process: &Process, id: &str) -> Value {
        loop {
            let call = self.seen(process, &format!("/v1/calls/{id}"), &[("Prefer", "wait=5")]).await;
            if !["held", "approved", "sending"].contains(&call["status"].as_str().expect("a status")) {
                return call;
            }
        }
    }
}

/// What came first: the answer, or the place where the process stops.
async fn or_stopped<T>(process: &Process, answer: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        answer = answer => Some(answer),
        () = process.stopped() => None,
    }
}

fn told(answer: Option<&Answer>) -> (u16, String) {
    answer.expect("an answer").told()
}

fn is(word: (u16, &str)) -> (u16, String) {
    (word.0, word.1.to_owned())
}

/// One cell, and its line of the table.
async fn cell(template: Arc<Template>, crash: Crash, how: Behaviour) -> String {
    let upstream = Upstream::start(how).await;
    // Where the send lasts, a busy machine must not let the lease lapse; and only a service that hangs is given up.
    let lease = if matches!(how, Behaviour::AnswersLate | Behaviour::Hangs) { "2s" } else { "1s" };
    let timeout = if how == Behaviour::Hangs { "3s" } else { "60s" };
    let desk = template.desk(upstream.address, lease, timeout).await;
    let cell = Cell { template, crash };
    let expected = end(crash, how);
    let mut process = desk.start(crash.place());

    if crash == Crash::Never {
        // The caller that waits for the end is told it.
        let waiting = cell.call(&process, &[("Prefer", "wait=30")]);
        let deciding = async {
            let (id, version) = cell.held(&process).await;
            assert_eq!(cell.press(&process, &id, &version).await.expect("an answer").status, 200);
            id
        };
        let (answer, id) = tokio::join!(waiting, deciding);
        assert_eq!(told(answer.as_ref()), is(final_answer(&expected)));
        return closing(&cell, &process, &upstream, &id, how, &expected).await;
    }

    if let Some(first) = or_stopped(&process, cell.call(&process, &[])).await {
        assert_eq!(told(first.as_ref()), is((202, "held")));
    } else {
        drop(process);
        process = desk.start(None);
        repeat_of_lost(&cell, &process).await;
    }
    let (id, version) = cell.held(&process).await;
    let pressed = or_stopped(&process, cell.press(&process, &id, &version)).await;
    if let Some(pressed) = &pressed {
        assert_eq!(pressed.as_ref().expect("an answer").status, 200);
    }
    match crash {
        Crash::Unheld(_) | Crash::Held(_) => {}
        Crash::Whole => {
            upstream.until_whole().await;
            drop(process);
            process = desk.start(None);
        }
        Crash::Undecided(_) => {
            assert!(pressed.is_none(), "the press was lost");
            drop(process);
            process = desk.start(None);
            let repeat = cell.call(&process, &[]).await;
            assert_eq!(told(repeat.as_ref()), is((409, "idempotency_in_flight")));
            let again = cell.press(&process, &id, &version).await;
            assert_eq!(again.expect("an answer").status, 200);
        }
        Crash::Twice(place) => {
            process.stopped().await;
            drop(process);
            process = desk.start(Some(place));
            process.stopped().await;
            drop(process);
            process = desk.start(None);
        }
        _ => {
            process.stopped().await;
            drop(process);
            process = desk.start(None);
        }
    }
    closing(&cell, &process, &upstream, &id, how, &expected).await
}

/// The caller whose first answer was lost with the process calls again.
async fn repeat_of_lost(cell: &Cell, process: &Process) {
    let again = cell.call(process, &[]).await;
    if matches!(cell.crash, Crash::Held(_)) {
        assert_eq!(told(again.as_ref()), is((409, "idempotency_in_flight")));
        let (id, _) = cell.held(process).await;
        assert_eq!(again.expect("an answer").location, Some(format!("/v1/calls/{id}")));
    } else {
        assert_eq!(told(again.as_ref()), is((202, "held")));
    }
}

/// Waits for the end, repeats the call, and looks at everything that must hold.
async fn closing(
    cell: &Cell,
    process: &Process,
    upstream: &Upstream,
    id: &str,
    how: Behaviour,
    expected: &End,
) -> String {
    let ended = cell.ended(process, id).await;
    assert_eq!(ended["status"], expected.status, "{ended}");
    assert_eq!(ended["executed"].as_bool(), expected.executed, "{ended}");
    assert_eq!(ended["problem"]["code"].as_str(), expected.code, "{ended}");
    let effects = usize::from(cell.crash.sends_whole() && how.acts());
    assert_eq!(upstream.effects(), effects, "how often it was done");
    assert!(effects == 0 || ended["executed"] != json!(false), "what was done is told as not done: {ended}");

    let repeat = cell.call(process, &[]).await;
    assert_eq!(told(repeat.as_ref()), is(expected.repeat));
    if expected.repeat.0 == 409 {
        assert_eq!(repeat.as_ref().and_then(|told| told.location.clone()), Some(format!("/v1/calls/{id}")));
    }
    let receipts = cell.seen(process, "/v1/receipts", &[]).await;
    let outcomes: Vec<_> =
        receipts["items"].as_array().expect("items").iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, expected.receipt.iter().collect::<Vec<_>>(), "{receipts}");
    assert!(upstream.requests() <= 1 && upstream.effects() == effects, "nothing is sent again");
    let (status, word) = told(repeat.as_ref());
    format!(
        "{:<36} {:<16} {:<9} {:<22} {:>8} {:>7}",
        cell.crash.name(),
        format!("{how:?}"),
        expected.status,
        format!("{status} {word}"),
        upstream.requests(),
        upstream.effects()
    )
}

/// Every cell on one kind of database; all that fail are told.
async fn matrix(database: &str, server: Option<&str>) {
    let template = Arc::new(Template::make(server).await);
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for (at, (crash, how)) in cells().into_iter().enumerate() {
        let (template, permits) = (template.clone(), permits.clone());
        running.spawn(async move {
            let _permit = permits.acquire_owned().await.expect("open");
            let task = tokio::spawn(tokio::time::timeout(PATIENCE, cell(template, crash, how)));
            let line = match task.await {
                Ok(Ok(line)) => Ok(line),
                Ok(Err(_)) => Err(format!("{} {how:?}: something never came", crash.name())),
                Err(error) => Err(format!("{} {how:?}: {error}", crash.name())),
            };
            (at, line)
        });
    }
    let mut lines = running.join_all().await;
    lines.sort_by_key(|(at, _)| *at);
    println!("{database}: killed at / the service / the call / its repeat / requests / effects");
    for (_, line) in &lines {
        println!("{}", line.as_deref().unwrap_or_else(|failure| failure));
    }
    let failed = lines.iter().filter(|(_, line)| line.is_err()).count();
    assert_eq!(failed, 0, "cells failed; they stand above");
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    matrix("SQLite", None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres() {
    if let Some(server) = server() {
        matrix("PostgreSQL", Some(&server)).await;
    }
}

/// `None`, and a word on the console, when there is no server; where everything has to be tested that is a fault.
fn server() -> Option<String> {
    let server = std::env::var("TEST_DATABASE_URL").ok();
    if server.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "TEST_DATABASE_URL is not set: half of the tests would not run"
        );
        eprintln!("not run on PostgreSQL: TEST_DATABASE_URL is not set (end2end/test sets it)");
    }
    server
}

/// A process that is suspended for longer than its lease: another one gives the call up, and the answer that comes
/// after all is the truth.
async fn late_answer(server: Option<&str>) {
    let template = Arc::new(Template::make(server).await);
    let upstream = Upstream::start(Behaviour::Hangs).await;
    let desk = template.desk(upstream.address, "1s", "60s").await;
    let cell = Cell { template, crash: Crash::Never };
    let suspended = desk.start(None);
    assert_eq!(told(cell.call(&suspended, &[]).await.as_ref()), is((202, "held")));
    let (id, version) = cell.held(&suspended).await;
    assert_eq!(cell.press(&suspended, &id, &version).await.expect("an answer").status, 200);
    upstream.until_whole().await;
    suspended.signal("STOP");
    let other = desk.start(None);
    let ended = cell.ended(&other, &id).await;
    assert_eq!((ended["status"].as_str(), ended["executed"].as_bool()), (Some("in_doubt"), None));
    assert_eq!(told(cell.call(&other, &[]).await.as_ref()), is((409, "outcome_unknown")));
    upstream.release();
    suspended.signal("CONT");
    while cell.ended(&other, &id).await["status"] != "done" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(told(cell.call(&other, &[]).await.as_ref()), is((200, "replayed")));
    assert_eq!((upstream.requests(), upstream.effects()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_after_the_lease_was_lost_completes_the_call_on_sqlite() {
    tokio::time::timeout(PATIENCE, late_answer(None)).await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_after_the_lease_was_lost_completes_the_call_on_postgres() {
    if let Some(server) = server() {
        tokio::time::timeout(PATIENCE, late_answer(Some(&server))).await.expect("it ends");
    }
}
