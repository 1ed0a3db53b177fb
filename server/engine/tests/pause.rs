//! Pausing: nothing is begun while a pause lasts, on any node, and everything goes on after it.

mod desk;

use std::path::Path;
use std::time::Duration;

use desk::{Desk, arrival, confirm, decline, keyed, with};
use engine::ambient::{Ambient, SystemClock, SystemEntropy};
use engine::registry::PersonWanted;
use engine::store::{NewPause, Store};
use engine::{Actor, Arrival, KeyWanted, PauseScope, PersonActor};
use model::{Ability, AgentId, Answer, CallId, CallStatus, PauseId, Refusal, Role, Surface};
use serde_json::{Value, json};

const EVERYTHING: PauseScope = PauseScope::Everything;

async fn agent(desk: &Desk, name: &str) -> AgentId {
    desk.engine.find_agent(name).await.expect("storage").expect("an agent").id
}

async fn paused(desk: &Desk, person: &PersonActor, scope: PauseScope) {
    assert_eq!(desk.engine.pause(person, scope, Some("It went wild.")).await, Ok(true));
}

async fn resumed(desk: &Desk, person: &PersonActor, scope: PauseScope) {
    assert_eq!(desk.engine.resume(person, scope).await, Ok(true));
}

async fn status(desk: &Desk, id: CallId) -> CallStatus {
    desk.engine.call_status(&Actor::System, id, None).await.expect("a status").status
}

/// How many rows there are that a call could leave.
async fn rows(desk: &Desk) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in ["calls", "claims", "prompts", "events", "receipts", "session_taints"] {
        counts.push(desk.database.count(&format!("SELECT COUNT(*) FROM {table}")).await);
    }
    counts
}

on_both! {
    async fn every_call_of_a_paused_agent_is_answered_the_same(desk: Desk) {
        let olga = desk.visitor(&desk.olga).await;
        let kept = desk.actor(&desk.quick).await;
        let scope = PauseScope::Agent(agent(&desk, "quick").await);
        // A node that has been there before knows at once too.
        let nodes = [desk.engine.clone(), desk.second_node().await];
        paused(&desk, &olga, scope).await;
        let before = (rows(&desk).await, desk.upstream.requests());
        let fetch = json!({ "credential": "open", "method": "GET", "url": format!("http://{}/x", desk.upstream.address()) });
        let via = json!({ "credential": "open", "method": "POST", "url": format!("http://{}/base/x", desk.upstream.address()) });
        for node in &nodes {
            for actor in [kept.clone(), node.authenticate(&desk.quick).await.expect("the key is in force")] {
                for (surface, action, input) in [
                    (Surface::Api, "read_quota", json!({})),
                    (Surface::Mcp, "note", json!({ "text": "a" })),
                    (Surface::Queue, "note", json!({ "text": "a" })),
                    (Surface::Code, "note", json!({ "text": "a" })),
                    (Surface::Fetch, "fetch", fetch.clone()),
                    (Surface::Via, "via", via.clone()),
                    (Surface::Api, "send_mail", json!({ "to": "a", "body": "b" })),
                    (Surface::Api, "note", json!({ "text": "a", "dry_run": true })),
                    // Neither whether there is such an action, nor whether it is open, nor what is wrong with the input.
                    (Surface::Api, "nothing_like_it", json!({})),
                    (Surface::Api, "denied", json!({})),
                    (Surface::Api, "hidden", json!({})),
                    (Surface::Api, "note", json!({ "texts": 1 })),
                ] {
                    let call = Arrival { surface, ..keyed(arrival(actor.clone(), action, input), "k") };
                    assert_eq!(node.call(call, None).await, Err(Refusal::Paused), "{surface}: {action}");
                }
            }
        }
        assert_eq!((rows(&desk).await, desk.upstream.requests()), before, "nothing was written or asked");
        let problem = Refusal::Paused.problem();
        assert_eq!((problem.status, Refusal::Paused.retry_after()), (503, Some(60)));
        assert!(problem.detail.contains("Nothing was done"), "{}", problem.detail);

        assert!(matches!(desk.engine.call(desk.careful("read_quota", json!({})).await, None).await, Ok(Answer::Done(_))));
        resumed(&desk, &olga, scope).await;
        assert!(matches!(nodes[1].call(desk.quick("read_quota", json!({})).await, None).await, Ok(Answer::Done(_))));
    }
}

on_both! {
    async fn with_everything_paused_nobody_calls(desk: Desk) {
        let text = "\n[[action]]\nname = \"open\"\ntitle = \"Open\"\ndescription = \"Open.\"\neffect = \"read\"\npublic = true\ncredential = \"open\"\ninput = { type = \"object\", additionalProperties = false, properties = {} }\nrequest = { method = \"GET\", url = \"http://UPSTREAM/open\" }\npreview = { title = \"Open\" }\n";
        desk.reload_with(text);
        let olga = desk.visitor(&desk.olga).await;
        let public = Actor::Public { client: None };
        assert!(matches!(desk.engine.call(arrival(public.clone(), "open", json!({})), None).await, Ok(Answer::Done(_))));
        paused(&desk, &olga, EVERYTHING).await;
        let before = (rows(&desk).await, desk.upstream.requests());
        let person = Actor::Person(desk.visitor(&desk.ann).await);
        for (actor, surface, action) in [
            (person.clone(), Surface::Form, "read_quota"),
            (person, Surface::Form, "nothing_like_it"),
            (public.clone(), Surface::Api, "open"),
            (public, Surface::Api, "note"),
            (Actor::System, Surface::Code, "read_quota"),
            (desk.actor(&desk.careful).await, Surface::Mcp, "read_quota"),
        ] {
            let call = Arrival { surface, ..arrival(actor, action, json!({})) };
            assert_eq!(desk.engine.call(call, None).await, Err(Refusal::Paused), "{surface}: {action}");
        }
        let wrong = format!("{}x", desk.careful);
        assert_eq!(desk.engine.authenticate(&wrong).await.err(), Some(Refusal::Unauthenticated), "as ever");
        assert_eq!((rows(&desk).await, desk.upstream.requests()), before, "nothing was written or asked");
        resumed(&desk, &olga, EVERYTHING).await;
        assert!(matches!(desk.engine.call(desk.careful("read_quota", json!({})).await, None).await, Ok(Answer::Done(_))));
    }
}

on_both! {
    async fn what_is_held_stays_held(desk: Desk) {
        let mail = |to: &str| json!({ "to": to, "body": "b" });
        let mut held = Vec::new();
        for to in ["a", "b", "c", "d"] {
            held.push(desk.held(desk.careful("send_mail", mail(to)).await).await);
        }
        let olga = desk.visitor(&desk.olga).await;
        let scope = PauseScope::Agent(agent(&desk, "careful").await);
        paused(&desk, &olga, scope).await;
        let before = desk.upstream.requests();
        assert_eq!(desk.confirms(&desk.ann, held[0]).await.err(), Some(Refusal::Paused));
        assert_eq!(status(&desk, held[0]).await, CallStatus::Held, "nothing was done");
        assert_eq!(desk.upstream.requests(), before, "the service was not even asked");
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM decisions").await, 0);
        let item = desk.engine.item(&desk.visitor(&desk.ann).await, held[0]).await.expect("storage").expect("an item");
        let pause = item.pause.expect("the page tells it");
        assert_eq!((pause.by.as_deref(), pause.reason.as_deref(), pause.as_owner), (Some("Olga"), Some("It went wild."), false));

        let ann = desk.decider(&desk.ann).await;
        let declined = desk.engine.decide(&ann, held[1], decline("No.")).await.expect("declined all the same");
        assert_eq!(declined.status, CallStatus::Declined);
        let careful = desk.actor(&desk.careful).await;
        assert_eq!(desk.engine.withdraw(&careful, held[2]).await.expect("taken back").status, CallStatus::Withdrawn);
        assert_eq!(desk.engine.call_status(&careful, held[0], None).await.expect("told").status, CallStatus::Held);
        desk.pass(25 * 3_600);
        desk.engine.expire_calls().await.expect("the job runs");
        assert_eq!(status(&desk, held[3]).await, CallStatus::Expired, "time goes on");
        desk.pass(-25 * 3_600);

        resumed(&desk, &olga, scope).await;
        let last = desk.held(desk.careful("send_mail", mail("e")).await).await;
        paused(&desk, &olga, EVERYTHING).await;
        assert_eq!(desk.confirms(&desk.ann, last).await.err(), Some(Refusal::Paused), "by the pause of everything too");
        resumed(&desk, &olga, EVERYTHING).await;
        desk.confirms(&desk.ann, last).await.expect("it goes on");
        assert_eq!(desk.ended(last).await.status, CallStatus::Done);
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn a_vote_of_a_quorum_waits_too(desk: Desk) {
        let held = desk.held(desk.careful("two_people", json!({ "target": "x" })).await).await;
        let scope = PauseScope::Agent(agent(&desk, "careful").await);
        paused(&desk, &desk.visitor(&desk.olga).await, scope).await;
        assert_eq!(desk.confirms(&desk.max, held).await.err(), Some(Refusal::Paused));
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM decisions").await, 0);
    }
}

on_both! {
    async fn what_is_confirmed_or_queued_waits_for_the_end_of_the_pause(desk: Desk) {
        let olga = desk.visitor(&desk.olga).await;
        let sent = desk.held(desk.careful("undoable", json!({ "to": "sent" })).await).await;
        let undone = desk.held(desk.careful("undoable", json!({ "to": "undone" })).await).await;
        let others = desk.held(desk.careful("two_people", json!({ "target": "y" })).await).await;
        for id in [sent, undone] {
            assert_eq!(desk.confirms(&desk.ann, id).await.expect("recorded").status, CallStatus::Approved);
        }
        let queue = |name| Arrival { surface: Surface::Queue, ..name };
        let queued = desk.held(queue(desk.quick("note", json!({ "text": "later" })).await)).await;
        let read = desk.held(queue(desk.quick("read_quota", json!({})).await)).await;
        let nobody = desk.held(queue(arrival(Actor::System, "note", json!({ "text": "of code" })))).await;

        for name in ["careful", "quick"] {
            paused(&desk, &olga, PauseScope::Agent(agent(&desk, name).await)).await;
        }
        desk.pass(61);
        let before = desk.upstream.requests();
        for _ in 0..2 {
            desk.engine.send_due_calls().await.expect("the job runs");
            desk.engine.run_queue().await.expect("the queue runs");
        }
        let ended = desk.engine.call_status(&Actor::System, nobody, Some(Duration::from_secs(20))).await;
        assert_eq!(ended.expect("a status").status, CallStatus::Done, "others go on");
        assert_eq!(desk.upstream.requests(), before + 1);
        for (id, expected) in [(sent, CallStatus::Approved), (undone, CallStatus::Approved), (queued, CallStatus::Queued), (read, CallStatus::Queued), (others, CallStatus::Held)] {
            assert_eq!(status(&desk, id).await, expected);
        }
        // The window has passed, and nothing can be sent: whoever confirmed may think again.
        let ann = desk.decider(&desk.ann).await;
        assert_eq!(desk.engine.undo(&ann, undone).await.expect("taken back").status, CallStatus::Held);

        for name in ["careful", "quick"] {
            resumed(&desk, &olga, PauseScope::Agent(agent(&desk, name).await)).await;
        }
        assert_eq!(desk.engine.undo(&ann, sent).await.err(), Some(Refusal::NotHeld), "as ever");
        desk.engine.send_due_calls().await.expect("the job runs");
        desk.engine.run_queue().await.expect("the queue runs");
        for id in [sent, queued, read] {
            assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        }
        assert_eq!(desk.upstream.writes().len(), 3, "once each");
        assert_eq!(status(&desk, undone).await, CallStatus::Held);
    }
}

on_both! {
    async fn a_prompt_is_redeemed_after_the_pause(desk: Desk) {
        let input = json!({ "to": "a", "body": "b" });
        let Ok(Answer::Prompt(prompt)) = desk.engine.call(desk.quick("send_mail", input.clone()).await, None).await else { panic!("no prompt") };
        let olga = desk.visitor(&desk.olga).await;
        let scope = PauseScope::Agent(agent(&desk, "quick").await);
        paused(&desk, &olga, scope).await;
        let redeem = || async { with(desk.quick("send_mail", input.clone()).await, "confirm_token", Value::String(prompt.confirm_token.clone())) };
        assert_eq!(desk.engine.call(redeem().await, None).await, Err(Refusal::Paused));
        resumed(&desk, &olga, scope).await;
        assert!(matches!(desk.engine.call(redeem().await, None).await, Ok(Answer::Done(_))), "the token was not spent");
        assert_eq!(desk.upstream.writes().len(), 1);
    }
}

on_both! {
    async fn who_pauses_and_who_resumes(desk: Desk) {
        let (ann, max, olga) = (desk.visitor(&desk.ann).await, desk.visitor(&desk.max).await, desk.visitor(&desk.olga).await);
        let engine = &desk.engine;
        let id = agent(&desk, "quick").await;
        let scope = PauseScope::Agent(id);
        for stranger in [&max, &ann] {
            assert_eq!(engine.pause(stranger, EVERYTHING, None).await, Err(Refusal::NotFound));
            assert_eq!(engine.resume(stranger, EVERYTHING).await, Err(Refusal::NotFound));
        }
        assert_eq!(engine.pause(&max, scope, None).await, Err(Refusal::NotFound), "somebody else's agent");
        let none: AgentId = "agt_01h455vb4pex5vsknk084sn02q".parse().expect("an id");
        assert_eq!(engine.pause(&olga, PauseScope::Agent(none), None).await, Err(Refusal::NotFound));
        let long = "x".repeat(2_001);
        assert!(matches!(engine.pause(&olga, scope, Some(&long)).await, Err(Refusal::Invalid(_))));

        // The owner's own pause is the owner's to end.
        assert_eq!(engine.pause(&ann, scope, Some("  ")).await, Ok(true));
        assert_eq!(engine.pause(&ann, scope, None).await, Ok(false));
        assert_eq!(engine.resume(&max, scope).await, Err(Refusal::NotFound));
        assert_eq!(engine.resume(&ann, scope).await, Ok(true));
        assert_eq!(engine.resume(&ann, scope).await, Ok(false));
        // An operator takes it over, and then only operators resume.
        assert_eq!(engine.pause(&ann, scope, None).await, Ok(true));
        assert_eq!(engine.pause(&olga, scope, Some("Wait.")).await, Ok(true));
        assert_eq!(engine.pause(&olga, scope, None).await, Ok(false));
        assert_eq!(engine.pause(&ann, scope, None).await, Ok(false));
        assert_eq!(engine.resume(&ann, scope).await, Err(Refusal::Denied));
        assert_eq!(engine.call(desk.quick("read_quota", json!({})).await, None).await, Err(Refusal::Paused));
        assert_eq!(engine.resume(&olga, scope).await, Ok(true));
        // The command line is an operator.
        assert_eq!(engine.pause_at_console(scope, None).await, Ok(true));
        assert_eq!(engine.resume(&ann, scope).await, Err(Refusal::Denied));
        assert_eq!(engine.resume_at_console(scope).await, Ok(true));

        let history = engine.agent(&olga, id).await.expect("a page").pauses;
        let told: Vec<_> = history.iter().map(|pause| (pause.by.as_deref(), pause.reason.as_deref(), pause.resumed_by.as_deref())).collect();
        let expected = [
            (None, None, None),
            (Some("Olga"), Some("Wait."), Some("Olga")),
            (Some("Ann"), None, Some("Olga")),
            (Some("Ann"), None, Some("Ann")),
        ];
        assert_eq!(told, expected, "newest first");
        assert!(history.iter().all(|pause| pause.resumed_at.is_some()));

        // A person's token needs `agents:manage`.
        let token = engine.add_token("ann@desk.test", vec![Ability::ReceiptsRead]).await.expect("a token").1;
        let Actor::Person(by_token) = desk.actor(token.reveal()).await else { panic!("a person") };
        assert_eq!(engine.pause(&by_token, scope, None).await, Err(Refusal::Denied));
    }
}

on_both! {
    async fn agents_and_keys_are_made_and_ended_by_admins(desk: Desk) {
        let engine = &desk.engine;
        let wanted = PersonWanted { email: "ada@desk.test".to_owned(), name: "Ada".to_owned(), roles: vec![Role::Admin], password: None };
        let ada = engine.add_person(wanted).await.expect("a person");
        let (ada, olga, ann) = (desk.visitor(&ada).await, desk.visitor(&desk.olga).await, desk.visitor(&desk.ann).await);
        let id = agent(&desk, "careful").await;
        for other in [&olga, &ann] {
            assert_eq!(engine.add_key(other, id, KeyWanted::default()).await.err(), Some(Refusal::NotFound));
        }
        assert_eq!(engine.agent(&ann, id).await.err(), Some(Refusal::NotFound));
        let wrong = KeyWanted { session: Some(" ".to_owned()), toolset: Some(vec!["nothing".to_owned()]), abilities: vec![Ability::ApprovalsDecide], ..KeyWanted::default() };
        let Err(Refusal::Invalid(faults)) = engine.add_key(&ada, id, wrong).await else { panic!("it is wrong") };
        assert_eq!(faults.iter().map(|fault| fault.field.as_str()).collect::<Vec<_>>(), ["/abilities", "/session", "/toolset"]);

        let held = desk.held(desk.careful("send_mail", json!({ "to": "a", "body": "b" })).await).await;
        let (key, token) = engine.add_key(&ada, id, KeyWanted { requires_approval: true, ..KeyWanted::default() }).await.expect("a key");
        let other = desk.held(arrival(desk.actor(token.reveal()).await, "send_mail", json!({ "to": "c", "body": "d" }))).await;
        let page = engine.agent(&olga, id).await.expect("a page");
        assert_eq!((page.keys.len(), page.keys[0].id, page.keys[0].unsent, page.agent.held, page.agent.unsent), (2, key, 1, 2, 2));

        let quick = agent(&desk, "quick").await;
        for other in [&ann, &olga] {
            assert_eq!(engine.revoke_key_as(other, id, key).await, Err(Refusal::NotFound));
            assert_eq!(engine.revoke_agent_as(other, id).await, Err(Refusal::NotFound));
        }
        assert_eq!(engine.revoke_key_as(&ada, quick, key).await, Err(Refusal::NotFound), "another agent's");
        let token_of_ada = engine.add_token("ada@desk.test", vec![Ability::ReceiptsRead]).await.expect("a token").1;
        let Actor::Person(by_token) = desk.actor(token_of_ada.reveal()).await else { panic!("a person") };
        assert_eq!(engine.revoke_key_as(&by_token, id, key).await, Err(Refusal::Denied), "without agents:manage");
        assert_eq!(engine.add_key(&by_token, id, KeyWanted::default()).await.err(), Some(Refusal::Denied));
        assert_eq!(engine.revoke_key_as(&ada, id, key).await, Ok(true));
        assert_eq!(engine.authenticate(token.reveal()).await.err(), Some(Refusal::Unauthenticated));
        assert_eq!((status(&desk, other).await, status(&desk, held).await), (CallStatus::Withdrawn, CallStatus::Held));
        let line = engine.agents(&olga).await.expect("a list").into_iter().find(|line| line.id == id).expect("careful");
        assert_eq!((line.revoked_at, line.is_revoked), (None, false), "the older key is in force");

        assert_eq!(engine.revoke_agent_as(&ada, id).await, Ok(true));
        assert_eq!(status(&desk, held).await, CallStatus::Withdrawn);
        assert_eq!(engine.add_key(&ada, id, KeyWanted::default()).await.err(), Some(Refusal::NotFound), "it is revoked");
        assert!(matches!(engine.pause(&olga, PauseScope::Agent(id), None).await, Err(Refusal::Invalid(_))));
        let own: Vec<_> = engine.own_agents(&ann).await.expect("a list").into_iter().map(|line| line.name).collect();
        assert_eq!(own, ["careful", "quick"]);
        assert!(engine.own_agents(&olga).await.expect("a list").is_empty());
    }
}

/// Calls that have gone out or are going.
async fn begun(desk: &Desk) -> Vec<String> {
    let sql = "SELECT id FROM calls WHERE state NOT IN ('held', 'approved', 'queued') ORDER BY id";
    desk.database.texts(sql).await
}

on_both! {
    /// Confirms, direct writes and queued ones on two nodes, and somebody who pauses in the middle of them.
    async fn nothing_begins_after_the_pause_has_returned(desk: Desk) {
        let olga = desk.visitor(&desk.olga).await;
        let nodes = [desk.engine.clone(), desk.second_node().await];
        for round in 0..6 {
            let mut ready = Vec::new();
            for number in 0..8 {
                let node = nodes[number % 2].clone();
                let text = format!("{round}-{number}");
                let held = desk.held(desk.careful("send_mail", json!({ "to": text, "body": "b" })).await).await;
                let (decider, version) = (desk.decider(&desk.ann).await, desk.preview(&desk.ann, held).await.version);
                let write = desk.quick("note", json!({ "text": text })).await;
                let queued = Arrival { surface: Surface::Queue, ..write.clone() };
                ready.push((node, decider, held, version, write, queued));
            }
            let writes = desk.upstream.writes().len();
            let mut racing = Vec::new();
            for (node, decider, held, version, write, queued) in ready {
                let [one, two, three] = [node.clone(), node.clone(), node];
                racing.push(tokio::spawn(async move { one.decide(&decider, held, confirm(&version)).await.err() }));
                racing.push(tokio::spawn(async move { two.call(write, None).await.err() }));
                racing.push(tokio::spawn(async move {
                    let refused = three.call(queued, None).await.err();
                    three.run_queue().await.expect("the queue runs");
                    refused
                }));
            }
            // A little later each time.
            while desk.upstream.writes().len() < writes + round {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            paused(&desk, &olga, EVERYTHING).await;
            let at_once = begun(&desk).await;
            for one in racing {
                assert!(matches!(one.await.expect("no fault"), None | Some(Refusal::Paused)));
            }
            for node in &nodes {
                node.run_queue().await.expect("the queue runs");
            }
            assert_eq!(begun(&desk).await, at_once, "round {round}: something began after the pause had returned");
            resumed(&desk, &olga, EVERYTHING).await;
            for node in &nodes {
                node.run_queue().await.expect("the queue runs");
            }
        }
        let ids = desk.database.texts("SELECT id FROM calls WHERE state IN ('sending', 'queued', 'running', 'done')").await;
        for id in ids {
            assert_eq!(desk.ended(id.parse().expect("an id")).await.status, CallStatus::Done);
        }
        let done = desk.database.count("SELECT COUNT(*) FROM calls WHERE state = 'done'").await;
        assert_eq!(i64::try_from(desk.upstream.writes().len()), Ok(done), "each once");
    }
}

on_both! {
    /// The same without a race: a pause waits for whoever has asked whether there is one and has not committed, and
    /// whoever asks meanwhile waits for the pause.
    async fn a_pause_and_an_intent_do_not_overlap(desk: Desk) {
        let store = Store::open(&desk.database.url(), Path::new("/")).await.expect("a store");
        let olga = desk.visitor(&desk.olga).await;
        let mut intent = store.begin().await.expect("a transaction");
        assert!(!intent.is_paused(None).await.expect("asked"));
        let engine = desk.engine.clone();
        let mut pausing = tokio::spawn(async move { engine.pause(&olga, EVERYTHING, None).await });
        let early = tokio::time::timeout(Duration::from_millis(300), &mut pausing).await;
        assert!(early.is_err(), "it returned while an intent was under way: {early:?}");
        intent.commit().await.expect("committed");
        assert_eq!(pausing.await.expect("no fault"), Ok(true));
        assert!(store.is_paused(None).await.expect("asked"));

        let ambient = Ambient::new(SystemClock, SystemEntropy);
        desk.engine.resume_at_console(EVERYTHING).await.expect("resumed");
        let mut pause = store.begin().await.expect("a transaction");
        pause.lock_pauses().await.expect("locked");
        let new = NewPause { id: PauseId::from_uuid(ambient.uuid()), scope: EVERYTHING, as_owner: false, person: None, reason: None, at: ambient.now() };
        pause.insert_pause(&new).await.expect("written");
        let (engine, call) = (desk.engine.clone(), desk.quick("note", json!({ "text": "a" })).await);
        let mut write = tokio::spawn(async move { engine.call(call, None).await.err() });
        let early = tokio::time::timeout(Duration::from_millis(300), &mut write).await;
        assert!(early.is_err(), "it went on beside a pause under way: {early:?}");
        pause.commit().await.expect("committed");
        assert_eq!(write.await.expect("no fault"), Some(Refusal::Paused));
        assert!(desk.upstream.writes().is_empty());
        store.close().await;
    }
}
