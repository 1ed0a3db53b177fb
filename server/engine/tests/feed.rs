//! The journal as it goes on: each event once, in one order, whoever wrote it, and again from where one left off.

mod desk;

use std::collections::HashSet;
use std::time::Duration;

use desk::Desk;
use engine::{Engine, Feed};
use model::{Answer, Event, EventId, EventType};
use serde_json::json;

/// How long anything may take to arrive.
const PATIENCE: Duration = Duration::from_secs(20);

async fn note(engine: &Engine, desk: &Desk) {
    let answer = engine.call(desk.quick("note", json!({ "text": "x" })).await, None).await;
    assert!(matches!(answer, Ok(Answer::Done(_))), "{answer:?}");
}

async fn take(feed: &mut Feed, count: usize) -> Vec<Event> {
    let mut taken = Vec::new();
    while taken.len() < count {
        let more = tokio::time::timeout(PATIENCE, feed.next()).await.expect("events come").expect("storage");
        taken.extend(more.expect("it goes on"));
    }
    taken
}

fn ids(events: &[Event]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

/// Writes an event behind the desk's back; its id says that it is older than everything.
async fn write_late(desk: &Desk, id: &str) {
    let person = desk.ann.id;
    let sql = format!(
        "INSERT INTO events (id, at, type, call_id, action, surface, person_id, status) VALUES \
         ('{id}', 1, 'action.completed', 'call_01h455vb4pex5vsknk084sn02q', 'note', 'api', '{person}', 'done')"
    );
    for sql in [sql, format!("INSERT INTO events_unplaced (event_id) VALUES ('{id}')")] {
        desk.database.run(&sql).await.expect("written");
    }
}

on_both! {
    async fn comes_once_in_order_and_begins_now(desk: Desk) {
        note(&desk.engine, &desk).await;
        let mut feed = desk.engine.feed(desk.visitor(&desk.ann).await, None).await.expect("a feed");
        let other = desk.second_node().await;
        note(&desk.engine, &desk).await;
        note(&other, &desk).await;
        let events = take(&mut feed, 2).await;
        assert_eq!(events.len(), 2, "what was before is not told");
        assert!(events.iter().all(|event| event.r#type == EventType::Completed));
        assert!(events[0].at < events[1].at);
    }
}

on_both! {
    async fn an_older_id_that_comes_late_is_not_lost(desk: Desk) {
        let mut feed = desk.engine.feed(desk.visitor(&desk.ann).await, None).await.expect("a feed");
        note(&desk.engine, &desk).await;
        let first = take(&mut feed, 1).await;
        write_late(&desk, "evt_01h455vb4pex5vsknk084sn02q").await;
        // The reader left just then. It comes back with what it saw last, whose id is larger.
        drop(feed);
        let mut feed = desk.engine.feed(desk.visitor(&desk.ann).await, Some(first[0].id)).await.expect("a feed");
        let late = take(&mut feed, 1).await;
        assert_eq!(late[0].id.to_string(), "evt_01h455vb4pex5vsknk084sn02q");
        note(&desk.engine, &desk).await;
        let next = take(&mut feed, 1).await;
        assert!(next.len() == 1 && next[0].id != first[0].id, "and nothing is repeated");
        let mut again = desk.engine.feed(desk.visitor(&desk.ann).await, Some(late[0].id)).await.expect("a feed");
        assert_eq!(ids(&take(&mut again, 1).await), ids(&next), "from the late one on");
    }
}

on_both! {
    async fn readers_that_come_and_go_lose_and_repeat_nothing(desk: Desk) {
        let mut feed = desk.engine.feed(desk.visitor(&desk.ann).await, None).await.expect("a feed");
        let other = desk.second_node().await;
        let (mut seen, mut last) = (Vec::new(), None);
        for turn in 0..6 {
            let (one, two) = (desk.engine.clone(), other.clone());
            tokio::join!(note(&one, &desk), note(&two, &desk), note(&one, &desk));
            let events = take(&mut feed, 1).await;
            last = events.last().map(|event| event.id).or(last);
            seen.extend(ids(&events));
            let node = if turn % 2 == 0 { &other } else { &desk.engine };
            feed = node.feed(desk.visitor(&desk.ann).await, last).await.expect("a feed");
        }
        let rest = take(&mut feed, 18 - seen.len()).await;
        seen.extend(ids(&rest));
        assert_eq!(seen.len(), 18);
        assert_eq!(seen.iter().map(ToString::to_string).collect::<HashSet<_>>().len(), 18, "each once");
    }
}

on_both! {
    async fn tells_own_calls_and_operators_all(desk: Desk) {
        let mut own = desk.engine.feed(desk.visitor(&desk.max).await, None).await.expect("a feed");
        let mut all = desk.engine.feed(desk.visitor(&desk.olga).await, None).await.expect("a feed");
        note(&desk.engine, &desk).await;
        assert_eq!(take(&mut all, 1).await.len(), 1);
        let read = desk::arrival(engine::Actor::Person(desk.visitor(&desk.max).await), "read_quota", json!({}));
        assert!(matches!(desk.engine.call(read, None).await, Ok(Answer::Done(_))));
        let events = take(&mut own, 1).await;
        assert_eq!((events.len(), events[0].person_id), (1, Some(desk.max.id)));
    }
}

on_both! {
    async fn ends_with_the_process(desk: Desk) {
        let mut feed = desk.engine.feed(desk.visitor(&desk.ann).await, None).await.expect("a feed");
        let waiting = tokio::spawn(async move { feed.next().await });
        desk.engine.stop_waiting();
        let end = tokio::time::timeout(PATIENCE, waiting).await.expect("it ends").expect("no panic");
        assert!(matches!(end, Ok(None)), "{end:?}");
    }
}

on_both! {
    async fn ends_for_a_person_who_may_no_longer_sign_in(desk: Desk) {
        let mut feed = desk.engine.feed(desk.visitor(&desk.ann).await, None).await.expect("a feed");
        desk.database.run(&format!("UPDATE persons SET disabled_at = 1 WHERE id = '{}'", desk.ann.id)).await.expect("disabled");
        let end = tokio::time::timeout(PATIENCE, feed.next()).await.expect("it ends");
        assert!(matches!(end, Ok(None)), "{end:?}");
    }
}

on_both! {
    /// Section 4: "own calls, operators all": a reader whose own event lies behind more of others' than one look reads
    /// gets there, and hears none of theirs.
    async fn own_events_are_found_behind_many_of_others(desk: Desk) {
        let mut feed = desk.engine.feed(desk.visitor(&desk.max).await, None).await.expect("a feed");
        for _ in 0..300 {
            desk.engine.call(desk.quick("denied", json!({})).await, None).await.expect_err("denied");
        }
        let own = desk::arrival(engine::Actor::Person(desk.visitor(&desk.max).await), "denied", json!({}));
        desk.engine.call(own, None).await.expect_err("denied");
        let events = take(&mut feed, 1).await;
        assert_eq!(events.iter().map(|event| event.person_id).collect::<Vec<_>>(), [Some(desk.max.id)]);
    }
}

on_both! {
    /// Section 4, 429 `rate_limited`: one desk has so many feeds open and no more; one that ends makes room.
    async fn more_feeds_than_the_desk_has_are_refused(desk: Desk) {
        let olga = desk.visitor(&desk.olga).await;
        let mut feeds = Vec::new();
        for _ in 0..256 {
            feeds.push(desk.engine.feed(olga.clone(), None).await.expect("a feed"));
        }
        assert_eq!(desk.engine.feed(olga.clone(), None).await.err(), Some(model::Refusal::RateLimited { retry_after: 30 }));
        drop(feeds.pop());
        assert!(desk.engine.feed(olga, None).await.is_ok());
    }
}
