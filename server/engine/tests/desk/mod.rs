//! A desk for tests: the real engine over a real database, in front of a real upstream on loopback.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "every test file uses its own part")]

mod authenticator;
mod database;
mod mcp_server;
mod upstream;

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engine::ambient::{Ambient, Clock, SystemClock, SystemEntropy};
use engine::catalogue::Catalogue;
use engine::registry::{AgentWanted, PersonWanted};
use engine::seal::Sealer;
use engine::{Actor, Arrival, Decider, Engine, OpenOptions, PageAsked, PersonActor, ReceiptFilter};
use model::{
    Ability, Answer, CallId, Decision, EventType, Person, Preview, Receipt, Refusal, Role, Surface, Time,
    Verdict,
};
use serde_json::{Map, Value};

pub use self::authenticator::{Claims, SoftKey};
pub use self::database::{Database, postgres, sqlite};
pub use self::mcp_server::{Ending, McpServer, Speaks};
pub use self::upstream::{Behaviour, Upstream};

/// A clock that a test can move on.
#[derive(Clone)]
pub struct MovableClock(Arc<AtomicI64>, Arc<Mutex<Option<Leap>>>);

/// Asked at every reading: by how many seconds time goes on now. After the first leap it is asked no more.
pub type Leap = Box<dyn FnMut() -> Option<i64> + Send>;

impl Clock for MovableClock {
    fn now(&self) -> Time {
        let mut leap = self.1.lock().expect("lock");
        if let Some(seconds) = leap.as_mut().and_then(|leap| leap()) {
            self.0.fetch_add(seconds * 1_000, Ordering::SeqCst);
            *leap = None;
        }
        SystemClock.now().plus_millis(self.0.load(Ordering::SeqCst))
    }
}

/// A desk with one upstream, three people and two agents.
pub struct Desk {
    pub engine: Engine,
    pub upstream: Upstream,
    pub database: Database,
    pub sealing_key: String,
    clock: MovableClock,
    /// Member, owns both agents.
    pub ann: Person,
    /// Approver.
    pub max: Person,
    /// Operator.
    pub olga: Person,
    /// Its writes go to the queue.
    pub careful: String,
    /// Its plain writes pass.
    pub quick: String,
}

const CATALOGUE: &str = include_str!("catalogue.toml");

impl Desk {
    pub async fn on(database: Database) -> Self {
        let upstream = Upstream::start().await;
        let sealing_key = Sealer::generate(&Ambient::system());
        let clock = MovableClock(Arc::new(AtomicI64::new(0)), Arc::default());
        let engine = open(database.clone(), upstream.address(), sealing_key.clone(), clock.clone()).await;
        let ann = person(&engine, "ann@desk.test", "Ann", vec![]).await;
        let max = person(&engine, "max@desk.test", "Max", vec![Role::Approver]).await;
        let olga = person(&engine, "olga@desk.test", "Olga", vec![Role::Operator]).await;
        let careful = agent(&engine, "careful", true).await;
        let quick = agent(&engine, "quick", false).await;
        Self { engine, upstream, database, sealing_key, clock, ann, max, olga, careful, quick }
    }

    /// Another process on the same database, with the same keys and upstream.
    pub async fn second_node(&self) -> Engine {
        self.node().await
    }

    /// The opening of such a process, to be awaited wherever it is to live.
    pub fn node(&self) -> impl Future<Output = Engine> + Send + 'static {
        open(self.database.clone(), self.upstream.address(), self.sealing_key.clone(), self.clock.clone())
    }

    /// The catalogue as it was at the start.
    pub fn catalogue(&self) -> Catalogue {
        catalogue(&self.upstream.address())
    }

    /// Lets time leap as soon as this says so, at whatever moment the desk looks at its clock then.
    pub fn leap_when(&self, leap: Leap) {
        *self.clock.1.lock().expect("lock") = Some(leap);
    }

    /// Reloads the catalogue with more at its end.
    pub fn reload_with(&self, more: &str) {
        self.reload("", more);
    }

    /// Reloads the catalogue with these lines in its `[server]` and this at its end.
    pub fn reload(&self, settings: &str, more: &str) {
        let text = CATALOGUE.replacen("lease = \"30s\"", &format!("lease = \"30s\"\n{settings}"), 1);
        let text = format!("{text}\n{more}").replace("UPSTREAM", &self.upstream.address());
        self.engine.replace_catalogue(parsed(&text));
    }

    /// Lets time go on.
    pub fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    pub async fn actor(&self, token: &str) -> Actor {
        self.engine.authenticate(token).await.expect("a known token")
    }

    pub async fn visitor(&self, person: &Person) -> PersonActor {
        self.engine.visitor(person.id).await.expect("storage").expect("an account")
    }

    pub async fn decider(&self, person: &Person) -> Decider {
        self.visitor(person).await.decider().expect("a live session decides")
    }

    /// A call of the careful agent.
    pub async fn careful(&self, action: &str, input: Value) -> Arrival {
        arrival(self.actor(&self.careful).await, action, input)
    }

    /// A call of the quick agent.
    pub async fn quick(&self, action: &str, input: Value) -> Arrival {
        arrival(self.actor(&self.quick).await, action, input)
    }

    /// The call was held: its id. Anything else is a fault.
    pub async fn held(&self, arrival: Arrival) -> CallId {
        match self.engine.call(arrival, None).await {
            Ok(Answer::Waiting(waiting)) => waiting.call_id,
            other => panic!("not held: {other:?}"),
        }
    }

    /// The preview of a held call, as this person is shown it.
    pub async fn preview(&self, person: &Person, id: CallId) -> Preview {
        let item = self.engine.item(&self.visitor(person).await, id).await.expect("storage");
        item.and_then(|item| item.preview).expect("a preview")
    }

    /// This person confirms the preview as it stands.
    pub async fn confirms(&self, person: &Person, id: CallId) -> Result<model::Call, Refusal> {
        let version = self.preview(person, id).await.version;
        self.engine.decide(&self.decider(person).await, id, confirm(&version)).await
    }

    /// How a call of Ann's agents stands once it has ended, or after a while.
    pub async fn ended(&self, id: CallId) -> model::Call {
        self.ended_for(&self.ann, id).await
    }

    /// How a call stands for this person once it has ended, or after a while.
    pub async fn ended_for(&self, person: &Person, id: CallId) -> model::Call {
        let actor = Actor::Person(self.visitor(person).await);
        self.engine.call_status(&actor, id, Some(Duration::from_secs(20))).await.expect("a status")
    }

    /// How a call stands for this person now.
    pub async fn stands_at(&self, person: &Person, id: CallId) -> model::CallStatus {
        let actor = Actor::Person(self.visitor(person).await);
        self.engine.call_status(&actor, id, None).await.expect("a status").status
    }

    /// Every receipt, newest first.
    pub async fn receipts(&self) -> Vec<Receipt> {
        let olga = self.visitor(&self.olga).await;
        let page = self.engine.receipts(&olga, &ReceiptFilter::default(), &PageAsked::default()).await;
        page.expect("receipts").items
    }

    /// The types of a call's events, in their order.
    pub async fn events_of(&self, id: CallId) -> Vec<EventType> {
        let olga = self.visitor(&self.olga).await;
        let page = self.engine.events(&olga, &PageAsked { limit: Some(500), cursor: None }).await;
        let events = page.expect("events").items;
        events.iter().rev().filter(|event| event.call_id == id).map(|event| event.r#type).collect()
    }

    /// A further agent of Ann's, with a toolset or a session of its own: its key.
    pub async fn agent_with(
        &self,
        name: &str,
        toolset: Option<Vec<String>>,
        session: Option<String>,
    ) -> String {
        let wanted = AgentWanted {
            name: name.to_owned(),
            owner: "ann@desk.test".to_owned(),
            requires_approval: false,
            abilities: Ability::AGENT_DEFAULT.to_vec(),
            toolset,
            session,
        };
        self.engine.add_agent(wanted).await.expect("an agent").1.reveal().to_owned()
    }

    /// Everything that stands in the database file, log included. SQLite alone.
    pub fn file_bytes(&self) -> Option<Vec<u8>> {
        let path = self.database.file()?;
        let mut bytes = Vec::new();
        for suffix in ["", "-wal", "-shm"] {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            bytes.extend(std::fs::read(PathBuf::from(name)).unwrap_or_default());
        }
        Some(bytes)
    }
}

/// Another process on the same database, with these sealing keys.
pub async fn with_keys(desk: &Desk, keys: &str) -> Engine {
    open(desk.database.clone(), desk.upstream.address(), keys.to_owned(), desk.clock.clone()).await
}

pub fn arrival(actor: Actor, action: &str, input: Value) -> Arrival {
    let Value::Object(input) = input else { panic!("input is an object") };
    Arrival {
        actor,
        surface: Surface::Api,
        action: action.to_owned(),
        input,
        key_header: Vec::new(),
        session: None,
        tenant: None,
        reason: None,
    }
}

/// The same call with an idempotency key.
pub fn keyed(mut arrival: Arrival, key: &str) -> Arrival {
    arrival.key_header = vec![key.to_owned()];
    arrival
}

pub fn with(mut arrival: Arrival, field: &str, value: Value) -> Arrival {
    let mut input: Map<String, Value> = arrival.input;
    input.insert(field.to_owned(), value);
    arrival.input = input;
    arrival
}

pub fn confirm(version: &str) -> Decision {
    Decision { decision: Verdict::Confirm, preview_version: Some(version.to_owned()), reason: None }
}

pub fn decline(reason: &str) -> Decision {
    Decision { decision: Verdict::Decline, preview_version: None, reason: Some(reason.to_owned()) }
}

fn catalogue(upstream: &str) -> Catalogue {
    parsed(&CATALOGUE.replace("UPSTREAM", upstream))
}

pub fn parsed(text: &str) -> Catalogue {
    Catalogue::parse(text, "catalogue.toml").unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

async fn open(database: Database, upstream: String, key: String, clock: MovableClock) -> Engine {
    let catalogue = catalogue(&upstream);
    let ambient = Ambient::new(clock.clone(), SystemEntropy);
    Engine::open(OpenOptions {
        catalogue,
        database_url: database.url(),
        base: PathBuf::from("/"),
        sealer: Sealer::parse(&key, ambient.clone()).expect("a key"),
        ambient,
        roots: None,
    })
    .await
    .expect("the engine opens")
}

async fn person(engine: &Engine, email: &str, name: &str, roles: Vec<Role>) -> Person {
    let wanted = PersonWanted { email: email.to_owned(), name: name.to_owned(), roles, password: None };
    engine.add_person(wanted).await.expect("a person")
}

async fn agent(engine: &Engine, name: &str, requires_approval: bool) -> String {
    let wanted = AgentWanted {
        name: name.to_owned(),
        owner: "ann@desk.test".to_owned(),
        requires_approval,
        abilities: Ability::AGENT_DEFAULT.to_vec(),
        toolset: None,
        session: None,
    };
    engine.add_agent(wanted).await.expect("an agent").1.reveal().to_owned()
}

/// Defines a test that runs on both databases.
#[macro_export]
macro_rules! on_both {
    ($(#[$doc:meta])* async fn $name:ident($desk:ident: Desk) $body:block) => {
        mod $name {
            use super::*;

            async fn run($desk: Desk) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn sqlite() {
                run(Desk::on($crate::desk::sqlite()).await).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn postgres() {
                if let Some(database) = $crate::desk::postgres().await {
                    run(Desk::on(database).await).await;
                }
            }
        }
    };
}
