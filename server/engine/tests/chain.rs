//! Random callers, actions and inputs through the real chain, each answer compared with the model in `contract/`.
//!
//! The cases are the same at every run; `PROPTEST_CASES=1000` tries that many others.

mod contract;
mod desk;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use contract::{
    Action, Approval, Call, Caller, CallerRule, DryRun, Effect, Key, Memory, Surface, Tenant, Text, Token,
    Told, Toolset, Upstream, World,
};
use desk::{Behaviour, Database, Desk, parsed};
use engine::registry::AgentWanted;
use engine::{Actor, Arrival, PageAsked, ReceiptFilter};
use model::answer::WaitingStatus;
use model::{Ability, Answer, Refusal};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Map, Value, json};

const SURFACES: [Surface; 5] = [Surface::Api, Surface::Mcp, Surface::Form, Surface::Queue, Surface::Code];

/// Tells the cases of one desk apart: names of actions, agents and keys.
static CASE: AtomicU32 = AtomicU32::new(0);

fn action() -> impl Strategy<Value = Action> {
    use CallerRule::{Agents, Always, Never};
    let effects =
        select(vec![Effect::Read, Effect::Write, Effect::Write, Effect::External, Effect::Destructive]);
    let expose = prop_oneof![6 => Just(SURFACES.to_vec()), 1 => subsequence(SURFACES.to_vec(), 1..5)];
    let rule = || prop_oneof![10 => Just(Always), 1 => Just(Never), 2 => Just(Agents)];
    let often = || proptest::bool::weighted(0.5);
    let approval = prop_oneof![
        4 => Just(Approval::Plain), 1 => Just(Approval::Approvers),
        1 => Just(Approval::Quorum), 1 => Just(Approval::NotTheOwner),
    ];
    let rare = || proptest::bool::weighted(0.1);
    (
        (effects, expose, proptest::bool::weighted(0.6), rare(), rule(), rule()),
        (often(), often(), often(), often(), approval, proptest::bool::weighted(0.8)),
    )
        .prop_map(|((effect, expose, public, of_tenant, register_when, authorize), rest)| {
            let (forbids, deny_as_not_found, holds, rules, approval, replay) = rest;
            Action {
                effect,
                expose,
                public,
                of_tenant,
                register_when,
                authorize,
                forbids,
                deny_as_not_found,
                holds,
                rules,
                approval,
                replay,
            }
        })
}

fn caller() -> impl Strategy<Value = Caller> {
    let abilities = || prop_oneof![4 => Just([true; 4]), 1 => any::<[bool; 4]>()];
    let toolset =
        prop_oneof![5 => Just(Toolset::All), 2 => Just(Toolset::HasIt), 1 => Just(Toolset::LacksIt)];
    prop_oneof![
        1 => any::<bool>().prop_map(|member| Caller::Session { member }),
        1 => abilities().prop_map(|abilities| Caller::Token { abilities }),
        4 => (any::<bool>(), abilities(), toolset).prop_map(|(requires_approval, abilities, toolset)| {
            Caller::Key { requires_approval, abilities, toolset }
        }),
        2 => any::<bool>().prop_map(|named| Caller::Public { named }),
        1 => Just(Caller::Code),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let text = prop_oneof![
        5 => Just(Text::Plain),
        3 => Just(Text::Other),
        3 => select(vec![Text::Hold, Text::Forbidden, Text::Ruled]),
        1 => select(vec![Text::Number, Text::Nul, Text::Missing]),
    ];
    let dry_run =
        prop_oneof![10 => Just(DryRun::Absent), 2 => Just(DryRun::Wanted), 1 => Just(DryRun::NoBoolean)];
    let key = prop_oneof![3 => Just(Key::None), 6 => Just(Key::Named(0)), 2 => Just(Key::Named(1)), 1 => Just(Key::Invalid)];
    let token = prop_oneof![5 => Just(Token::None), 1 => Just(Token::Nonsense), 5 => Just(Token::OfPrompt)];
    let tenant = prop_oneof![10 => Just(Tenant::None), 2 => Just(Tenant::Own), 1 => Just(Tenant::Unknown)];
    let upstream = prop_oneof![
        4 => Just(Upstream::Does),
        2 => select(vec![Upstream::Refuses, Upstream::Fails, Upstream::Cuts]),
    ];
    (
        select(SURFACES.to_vec()),
        (tenant, text, proptest::bool::weighted(0.1)),
        (dry_run, key, token, upstream),
    )
        .prop_map(|(surface, (tenant, text, unknown_argument), (dry_run, key, token, upstream))| Call {
            surface,
            tenant,
            text,
            unknown_argument,
            dry_run,
            key,
            token,
            upstream,
        })
}

fn world() -> impl Strategy<Value = World> {
    let off = prop_oneof![6 => Just(None), 1 => select(SURFACES.to_vec()).prop_map(Some)];
    (action(), off, caller(), prop::collection::vec(call(), 1..9))
        .prop_map(|(action, off, caller, calls)| World { action, off, caller, calls })
}

const fn surface(surface: Surface) -> model::Surface {
    match surface {
        Surface::Api => model::Surface::Api,
        Surface::Mcp => model::Surface::Mcp,
        Surface::Form => model::Surface::Form,
        Surface::Queue => model::Surface::Queue,
        Surface::Code => model::Surface::Code,
    }
}

/// The world's catalogue.
fn catalogue(world: &World, name: &str, upstream: &str) -> String {
    let action = &world.action;
    let rule = |rule| match rule {
        CallerRule::Always => "true",
        CallerRule::Never => "false",
        CallerRule::Agents => "caller.kind == 'agent'",
    };
    let (effect, request) = match action.effect {
        Effect::Read => ("read", format!(r#"{{ url = "http://{upstream}/quota" }}"#)),
        Effect::Write => (
            "write",
            format!(r#"{{ method = "PUT", url = "http://{upstream}/x", json = "{{{{ input }}}}" }}"#),
        ),
        Effect::External => ("external", format!(r#"{{ method = "POST", url = "http://{upstream}/x" }}"#)),
        Effect::Destructive => {
            ("destructive", format!(r#"{{ method = "DELETE", url = "http://{upstream}/x" }}"#))
        }
    };
    let expose: Vec<_> = action.expose.iter().map(|at| surface(*at).as_str()).collect();
    let mut lines = vec![
        format!("effect = {effect:?}\nrequest = {request}\nexpose = {expose:?}"),
        format!("public = {}\nreplay = {}", action.public, action.replay),
        format!("register_when = {:?}\nauthorize = {:?}", rule(action.register_when), rule(action.authorize)),
        format!("deny_as_not_found = {}", action.deny_as_not_found),
        r#"input = { type = "object", required = ["text"], properties = { text = { type = "string", maxLength = 20 } } }"#.to_owned(),
    ];
    let switches = [
        (action.of_tenant, r#"tenants = ["house"]"#),
        (action.forbids, r#"authorize_input = "input.text != 'forbidden'""#),
        (action.holds, r#"hold_when = "input.text == 'hold'""#),
        (
            action.rules,
            r#"rules = [{ when = "input.text == 'ruled'", field = "text", message = "Not this." }]"#,
        ),
        (action.approval != Approval::Plain, r#"approvers = ["role:approver"]"#),
        (action.approval == Approval::Quorum, "quorum = 2"),
        (action.approval == Approval::NotTheOwner, "self_approval = false"),
    ];
    lines.extend(switches.iter().filter(|(on, _)| *on).map(|(_, line)| (*line).to_owned()));
    let off = world.off.map_or_else(String::new, |off| format!("[surfaces]\n{} = false\n", surface(off)));
    format!(
        "{off}[[credential]]\nname = \"mail\"\nhosts = [\"{upstream}\"]\nsecret = {{ env = \"PATH\" }}\ntrusted = true\n\
         allow_http = true\nallow_private = true\n[[action]]\nname = {name:?}\ncredential = \"mail\"\n{}\n",
        lines.join("\n")
    )
}

/// One case: its caller, and what it has been prompted with.
struct Case<'d> {
    desk: &'d Desk,
    name: String,
    actor: Actor,
    prompt: Option<String>,
}

impl<'d> Case<'d> {
    async fn of(desk: &'d Desk, world: &World) -> Self {
        let name = format!("case_{}", CASE.fetch_add(1, Ordering::SeqCst));
        desk.engine.replace_catalogue(parsed(&catalogue(world, &name, &desk.upstream.address())));
        let actor = actor(desk, &world.caller, &name).await;
        Self { desk, name, actor, prompt: None }
    }

    fn arrival(&self, call: &Call) -> Arrival {
        let mut input = Map::new();
        let text = match call.text {
            Text::Plain => Some(json!("a")),
            Text::Other => Some(json!("b")),
            Text::Hold => Some(json!("hold")),
            Text::Forbidden => Some(json!("forbidden")),
            Text::Ruled => Some(json!("ruled")),
            Text::Number => Some(json!(1)),
            Text::Nul => Some(json!("a\0")),
            Text::Missing => None,
        };
        let token = match call.token {
            Token::None => None,
            Token::Nonsense => Some(json!("cft_nonsense")),
            Token::OfPrompt => Some(json!(self.prompt.as_deref().unwrap_or("cft_none"))),
        };
        let dry_run = match call.dry_run {
            DryRun::Absent => None,
            DryRun::Wanted => Some(json!(true)),
            DryRun::NoBoolean => Some(json!("yes")),
        };
        let key = match call.key {
            Key::None => None,
            Key::Invalid => Some("not a key".to_owned()),
            Key::Named(key) => Some(format!("{}-{key}", self.name)),
        };
        let field = key.clone().filter(|_| call.surface == Surface::Mcp).map(Value::from);
        let unknown = call.unknown_argument.then(|| json!("x"));
        for (name, value) in [
            ("text", text),
            ("confirm_token", token),
            ("dry_run", dry_run),
            ("idempotency_key", field),
            ("unknown", unknown),
        ] {
            input.extend(value.map(|value| (name.to_owned(), value)));
        }
        Arrival {
            surface: surface(call.surface),
            key_header: key.filter(|_| call.surface != Surface::Mcp).into_iter().collect(),
            tenant: match call.tenant {
                Tenant::None => None,
                Tenant::Own => Some("house".to_owned()),
                Tenant::Unknown => Some("nowhere".to_owned()),
            },
            ..desk::arrival(self.actor.clone(), &self.name, Value::Object(input))
        }
    }

    /// Makes the call and lets a queued one run.
    async fn told(&mut self, call: &Call) -> Told {
        self.desk.upstream.behave(match call.upstream {
            Upstream::Does => Behaviour::Answer(200, r#"{"id":"m1"}"#.to_owned()),
            Upstream::Refuses => Behaviour::Answer(404, "{}".to_owned()),
            Upstream::Fails => Behaviour::Answer(500, "{}".to_owned()),
            Upstream::Cuts => Behaviour::Cut,
        });
        let before = self.left_behind().await;
        let answer = self.desk.engine.call(self.arrival(call), None).await;
        if let Ok(Answer::Prompt(prompt)) = &answer {
            self.prompt = Some(prompt.confirm_token.clone());
        }
        self.desk.engine.run_queue().await.expect("the queue runs");
        // What is queued has a task of its own, and so has the event of a “not found”.
        assert!(self.desk.engine.drain(Duration::from_secs(20)).await, "everything ends");
        let after = self.left_behind().await;
        let fresh = &after.2[before.2.len()..];
        assert!(fresh.len() <= 1, "more than one ending event: {fresh:?}");
        Told {
            answer: name_of(&answer),
            sent: after.0 - before.0,
            receipts: after.1 - before.1,
            ending: fresh.first().copied(),
        }
    }

    /// Requests to the upstream, receipts, and the types of the ending events, oldest first.
    async fn left_behind(&self) -> (usize, usize, Vec<&'static str>) {
        let olga = self.desk.visitor(&self.desk.olga).await;
        let filter = ReceiptFilter { action: Some(self.name.clone()), ..ReceiptFilter::default() };
        let receipts =
            self.desk.engine.receipts(&olga, &filter, &PageAsked::default()).await.expect("receipts");
        let events = self.desk.engine.events(&olga, &PageAsked::default()).await.expect("events").items;
        let endings =
            events.iter().rev().filter(|event| event.action == self.name).map(|event| event.r#type.as_str());
        let endings = endings.filter(|kind| kind.starts_with("action.")).collect();
        (self.desk.upstream.requests(), receipts.items.len(), endings)
    }
}

async fn actor(desk: &Desk, caller: &Caller, name: &str) -> Actor {
    let listed = |abilities: &[bool; 4]| {
        let mut listed = vec![Ability::ReceiptsRead];
        listed.extend(
            Ability::AGENT_DEFAULT
                .iter()
                .zip(abilities)
                .filter(|(_, has)| **has)
                .map(|(ability, _)| *ability),
        );
        listed
    };
    match caller {
        Caller::Session { member } => {
            Actor::Person(desk.visitor(if *member { &desk.ann } else { &desk.max }).await)
        }
        Caller::Token { abilities } => {
            let token = desk.engine.add_token("ann@desk.test", listed(abilities)).await.expect("a token").1;
            desk.actor(token.reveal()).await
        }
        Caller::Key { requires_approval, abilities, toolset } => {
            let wanted = AgentWanted {
                name: name.to_owned(),
                owner: "ann@desk.test".to_owned(),
                requires_approval: *requires_approval,
                abilities: listed(abilities),
                toolset: match toolset {
                    Toolset::All => None,
                    Toolset::HasIt => Some(vec![name.to_owned()]),
                    Toolset::LacksIt => Some(vec!["fetch".to_owned()]),
                },
                session: None,
            };
            desk.actor(desk.engine.add_agent(wanted).await.expect("an agent").1.reveal()).await
        }
        Caller::Public { named } => Actor::Public { client: named.then(|| format!("client-of-{name:>16}")) },
        Caller::Code => Actor::System,
    }
}

fn name_of(answer: &Result<Answer, Refusal>) -> &'static str {
    match answer {
        Ok(Answer::Done(_)) => "done",
        Ok(Answer::Replayed(_)) => "replayed",
        Ok(Answer::Preview(_)) => "preview",
        Ok(Answer::Prompt(_)) => "confirmation_required",
        Ok(Answer::Waiting(waiting)) if waiting.status == WaitingStatus::Queued => "queued",
        Ok(Answer::Waiting(_)) => "held",
        Ok(Answer::Passed(_)) => "passed",
        Err(refusal) => refusal.problem().code.as_str(),
    }
}

/// One world from its first call to its last.
async fn check(desk: &Desk, world: &World) -> Result<(), TestCaseError> {
    let mut case = Case::of(desk, world).await;
    let mut memory = Memory::default();
    for (number, call) in world.calls.iter().enumerate() {
        let expected = world.predict(&mut memory, call);
        prop_assert_eq!(case.told(call).await, expected, "call {} of {:#?}", number, world);
    }
    Ok(())
}

fn run(cases: u32, database: impl Future<Output = Option<Database>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let Some(database) = runtime.block_on(database) else { return };
    let desk = runtime.block_on(async {
        let desk = Desk::on(database).await;
        desk.engine.add_tenant("house", Some("ann@desk.test")).await.expect("a tenant");
        desk
    });
    let wished = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let config = Config { cases: wished.unwrap_or(cases), failure_persistence: None, ..Config::default() };
    let mut runner = match wished {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32])),
    };
    let checked = runner.run(&world(), |world| runtime.block_on(check(&desk, &world)));
    // The database goes after the desk, outside of the runtime.
    runtime.block_on(desk.engine.close());
    if let Err(error) = checked {
        panic!("{error}");
    }
}

#[test]
fn the_chain_says_what_the_contract_says_on_sqlite() {
    run(160, async { Some(desk::sqlite()) });
}

#[test]
fn the_chain_says_what_the_contract_says_on_postgres() {
    run(30, desk::postgres());
}
