//! Whatever is called, and whenever a process dies: each key is written upstream at most once, and nothing that was
//! taken on is lost.

mod desk;

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use desk::{Behaviour, Desk, keyed};
use engine::{Arrival, Engine};
use model::{Answer, CallId, CallStatus, Refusal, Surface};
use serde_json::json;

/// How many keys the calls of one run use. Fewer than calls, so that many are repeats.
const KEYS: u64 = 12;

/// How many processes one after the other serve one run.
const LIVES: u64 = 4;

/// A small generator (xorshift64), so that a failed run can be run again by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A process that can die at any moment: everything of it lives in a runtime of its own.
struct Node {
    engine: Engine,
    runtime: tokio::runtime::Runtime,
}

impl Node {
    async fn start(desk: &Desk) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let engine = runtime.spawn(desk.node()).await.expect("a node");
        let working = engine.clone();
        runtime.spawn(async move {
            let _jobs = working.start_jobs();
            std::future::pending::<()>().await;
        });
        Self { engine, runtime }
    }

    /// What is under way is dropped wherever it waits.
    fn die(self) {
        self.runtime.shutdown_background();
    }
}

/// A read or a keyed write, through the API or the queue.
async fn random_call(desk: &Desk, dice: &mut Dice) -> Arrival {
    let surface = if dice.below(3) == 0 { Surface::Api } else { Surface::Queue };
    if dice.below(6) == 0 {
        return Arrival { surface, ..desk.quick("read_quota", json!({})).await };
    }
    let key = format!("key-{}", dice.below(KEYS));
    let call = keyed(desk.quick("note", json!({ "text": key })).await, &key);
    Arrival { surface, ..call }
}

/// Calls, each in a task of the node, and dies after some of them. Gives the calls that were taken on.
async fn one_life(desk: &Desk, dice: &mut Dice) -> Vec<CallId> {
    desk.upstream.behave(match dice.below(3) {
        0 => Behaviour::Wait,
        1 => Behaviour::Cut,
        _ => Behaviour::Answer(200, r#"{"id":"n"}"#.to_owned()),
    });
    let node = Node::start(desk).await;
    let (told, mut taken) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..20 {
        let (engine, arrival, told) = (node.engine.clone(), random_call(desk, dice).await, told.clone());
        node.runtime.spawn(async move { told.send(engine.call(arrival, None).await) });
    }
    drop(told);
    let mut queued = Vec::new();
    for _ in 0..dice.below(20) {
        match tokio::time::timeout(Duration::from_millis(500), taken.recv()).await {
            Ok(Some(answer)) => queued.extend(call_taken_on(&answer)),
            _ => break,
        }
    }
    node.die();
    // What was answered before the end counts, and a call whose answer was lost does not.
    while let Some(answer) = taken.recv().await {
        queued.extend(call_taken_on(&answer));
    }
    desk.upstream.release();
    queued
}

fn call_taken_on(answer: &Result<Answer, Refusal>) -> Option<CallId> {
    match answer {
        Ok(Answer::Waiting(waiting)) => Some(waiting.call_id),
        _ => None,
    }
}

/// The last process lives until everything has ended.
async fn last_life(desk: &Desk, queued: &[CallId]) {
    desk.upstream.behave(Behaviour::Answer(200, r#"{"id":"n"}"#.to_owned()));
    desk.pass(60);
    let node = Node::start(desk).await;
    let actor = desk.actor(&desk.quick).await;
    for id in queued {
        let call =
            node.engine.call_status(&actor, *id, Some(Duration::from_secs(30))).await.expect("a status");
        let ends = [CallStatus::Done, CallStatus::Failed, CallStatus::InDoubt];
        assert!(ends.contains(&call.status), "{call:?}");
    }
    let open = "SELECT COUNT(*) FROM calls WHERE state NOT IN ('done', 'failed', 'in_doubt')";
    for _ in 0..600 {
        if desk.database.count(open).await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(desk.database.count(open).await, 0, "something never ends");
    node.die();
}

fn writes_by_key(desk: &Desk) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for seen in desk.upstream.writes() {
        let key = seen.head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("idempotency-key").then(|| value.to_owned())
        });
        *counts.entry(key.expect("every write has its key")).or_insert(0) += 1;
    }
    counts
}

async fn many_lives(desk: &Desk, seed: u64) {
    let mut dice = Dice(seed);
    let mut queued = HashSet::new();
    for _ in 0..LIVES {
        queued.extend(one_life(desk, &mut dice).await);
        // So that some of what the dead left is found in doubt by the next.
        if dice.below(2) == 0 {
            desk.pass(60);
        }
    }
    last_life(desk, &queued.into_iter().collect::<Vec<_>>()).await;
    let counts = writes_by_key(desk);
    assert!(counts.values().all(|count| *count == 1), "seed {seed}: {counts:?}");
    let twice = "SELECT COUNT(*) FROM (SELECT call_id FROM events WHERE type LIKE 'action.%' \
                 AND type NOT IN ('action.replayed', 'action.in_doubt') GROUP BY call_id HAVING COUNT(*) > 1) AS t";
    assert_eq!(desk.database.count(twice).await, 0, "seed {seed}: two endings");
    let receipts = "SELECT COUNT(*) FROM calls WHERE effect = 'write' AND state IN ('done', 'in_doubt') AND receipt_id IS NULL";
    assert_eq!(desk.database.count(receipts).await, 0, "seed {seed}: a write without a receipt");
}

on_both! {
    async fn each_key_is_written_at_most_once(desk: Desk) {
        many_lives(&desk, 0x5eed_0001).await;
    }
}

on_both! {
    async fn each_key_is_written_at_most_once_again(desk: Desk) {
        many_lives(&desk, 0xdead_beef_0002).await;
    }
}
