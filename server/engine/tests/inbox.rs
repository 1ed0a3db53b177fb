//! The inbox: what a list shows and in which order, many decided at once, what came before, and what changes meanwhile.

mod desk;

use std::time::Duration;

use desk::{Desk, arrival};
use engine::{InboxFilter, InboxOrder, Live, MOST_CONFIRMED, ManyFault, PageAsked, Shown};
use model::{CallId, CallStatus, Effect, Refusal};
use serde_json::json;

/// How long anything may take to arrive.
const PATIENCE: Duration = Duration::from_secs(20);

const MORE: &str = r#"
[[action]]
name = "long_note"
title = "Write a long note"
effect = "write"
credential = "mail"
hold_ttl = "1h"
input = { type = "object", required = ["text"], additionalProperties = false, properties = { text = { type = "string" } } }
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }
preview = { title = "Long note: {{ input.text }}" }

[[action]]
name = "for_max"
title = "Ask Max"
effect = "write"
credential = "mail"
approvers = ["person:max@desk.test"]
input = { type = "object", required = ["text"], additionalProperties = false, properties = { text = { type = "string" } } }
request = { method = "PUT", url = "http://UPSTREAM/note", json = "{{ input }}" }
preview = { title = "For Max: {{ input.text }}" }
"#;

async fn note(desk: &Desk, text: &str) -> CallId {
    desk.held(desk.careful("note", json!({ "text": text })).await).await
}

async fn long_note(desk: &Desk, text: &str) -> CallId {
    desk.held(desk.careful("long_note", json!({ "text": text })).await).await
}

async fn mail(desk: &Desk) -> CallId {
    let input = json!({ "to": "a@b.example", "body": "x" });
    desk.held(desk.careful("send_mail", input).await).await
}

/// Ann's list, page by page.
async fn listed(desk: &Desk, filter: &InboxFilter, limit: u32) -> Vec<Vec<CallId>> {
    let ann = desk.visitor(&desk.ann).await;
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let asked = PageAsked { limit: Some(limit), cursor };
        let page = desk.engine.inbox(&ann, filter, &asked).await.expect("a page");
        pages.push(page.items.iter().map(|item| item.call.id).collect());
        cursor = page.next_cursor;
        if cursor.is_none() {
            return pages;
        }
    }
}

fn lapsing() -> InboxFilter {
    InboxFilter { order: InboxOrder::Lapsing, ..InboxFilter::default() }
}

async fn shown(desk: &Desk, ids: &[CallId]) -> Vec<Shown> {
    let ann = desk.visitor(&desk.ann).await;
    let mut all = Vec::new();
    for id in ids {
        let version = desk.preview(&desk.ann, *id).await.version;
        let view_token = desk.engine.view_token(&ann, *id, &version);
        all.push(Shown { call: *id, version, view_token });
    }
    all
}

async fn next(live: &mut Live) -> (Vec<CallId>, u64) {
    let change = tokio::time::timeout(PATIENCE, live.next()).await.expect("it comes").expect("storage");
    let change = change.expect("it goes on");
    (change.calls, change.waiting)
}

on_both! {
    async fn both_orders_are_paged_without_gap_or_repeat(desk: Desk) {
        desk.reload_with(MORE);
        let mut ids = Vec::new();
        for turn in 0..3 {
            ids.push(note(&desk, &format!("{turn}")).await);
            ids.push(long_note(&desk, &format!("{turn}")).await);
        }
        let newest: Vec<_> = ids.iter().rev().copied().collect();
        assert_eq!(listed(&desk, &InboxFilter::default(), 4).await, [newest[..4].to_vec(), newest[4..].to_vec()]);
        // The long notes lapse within the hour, the others a day later; each kind in the order it came in.
        let soonest = [ids[1], ids[3], ids[5], ids[0], ids[2], ids[4]];
        assert_eq!(listed(&desk, &lapsing(), 2).await, soonest.chunks(2).map(<[_]>::to_vec).collect::<Vec<_>>());
        desk.pass(3_700);
        assert_eq!(listed(&desk, &lapsing(), 10).await, [soonest[3..].to_vec()]);
    }
}

on_both! {
    async fn calls_that_lapse_at_the_same_moment_are_paged_by_id(desk: Desk) {
        let mut ids = Vec::new();
        for turn in 0..5 {
            ids.push(note(&desk, &format!("{turn}")).await);
        }
        desk.database.run("UPDATE calls SET expires_at = (SELECT MAX(expires_at) FROM calls)").await.expect("stored");
        assert_eq!(listed(&desk, &lapsing(), 2).await.concat(), ids);
    }
}

on_both! {
    async fn a_cursor_of_the_other_order_is_refused(desk: Desk) {
        for turn in 0..3 {
            note(&desk, &format!("{turn}")).await;
        }
        let ann = desk.visitor(&desk.ann).await;
        for (one, other) in [(InboxFilter::default(), lapsing()), (lapsing(), InboxFilter::default())] {
            let asked = PageAsked { limit: Some(1), cursor: None };
            let cursor = desk.engine.inbox(&ann, &one, &asked).await.expect("a page").next_cursor;
            let asked = PageAsked { limit: Some(1), cursor };
            let refused = desk.engine.inbox(&ann, &other, &asked).await.expect_err("of another order");
            assert!(matches!(&refused, Refusal::Invalid(errors) if errors[0].field == "/cursor"), "{refused:?}");
        }
    }
}

on_both! {
    async fn is_narrowed_by_agent_action_and_effect(desk: Desk) {
        let (one, two) = (note(&desk, "x").await, mail(&desk).await);
        let ann = desk.visitor(&desk.ann).await;
        let choices = desk.engine.inbox_choices(&ann).await.expect("choices");
        assert_eq!(choices.agents, ["careful"]);
        assert_eq!(choices.actions.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["note", "send_mail"]);
        assert_eq!(choices.effects, [Effect::Write, Effect::External]);
        let of = |agent: Option<&str>, action: Option<&str>, effect| InboxFilter {
            agent: agent.map(str::to_owned),
            action: action.map(str::to_owned),
            effect,
            ..InboxFilter::default()
        };
        for (filter, expected) in [
            (of(Some("careful"), None, None), vec![two, one]),
            (of(Some("quick"), None, None), vec![]),
            (of(None, Some("note"), None), vec![one]),
            (of(None, None, Some(Effect::External)), vec![two]),
            (of(None, Some("note"), Some(Effect::External)), vec![]),
            (of(Some("care\0ful"), None, None), vec![]),
        ] {
            assert_eq!(listed(&desk, &filter, 10).await.concat(), expected, "{filter:?}");
        }
        assert_eq!(desk.engine.inbox_choices(&desk.visitor(&desk.max).await).await, Ok(engine::Choices::default()));
    }
}

on_both! {
    /// Section 4: what is in a call is sealed, and erased when it ends. That goes for the title that lists show.
    async fn a_title_is_sealed_and_erased_with_the_preview(desk: Desk) {
        let id = mail(&desk).await;
        let ann = desk.visitor(&desk.ann).await;
        let page = desk.engine.inbox(&ann, &InboxFilter::default(), &PageAsked::default()).await.expect("a page");
        assert_eq!((page.items[0].title.as_str(), page.items[0].preview.is_none()), ("Mail to a@b.example", true));
        let stored = "SELECT CAST(COUNT(*) AS TEXT) FROM calls WHERE preview_title IS NOT NULL";
        assert_eq!(desk.database.texts(stored).await, ["1"]);
        // A list does not need what is in the call: it is named although its preview cannot be read.
        desk.database.run("UPDATE calls SET preview = input").await.expect("stored");
        let page = desk.engine.inbox(&ann, &InboxFilter::default(), &PageAsked::default()).await.expect("a page");
        assert_eq!(page.items[0].title, "Mail to a@b.example");
        let decider = desk.decider(&desk.ann).await;
        desk.engine.decide(&decider, id, desk::decline("no")).await.expect("declined");
        assert_eq!(desk.database.texts(stored).await, ["0"]);
        let line = &desk.engine.inbox_lines(&ann, &[id]).await.expect("a line")[0];
        assert_eq!((line.title.as_str(), line.decided_by.len(), line.decided_by[0].name.as_str()), ("Send a mail", 1, "Ann"));
        assert!(desk.engine.inbox_lines(&desk.visitor(&desk.max).await, &[id]).await.expect("none").is_empty());
    }
}

on_both! {
    async fn many_are_declined_one_by_one_with_the_same_words(desk: Desk) {
        let (one, two, gone) = (note(&desk, "1").await, mail(&desk).await, note(&desk, "3").await);
        let ann = desk.decider(&desk.ann).await;
        desk.engine.decide(&ann, gone, desk::decline("no")).await.expect("declined");
        let steps = desk.engine.decline_many(&ann, &[one, gone, two, one], Some(" Not now. ")).await.expect("steps");
        assert_eq!(steps.iter().map(|step| step.id).collect::<Vec<_>>(), [one, gone, two]);
        assert_eq!(steps[0].outcome, Ok(CallStatus::Declined));
        assert_eq!(steps[1].outcome, Err(Refusal::AlreadyDecided));
        assert_eq!((steps[2].title.as_deref(), &steps[2].outcome), (Some("Mail to a@b.example"), &Ok(CallStatus::Declined)));
        assert_eq!(desk.ended(two).await.decline_reason.as_deref(), Some("Not now."));
        // Who may not decide declines nothing.
        let three = note(&desk, "4").await;
        let steps = desk.engine.decline_many(&desk.decider(&desk.max).await, &[three], None).await.expect("steps");
        assert_eq!((&steps[0].title, &steps[0].outcome), (&None, &Err(Refusal::NotFound)));
        assert_eq!(desk.engine.decline_many(&ann, &[], None).await, Err(ManyFault::None));
        let hundred_and_one: Vec<_> = (0..101).map(|n| CallId::from_uuid(uuid::Uuid::from_u128(n))).collect();
        assert_eq!(desk.engine.decline_many(&ann, &hundred_and_one, None).await, Err(ManyFault::TooMany(100)));
        let refused = desk.engine.decline_many(&ann, &[three], Some(&"x".repeat(2_001))).await;
        assert!(matches!(refused, Err(ManyFault::Refused(Refusal::Invalid(_)))), "{refused:?}");
        assert_eq!(desk.engine.inbox_count(&desk.visitor(&desk.ann).await).await, Ok(1));
    }
}

on_both! {
    async fn many_writes_of_one_action_are_confirmed_each_as_it_was_shown(desk: Desk) {
        let ids = [note(&desk, "1").await, note(&desk, "2").await, note(&desk, "3").await];
        let ann = desk.decider(&desk.ann).await;
        let mut seen = shown(&desk, &ids).await;
        assert_eq!(
            desk.engine.confirm_many(&ann, &seen).await,
            Err(ManyFault::View(engine::view_token::ViewFault::TooYoung))
        );
        desk.pass(1);
        // Of the second one, a preview was shown that is not the newest any more.
        let view_token = desk.engine.view_token(ann.actor(), ids[1], "another");
        seen[1] = Shown { call: ids[1], version: "another".to_owned(), view_token };
        desk.pass(1);
        let steps = desk.engine.confirm_many(&ann, &seen).await.expect("steps");
        assert_eq!(steps[0].outcome, Ok(CallStatus::Done));
        assert!(matches!(steps[1].outcome, Err(Refusal::PreviewChanged(_))), "{:?}", steps[1]);
        assert_eq!(steps[2].outcome, Ok(CallStatus::Done));
        assert_eq!(desk.receipts().await.len(), 2);
        // A token proves one preview of one call to one person.
        let mut other = shown(&desk, &ids[1..2]).await;
        other[0].view_token.clone_from(&seen[0].view_token);
        desk.pass(1);
        assert_eq!(
            desk.engine.confirm_many(&ann, &other).await,
            Err(ManyFault::View(engine::view_token::ViewFault::Other))
        );
    }
}

on_both! {
    /// The engine refuses, whatever a page offers: no `external` or `destructive` call, no two actions, no more than
    /// twenty, and then none of them is decided.
    async fn what_is_dangerous_or_mixed_is_confirmed_by_itself(desk: Desk) {
        desk.reload_with(MORE);
        let (write, other, external) = (note(&desk, "1").await, long_note(&desk, "2").await, mail(&desk).await);
        let ann = desk.decider(&desk.ann).await;
        for (ids, fault) in [
            (vec![external], ManyFault::Dangerous),
            (vec![write, external], ManyFault::Dangerous),
            (vec![write, other], ManyFault::Mixed),
            (vec![], ManyFault::None),
        ] {
            let seen = shown(&desk, &ids).await;
            desk.pass(1);
            assert_eq!(desk.engine.confirm_many(&ann, &seen).await, Err(fault.clone()));
            assert_eq!(desk.engine.may_confirm_many(&ann, &ids).await, Err(fault));
        }
        let mut ids = Vec::new();
        for turn in 0..=MOST_CONFIRMED {
            ids.push(note(&desk, &format!("n{turn}")).await);
        }
        assert_eq!(desk.engine.may_confirm_many(&ann, &ids).await, Err(ManyFault::TooMany(20)));
        assert_eq!(desk.engine.may_confirm_many(&ann, &ids[1..]).await, Ok(()));
        assert!(desk.receipts().await.is_empty());
        assert_eq!(desk.engine.inbox_count(ann.actor()).await, Ok(24));
    }
}

on_both! {
    async fn tells_what_came_before_in_the_session_and_what_it_looks_like(desk: Desk) {
        let in_session = async |session: &str, text: &str| {
            let mut arrival = desk.careful("note", json!({ "text": text })).await;
            arrival.session = Some(session.to_owned());
            desk.held(arrival).await
        };
        let (first, other) = (in_session("a", "x").await, in_session("b", "y").await);
        let last = in_session("a", "x").await;
        let later = in_session("a", "z").await;
        let ann = desk.visitor(&desk.ann).await;
        let item = desk.engine.item(&ann, last).await.expect("storage").expect("the call");
        let ids = |items: Vec<engine::Item>| items.into_iter().map(|item| item.call.id).collect::<Vec<_>>();
        assert_eq!(ids(desk.engine.earlier_in_session(&ann, &item).await.expect("a list")), [first]);
        assert_eq!(ids(desk.engine.alike(&ann, last).await.expect("a list")), [first]);
        assert!(desk.engine.alike(&ann, other).await.expect("a list").is_empty());
        // Somebody who may not see the others is told of none; an operator sees them without what is in them.
        let max = desk.visitor(&desk.max).await;
        assert!(desk.engine.earlier_in_session(&max, &item).await.expect("a list").is_empty());
        assert!(desk.engine.alike(&max, last).await.expect("a list").is_empty());
        let olga = desk.visitor(&desk.olga).await;
        let seen = desk.engine.alike(&olga, last).await.expect("a list");
        assert_eq!(seen[0].title, seen[0].action_title);
        let _ = later;
    }
}

on_both! {
    /// Across nodes too: what another process does is told here.
    async fn a_view_tells_which_calls_changed_and_how_many_wait(desk: Desk) {
        desk.reload_with(MORE);
        let first = note(&desk, "1").await;
        let ann = desk.visitor(&desk.ann).await;
        desk.engine.place_events().await.expect("storage");
        let after = Some(desk.engine.last_event().await.expect("storage"));
        let missed = mail(&desk).await;
        let mut live = desk.engine.live(&ann, after).await.expect("a view");
        assert_eq!(next(&mut live).await, (vec![missed], 2), "from behind the page on");
        let other = desk.second_node().await;
        other.decide(&desk.decider(&desk.ann).await, first, desk::decline("no")).await.expect("declined");
        assert_eq!(next(&mut live).await, (vec![first], 1));
        // Nobody else's.
        let max = desk.visitor(&desk.max).await;
        let mut his = desk.engine.live(&max, after).await.expect("a view");
        assert_eq!(next(&mut his).await, (vec![], 0));
        let read = desk.held(arrival(desk.actor(&desk.careful).await, "note", json!({ "text": "2" }))).await;
        assert_eq!(next(&mut live).await, (vec![read], 2));
        // What he is told of next is his to decide: none of the others.
        let asked = desk.held(desk.careful("for_max", json!({ "text": "3" })).await).await;
        assert_eq!(next(&mut his).await, (vec![asked], 1));
    }
}

on_both! {
    /// The page of the journal shows what is new; of nobody else's calls is told which.
    async fn an_operators_view_tells_that_the_journal_grows(desk: Desk) {
        let olga = desk.visitor(&desk.olga).await;
        let mut live = desk.engine.live(&olga, None).await.expect("a view");
        let change = live.next().await.expect("storage").expect("it goes on");
        assert!(!change.journal, "{change:?}");
        note(&desk, "1").await;
        let change = live.next().await.expect("storage").expect("it goes on");
        assert_eq!((change.calls, change.all, change.journal, change.waiting), (vec![], false, true, 0));
        let ann = desk.visitor(&desk.ann).await;
        let mut hers = desk.engine.live(&ann, None).await.expect("a view");
        next(&mut hers).await;
        note(&desk, "2").await;
        assert!(!hers.next().await.expect("storage").expect("it goes on").journal);
    }
}

on_both! {
    async fn a_view_goes_on_where_it_was_left(desk: Desk) {
        let ann = desk.visitor(&desk.ann).await;
        // A page made before anything happened misses nothing either.
        let before = desk.engine.last_event().await.expect("storage");
        let mut live = desk.engine.live(&ann, None).await.expect("a view");
        assert_eq!(next(&mut live).await, (vec![], 0), "the first look tells the count");
        let one = note(&desk, "1").await;
        let change = live.next().await.expect("storage").expect("it goes on");
        assert_eq!(change.calls, [one]);
        drop(live);
        let two = note(&desk, "2").await;
        let mut live = desk.engine.live(&ann, change.last).await.expect("a view");
        assert_eq!(next(&mut live).await, (vec![two], 2));
        let mut live = desk.engine.live(&ann, Some(before)).await.expect("a view");
        assert_eq!(next(&mut live).await, (vec![one, two], 2));
    }
}

/// So many events of a call, behind the desk's back.
async fn flood(desk: &Desk, call: CallId, count: i64) {
    let numbers =
        format!("WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < {count})");
    let id = "'evt_01h455vb4pex5vsknk084s' || SUBSTR(CAST(10000 + n AS TEXT), 2)";
    for sql in [
        format!(
            "{numbers} INSERT INTO events (id, at, type, call_id, action, surface, status) \
             SELECT {id}, n, 'action.held', '{call}', 'note', 'api', 'held' FROM k"
        ),
        format!("{numbers} INSERT INTO events_unplaced (event_id) SELECT {id} FROM k"),
    ] {
        desk.database.run(&sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
}

on_both! {
    /// Whoever was away, or has not read on, for long is told that anything may have changed.
    async fn a_view_that_is_far_behind_tells_that_all_may_have_changed(desk: Desk) {
        let ann = desk.visitor(&desk.ann).await;
        let one = note(&desk, "1").await;
        let mut live = desk.engine.live(&ann, None).await.expect("a view");
        let mut left = desk.engine.live(&ann, None).await.expect("a view");
        next(&mut live).await;
        let before = desk.engine.last_event().await.expect("storage");
        flood(&desk, one, 1_001).await;
        let change = live.next().await.expect("storage").expect("it goes on");
        assert_eq!((change.calls.as_slice(), change.all, change.waiting), (&[][..], true, 1));
        assert_eq!(change.last, Some(desk.engine.last_event().await.expect("storage")));
        let first = left.next().await.expect("storage").expect("it goes on");
        assert_eq!((first.calls.as_slice(), first.all), (&[][..], true), "a first look too");
        let mut again = desk.engine.live(&ann, Some(before)).await.expect("a view");
        let first = again.next().await.expect("storage").expect("it goes on");
        assert_eq!((first.calls, first.all, first.last), (vec![], true, change.last));
        // Then each is told again, here and to whoever comes back.
        let two = note(&desk, "2").await;
        let mut back = desk.engine.live(&ann, change.last).await.expect("a view");
        for view in [&mut live, &mut again, &mut back] {
            let change = view.next().await.expect("storage").expect("it goes on");
            assert_eq!((change.calls, change.all, change.waiting), (vec![two], false, 2));
        }
    }
}

on_both! {
    async fn many_events_of_few_calls_are_told_call_by_call(desk: Desk) {
        let ann = desk.visitor(&desk.ann).await;
        let one = note(&desk, "1").await;
        let mut live = desk.engine.live(&ann, None).await.expect("a view");
        next(&mut live).await;
        flood(&desk, one, 1_000).await;
        let change = live.next().await.expect("storage").expect("it goes on");
        assert_eq!((change.calls, change.all), (vec![one], false));
    }
}

on_both! {
    /// The navigation shows "99+"; the list has them all.
    async fn what_waits_is_counted_to_a_hundred(desk: Desk) {
        let ann = desk.visitor(&desk.ann).await;
        for turn in 0..99 {
            note(&desk, &format!("{turn}")).await;
        }
        assert_eq!(desk.engine.inbox_count(&ann).await, Ok(99));
        for turn in 99..103 {
            note(&desk, &format!("{turn}")).await;
        }
        assert_eq!(desk.engine.inbox_count(&ann).await, Ok(100));
        let mut live = desk.engine.live(&ann, None).await.expect("a view");
        assert_eq!(next(&mut live).await.1, 100);
        assert_eq!(listed(&desk, &InboxFilter::default(), 500).await[0].len(), 103);
        // Those in doubt count on, not above.
        let of = |most: u32| format!("UPDATE calls SET state = 'in_doubt' WHERE id IN (SELECT id FROM calls ORDER BY id LIMIT {most})");
        desk.database.run(&of(50)).await.expect("in doubt");
        assert_eq!(desk.engine.inbox_count(&ann).await, Ok(100));
        desk.database.run("DELETE FROM call_approvers WHERE call_id IN (SELECT id FROM calls WHERE state = 'held' ORDER BY id LIMIT 10)").await.expect("nobody's");
        assert_eq!(desk.engine.inbox_count(&ann).await, Ok(93));
    }
}

on_both! {
    async fn a_view_ends_with_its_person_and_with_the_process(desk: Desk) {
        let max = desk.visitor(&desk.max).await;
        let mut live = desk.engine.live(&max, None).await.expect("a view");
        next(&mut live).await;
        desk.database.run(&format!("UPDATE persons SET disabled_at = 1 WHERE id = '{}'", desk.max.id)).await.expect("disabled");
        let end = tokio::time::timeout(PATIENCE, live.next()).await.expect("it ends");
        assert_eq!(end, Ok(None));
        let mut live = desk.engine.live(&desk.visitor(&desk.ann).await, None).await.expect("a view");
        next(&mut live).await;
        let waiting = tokio::spawn(async move { live.next().await });
        desk.engine.stop_waiting();
        assert_eq!(tokio::time::timeout(PATIENCE, waiting).await.expect("it ends").expect("no panic"), Ok(None));
    }
}

on_both! {
    async fn one_person_has_so_many_views_and_no_more(desk: Desk) {
        let ann = desk.visitor(&desk.ann).await;
        let mut views = Vec::new();
        for _ in 0..8 {
            views.push(desk.engine.live(&ann, None).await.expect("a view"));
        }
        assert_eq!(desk.engine.live(&ann, None).await.err(), Some(Refusal::RateLimited { retry_after: 30 }));
        assert!(desk.engine.live(&desk.visitor(&desk.max).await, None).await.is_ok(), "others are not kept out");
        drop(views.pop());
        assert!(desk.engine.live(&ann, None).await.is_ok());
    }
}
