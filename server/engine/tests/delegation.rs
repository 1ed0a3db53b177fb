//! Standing in for somebody: who decides in whose place, that nobody counts twice, and when it is over.

mod desk;

use chrono::TimeDelta;
use desk::{Desk, confirm, decline};
use engine::{Delegation, DelegationWanted, Happened, Item, PageAsked, PersonActor, Right, StoryStep, Vote};
use model::{CallId, CallStatus, DelegationId, Person, PersonId, Refusal, Role};
use serde_json::json;

/// In the zone of people who have not chosen one.
fn clock(desk: &Desk, seconds: i64) -> String {
    let at = desk.engine.now().to_chrono() + TimeDelta::seconds(seconds);
    at.format("%Y-%m-%dT%H:%M").to_string()
}

/// From now on until in an hour.
async fn passes_on(desk: &Desk, from: &Person, to: &Person) -> DelegationId {
    let until = clock(desk, 3_600);
    let wanted = DelegationWanted { to: &to.email, from: "", until: &until };
    desk.engine.delegate(&desk.visitor(from).await, wanted).await.expect("a delegation")
}

async fn ends(desk: &Desk, by: &Person, id: DelegationId) -> Result<(), Refusal> {
    desk.engine.end_delegation(&desk.visitor(by).await, id).await
}

/// A call that waits for Ann, who owns it.
async fn note(desk: &Desk) -> CallId {
    desk.held(desk.careful("note", json!({ "text": "x" })).await).await
}

/// A call that two of the approvers and operators have to confirm: Max and Olga.
async fn wipe(desk: &Desk) -> CallId {
    desk.held(desk.careful("two_people", json!({ "target": "t" })).await).await
}

async fn asked(desk: &Desk, person: &Person) -> usize {
    let page = desk.engine.approvals(&desk.decider(person).await, &PageAsked::default()).await;
    page.expect("a list").items.len()
}

/// How many calls wait for this person's word.
async fn waits(desk: &Desk, person: &Person) -> u64 {
    desk.engine.inbox_count(&desk.visitor(person).await).await.expect("a count")
}

async fn may_decide(desk: &Desk, person: &Person, id: CallId) -> bool {
    desk.engine.decides(&desk.decider(person).await, id).await.is_ok()
}

/// Who approved the newest receipt, and in whose place.
async fn approved(desk: &Desk) -> (Vec<PersonId>, Vec<Option<PersonId>>) {
    let approval = desk.receipts().await.remove(0).approval;
    assert_eq!(approval.kind, model::ApprovalKind::Person);
    (approval.by, approval.r#for)
}

/// A further person with these roles.
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
    async fn the_delegate_decides_and_the_receipt_says_for_whom(desk: Desk) {
        let id = note(&desk).await;
        assert!(!may_decide(&desk, &desk.max, id).await);
        passes_on(&desk, &desk.ann, &desk.max).await;
        assert_eq!((asked(&desk, &desk.max).await, asked(&desk, &desk.ann).await), (1, 1), "the delegator may still");
        let listed = desk.engine.approvals(&desk.decider(&desk.max).await, &PageAsked::default()).await.expect("a list");
        assert_eq!(listed.items[0].r#for, Some(desk.ann.id));
        let item = desk.engine.item(&desk.visitor(&desk.max).await, id).await.expect("storage").expect("it is theirs");
        let by = item.stands_in_for.expect("in Ann's place");
        assert_eq!((item.may_decide, item.may_override, by.delegator_name.as_str()), (true, false, "Ann"));
        let own = desk.engine.item(&desk.visitor(&desk.ann).await, id).await.expect("storage").expect("it is hers");
        assert_eq!((own.stands_in_for, own.delegations), (None, vec![by]), "its owner sees it");
        desk.confirms(&desk.max, id).await.expect("recorded");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(approved(&desk).await, (vec![desk.max.id], vec![Some(desk.ann.id)]));
        let receipt = desk.receipts().await[0].id;
        let story = desk.engine.story(&desk.visitor(&desk.ann).await, receipt).await.expect("storage").expect("a story");
        assert_eq!((&story.receipt.approved_by[..], &story.receipt.approved_for[..]), (&["Max".to_owned()][..], &[Some("Ann".to_owned())][..]));
        let confirmed = Happened::Confirmed { by: desk.max.id, name: "Max".to_owned(), r#for: Some("Ann".to_owned()), rights: vec![Right::Owner], voided: false, replaced: false, with_passkey: false };
        assert!(story.steps.iter().any(|StoryStep { happened, .. }| *happened == confirmed), "{:?}", story.steps);
    }
}

on_both! {
    /// Two delegators with one delegate are one human, and so is the delegate with a right of their own.
    async fn one_human_is_one_vote_of_a_quorum(desk: Desk) {
        let zoe = person(&desk, "Zoe", &[]).await;
        let id = wipe(&desk).await;
        passes_on(&desk, &desk.max, &zoe).await;
        passes_on(&desk, &desk.olga, &zoe).await;
        assert_eq!(desk.confirms(&zoe, id).await.expect("recorded").status, CallStatus::Held);
        assert_eq!(desk.confirms(&zoe, id).await, Err(Refusal::AlreadyDecided), "for two, and still one human");
        assert!(desk.upstream.writes().is_empty());
        // The other one is left, whoever of the two that is.
        desk.confirms(&desk.olga, id).await.expect("recorded");
        assert_eq!(desk.ended_for(&desk.olga, id).await.status, CallStatus::Done);
        assert_eq!(approved(&desk).await, (vec![zoe.id, desk.olga.id], vec![Some(desk.max.id), None]));
    }
}

on_both! {
    async fn ones_own_right_goes_before_that_of_another(desk: Desk) {
        let id = wipe(&desk).await;
        passes_on(&desk, &desk.olga, &desk.max).await;
        assert_eq!(desk.confirms(&desk.max, id).await.expect("recorded").status, CallStatus::Held);
        assert_eq!(desk.confirms(&desk.max, id).await, Err(Refusal::AlreadyDecided));
        desk.confirms(&desk.olga, id).await.expect("recorded");
        assert_eq!(desk.ended_for(&desk.olga, id).await.status, CallStatus::Done);
        assert_eq!(approved(&desk).await, (vec![desk.max.id, desk.olga.id], vec![None, None]));
    }
}

on_both! {
    /// A right is used once: the delegator's own word takes the place of what was said for them.
    async fn the_delegator_and_the_delegate_are_one_vote(desk: Desk) {
        let zoe = person(&desk, "Zoe", &[]).await;
        let id = wipe(&desk).await;
        passes_on(&desk, &desk.max, &zoe).await;
        desk.confirms(&zoe, id).await.expect("recorded");
        assert_eq!(desk.confirms(&desk.max, id).await.expect("recorded").status, CallStatus::Held, "it is one vote still");
        assert_eq!(desk.confirms(&zoe, id).await, Err(Refusal::AlreadyDecided), "Max has spoken");
        let no = desk.engine.decide(&desk.decider(&zoe).await, id, decline("no")).await;
        assert_eq!(no, Err(Refusal::AlreadyDecided), "nor against Max");
        desk.confirms(&desk.olga, id).await.expect("recorded");
        assert_eq!(desk.ended_for(&desk.olga, id).await.status, CallStatus::Done);
        assert_eq!(approved(&desk).await, (vec![desk.max.id, desk.olga.id], vec![None, None]));
    }
}

on_both! {
    /// A vote by delegation: neither of the two is asked any more, both can see it, and what the delegator says themselves
    /// is told as what it is.
    async fn a_vote_in_anothers_place_is_told_to_both(desk: Desk) {
        let zoe = person(&desk, "Zoe", &[]).await;
        let id = wipe(&desk).await;
        passes_on(&desk, &desk.max, &zoe).await;
        assert_eq!((waits(&desk, &desk.max).await, waits(&desk, &zoe).await), (1, 1));
        desk.confirms(&zoe, id).await.expect("recorded");
        assert_eq!((waits(&desk, &desk.max).await, waits(&desk, &zoe).await), (0, 0));
        let (hers, his) = (desk.visitor(&zoe).await, desk.visitor(&desk.max).await);
        let item = seen_by(&desk, &hers, id).await;
        assert!(matches!(item.vote(zoe.id), Vote::Cast(one) if one.voice == desk.max.id) && !item.takes_word_of(zoe.id));
        let item = seen_by(&desk, &his, id).await;
        assert!(matches!(item.vote(desk.max.id), Vote::CastForThem(one) if one.person == zoe.id));
        assert!(item.takes_word_of(desk.max.id), "his own word replaces hers");
        assert_eq!(desk.engine.voted(&his).await.expect("a list").len(), 1);
        desk.pass(1);
        desk.confirms(&desk.max, id).await.expect("recorded");
        let item = seen_by(&desk, &hers, id).await;
        assert!(matches!(item.vote(zoe.id), Vote::Spoken(one) if one.person == desk.max.id) && !item.takes_word_of(zoe.id));
        assert_eq!(waits(&desk, &zoe).await, 0);
        desk.confirms(&desk.olga, id).await.expect("recorded");
        desk.ended_for(&desk.olga, id).await;
        let receipt = desk.receipts().await[0].id;
        let story = desk.engine.story(&desk.visitor(&desk.olga).await, receipt).await.expect("storage").expect("a story");
        let votes: Vec<_> = story.steps.iter().filter_map(|step| match &step.happened {
            Happened::Confirmed { name, voided, replaced, .. } => Some((name.as_str(), *voided, *replaced)),
            _ => None,
        }).collect();
        assert_eq!(votes, [("Zoe", true, true), ("Max", false, false), ("Olga", false, false)]);
    }
}

async fn seen_by(desk: &Desk, me: &PersonActor, id: CallId) -> Item {
    desk.engine.item(me, id).await.expect("storage").expect("it is theirs")
}

on_both! {
    async fn the_delegator_takes_back_what_was_said_in_their_place(desk: Desk) {
        let zoe = person(&desk, "Zoe", &[]).await;
        let id = wipe(&desk).await;
        passes_on(&desk, &desk.max, &zoe).await;
        desk.confirms(&zoe, id).await.expect("recorded");
        desk.engine.undo(&desk.decider(&desk.max).await, id).await.expect("undone");
        desk.confirms(&desk.olga, id).await.expect("recorded");
        assert!(desk.upstream.writes().is_empty());
        let call = desk.engine.decide(&desk.decider(&zoe).await, id, decline("no")).await.expect("declined");
        assert_eq!(call.status, CallStatus::Declined);
    }
}

on_both! {
    /// A delegation of a delegation gives nothing, and a role is never passed on.
    async fn there_are_no_chains_and_no_roles(desk: Desk) {
        let zoe = person(&desk, "Zoe", &[]).await;
        let id = note(&desk).await;
        passes_on(&desk, &desk.ann, &desk.max).await;
        passes_on(&desk, &desk.max, &zoe).await;
        passes_on(&desk, &desk.olga, &zoe).await;
        assert!(may_decide(&desk, &desk.max, id).await && !may_decide(&desk, &zoe, id).await);
        let two = wipe(&desk).await;
        assert!(may_decide(&desk, &zoe, two).await, "Olga decides it as an operator");
        let visitor = desk.visitor(&zoe).await;
        assert_eq!(desk.engine.item(&visitor, id).await, Ok(None), "an operator would see it");
        assert_eq!(desk.engine.people(&visitor).await.err(), Some(Refusal::NotFound));
        assert_eq!(desk.engine.open_to_override(&visitor, id).await, Err(Refusal::NotFound));
    }
}

const GUARDED: &str = r#"
[[action]]
name = "guarded"
title = "Guarded"
effect = "write"
credential = "mail"
approvers = ["role:approver", "person:ann@desk.test"]
self_approval = false
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "PUT", url = "http://UPSTREAM/note", json = { text = "x" } }
preview = { title = "Guarded" }
"#;

on_both! {
    /// `self_approval = false` bars the owner as a delegate, and whom the owner delegates to as owner.
    async fn an_owner_who_is_barred_is_barred_through_a_delegation(desk: Desk) {
        let zoe = person(&desk, "Zoe", &[]).await;
        desk.reload_with(GUARDED);
        let id = desk.held(desk.careful("guarded", json!({})).await).await;
        passes_on(&desk, &desk.max, &desk.ann).await;
        passes_on(&desk, &desk.ann, &zoe).await;
        let deciders = [may_decide(&desk, &desk.ann, id).await, may_decide(&desk, &zoe, id).await, may_decide(&desk, &desk.max, id).await];
        assert_eq!(deciders, [false, false, true]);
        let version = desk.preview(&desk.max, id).await.version;
        for barred in [&desk.ann, &zoe] {
            let said = desk.engine.decide(&desk.decider(barred).await, id, confirm(&version)).await;
            assert_eq!(said, Err(Refusal::NotFound));
        }
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    async fn it_begins_and_ends_when_it_says(desk: Desk) {
        let id = note(&desk).await;
        let (from, until) = (clock(&desk, 600), clock(&desk, 1_200));
        let wanted = DelegationWanted { to: &desk.max.email, from: &from, until: &until };
        desk.engine.delegate(&desk.visitor(&desk.ann).await, wanted).await.expect("a delegation");
        assert!(!may_decide(&desk, &desk.max, id).await, "it has not begun");
        desk.pass(601);
        assert!(may_decide(&desk, &desk.max, id).await);
        desk.pass(661);
        assert!(!may_decide(&desk, &desk.max, id).await, "it is over");
    }
}

on_both! {
    async fn it_ends_at_once_when_either_ends_it_or_is_disabled(desk: Desk) {
        let id = note(&desk).await;
        for by in [&desk.ann, &desk.max] {
            let delegation = passes_on(&desk, &desk.ann, &desk.max).await;
            assert_eq!(ends(&desk, &desk.olga, delegation).await, Err(Refusal::NotFound), "it is none of hers");
            assert_eq!(ends(&desk, by, delegation).await, Ok(()));
            assert_eq!(ends(&desk, by, delegation).await, Err(Refusal::NotFound), "once");
            assert!(!may_decide(&desk, &desk.max, id).await);
        }
        let two = wipe(&desk).await;
        let zoe = person(&desk, "Zoe", &[]).await;
        passes_on(&desk, &desk.max, &zoe).await;
        passes_on(&desk, &desk.olga, &zoe).await;
        assert_eq!(desk.confirms(&zoe, two).await.expect("recorded").status, CallStatus::Held);
        desk.engine.disable_person("max@desk.test").await.expect("disabled");
        assert!(may_decide(&desk, &zoe, two).await, "for Olga still");
        // What was said in Max's place counts no more.
        assert_eq!(desk.confirms(&desk.olga, two).await.expect("recorded").status, CallStatus::Held);
        let ended = "SELECT COUNT(*) FROM delegations WHERE ended_at IS NULL";
        assert_eq!(desk.database.count(ended).await, 1);
        desk.engine.disable_person("zoe@desk.test").await.expect("disabled");
        assert_eq!(desk.database.count(ended).await, 0);
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// A vote counts only as long as the right holds by which it was cast.
    async fn a_vote_of_a_delegation_that_is_over_is_void(desk: Desk) {
        let zoe = person(&desk, "Zoe", &[]).await;
        let id = wipe(&desk).await;
        let delegation = passes_on(&desk, &desk.max, &zoe).await;
        desk.confirms(&zoe, id).await.expect("recorded");
        ends(&desk, &desk.max, delegation).await.expect("ended");
        assert_eq!(desk.confirms(&desk.olga, id).await.expect("recorded").status, CallStatus::Held);
        assert!(desk.upstream.writes().is_empty());
        desk.confirms(&desk.max, id).await.expect("recorded");
        assert_eq!(desk.ended_for(&desk.olga, id).await.status, CallStatus::Done);
        assert_eq!(approved(&desk).await, (vec![desk.olga.id, desk.max.id], vec![None, None]));
    }
}

on_both! {
    async fn a_delegator_who_loses_the_right_passes_none_on(desk: Desk) {
        desk.engine.add_to_group("mailers", "olga@desk.test").await.expect("a group");
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
        let id = desk.held(desk.careful("grouped", json!({ "to": "a" })).await).await;
        passes_on(&desk, &desk.olga, &desk.max).await;
        assert!(may_decide(&desk, &desk.max, id).await);
        desk.engine.remove_from_group("mailers", Some("olga@desk.test")).await.expect("removed");
        assert!(!may_decide(&desk, &desk.max, id).await);
    }
}

on_both! {
    async fn it_is_asked_for_in_whole(desk: Desk) {
        let ann = desk.visitor(&desk.ann).await;
        let until = clock(&desk, 3_600);
        let faults = |said: Result<DelegationId, Refusal>| match said {
            Err(Refusal::Invalid(faults)) => faults.into_iter().map(|fault| fault.field).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        for to in ["ann@desk.test", "nobody@desk.test", ""] {
            assert_eq!(faults(desk.engine.delegate(&ann, DelegationWanted { to, from: "", until: &until }).await), ["/to"]);
        }
        let none = DelegationWanted { to: "", from: "x", until: "y" };
        assert_eq!(faults(desk.engine.delegate(&ann, none).await), ["/to", "/from", "/until"]);
        passes_on(&desk, &desk.ann, &desk.max).await;
        let again = DelegationWanted { to: "olga@desk.test", from: "", until: &until };
        assert_eq!(faults(desk.engine.delegate(&ann, again).await), ["/from"], "one at a time");
        let all: Vec<Delegation> = desk.engine.delegations(&desk.visitor(&desk.olga).await).await.expect("an operator");
        assert_eq!(all.iter().map(|one| (one.delegator, one.delegate)).collect::<Vec<_>>(), [(desk.ann.id, desk.max.id)]);
        assert_eq!(desk.engine.own_delegations(&desk.visitor(&desk.max).await).await.expect("his"), all);
        assert_eq!(desk.engine.delegations(&ann).await, Err(Refusal::NotFound));
    }
}

on_both! {
    async fn two_at_once_for_the_same_time_are_one(desk: Desk) {
        let until = clock(&desk, 3_600);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (engine, me, until) = (desk.engine.clone(), desk.visitor(&desk.ann).await, until.clone());
            tasks.spawn(async move {
                let wanted = DelegationWanted { to: "max@desk.test", from: "", until: &until };
                engine.delegate(&me, wanted).await.is_ok()
            });
        }
        assert_eq!(tasks.join_all().await.into_iter().filter(|made| *made).count(), 1);
    }
}

on_both! {
    /// A quorum of two, one right: however delegator and delegate race, it is one vote, and nothing runs.
    async fn delegator_and_delegate_at_once_are_never_two(desk: Desk) {
        let zoe = person(&desk, "Zoe", &[]).await;
        passes_on(&desk, &desk.max, &zoe).await;
        let other = desk.second_node().await;
        for _ in 0..6 {
            let id = wipe(&desk).await;
            let version = desk.preview(&desk.max, id).await.version;
            let mut tasks = tokio::task::JoinSet::new();
            for (number, who) in [&desk.max, &zoe, &desk.max, &zoe, &zoe, &desk.max].into_iter().enumerate() {
                let engine = if number % 2 == 0 { desk.engine.clone() } else { other.clone() };
                let (decider, version) = (desk.decider(who).await, version.clone());
                tasks.spawn(async move { engine.decide(&decider, id, confirm(&version)).await.map(|call| call.status) });
            }
            let said = tasks.join_all().await;
            assert!(said.iter().any(Result::is_ok), "{said:?}");
            assert!(said.iter().all(|one| matches!(one, Ok(CallStatus::Held) | Err(Refusal::AlreadyDecided))), "{said:?}");
            let counting = format!("SELECT COUNT(*) FROM decisions WHERE call_id = '{id}' AND voided_at IS NULL");
            assert_eq!(desk.database.count(&counting).await, 1);
            assert_eq!(desk.database.count(&format!("SELECT COUNT(*) FROM calls WHERE id = '{id}' AND state = 'held'")).await, 1);
        }
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// Once it is told that a delegation has ended, nothing is decided by it any more.
    async fn what_is_decided_after_the_end_is_not_decided(desk: Desk) {
        let (other, mut done) = (desk.second_node().await, 0);
        for round in 0..8_u64 {
            let id = note(&desk).await;
            let delegation = passes_on(&desk, &desk.ann, &desk.max).await;
            let version = desk.preview(&desk.max, id).await.version;
            let (engine, max) = (other.clone(), desk.decider(&desk.max).await);
            let deciding = tokio::spawn(async move { engine.decide(&max, id, confirm(&version)).await });
            tokio::time::sleep(std::time::Duration::from_millis(round * 2)).await;
            ends(&desk, &desk.ann, delegation).await.expect("ended");
            let at_end = format!("SELECT COUNT(*) FROM decisions WHERE call_id = '{id}' AND voided_at IS NULL");
            let at_end = desk.database.count(&at_end).await;
            let said = deciding.await.expect("a task");
            assert_eq!(said.is_ok(), at_end == 1, "decided before it ended, or not at all: {said:?}");
            if said.is_ok() {
                done += 1;
            } else {
                assert_eq!(said, Err(Refusal::NotFound));
            }
        }
        assert_eq!(desk.database.count("SELECT COUNT(*) FROM decisions").await, done);
    }
}
