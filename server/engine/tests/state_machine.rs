//! Random lives of calls on two processes, with people, a service that misbehaves, and time that goes on: after every step
//! the real engine over the real database is compared with the machine in `reference/`.
//!
//! The cases are the same at every run; `PROPTEST_CASES=1000` tries that many others.

mod desk;
mod reference;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use desk::{Behaviour, Database, Desk, confirm, decline, keyed};
use engine::{Actor, Arrival, Engine, PageAsked, PersonActor, ReceiptFilter};
use model::answer::WaitingStatus;
use model::{Answer, Call, CallId, Event, Finding, PersonId, Receipt, Refusal, Settlement, Surface};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use reference::{
    CallSeen, KINDS, Kind, LEASE, Later, Node, PASSES, PEOPLE, Person, RETENTION_DAYS, ReceiptSeen, Rows,
    Seen, Sent, Service, State, Step, Told,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// The desk that the contract describes.
struct Contract;

impl ReferenceStateMachine for Contract {
    type State = reference::Desk;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<reference::Desk> {
        Just(reference::Desk::default()).boxed()
    }

    fn transitions(desk: &reference::Desk) -> BoxedStrategy<Step> {
        let text = prop_oneof![5 => Just(0_u8), 1 => Just(1)];
        let key = prop_oneof![1 => Just(None), 5 => (0..3_u8).prop_map(Some)];
        let call = (node(), select(&KINDS[..]), text, key, service())
            .prop_map(|(node, kind, text, key, service)| Step::Call { node, kind, text, key, service });
        let job = (node(), service(), 0..5).prop_map(|(node, service, which)| match which {
            0 => Step::SendDue { node, service },
            1 => Step::RunQueue { node, service },
            2 => Step::Expire { node },
            3 => Step::Recover { node },
            _ => Step::Erase { node },
        });
        let time = prop_oneof![
            4 => select(&PASSES[..2]).prop_map(Step::Pass),
            3 => select(&PASSES[2..]).prop_map(Step::Pass),
            5 => Just(Step::Change),
            1 => Just(Step::Revoke),
        ];
        if desk.count() == 0 {
            return call.boxed();
        }
        let desk = desk.clone();
        let any = prop_oneof![8 => call, 9 => deciding(desk.clone()), 6 => job, 4 => time];
        match desk.open() {
            Some((open, state)) => prop_oneof![2 => any, 3 => while_open(open, state)].boxed(),
            None if desk.has_old() => {
                prop_oneof![2 => any, 1 => node().prop_map(|node| Step::Erase { node })].boxed()
            }
            None => any.boxed(),
        }
        .prop_filter("it can be taken", move |step| desk.allows(step))
        .boxed()
    }

    fn apply(desk: reference::Desk, step: &Step) -> reference::Desk {
        desk.after(step)
    }

    fn preconditions(desk: &reference::Desk, step: &Step) -> bool {
        desk.allows(step)
    }
}

fn node() -> impl Strategy<Value = Node> {
    0..2_usize
}

fn service() -> impl Strategy<Value = Service> {
    let later = select(vec![Later::Does, Later::Refuses, Later::Fails, Later::Cuts]);
    prop_oneof![
        4 => Just(Service::Does),
        1 => Just(Service::Refuses),
        1 => Just(Service::Fails),
        2 => Just(Service::Cuts),
        6 => later.prop_map(Service::Waits),
    ]
}

/// What matters while the connection of a call is open: its lease runs out, it is given up, a person settles it, and then
/// its answer comes.
fn while_open(call: usize, state: State) -> impl Strategy<Value = Step> {
    let settle = (node(), any::<bool>()).prop_map(move |(node, happened)| Step::Settle {
        node,
        call,
        person: Person::Olga,
        happened,
    });
    let lapse = (node(), any::<bool>())
        .prop_map(|(node, passes)| if passes { Step::Pass(PASSES[1]) } else { Step::Recover { node } });
    let next = match state {
        State::Sending => lapse.boxed(),
        State::InDoubt => settle.boxed(),
        _ => Just(Step::Answer).boxed(),
    };
    prop_oneof![4 => next, 1 => Just(Step::Answer)]
}

/// What a person does with a call: mostly with one about which something can be done, and mostly somebody who may.
fn deciding(desk: reference::Desk) -> impl Strategy<Value = Step> {
    let every = 0..desk.count();
    let live = desk.live();
    let call =
        if live.is_empty() { every.boxed() } else { prop_oneof![5 => select(live), 1 => every].boxed() };
    (call, node(), service(), 0..13, any::<bool>(), select(&PEOPLE[..])).prop_map(
        move |(call, node, service, what, flag, anybody)| {
            let person = match desk.kind(call) {
                _ if what == 11 => anybody,
                Kind::Quorum if flag => Person::Max,
                Kind::Quorum => Person::Olga,
                _ => Person::Ann,
            };
            match what {
                0..4 if desk.is_approved(call) => Step::Undo { node, call, person },
                0..5 | 11 => Step::Confirm { node, call, person, service },
                5 => Step::Decline { node, call, person },
                6 | 12 => Step::Undo { node, call, person },
                7 => Step::Withdraw { node, call },
                _ => Step::Settle {
                    node,
                    call,
                    person: if what == 8 { Person::Olga } else { person },
                    happened: flag,
                },
            }
        },
    )
}

/// Which database the desk has.
trait Kept: 'static {
    fn database() -> impl Future<Output = Option<Database>>;
}

struct Sqlite;
struct Postgres;

impl Kept for Sqlite {
    async fn database() -> Option<Database> {
        Some(desk::sqlite())
    }
}

impl Kept for Postgres {
    async fn database() -> Option<Database> {
        desk::postgres().await
    }
}

/// The desk that was built.
struct Built<K>(PhantomData<K>);

struct System {
    runtime: Runtime,
    /// `None` at the end alone: the desk goes first.
    world: Option<World>,
}

struct World {
    desk: Desk,
    nodes: [Engine; 2],
    people: [(Person, PersonId, PersonActor); 3],
    /// The calls, in the machine's order.
    ids: Vec<CallId>,
    /// The newest preview of each, as far as it was read.
    versions: HashMap<CallId, String>,
    /// A caller that has no answer yet.
    caller: Option<(usize, JoinHandle<Result<Answer, Refusal>>)>,
}

impl<K: Kept> StateMachineTest for Built<K> {
    type SystemUnderTest = System;
    type Reference = Contract;

    fn init_test(_: &reference::Desk) -> System {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let world = runtime.block_on(async { World::on(K::database().await.expect("a database")).await });
        System { runtime, world: Some(world) }
    }

    fn apply(mut system: System, expected: &reference::Desk, step: Step) -> System {
        let world = system.world.as_mut().expect("it has begun");
        system.runtime.block_on(world.take(&step, expected));
        system
    }

    fn check_invariants(system: &System, expected: &reference::Desk) {
        let world = system.world.as_ref().expect("it has begun");
        system.runtime.block_on(world.compare(expected));
    }

    fn teardown(mut system: System, expected: reference::Desk) {
        let world = system.world.take().expect("it has begun");
        system.runtime.block_on(async {
            if !expected.has_open() {
                for node in &world.nodes {
                    assert!(node.drain(Duration::from_secs(20)).await, "everything ends");
                }
                world.compare(&expected).await;
            }
            for node in &world.nodes {
                node.close().await;
            }
        });
        drop(world);
    }
}

impl World {
    async fn on(database: Database) -> Self {
        let desk = Desk::on(database).await;
        let nodes = [desk.engine.clone(), desk.second_node().await];
        for node in &nodes {
            let mut catalogue = desk.catalogue();
            catalogue.server.lease = Duration::from_secs(LEASE.unsigned_abs());
            catalogue.server.receipt_retention_days = RETENTION_DAYS;
            node.replace_catalogue(catalogue);
        }
        let people = [
            (Person::Ann, desk.ann.id, desk.visitor(&desk.ann).await),
            (Person::Max, desk.max.id, desk.visitor(&desk.max).await),
            (Person::Olga, desk.olga.id, desk.visitor(&desk.olga).await),
        ];
        Self { desk, nodes, people, ids: Vec::new(), versions: HashMap::new(), caller: None }
    }

    fn visitor(&self, person: Person) -> &PersonActor {
        &self.people.iter().find(|(who, ..)| *who == person).expect("one of three").2
    }

    fn behave(&self, service: Service) {
        let answer = |status| Behaviour::Answer(status, r#"{"id":"m1"}"#.to_owned());
        self.desk.upstream.behave(match service {
            Service::Does => answer(200),
            Service::Refuses => answer(404),
            Service::Fails => answer(500),
            Service::Cuts => Behaviour::Cut,
            Service::Waits(Later::Does) => Behaviour::Wait,
            Service::Waits(Later::Refuses) => Behaviour::WaitThen(404),
            Service::Waits(Later::Fails) => Behaviour::WaitThen(500),
            Service::Waits(Later::Cuts) => Behaviour::WaitThenCut,
        });
    }

    async fn take(&mut self, step: &Step, expected: &reference::Desk) {
        let told = match *step {
            Step::Call { node, kind, text, key, service } => {
                self.behave(service);
                let arrival = self.arrival(kind, text, key).await;
                self.call(node, arrival, expected).await
            }
            Step::Confirm { node, call, person, service } => {
                self.behave(service);
                let decision = confirm(&self.version(call).await);
                let decider = self.visitor(person).decider().expect("a live session decides");
                let told = Self::stands(self.nodes[node].decide(&decider, self.ids[call], decision).await);
                // A decision does not wait for the send, but the service may be quick.
                let is_sent = ["sending", "done", "refused", "failed", "in_doubt"].contains(&told.word);
                if is_sent { Told { word: "sent", ..told } } else { told }
            }
            Step::Decline { node, call, person } => {
                let decider = self.visitor(person).decider().expect("a live session decides");
                Self::stands(self.nodes[node].decide(&decider, self.ids[call], decline("No.")).await)
            }
            Step::Undo { node, call, person } => {
                let decider = self.visitor(person).decider().expect("a live session decides");
                Self::stands(self.nodes[node].undo(&decider, self.ids[call]).await)
            }
            Step::Withdraw { node, call } => {
                let ann = Actor::Person(self.visitor(Person::Ann).clone());
                Self::stands(self.nodes[node].withdraw(&ann, self.ids[call]).await)
            }
            Step::Settle { node, call, person, happened } => {
                let outcome = if happened { Finding::Happened } else { Finding::DidNotHappen };
                let settlement = Settlement { outcome, reason: None };
                Self::stands(self.nodes[node].settle(self.visitor(person), self.ids[call], settlement).await)
            }
            _ => {
                self.job(step, expected).await;
                Told::default()
            }
        };
        assert_eq!(told, expected.told, "the answer to {step:?}");
        // A call that waits for the service has a row before its caller has an answer.
        self.find_fresh(expected.count()).await;
    }

    async fn job(&mut self, step: &Step, expected: &reference::Desk) {
        match *step {
            Step::Revoke => assert_eq!(self.desk.engine.revoke_agent("careful").await, Ok(true)),
            Step::Change => self.desk.upstream.set_quota(i64::from(expected.quota())),
            Step::Pass(seconds) => self.desk.pass(seconds),
            Step::SendDue { node, service } => {
                self.behave(service);
                self.nodes[node].send_due_calls().await.expect("the job runs");
            }
            Step::RunQueue { node, service } => {
                self.behave(service);
                self.nodes[node].run_queue().await.expect("the job runs");
            }
            Step::Expire { node } => self.nodes[node].expire_calls().await.expect("the job runs"),
            Step::Recover { node } => self.nodes[node].recover_sends().await.expect("the job runs"),
            Step::Erase { node } => self.nodes[node].erase().await.expect("the job runs"),
            Step::Answer => {
                self.desk.upstream.release();
                if let Some((call, word)) = expected.late {
                    let (asked, answer) = self.caller.take().expect("somebody waits");
                    let answer = answer.await.expect("no panic");
                    assert_eq!(
                        (asked, self.told(&answer).word),
                        (call, word),
                        "the answer that was waited for"
                    );
                }
            }
            _ => unreachable!("it has an answer"),
        }
    }

    async fn arrival(&self, kind: Kind, text: u8, key: Option<u8>) -> Arrival {
        let text = reference::text(text);
        let input = match kind.action() {
            "note" => json!({ "text": text }),
            "two_people" => json!({ "target": text }),
            "send_mail" => json!({ "to": text, "body": "b" }),
            _ => json!({ "to": text }),
        };
        let token = if kind.is_quick() { &self.desk.quick } else { &self.desk.careful };
        let mut arrival = desk::arrival(self.desk.actor(token).await, kind.action(), input);
        if kind.is_queued() {
            arrival.surface = Surface::Queue;
        }
        match key {
            Some(key) => keyed(arrival, &reference::key(key)),
            None => arrival,
        }
    }

    async fn call(&mut self, node: Node, arrival: Arrival, expected: &reference::Desk) -> Told {
        let engine = self.nodes[node].clone();
        if expected.told.word == "waits" {
            let call = tokio::spawn(async move { engine.call(arrival, None).await });
            self.caller = Some((expected.count() - 1, call));
            return Told { word: "waits", ..Told::default() };
        }
        let answer = engine.call(arrival, None).await;
        self.find_fresh(expected.count()).await;
        self.told(&answer)
    }

    fn told(&self, answer: &Result<Answer, Refusal>) -> Told {
        let named = |id: CallId| self.ids.iter().position(|known| *known == id);
        let plain = |word| Told { word, ..Told::default() };
        match answer {
            Ok(Answer::Done(_)) => plain("done"),
            Ok(Answer::Waiting(waiting)) => {
                let word = if waiting.status == WaitingStatus::Held { "held" } else { "queued" };
                Told { names: named(waiting.call_id), ..plain(word) }
            }
            Ok(Answer::Replayed(replay)) => {
                Told { replay: Some((replay.original_status, replay.result.is_some())), ..plain("replayed") }
            }
            Ok(other) => panic!("an answer that no call has here: {other:?}"),
            Err(refusal) => {
                let first = match refusal {
                    Refusal::IdempotencyInFlight(id) | Refusal::OutcomeUnknown(id) => named(*id),
                    _ => None,
                };
                Told { names: first, ..plain(refusal.problem().code.as_str()) }
            }
        }
    }

    fn stands(answer: Result<Call, Refusal>) -> Told {
        let word = match answer {
            Ok(call) => call.status.as_str(),
            Err(refusal) => refusal.problem().code.as_str(),
        };
        Told { word, ..Told::default() }
    }

    /// The version of the preview as it stands; of a call that has ended, the last one.
    async fn version(&mut self, call: usize) -> String {
        let id = self.ids[call];
        let item = self.desk.engine.item(self.visitor(Person::Ann), id).await.expect("storage");
        if let Some(preview) = item.and_then(|item| item.preview) {
            self.versions.insert(id, preview.version);
        }
        self.versions.get(&id).cloned().unwrap_or_else(|| "none".to_owned())
    }
}

/// How long what was begun may take to be there.
const LOOKS: u32 = 3_000;
const PAUSE: Duration = Duration::from_millis(3);

fn all() -> PageAsked {
    PageAsked { limit: Some(500), cursor: None }
}

impl World {
    /// Waits until as many calls have a row, and remembers the fresh ones.
    async fn find_fresh(&mut self, count: usize) {
        for _ in 0..LOOKS {
            let calls = self.calls().await;
            if calls.len() >= count {
                let fresh = calls.iter().rev().map(|call| call.id).filter(|id| !self.ids.contains(id));
                let fresh = fresh.collect::<Vec<_>>();
                self.ids.extend(fresh);
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        assert_eq!(self.ids.len(), count, "calls that have a row");
    }

    /// Newest first.
    async fn calls(&self) -> Vec<Call> {
        let page = self.desk.engine.calls(self.visitor(Person::Ann), &all()).await.expect("a list");
        page.items.into_iter().map(|item| item.call).collect()
    }

    /// Sends go on by themselves: what they lead to has to be there soon, and to be exactly that.
    async fn compare(&self, expected: &reference::Desk) {
        let expected = expected.seen();
        for _ in 0..LOOKS {
            if self.seen().await == expected {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        assert_eq!(self.seen().await, expected);
    }

    async fn seen(&self) -> Seen {
        let olga = self.visitor(Person::Olga);
        let engine = &self.desk.engine;
        let calls = self.calls().await;
        let receipts =
            engine.receipts(olga, &ReceiptFilter::default(), &all()).await.expect("receipts").items;
        let mut events = engine.events(olga, &all()).await.expect("events").items;
        events.reverse();
        let mut counted = BTreeMap::new();
        for event in &events {
            *counted.entry(event.r#type.as_str()).or_default() += 1;
        }
        Seen {
            calls: self
                .ids
                .iter()
                .filter_map(|id| calls.iter().find(|call| call.id == *id))
                .map(|call| self.call_seen(call, &receipts, &events))
                .collect(),
            events: counted,
            sent: self.sent(),
            asked: self.asked().await,
            rows: self.rows(receipts.len()).await,
        }
    }

    fn call_seen(&self, call: &Call, receipts: &[Receipt], events: &[Event]) -> CallSeen {
        let receipt = receipts.iter().find(|receipt| Some(receipt.id) == call.receipt_id);
        let person = |id| self.people.iter().find(|(_, known, _)| *known == id).expect("one of three").0;
        CallSeen {
            state: call.status.as_str(),
            attempts: call.attempts.len(),
            has_result: call.result.is_some(),
            receipt: receipt.map(|receipt| ReceiptSeen {
                outcome: receipt.outcome.as_str(),
                upstream_status: receipt.upstream_status,
                approved_by: receipt.approval.by.iter().map(|id| person(*id)).collect(),
            }),
            events: events
                .iter()
                .filter(|event| event.call_id == call.id)
                .map(|event| event.r#type.as_str())
                .collect(),
        }
    }

    /// What the service got, sorted.
    fn sent(&self) -> Vec<Sent> {
        let writes = self.desk.upstream.writes();
        let mut sent: Vec<_> = writes
            .iter()
            .map(|write| {
                let (method, path) = write.line.split_once(' ').expect("a request line");
                let body: Value = serde_json::from_str(&write.body).unwrap_or_default();
                let text = body["text"].as_str().or(body["to"].as_str()).or(path.strip_prefix("/things/"));
                let head = write.head.to_lowercase();
                let key = head.lines().find_map(|line| line.strip_prefix("idempotency-key: "));
                Sent {
                    method: method.to_owned(),
                    text: text.expect("what was asked for").to_owned(),
                    key: key.map(str::to_owned),
                }
            })
            .collect();
        sent.sort();
        sent
    }

    async fn asked(&self) -> Vec<(Person, Vec<usize>, Vec<usize>)> {
        let numbers = |ids: Vec<CallId>| {
            let at = |id: CallId| self.ids.iter().position(|known| *known == id).expect("a known call");
            let mut numbers: Vec<_> = ids.into_iter().map(at).collect();
            numbers.sort_unstable();
            numbers
        };
        let mut asked = Vec::new();
        for (person, _, visitor) in &self.people {
            let decider = visitor.decider().expect("a live session decides");
            let held = self.desk.engine.approvals(&decider, &all()).await.expect("a list").items;
            let in_doubt = self.desk.engine.in_doubt(visitor).await.expect("a list");
            asked.push((
                *person,
                numbers(held.iter().map(|held| held.call.id).collect()),
                numbers(in_doubt.iter().map(|item| item.call.id).collect()),
            ));
        }
        asked
    }

    async fn rows(&self, receipts: usize) -> Rows {
        let counts = self
            .desk
            .database
            .texts(
                "SELECT CAST(COUNT(*) AS TEXT) FROM claims \
                 UNION ALL SELECT CAST(COUNT(*) AS TEXT) FROM claims WHERE answer IS NOT NULL \
                 UNION ALL SELECT CAST(COUNT(*) AS TEXT) FROM claims WHERE forgotten_at IS NOT NULL \
                 UNION ALL SELECT CAST(COUNT(*) AS TEXT) FROM calls WHERE input IS NOT NULL",
            )
            .await;
        let [claims, answers, forgotten, inputs] =
            counts.iter().map(|count| count.parse().expect("a number")).collect::<Vec<_>>()[..]
        else {
            panic!("four numbers: {counts:?}")
        };
        Rows { claims, answers, forgotten, inputs, receipts }
    }
}

const SEED: u8 = 20;

fn config(cases: u32) -> Config {
    // Each step of a shrinking that fails again waits for what does not come.
    Config { cases, failure_persistence: None, max_shrink_time: 60_000, ..Config::default() }
}

/// The cases of every run.
fn fixed(cases: u32) -> TestRunner {
    TestRunner::new_with_rng(config(cases), TestRng::from_seed(RngAlgorithm::ChaCha, &[SEED; 32]))
}

fn lives() -> impl Strategy<Value = (reference::Desk, Vec<Step>, Option<Arc<AtomicUsize>>)> {
    Contract::sequential_strategy(25..45)
}

fn run<K: Kept>(cases: u32) {
    let wished = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let mut runner = wished.map_or_else(|| fixed(cases), |cases| TestRunner::new(config(cases)));
    let config = runner.config().clone();
    let checked = runner.run(&lives(), |(first, steps, seen)| {
        Built::<K>::test_sequential(config.clone(), first, steps, seen);
        Ok(())
    });
    if let Err(error) = checked {
        panic!("{error}");
    }
}

const ON_SQLITE: u32 = 40;
const ON_POSTGRES: u32 = 5;

#[test]
fn calls_live_as_the_contract_says_on_sqlite() {
    run::<Sqlite>(ON_SQLITE);
}

#[test]
fn calls_live_as_the_contract_says_on_postgres() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    if runtime.block_on(desk::postgres()).is_some() {
        run::<Postgres>(ON_POSTGRES);
    }
}

/// What the cases of every run come across: each kind of answer to each kind of step, and every late answer. Without it,
/// a machine that never gets anywhere would pass.
#[test]
fn the_lives_come_across_everything() {
    let (mut came_across, mut late) = (BTreeSet::new(), BTreeSet::new());
    let mut runner = fixed(ON_SQLITE);
    for _ in 0..ON_SQLITE {
        let (mut desk, steps, _) = lives().new_tree(&mut runner).expect("a life").current();
        for step in &steps {
            let (what, before) = what_it_is(step, &desk);
            desk = desk.after(step);
            came_across.insert((what, before, desk.told.word));
            for call in desk.seen().calls {
                let ends = call.events.iter().filter(|event| event.starts_with("action.")).count();
                assert!(ends <= 1, "{:?}", call.events);
                if matches!(step, Step::Answer) && call.events.last() == Some(&"call.settled") {
                    late.insert(call.state);
                }
            }
        }
    }
    let missing: Vec<_> = MET.iter().filter(|met| !came_across.contains(*met)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(late.len(), 3, "{late:?}");
}

/// The step's name, and where its call stood.
fn what_it_is(step: &Step, desk: &reference::Desk) -> (&'static str, &'static str) {
    let stood = |call: usize| desk.seen().calls[call].state;
    match *step {
        Step::Call { .. } => ("call", ""),
        Step::Confirm { call, .. } => ("confirm", stood(call)),
        Step::Decline { call, .. } => ("decline", stood(call)),
        Step::Undo { call, .. } => ("undo", stood(call)),
        Step::Withdraw { call, .. } => ("withdraw", stood(call)),
        Step::Settle { call, .. } => ("settle", stood(call)),
        _ => ("job", ""),
    }
}

const MET: &[(&str, &str, &str)] = &[
    ("call", "", "done"),
    ("call", "", "held"),
    ("call", "", "idempotency_in_flight"),
    ("call", "", "idempotency_key_forgotten"),
    ("call", "", "idempotency_key_reused"),
    ("call", "", "invalid"),
    ("call", "", "outcome_unknown"),
    ("call", "", "queued"),
    ("call", "", "replayed"),
    ("call", "", "upstream_failed"),
    ("call", "", "waits"),
    ("confirm", "approved", "already_decided"),
    ("confirm", "done", "already_decided"),
    ("confirm", "held", "already_decided"),
    ("confirm", "held", "approved"),
    ("confirm", "held", "expired"),
    ("confirm", "held", "held"),
    ("confirm", "held", "not_found"),
    ("confirm", "held", "preview_changed"),
    ("confirm", "held", "queued"),
    ("confirm", "held", "sent"),
    ("confirm", "withdrawn", "withdrawn"),
    ("decline", "held", "declined"),
    ("settle", "done", "already_decided"),
    ("settle", "in_doubt", "done"),
    ("settle", "in_doubt", "failed"),
    ("settle", "in_doubt", "unavailable"),
    ("undo", "approved", "held"),
    ("undo", "approved", "not_held"),
    ("undo", "held", "held"),
    ("undo", "held", "not_held"),
    ("withdraw", "approved", "not_held"),
    ("withdraw", "held", "not_held"),
    ("withdraw", "held", "withdrawn"),
];
