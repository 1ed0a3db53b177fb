//! Who decides a held call, and how many: votes that are taken back, rules that became stricter, deciders that are gone.

mod desk;

use desk::{Desk, confirm, decline};
use engine::{InboxFilter, PageAsked, Vote};
use model::{CallId, CallStatus, EventType, Person, Refusal};
use serde_json::json;

async fn wipe(desk: &Desk) -> CallId {
    desk.held(desk.careful("two_people", json!({ "target": "t" })).await).await
}

/// How many calls this person is asked about.
async fn asked(desk: &Desk, person: &Person) -> usize {
    let page = desk.engine.approvals(&desk.decider(person).await, &PageAsked::default()).await;
    page.expect("a list").items.len()
}

async fn decided_by(desk: &Desk, id: CallId) -> Vec<String> {
    let item = desk.engine.item(&desk.visitor(&desk.olga).await, id).await.expect("storage");
    item.expect("an operator sees it").decided_by.into_iter().map(|one| one.name).collect()
}

on_both! {
    /// Section 5, `quorum`: whoever has confirmed may still decline while the call waits for others; that ends it.
    async fn a_voter_may_still_say_no(desk: Desk) {
        let id = wipe(&desk).await;
        assert_eq!(desk.confirms(&desk.max, id).await.expect("recorded").status, CallStatus::Held);
        assert_eq!(desk.confirms(&desk.max, id).await, Err(Refusal::AlreadyDecided), "one vote a person");
        let max = desk.decider(&desk.max).await;
        let call = desk.engine.decide(&max, id, decline("On second thought")).await.expect("recorded");
        assert_eq!((call.status, call.decline_reason.as_deref()), (CallStatus::Declined, Some("On second thought")));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// Section 4, `DELETE /v1/calls/{id}/decision`: a vote is taken back while the call waits for others; event
    /// `call.undone`.
    async fn a_vote_can_be_taken_back(desk: Desk) {
        let id = wipe(&desk).await;
        let (max, olga) = (desk.decider(&desk.max).await, desk.decider(&desk.olga).await);
        assert_eq!(desk.engine.undo(&max, id).await, Err(Refusal::NotHeld), "there is no vote");
        desk.confirms(&desk.max, id).await.expect("recorded");
        assert_eq!(desk.engine.undo(&olga, id).await, Err(Refusal::NotHeld), "the vote is another's");
        assert_eq!(desk.engine.undo(&max, id).await.expect("undone").status, CallStatus::Held);
        assert_eq!(desk.engine.undo(&max, id).await, Err(Refusal::NotHeld), "once");
        assert_eq!(desk.confirms(&desk.olga, id).await.expect("recorded").status, CallStatus::Held, "it is one vote again");
        assert!(desk.upstream.writes().is_empty());
        desk.confirms(&desk.max, id).await.expect("recorded");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.engine.undo(&max, id).await, Err(Refusal::NotHeld), "it was sent");
        assert_eq!(desk.receipts().await[0].approval.by, [desk.olga.id, desk.max.id]);
        let expected = [EventType::Held, EventType::Decided, EventType::Undone, EventType::Decided, EventType::Decided, EventType::Completed];
        assert_eq!(desk.events_of(id).await, expected);
    }
}

/// What this person may decide over the API; and what waits for them on the page, in the count, and among the choices.
async fn waiting(desk: &Desk, person: &Person) -> (usize, usize, u64, usize) {
    let me = desk.visitor(person).await;
    let inbox =
        desk.engine.inbox(&me, &InboxFilter::default(), &PageAsked::default()).await.expect("an inbox");
    let choices = desk.engine.inbox_choices(&me).await.expect("choices");
    (
        asked(desk, person).await,
        inbox.items.len(),
        desk.engine.inbox_count(&me).await.expect("a count"),
        choices.actions.len(),
    )
}

on_both! {
    /// Who has voted is asked no more, and finds the call among those that wait for others, until they take the vote back.
    async fn who_has_voted_is_asked_no_more(desk: Desk) {
        let id = wipe(&desk).await;
        let me = desk.visitor(&desk.max).await;
        assert_eq!(waiting(&desk, &desk.max).await, (1, 1, 1, 1));
        assert_eq!(desk.engine.voted(&me).await, Ok(Vec::new()));
        desk.confirms(&desk.max, id).await.expect("recorded");
        assert_eq!(waiting(&desk, &desk.max).await, (1, 0, 0, 0), "over the API he may still say no");
        assert_eq!(waiting(&desk, &desk.olga).await, (1, 1, 1, 1), "it waits for others");
        let voted = desk.engine.voted(&me).await.expect("a list");
        assert_eq!(voted.iter().map(|item| (item.call.id, item.quorum)).collect::<Vec<_>>(), [(id, 2)]);
        let item = desk.engine.item(&me, id).await.expect("storage").expect("it is theirs");
        assert!(matches!(item.vote(desk.max.id), Vote::Cast(one) if one.name == "Max"));
        assert!(item.may_decide && !item.takes_word_of(desk.max.id));
        let lines = desk.engine.inbox_lines(&me, &[id]).await.expect("lines");
        assert!(!lines[0].takes_word_of(desk.max.id), "an open list marks it");
        desk.engine.undo(&desk.decider(&desk.max).await, id).await.expect("taken back");
        assert_eq!(waiting(&desk, &desk.max).await, (1, 1, 1, 1));
        assert_eq!(desk.engine.voted(&me).await, Ok(Vec::new()));
    }
}

on_both! {
    /// An operator is told when they are asked only because those who decide are fewer than it takes.
    async fn who_stands_in_for_too_few_is_told(desk: Desk) {
        rule(&desk, "quorum = 2\napprovers = [\"role:approver\"]");
        let (few, named) = (ruled(&desk).await, wipe(&desk).await);
        for (person, id, expected) in [(&desk.olga, few, true), (&desk.max, few, false), (&desk.olga, named, false)] {
            let item = desk.engine.item(&desk.visitor(person).await, id).await.expect("storage").expect("theirs");
            assert!(item.may_decide, "{}", person.name);
            assert_eq!(item.for_too_few, expected, "{}", person.name);
        }
    }
}

on_both! {
    /// The journal's line of a decision does not name who decided; whoever reads everybody's is told.
    async fn who_decided_is_told_beside_the_journal(desk: Desk) {
        let id = wipe(&desk).await;
        desk.confirms(&desk.max, id).await.expect("recorded");
        desk.pass(1);
        desk.confirms(&desk.olga, id).await.expect("recorded");
        desk.ended(id).await;
        let olga = desk.visitor(&desk.olga).await;
        let events = desk.engine.events(&olga, &PageAsked::default()).await.expect("events").items;
        let decided: Vec<_> = events.iter().filter(|event| event.r#type == EventType::Decided).map(|event| event.id).collect();
        let told = desk.engine.event_deciders(&olga, &decided).await.expect("names");
        let names = |event| told.iter().filter(|one| one.event == event).map(|one| one.name.as_str()).collect::<Vec<_>>();
        assert_eq!((names(decided[1]), names(decided[0])), (vec!["Max"], vec!["Olga"]));
        assert_eq!(desk.engine.event_deciders(&desk.visitor(&desk.max).await, &decided).await, Err(Refusal::NotFound));
    }
}

const GUARDED: &str = r#"
[[action]]
name = "ruled"
title = "Ruled"
description = "Its rule changes."
effect = "external"
credential = "mail"
undo_window = "0s"
RULE
input = { type = "object", additionalProperties = false, properties = {} }
request = { method = "POST", url = "http://UPSTREAM/messages" }
preview = { title = "Ruled" }
"#;

fn rule(desk: &Desk, rule: &str) {
    desk.reload_with(&GUARDED.replace("RULE", rule));
}

async fn ruled(desk: &Desk) -> CallId {
    desk.held(desk.careful("ruled", json!({})).await).await
}

on_both! {
    /// Section 5, "the whole path is walked again" on Confirm: a quorum that was raised meanwhile counts.
    async fn a_raised_quorum_counts_for_what_waits(desk: Desk) {
        rule(&desk, "approvers = [\"role:approver\", \"role:operator\"]");
        let id = ruled(&desk).await;
        rule(&desk, "quorum = 2\napprovers = [\"role:approver\", \"role:operator\"]");
        assert_eq!(desk.confirms(&desk.max, id).await.expect("recorded").status, CallStatus::Held);
        assert!(desk.upstream.writes().is_empty());
        // Lowered again, the stricter of the two still holds for what waited under it.
        rule(&desk, "approvers = [\"role:approver\", \"role:operator\"]");
        desk.confirms(&desk.olga, id).await.expect("recorded");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.receipts().await[0].approval.by, [desk.max.id, desk.olga.id]);
    }
}

on_both! {
    /// The same of a quorum that was lowered: what was held under the stricter rule keeps it.
    async fn a_lowered_quorum_does_not(desk: Desk) {
        rule(&desk, "quorum = 2\napprovers = [\"role:approver\", \"role:operator\"]");
        let id = ruled(&desk).await;
        rule(&desk, "approvers = [\"role:approver\", \"role:operator\"]");
        assert_eq!(desk.confirms(&desk.max, id).await.expect("recorded").status, CallStatus::Held);
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// The same of `self_approval = false`: the owner is barred from what waits already, and somebody else decides.
    async fn an_owner_who_is_barred_meanwhile_decides_no_more(desk: Desk) {
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("a group");
        rule(&desk, "approvers = [\"group:mailers\"]");
        let id = ruled(&desk).await;
        let version = desk.preview(&desk.ann, id).await.version;
        rule(&desk, "self_approval = false\napprovers = [\"group:mailers\"]");
        let ann = desk.decider(&desk.ann).await;
        assert_eq!(desk.engine.decide(&ann, id, confirm(&version)).await, Err(Refusal::NotFound));
        assert!(desk.upstream.writes().is_empty());
        assert_eq!((asked(&desk, &desk.ann).await, asked(&desk, &desk.max).await), (0, 1));
        desk.confirms(&desk.max, id).await.expect("recorded");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
    }
}

on_both! {
    /// The same of a call that its owner alone was asked about: those whom the action names now are asked instead.
    async fn a_call_of_the_owners_goes_to_whom_the_action_names_now(desk: Desk) {
        rule(&desk, "");
        let id = ruled(&desk).await;
        let version = desk.preview(&desk.ann, id).await.version;
        rule(&desk, "approvers = [\"role:approver\"]");
        let ann = desk.decider(&desk.ann).await;
        assert_eq!(desk.engine.decide(&ann, id, confirm(&version)).await, Err(Refusal::NotFound));
        assert_eq!((asked(&desk, &desk.ann).await, asked(&desk, &desk.max).await), (0, 1));
        assert!(desk.upstream.writes().is_empty());
    }
}

on_both! {
    /// The same of `approvers`: those who are named now decide, and the vote of one who is not counts no more.
    async fn the_approvers_that_are_named_now_decide(desk: Desk) {
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("a group");
        desk.engine.add_to_group("mailers", "ann@desk.test").await.expect("a group");
        rule(&desk, "quorum = 2\napprovers = [\"role:approver\", \"role:operator\"]");
        let id = ruled(&desk).await;
        desk.confirms(&desk.olga, id).await.expect("recorded");
        rule(&desk, "quorum = 2\napprovers = [\"group:mailers\"]");
        assert_eq!(desk.confirms(&desk.max, id).await.expect("recorded").status, CallStatus::Held, "Olga is not asked any more");
        assert!(desk.upstream.writes().is_empty());
        assert_eq!(decided_by(&desk, id).await, ["Max"]);
        desk.confirms(&desk.ann, id).await.expect("recorded");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
        assert_eq!(desk.receipts().await[0].approval.by, [desk.max.id, desk.ann.id]);
    }
}

on_both! {
    /// Section 2: "calls that only waited for that person's decision go to … the operators", when the last member of
    /// the group that decides is taken out of it.
    async fn a_call_whose_group_is_empty_goes_to_the_operators(desk: Desk) {
        desk.engine.add_to_group("mailers", "max@desk.test").await.expect("a group");
        let id = desk.held(desk.careful("grouped", json!({ "to": "a" })).await).await;
        assert_eq!((asked(&desk, &desk.max).await, asked(&desk, &desk.olga).await), (1, 0));
        assert_eq!(desk.engine.remove_from_group("mailers", Some("max@desk.test")).await, Ok(true));
        assert_eq!((asked(&desk, &desk.max).await, asked(&desk, &desk.olga).await), (0, 1));
        desk.confirms(&desk.olga, id).await.expect("recorded");
        assert_eq!(desk.ended(id).await.status, CallStatus::Done);
    }
}

on_both! {
    /// Section 5: a vote counts of "distinct people" who may decide; of somebody who may no more it does not.
    async fn a_vote_of_somebody_who_may_decide_no_more_is_void(desk: Desk) {
        let id = wipe(&desk).await;
        desk.confirms(&desk.max, id).await.expect("recorded");
        assert_eq!(desk.engine.disable_person("max@desk.test").await, Ok(true));
        assert_eq!(desk.confirms(&desk.olga, id).await.expect("recorded").status, CallStatus::Held);
        assert!(desk.upstream.writes().is_empty());
    }
}
