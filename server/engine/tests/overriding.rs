//! An operator's override: who may, with what, that it decides alone and looks like nothing else.

mod desk;

use desk::{Desk, confirm, decline};
use engine::{Happened, OverrideWanted, PageAsked, PersonActor};
use model::{ApprovalKind, CallId, CallStatus, Event, EventType, Person, Preview, Refusal, Role};
use serde_json::json;

const MORE: &str = r#"
[[action]]
name = "for_group"
title = "Ask the mailers"
effect = "destructive"
credential = "mail"
approvers = ["group:mailers"]
quorum = 2
undo_window = "0s"
input = { type = "object", required = ["target"], additionalProperties = false, properties = { target = { type = "string" } } }
request = { method = "DELETE", url = "http://UPSTREAM/things/{{ input.target }}" }
dry_run = { method = "GET", url = "http://UPSTREAM/recipients/{{ input.target }}" }
fingerprint = ["/quota"]
preview = { title = "Wipe {{ input.target }}", target = "{{ input.target }}" }

[[action]]
name = "slow"
title = "Ask the mailers, slowly"
effect = "external"
credential = "mail"
approvers = ["group:mailers"]
undo_window = "60s"
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/messages", json = { to = "a" } }
preview = { title = "Slow" }
"#;

/// A desk on which two mailers decide, neither of them an operator.
async fn prepared(desk: &Desk) {
    desk.engine.add_to_group("mailers", "max@desk.test").await.expect("a group");
    desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
    desk.reload_with(MORE);
}

async fn wipe(desk: &Desk) -> CallId {
    desk.held(desk.careful("for_group", json!({ "target": "t" })).await).await
}

/// What somebody who opens the call is shown, with the proof that it was shown.
async fn opened(desk: &Desk, me: &PersonActor, id: CallId) -> (Preview, String) {
    let item = desk.engine.open_to_override(me, id).await.expect("opened").expect("it can be overridden");
    let preview = item.preview.expect("a preview");
    let token = desk.engine.view_token(me, id, &preview.version);
    (preview, token)
}

fn wanted<'a>(preview: &'a Preview, view_token: &'a str) -> OverrideWanted<'a> {
    let reason = "Everybody is away.";
    OverrideWanted { version: &preview.version, view_token, target: "t", reason, proof: None }
}

/// A call that was let go may have come to its end by the time its decision is answered.
fn let_go(status: CallStatus) -> bool {
    matches!(status, CallStatus::Sending | CallStatus::Done)
}

/// This person opens the call, reads it, and overrides.
async fn overrides(desk: &Desk, person: &Person, id: CallId) -> Result<model::Call, Refusal> {
    let me = desk.visitor(person).await;
    let (preview, token) = opened(desk, &me, id).await;
    desk.pass(1);
    desk.engine.override_call(&me, id, wanted(&preview, &token)).await
}

async fn events(desk: &Desk, id: CallId) -> Vec<Event> {
    let olga = desk.visitor(&desk.olga).await;
    let page = desk.engine.events(&olga, &PageAsked::default()).await.expect("events");
    page.items.into_iter().rev().filter(|event| event.call_id == id).collect()
}

async fn person(desk: &Desk, name: &str, roles: &[Role]) -> Person {
    let email = format!("{}@desk.test", name.to_lowercase());
    let wanted = engine::registry::PersonWanted {
        email,
        name: name.to_owned(),
        roles: roles.to_vec(),
        password: None,
    };
    desk.engine.add_person(wanted).await.expect("a person")
}

on_both! {
    async fn it_decides_alone_and_its_words_stay(desk: Desk) {
        prepared(&desk).await;
        let id = wipe(&desk).await;
        assert_eq!(desk.confirms(&desk.max, id).await.expect("recorded").status, CallStatus::Held, "one of two");
        assert!(let_go(overrides(&desk, &desk.olga, id).await.expect("recorded").status));
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        let approval = desk.receipts().await.remove(0).approval;
        assert_eq!((approval.kind, approval.by, approval.r#for), (ApprovalKind::Override, vec![desk.olga.id], vec![None]));
        assert_eq!(approval.reason.as_deref(), Some("Everybody is away."));
        let told: Vec<_> = events(&desk, id).await.into_iter().map(|event| (event.r#type, event.by)).collect();
        let olga = Some(desk.olga.id);
        let expected = [(EventType::Held, None), (EventType::Decided, None), (EventType::Opened, olga), (EventType::Overridden, olga), (EventType::Completed, None)];
        assert_eq!(told, expected);
        let receipt = desk.receipts().await[0].id;
        let story = desk.engine.story(&desk.visitor(&desk.ann).await, receipt).await.expect("storage").expect("a story");
        let overridden = Happened::Overridden { by: desk.olga.id, name: "Olga".to_owned(), reason: "Everybody is away.".to_owned(), voided: false, with_passkey: false };
        assert_eq!(story.steps[3].happened, overridden, "{:?}", story.steps);
        assert_eq!((story.steps.len(), &story.receipt.approved_by[..]), (6, &["Olga".to_owned()][..]));
        let item = desk.engine.item(&desk.visitor(&desk.max).await, id).await.expect("storage").expect("an approver sees it");
        assert_eq!(item.decided_by.len(), 1);
        assert_eq!(item.decided_by[0].overrode.as_ref().map(|(_, words)| words.as_str()), Some("Everybody is away."));
    }
}

on_both! {
    async fn only_operators_and_admins_who_do_not_decide_it_may(desk: Desk) {
        prepared(&desk).await;
        let ada = person(&desk, "Ada", &[Role::Admin]).await;
        let id = wipe(&desk).await;
        for nobody in [&desk.ann, &desk.max] {
            let me = desk.visitor(nobody).await;
            assert_eq!(desk.engine.open_to_override(&me, id).await, Err(Refusal::NotFound));
            assert_eq!(desk.engine.held_of_others(&me, &PageAsked::default()).await, Err(Refusal::NotFound));
            let preview = desk.preview(nobody, id).await;
            let token = desk.engine.view_token(&me, id, &preview.version);
            desk.pass(1);
            assert_eq!(desk.engine.override_call(&me, id, wanted(&preview, &token)).await, Err(Refusal::NotFound));
        }
        // A token is no live session.
        let (_, token) = desk.engine.add_token("olga@desk.test", model::Ability::ALL.to_vec()).await.expect("a token");
        let engine::Actor::Person(by_token) = desk.actor(token.reveal()).await else { panic!("a person's") };
        assert_eq!(desk.engine.open_to_override(&by_token, id).await, Err(Refusal::Denied));
        assert!(!desk.events_of(id).await.contains(&EventType::Opened));
        let listed = desk.engine.held_of_others(&desk.visitor(&ada).await, &PageAsked::default()).await.expect("a list");
        assert_eq!(listed.items.iter().map(|item| (item.call.id, item.title.as_str(), item.preview.is_none())).collect::<Vec<_>>(), [(id, "Ask the mailers", true)]);
        // Whoever decides it anyway confirms it as everybody does.
        desk.engine.add_to_group("mailers", "olga@desk.test").await.expect("a group");
        let olga = desk.visitor(&desk.olga).await;
        assert_eq!(desk.engine.open_to_override(&olga, id).await, Ok(None));
        assert!(desk.engine.held_of_others(&olga, &PageAsked::default()).await.expect("a list").items.is_empty());
        assert!(let_go(overrides(&desk, &ada, id).await.expect("recorded").status));
        let item = desk.engine.item(&desk.visitor(&ada).await, id).await.expect("storage");
        assert!(item.is_some_and(|item| item.preview.is_none()), "an admin who overrode sees what became of it");
    }
}

const GUARDED: &str = r#"
[[action]]
name = "guarded"
title = "Guarded"
effect = "write"
credential = "mail"
approvers = ["role:approver"]
self_approval = SELF
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "PUT", url = "http://UPSTREAM/note", json = { text = "x" } }
preview = { title = "Guarded" }
"#;

on_both! {
    /// An owner who may not approve their own agent's call may not override it either.
    async fn a_barred_owner_may_not(desk: Desk) {
        desk.reload_with(&GUARDED.replace("SELF", "false"));
        let id = desk.held(desk.careful("guarded", json!({})).await).await;
        let ada = person(&desk, "Ada", &[Role::Admin]).await;
        desk.engine.set_roles(&desk.visitor(&ada).await, desk.ann.id, &[Role::Operator, Role::Admin]).await.expect("roles");
        let ann = desk.visitor(&desk.ann).await;
        assert_eq!(desk.engine.open_to_override(&ann, id).await, Ok(None));
        assert!(desk.engine.held_of_others(&ann, &PageAsked::default()).await.expect("a list").items.is_empty());
        let preview = desk.preview(&desk.ann, id).await;
        let token = desk.engine.view_token(&ann, id, &preview.version);
        desk.pass(1);
        assert_eq!(desk.engine.override_call(&ann, id, wanted(&preview, &token)).await, Err(Refusal::NotFound));
        assert!(desk.upstream.writes().is_empty());
        // Where owners are not barred, one who is an operator may.
        desk.reload_with(&GUARDED.replace("SELF", "true"));
        let other = desk.held(desk.careful("guarded", json!({})).await).await;
        assert!(desk.engine.open_to_override(&ann, other).await.expect("storage").is_some());
    }
}

on_both! {
    async fn it_takes_words_the_target_and_a_look(desk: Desk) {
        prepared(&desk).await;
        let id = wipe(&desk).await;
        let olga = desk.visitor(&desk.olga).await;
        let (preview, token) = opened(&desk, &olga, id).await;
        let complete = wanted(&preview, &token);
        let young = desk.engine.override_call(&olga, id, complete).await;
        assert!(matches!(&young, Err(Refusal::Invalid(faults)) if faults[0].field == "/view"), "{young:?}");
        desk.pass(1);
        let fields = |said: Result<model::Call, Refusal>| match said {
            Err(Refusal::Invalid(faults)) => faults.into_iter().map(|fault| fault.field).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let empty = OverrideWanted { reason: "  ", target: "T", ..complete };
        assert_eq!(fields(desk.engine.override_call(&olga, id, empty).await), ["/reason", "/target"]);
        let elsewhere = OverrideWanted { view_token: "x", ..complete };
        assert!(matches!(desk.engine.override_call(&olga, id, elsewhere).await, Err(Refusal::PreviewChanged(_))));
        assert!(desk.upstream.writes().is_empty());
        assert!(let_go(desk.engine.override_call(&olga, id, complete).await.expect("recorded").status));
    }
}

on_both! {
    /// Everything that a Confirm looks at: the pause, the preview, the rights of the caller.
    async fn nothing_runs_that_a_confirm_would_not_run(desk: Desk) {
        prepared(&desk).await;
        let id = wipe(&desk).await;
        let olga = desk.visitor(&desk.olga).await;
        let (preview, token) = opened(&desk, &olga, id).await;
        desk.pass(1);
        desk.engine.pause(&olga, engine::PauseScope::Everything, None).await.expect("paused");
        assert_eq!(desk.engine.override_call(&olga, id, wanted(&preview, &token)).await, Err(Refusal::Paused));
        desk.engine.resume(&olga, engine::PauseScope::Everything).await.expect("resumed");
        desk.upstream.set_quota(99);
        let changed = desk.engine.override_call(&olga, id, wanted(&preview, &token)).await;
        assert!(matches!(changed, Err(Refusal::PreviewChanged(_))), "{changed:?}");
        assert!(desk.upstream.writes().is_empty());
        desk.engine.revoke_agent("careful").await.expect("revoked");
        let said = desk.engine.override_call(&olga, id, wanted(&preview, &token)).await;
        assert_eq!(said, Err(Refusal::Withdrawn));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// Within the undo window whoever overrode takes it back, and so does whoever decides it.
    async fn it_is_taken_back_by_both_sides(desk: Desk) {
        prepared(&desk).await;
        let stranger = person(&desk, "Zoe", &[Role::Operator]).await;
        for by in [&desk.olga, &desk.max] {
            let id = desk.held(desk.careful("slow", json!({})).await).await;
            assert_eq!(overrides(&desk, &desk.olga, id).await.expect("recorded").status, CallStatus::Approved);
            let item = desk.engine.item(&desk.visitor(by).await, id).await.expect("storage").expect("a call");
            assert!(item.undo_until.is_some() && item.decided_by[0].overrode.is_some());
            assert_eq!(desk.engine.undo(&desk.decider(&stranger).await, id).await, Err(Refusal::NotFound));
            assert_eq!(desk.engine.undo(&desk.decider(by).await, id).await.expect("undone").status, CallStatus::Held);
            assert_eq!(desk.engine.undo(&desk.decider(&desk.olga).await, id).await, Err(Refusal::NotFound), "it was taken back");
        }
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// Override, confirm, decline and withdrawal at once: one of them counts, and what was sent was sent once.
    async fn at_once_with_others_one_of_them_counts(desk: Desk) {
        prepared(&desk).await;
        let other = desk.second_node().await;
        let olga = desk.visitor(&desk.olga).await;
        let zoe = desk.visitor(&person(&desk, "Zoe", &[Role::Operator]).await).await;
        let mut sent = 0;
        for round in 0..6 {
            let id = wipe(&desk).await;
            let (preview, token) = opened(&desk, &olga, id).await;
            let (_, second) = opened(&desk, &zoe, id).await;
            desk.pass(1);
            let mut tasks = tokio::task::JoinSet::new();
            for (engine, me, token) in [(desk.engine.clone(), olga.clone(), token), (desk.engine.clone(), zoe.clone(), second)] {
                let preview = preview.clone();
                tasks.spawn(async move { engine.override_call(&me, id, wanted(&preview, &token)).await.is_ok() });
            }
            let (engine, max, version) = (desk.engine.clone(), desk.decider(&desk.max).await, preview.version.clone());
            // Alone it is not enough: what counts is what the others do.
            tasks.spawn(async move {
                let _ = engine.decide(&max, id, confirm(&version)).await;
                false
            });
            let (engine, ann) = (other.clone(), desk.decider(&desk.ann).await);
            let actor = desk.actor(&desk.careful).await;
            if round % 2 == 0 {
                tasks.spawn(async move { engine.decide(&ann, id, decline("no")).await.is_ok() });
            } else {
                tasks.spawn(async move { engine.withdraw(&actor, id).await.is_ok() });
            }
            let said = tasks.join_all().await;
            assert_eq!(said.iter().filter(|won| **won).count(), 1, "{said:?}");
            let status = desk.ended(id).await.status;
            sent += usize::from(status == CallStatus::Done);
            assert!(matches!(status, CallStatus::Done | CallStatus::Declined | CallStatus::Withdrawn), "{status:?}");
        }
        assert_eq!(desk.upstream.writes().len(), sent);
    }
}

on_both! {
    /// What a person wrote in a form of their own waits for that person alone.
    async fn what_waits_for_the_one_who_wrote_it_is_not_overridden(desk: Desk) {
        prepared(&desk).await;
        let ann = desk.visitor(&desk.ann).await;
        let form = desk::arrival(engine::Actor::Person(ann), "slow", json!({}));
        let id = desk.held(engine::Arrival { surface: model::Surface::Form, ..form }).await;
        let olga = desk.visitor(&desk.olga).await;
        assert_eq!(desk.engine.open_to_override(&olga, id).await, Ok(None));
        assert!(desk.engine.held_of_others(&olga, &PageAsked::default()).await.expect("a list").items.is_empty());
    }
}

on_both! {
    async fn words_that_nobody_can_see_are_none(desk: Desk) {
        prepared(&desk).await;
        let id = wipe(&desk).await;
        let olga = desk.visitor(&desk.olga).await;
        let (preview, token) = opened(&desk, &olga, id).await;
        desk.pass(1);
        for reason in ["", " ", "\u{200b}", "\u{3164}\u{202e} "] {
            let wanted = OverrideWanted { reason, ..wanted(&preview, &token) };
            let Err(Refusal::Invalid(errors)) = desk.engine.override_call(&olga, id, wanted).await else { panic!("{reason:?} was taken") };
            assert_eq!(errors[0].field, "/reason");
        }
    }
}

on_both! {
    /// A right that is gone before the call is sent sends nothing: it is held again, for those who decide it.
    async fn what_was_said_by_a_right_that_is_gone_sends_nothing(desk: Desk) {
        prepared(&desk).await;
        let (voted, over) = (desk.held(desk.careful("slow", json!({})).await).await, desk.held(desk.careful("slow", json!({})).await).await);
        assert_eq!(desk.confirms(&desk.max, voted).await.expect("recorded").status, CallStatus::Approved);
        assert_eq!(overrides(&desk, &desk.olga, over).await.expect("recorded").status, CallStatus::Approved);
        desk.engine.remove_from_group("mailers", Some("max@desk.test")).await.expect("out");
        desk.engine.set_roles_of("olga@desk.test", &[]).await.expect("changed");
        desk.pass(61);
        desk.engine.send_due_calls().await.expect("the job runs");
        for id in [voted, over] {
            assert_eq!(desk.stands_at(&desk.ann, id).await, CallStatus::Held);
        }
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM events WHERE type = 'call.undone'").await, 2);
        assert!(desk.upstream.writes().is_empty());
        desk.confirms(&desk.ann, voted).await.expect("she still decides it");
        desk.pass(61);
        desk.engine.send_due_calls().await.expect("the job runs");
        assert_eq!(desk.ended(voted).await.status, CallStatus::Done);
    }
}

on_both! {
    /// For a day, those who decide are told above their inbox; nobody else is, and whoever took it back has overridden nobody.
    async fn those_who_decide_are_told_for_a_day(desk: Desk) {
        prepared(&desk).await;
        let id = wipe(&desk).await;
        let max = desk.visitor(&desk.max).await;
        assert_eq!(desk.engine.overridden_lately(&max).await, Ok(Vec::new()));
        overrides(&desk, &desk.olga, id).await.expect("overridden");
        let told = desk.engine.overridden_lately(&max).await.expect("a list");
        assert_eq!(told.iter().map(|item| item.call.id).collect::<Vec<_>>(), [id]);
        assert!(told[0].decided_by.iter().any(|one| one.name == "Olga" && one.overrode.is_some()));
        assert_eq!(desk.engine.overridden_lately(&desk.visitor(&desk.olga).await).await, Ok(Vec::new()));
        desk.pass(86_400);
        assert_eq!(desk.engine.overridden_lately(&max).await, Ok(Vec::new()));
    }
}
