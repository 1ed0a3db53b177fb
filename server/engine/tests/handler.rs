//! Handlers written in Rust: the same chain, the same four ends, the same receipts and events.

mod desk;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use desk::{Desk, confirm, keyed};
use engine::catalogue::{CallerKind, Catalogue};
use engine::{Arrival, Failure, Handler, Handlers, Job, PageAsked, ReceiptFilter};
use model::{Answer, ApprovalKind, CallStatus, EventType, Outcome, Receipt, Refusal, Surface};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

const FILE: &str = r#"
[server]
timeout = "1s"

[[action]]
name = "move_crate"
effect = "write"
handler = "crane"
input = { type = "object", required = ["to"], properties = { to = { type = "string" }, gently = { type = "boolean", default = true } } }
fixed = { floor = 2 }
preview = { title = "Move to {{ input.to }}", fields = [{ label = "Load", value = "{{ dry_run.load }}" }] }
output = ["at"]
reply = "It stands at {{ output.at }}."

[[action]]
name = "look"
effect = "read"
handler = "crane"
input = { type = "object", required = ["to"], properties = { to = { type = "string" } } }
"#;

const DROP_CRATE: &str = r#"
name = "drop_crate"
effect = "destructive"
undo_window = "0s"
input = { type = "object", required = ["to"], properties = { to = { type = "string" } } }
"#;

/// Does what the input says, remembers what it was given, and waits when it is told to.
#[derive(Clone)]
struct Crane {
    jobs: Arc<Mutex<Vec<Job>>>,
    load: Arc<AtomicI64>,
    go: Arc<Semaphore>,
}

/// What the crane's own code throws.
enum Closed {
    ForGood,
    Oddly,
}

impl From<Closed> for Failure {
    fn from(closed: Closed) -> Self {
        let status = match closed {
            Closed::ForGood => 410,
            Closed::Oddly => 700,
        };
        Self::RefusedAs { status, message: "The dock is closed." }
    }
}

fn opened(dock: Option<Closed>) -> Result<(), Closed> {
    dock.map_or(Ok(()), Err)
}

#[async_trait]
impl Handler for Crane {
    async fn run(&self, job: Job) -> Result<Value, Failure> {
        let to = job.input["to"].as_str().unwrap_or_default().to_owned();
        self.jobs.lock().expect("lock").push(job);
        match to.as_str() {
            "no" => Err(Failure::Refused("Not there.")),
            "field" => Err(Failure::Invalid { field: "to", message: "There is no such place." }),
            "closed" => {
                opened(Some(Closed::ForGood))?;
                Ok(Value::Null)
            }
            "odd" => {
                opened(Some(Closed::Oddly))?;
                Ok(Value::Null)
            }
            "busy" => Err(Failure::NothingDone),
            "lost" => Err(Failure::InDoubt),
            "panic" => panic!("the crane fell over"),
            "slow" => {
                self.go.acquire().await.expect("open").forget();
                Ok(json!({ "at": "late" }))
            }
            _ => Ok(json!({ "at": to, "key": "s3cret" })),
        }
    }

    async fn dry_run(&self, job: &Job) -> Result<Option<Value>, Failure> {
        match job.input["to"].as_str() {
            Some("nowhere") => Err(Failure::Refused("There is no way.")),
            Some("fog") => panic!("it sees nothing"),
            _ => Ok(Some(json!({ "load": self.load.load(Ordering::SeqCst) }))),
        }
    }
}

/// The desk with a crane.
fn with_crane(desk: &Desk) -> Crane {
    let crane = Crane { jobs: Arc::default(), load: Arc::default(), go: Arc::new(Semaphore::new(0)) };
    let handlers = Handlers::new().handler("crane", crane.clone()).action(DROP_CRATE, crane.clone());
    desk.engine.replace_catalogue(Catalogue::parse_with(FILE, "desk", &handlers).expect("a catalogue"));
    crane
}

impl Crane {
    fn begun(&self) -> usize {
        self.jobs.lock().expect("lock").len()
    }

    fn last(&self) -> Job {
        self.jobs.lock().expect("lock").last().expect("a job").clone()
    }
}

async fn receipts(desk: &Desk) -> Vec<Receipt> {
    let olga = desk.visitor(&desk.olga).await;
    desk.engine
        .receipts(&olga, &ReceiptFilter::default(), &PageAsked::default())
        .await
        .expect("receipts")
        .items
}

async fn endings(desk: &Desk) -> Vec<EventType> {
    let olga = desk.visitor(&desk.olga).await;
    let events = desk.engine.events(&olga, &PageAsked::default()).await.expect("events");
    events.items.iter().rev().map(|event| event.r#type).collect()
}

async fn moved(desk: &Desk, to: &str, key: &str) -> Result<Answer, Refusal> {
    desk.engine.call(keyed(desk.quick("move_crate", json!({ "to": to })).await, key), None).await
}

on_both! {
    async fn a_write_is_run_once_with_a_receipt(desk: Desk) {
        let crane = with_crane(&desk);
        let Ok(Answer::Done(done)) = moved(&desk, "dock", "k").await else { panic!("not done") };
        assert_eq!((done.result, done.reply.as_deref()), (json!({ "at": "dock" }), Some("It stands at dock.")));
        let job = crane.last();
        assert_eq!(job.input, json!({ "to": "dock", "gently": true, "floor": 2 }));
        assert_eq!((job.caller.kind, job.caller.person.as_deref(), job.caller.agent.as_deref()), (CallerKind::Agent, Some("ann@desk.test"), Some("quick")));
        assert_eq!(job.idempotency_key.as_deref(), Some("k"));

        let receipts = receipts(&desk).await;
        let receipt = &receipts[0];
        assert_eq!((receipt.method.as_str(), receipt.url.as_str()), ("RUN", "handler:crane"));
        assert_eq!(receipt.body_size, r#"{"floor":2,"gently":true,"to":"dock"}"#.len() as u64);
        assert_eq!((receipt.upstream_status, receipt.outcome, Some(receipt.id)), (None, Outcome::Done, done.receipt_id));

        let Ok(Answer::Replayed(replayed)) = moved(&desk, "dock", "k").await else { panic!("not replayed") };
        assert_eq!((replayed.receipt_id, replayed.result), (done.receipt_id, Some(json!({ "at": "dock" }))));
        assert_eq!(crane.begun(), 1);
        assert_eq!(endings(&desk).await, [EventType::Completed, EventType::Replayed]);
    }
}

on_both! {
    async fn every_end_is_told_as_what_it_is(desk: Desk) {
        let crane = with_crane(&desk);
        let no = moved(&desk, "no", "a").await;
        assert_eq!(no, Err(Refusal::Refused { status: 409, message: Some("Not there.".to_owned()), upstream_status: None }));
        assert_eq!(moved(&desk, "field", "a").await, Err(Refusal::invalid("/to", "There is no such place.")), "a no frees the key");
        assert_eq!(moved(&desk, "busy", "a").await, Err(Refusal::UpstreamFailed(None)));
        for (to, key) in [("lost", "a"), ("panic", "b")] {
            let unknown = moved(&desk, to, key).await;
            assert!(matches!(unknown, Err(Refusal::OutcomeUnknown(_))), "{to}: {unknown:?}");
            assert_eq!(moved(&desk, to, key).await, unknown, "never run again");
        }
        assert_eq!(crane.begun(), 5);
        let outcomes: Vec<_> = receipts(&desk).await.iter().rev().map(|receipt| receipt.outcome).collect();
        assert_eq!(outcomes, [Outcome::Done, Outcome::Done, Outcome::InDoubt, Outcome::InDoubt], "none where nothing was done");
        let (no, doubt) = (EventType::Refused, EventType::InDoubt);
        assert_eq!(endings(&desk).await, [no, no, EventType::Failed, doubt, no, doubt, no]);
    }
}

on_both! {
    /// Seed: "otherwise status() sets the HTTP status, 409 by default", and an error "your domain already throws" is
    /// turned "into a refusal on every surface".
    async fn an_error_of_ones_own_is_the_same_refusal_everywhere(desk: Desk) {
        with_crane(&desk);
        let closed = |status| Err(Refusal::Refused { status, message: Some("The dock is closed.".to_owned()), upstream_status: None });
        for surface in [Surface::Api, Surface::Mcp, Surface::Form, Surface::Code] {
            for (to, status) in [("closed", 410), ("odd", 409)] {
                let arrival = Arrival { surface, ..desk.quick("move_crate", json!({ "to": to })).await };
                assert_eq!(desk.engine.call(arrival, None).await.map(|_| ()), closed(status), "{surface}: {to}");
            }
        }
        let queued = Arrival { surface: Surface::Queue, ..desk.quick("move_crate", json!({ "to": "closed" })).await };
        let Ok(Answer::Waiting(waiting)) = desk.engine.call(queued, Some(Duration::ZERO)).await else { panic!("not queued") };
        desk.engine.run_queue().await.expect("the queue runs");
        let actor = desk.actor(&desk.quick).await;
        let call = desk.engine.call_status(&actor, waiting.call_id, Some(Duration::from_secs(20))).await.expect("a status");
        assert_eq!((call.status, call.problem.expect("a problem").status), (CallStatus::Refused, 410));
    }
}

on_both! {
    async fn a_read_leaves_an_event_alone(desk: Desk) {
        with_crane(&desk);
        let desk = &desk;
        let look = |to: &'static str| async move { desk.engine.call(desk.careful("look", json!({ "to": to })).await, None).await };
        let seen = look("dock").await;
        assert!(matches!(&seen, Ok(Answer::Done(done)) if done.result["at"] == "dock" && done.receipt_id.is_none()), "{seen:?}");
        assert_eq!(look("panic").await, Err(Refusal::UpstreamFailed(None)), "a read is never in doubt");
        assert_eq!(look("slow").await, Err(Refusal::UpstreamFailed(None)), "nobody waits for ever");
        assert_eq!(endings(desk).await, [EventType::Completed, EventType::Failed, EventType::Failed]);
        assert!(receipts(desk).await.is_empty());
    }
}

on_both! {
    async fn what_was_shown_is_what_is_run(desk: Desk) {
        let crane = with_crane(&desk);
        let held = desk.engine.call(desk.careful("move_crate", json!({ "to": "dock" })).await, None).await;
        let Ok(Answer::Waiting(waiting)) = held else { panic!("not held: {held:?}") };
        let ann = desk.decider(&desk.ann).await;
        let shown = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list").items.remove(0).preview;
        assert_eq!((shown.title.as_str(), shown.fields[0].value.as_str()), ("Move to dock", "0"));
        assert_eq!((shown.request.method.as_str(), shown.request.path.as_str()), ("RUN", "crane"));
        let body: Value = serde_json::from_str(shown.request.body.as_deref().expect("a body")).expect("JSON");

        crane.load.store(7, Ordering::SeqCst);
        let changed = desk.engine.decide(&ann, waiting.call_id, confirm(&shown.version)).await;
        let Err(Refusal::PreviewChanged(Some(fresh))) = changed else { panic!("not changed: {changed:?}") };
        assert_eq!((fresh.fields[0].value.as_str(), crane.begun()), ("7", 0));
        desk.engine.decide(&ann, waiting.call_id, confirm(&fresh.version)).await.expect("confirmed");
        let actor = desk.actor(&desk.careful).await;
        let call = desk.engine.call_status(&actor, waiting.call_id, Some(Duration::from_secs(20))).await.expect("a status");
        assert_eq!((call.status, crane.begun()), (CallStatus::Done, 1));
        assert_eq!((&crane.last().input, crane.last().call), (&body, waiting.call_id));
        assert_eq!(receipts(&desk).await[0].approval.kind, ApprovalKind::Person);
    }
}

on_both! {
    async fn a_dry_run_that_says_no_holds_nothing(desk: Desk) {
        let crane = with_crane(&desk);
        let desk = &desk;
        let to = |to: &'static str| async move { desk.engine.call(desk.careful("move_crate", json!({ "to": to })).await, None).await };
        assert!(matches!(to("nowhere").await, Err(Refusal::Refused { .. })));
        assert_eq!(to("fog").await, Err(Refusal::UpstreamFailed(None)));
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM calls").await, 0);
        assert_eq!(crane.begun(), 0);
    }
}

on_both! {
    async fn what_takes_too_long_is_in_doubt_until_it_ends(desk: Desk) {
        let crane = with_crane(&desk);
        let Err(Refusal::OutcomeUnknown(call)) = moved(&desk, "slow", "k").await else { panic!("not in doubt") };
        crane.go.add_permits(1);
        assert!(desk.engine.drain(Duration::from_secs(20)).await, "the process waits for it");
        let actor = desk.actor(&desk.quick).await;
        let call = desk.engine.call_status(&actor, call, None).await.expect("a status");
        assert_eq!((call.status, call.result), (CallStatus::Done, Some(json!({ "at": "late" }))));
        assert_eq!(receipts(&desk).await[0].outcome, Outcome::Done);
        assert_eq!(crane.begun(), 1);
    }
}

on_both! {
    async fn code_calls_confirms_and_queues(desk: Desk) {
        let crane = with_crane(&desk);
        let drop = || Arrival::code("drop_crate", [("to", json!("sea"))]);
        let Ok(Answer::Preview(_)) = desk.engine.call(drop().dry_run(), None).await else { panic!("no preview") };
        let Ok(Answer::Prompt(prompt)) = desk.engine.call(drop(), None).await else { panic!("no prompt") };
        let Ok(Answer::Done(_)) = desk.engine.call(drop().confirmed(&prompt.confirm_token), None).await else { panic!("not done") };
        assert_eq!((crane.last().caller.kind, crane.last().caller.surface), (CallerKind::System, Surface::Code));
        let receipt = receipts(&desk).await.remove(0);
        assert_eq!((receipt.approval.kind, receipt.person_id, receipt.url.as_str()), (ApprovalKind::ConfirmToken, None, "handler:drop_crate"));

        let queued = desk.engine.call(Arrival::code("move_crate", [("to", json!("dock"))]).queued().keyed("k"), None).await;
        let Ok(Answer::Waiting(waiting)) = queued else { panic!("not queued: {queued:?}") };
        desk.engine.run_queue().await.expect("the queue runs");
        let call = desk.engine.call_status(&engine::Actor::System, waiting.call_id, Some(Duration::from_secs(20))).await.expect("a status");
        assert_eq!(call.status, CallStatus::Done, "{:?}", call.problem);
        assert_eq!(crane.last().caller.kind, CallerKind::System);

        let ann = desk.actor(&desk.careful).await;
        let held = desk.engine.call(Arrival::code("move_crate", [("to", json!("dock"))]).by(ann), None).await;
        assert!(matches!(held, Ok(Answer::Waiting(_))), "code that calls for an agent gets the agent's row: {held:?}");
    }
}

on_both! {
    async fn a_handler_that_is_gone_runs_nothing(desk: Desk) {
        let crane = with_crane(&desk);
        let held = desk.engine.call(desk.careful("move_crate", json!({ "to": "dock" })).await, None).await;
        let Ok(Answer::Waiting(waiting)) = held else { panic!("not held: {held:?}") };
        let ann = desk.decider(&desk.ann).await;
        let shown = desk.engine.approvals(&ann, &PageAsked::default()).await.expect("a list").items.remove(0).preview;
        let handlers = Handlers::new().handler("crane", crane.clone()).handler("hoist", crane.clone());
        let other = FILE.replacen("handler = \"crane\"", "handler = \"hoist\"", 1);
        desk.engine.replace_catalogue(Catalogue::parse_with(&other, "desk", &handlers).expect("a catalogue"));
        let changed = desk.engine.decide(&ann, waiting.call_id, confirm(&shown.version)).await;
        assert!(matches!(changed, Err(Refusal::PreviewChanged(_))), "{changed:?}");
        desk.engine.replace_catalogue(desk.catalogue());
        let gone = desk.engine.decide(&ann, waiting.call_id, confirm(&shown.version)).await;
        assert!(matches!(gone, Err(Refusal::PreviewChanged(_))), "{gone:?}");
        assert_eq!(crane.begun(), 0);
    }
}

#[test]
fn mistakes_of_handlers_are_told() {
    let crane = Crane { jobs: Arc::default(), load: Arc::default(), go: Arc::new(Semaphore::new(0)) };
    let told = |file: &str, handlers: &Handlers| match Catalogue::parse_with(file, "desk", handlers) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes.0.iter().map(ToString::to_string).collect::<Vec<_>>(),
    };
    let handlers = Handlers::new().handler("crane", crane.clone());
    let action = |rest: &str| format!("[[action]]\nname = \"x\"\neffect = \"write\"\n{rest}");
    assert_eq!(told(&action("handler = \"crane\""), &handlers), [""; 0]);
    assert_eq!(
        told(&action("handler = \"crane\""), &Handlers::new()),
        ["desk:4:11: this program has no handler “crane”; expected a “request”"]
    );
    assert_eq!(
        told(&action("handler = \"crene\""), &handlers),
        ["desk:4:11: this program has no handler “crene”; did you mean “crane”?"]
    );
    let both = told(
        &action("handler = \"crane\"\ncredential = \"c\"\nrequest = { url = \"https://a.example\" }"),
        &handlers,
    );
    assert!(both.len() == 2 && both.iter().all(|told| told.contains("this one has a handler")), "{both:?}");
    let twice = Handlers::new().action(DROP_CRATE, crane.clone()).action(DROP_CRATE, crane.clone());
    assert_eq!(
        told("", &twice),
        ["an action written in Rust:2:8: there are two of the action “drop_crate”; expected distinct names"]
    );
    let broken = Handlers::new().action("name = \"drop\"\nefect = \"write\"", crane);
    let told = told("", &broken);
    assert!(told.iter().any(|told| told.contains("did you mean “effect”?")), "{told:?}");
}

#[test]
fn the_example_says_what_happened() {
    // Cargo builds the examples beside the tests.
    let tests = std::env::current_exe().expect("a path");
    let example = tests.ancestors().nth(2).expect("a folder").join("examples/restart_service");
    let ran = std::process::Command::new(example).output().expect("the example runs");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{err}");
    for line in [
        "asked back:  Restart mail",
        "done:        mail was restarted.",
        "same receipt: true",
        "at night only.",
    ] {
        assert!(out.contains(line), "{line:?} is missing in\n{out}");
    }
}
