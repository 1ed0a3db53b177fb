//! What a held call costs, in durable commits: one writer that commits single rows is the yardstick, on the same disk
//! and the same database, in the same run.
//!
//! `cargo bench -p server --bench hold [-- ROUNDS]`, on SQLite, and on the PostgreSQL of `TEST_DATABASE_URL` when that
//! is set and keeps what it acknowledges (`fsync = on`). The last line is JSON; times are in microseconds.
//!
//! Alone: a hold, then a person's Confirm until it is sent and recorded, one after the other, in turns with a commit and
//! with the same request straight to the service. In parallel: so many agents, each of which calls and waits for the
//! end, and one person who confirms whatever the inbox lists.

#[allow(dead_code, unused_imports, reason = "each benchmark uses its own part")]
mod support;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{Mutex, Semaphore};

use self::support::{Bearer, Desk, Spread, Yardstick, database, upstream};

/// Rounds that are not counted: connections, caches, the first pages of the database.
const WARM_UP: usize = 20;

/// Agents in parallel, and how long they are measured.
const AGENTS: usize = 64;
const MEASURED: Duration = Duration::from_secs(10);

/// How many durable commits each part has; the mark for the second is three.
const COMMITS_OF_HOLD: u64 = 1;
const COMMITS_OF_DECIDE: u64 = 3;

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    sqlx::any::install_default_drivers();
    let rounds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(200);
    let mut found = vec![on_sqlite(rounds).await];
    match std::env::var("TEST_DATABASE_URL") {
        Ok(server) if database::is_durable(&server).await => found.push(on_postgres(&server, rounds).await),
        Ok(_) => println!("\nnot on PostgreSQL: the server of TEST_DATABASE_URL runs with fsync=off"),
        Err(_) => println!("\nnot on PostgreSQL: TEST_DATABASE_URL is not set"),
    }
    println!("{}", json!({ "bench": "hold", "rounds": rounds, "agents": AGENTS, "databases": found }));
}

async fn on_sqlite(rounds: usize) -> Value {
    let service = upstream().await;
    let desk = Desk::start(service);
    let yardstick = Yardstick::sqlite(desk.folder()).await;
    measure("sqlite", &desk, Bearer::new(service, "none").await, yardstick, rounds).await
}

async fn on_postgres(server: &str, rounds: usize) -> Value {
    let service = upstream().await;
    let desk = Desk::start_on(Some(database::create(server, "desk").await), service);
    let yardstick = Yardstick::postgres(server).await;
    let found = measure("postgres", &desk, Bearer::new(service, "none").await, yardstick, rounds).await;
    drop(desk);
    database::remove(server, "desk").await;
    database::remove(server, "yardstick").await;
    found
}

async fn measure(name: &str, desk: &Desk, service: Bearer, mut yardstick: Yardstick, rounds: usize) -> Value {
    let keys = desk.agents(AGENTS);
    println!("\n{name}");
    let alone = alone(desk, &keys[0], service, &mut yardstick, rounds).await;
    let parallel = parallel(desk, &keys, &mut yardstick).await;
    json!({ "database": name, "alone": alone, "parallel": parallel })
}

/// One call at a time.
async fn alone(
    desk: &Desk,
    key: &str,
    mut service: Bearer,
    yardstick: &mut Yardstick,
    rounds: usize,
) -> Value {
    let mut agent = Bearer::new(desk.address, key).await;
    let mut person = Bearer::new(desk.address, &desk.decider).await;
    let mut times: [Vec<Duration>; 4] = Default::default();
    for round in 0..WARM_UP + rounds {
        let input = json!({ "account": "alone", "amount": round });
        let commit = yardstick.commit().await;
        let straight = service.post("/bookings", &input, None).await;
        let answer = agent.post("/v1/actions/book", &input, None).await;
        let hold = answer.took;
        answer.expect(202);
        let waiting = person.get("/v1/approvals?limit=1").await.expect(200);
        let decided = confirm(&mut person, &waiting["items"][0], Some(30)).await;
        if round >= WARM_UP {
            for (times, took) in times.iter_mut().zip([commit, straight.took, hold, decided]) {
                times.push(took);
            }
        }
    }
    let [commit, straight, hold, decide] = times.map(Spread::of);
    println!("{rounds} calls, one at a time, in turns with a commit");
    for (name, spread) in
        [("commit", &commit), ("upstream", &straight), ("hold", &hold), ("decide, send, record", &decide)]
    {
        println!("{name:<21} median {:>7} µs   p99 {:>7} µs", spread.median, spread.p99);
    }
    let hold_adds = more(hold.median, COMMITS_OF_HOLD * commit.median);
    let decide_adds = more(decide.median, COMMITS_OF_DECIDE * commit.median + straight.median);
    println!("hold = {COMMITS_OF_HOLD} commit + {hold_adds:.2} ms (the mark is 1 commit + 2 ms)");
    println!(
        "decide, send, record = {COMMITS_OF_DECIDE} commits + upstream + {decide_adds:.2} ms (the mark is 3 commits + upstream + 2 ms)"
    );
    json!({
        "commit": commit, "upstream": straight, "hold": hold, "decide_send_record": decide,
        "hold_adds_ms": hold_adds, "decide_send_record_adds_ms": decide_adds,
    })
}

/// Confirms what the inbox shows: how long until that was answered.
async fn confirm(person: &mut Bearer, item: &Value, wait: Option<u32>) -> Duration {
    let id = item["id"].as_str().expect("an id");
    let decision = json!({ "decision": "confirm", "preview_version": item["preview"]["version"] });
    let decided = person.post(&format!("/v1/calls/{id}/decision"), &decision, wait).await;
    let took = decided.took;
    let call = decided.expect(200);
    assert!(wait.is_none() || call["status"] == "done", "{call}");
    took
}

/// Milliseconds of one time beyond another, to two digits.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a benchmark")]
fn more(time: u64, other: u64) -> f64 {
    ((time as f64 - other as f64) / 10.0).round() / 100.0
}

/// Many agents at once.
async fn parallel(desk: &Desk, keys: &[String], yardstick: &mut Yardstick) -> Value {
    let before = yardstick.a_second(MEASURED / 4).await;
    let (done, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let mut agents = Vec::new();
    for (number, key) in keys.iter().enumerate() {
        let agent = Bearer::new(desk.address, key).await;
        agents.push(tokio::spawn(work(agent, number, done.clone(), over.clone())));
    }
    let person = tokio::spawn(watch(desk.address, desk.decider.clone(), over.clone()));
    tokio::time::sleep(MEASURED / 5).await;
    let (begun, already) = (Instant::now(), done.load(Ordering::SeqCst));
    tokio::time::sleep(MEASURED).await;
    let sent = done.load(Ordering::SeqCst) - already;
    let took = begun.elapsed();
    over.store(true, Ordering::SeqCst);
    for agent in agents {
        agent.await.expect("an end");
    }
    person.abort();
    let after = yardstick.a_second(MEASURED / 4).await;
    told_of(sent, took, f64::midpoint(before, after))
}

#[expect(clippy::cast_precision_loss, reason = "a count of a benchmark")]
fn told_of(sent: u64, took: Duration, commits: f64) -> Value {
    let sends = sent as f64 / took.as_secs_f64();
    let two_digits = |number: f64| (number * 100.0).round() / 100.0;
    println!("{AGENTS} agents in parallel: {sends:.0} confirmed sends a second");
    println!("one writer alone: {commits:.0} durable single-row commits a second");
    println!("{:.2} sends for every such commit (the mark is 2)", sends / commits);
    json!({
        "sends_a_second": two_digits(sends), "commits_a_second": two_digits(commits),
        "sends_per_commit": two_digits(sends / commits),
    })
}

/// An agent: it calls, waits for the end, and calls again.
async fn work(mut agent: Bearer, number: usize, done: Arc<AtomicU64>, over: Arc<AtomicBool>) {
    let account = format!("of agent {number}");
    for amount in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let input = json!({ "account": account, "amount": amount });
        let end = agent.post("/v1/actions/book", &input, Some(60)).await.expect(200);
        assert_eq!(end["status"], "done", "{end}");
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// The person: lists the inbox again and again, and confirms what is new in it.
async fn watch(address: std::net::SocketAddr, token: String, over: Arc<AtomicBool>) {
    let mut inbox = Bearer::new(address, &token).await;
    let mut hands = Vec::new();
    for _ in 0..AGENTS {
        hands.push(Bearer::new(address, &token).await);
    }
    let (hands, free) = (Arc::new(Mutex::new(hands)), Arc::new(Semaphore::new(AGENTS)));
    let mut seen = HashSet::new();
    loop {
        let listed = inbox.get("/v1/approvals?limit=500").await.expect(200);
        let items = listed["items"].as_array().expect("a list");
        let fresh: Vec<_> =
            items.iter().filter(|item| seen.insert(item["id"].to_string())).cloned().collect();
        if fresh.is_empty() && !over.load(Ordering::SeqCst) {
            // A person's browser is told of changes; this one looks again a little later.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for item in fresh {
            let permit = free.clone().acquire_owned().await.expect("open");
            let mut hand = hands.lock().await.pop().expect("a free hand");
            let hands = hands.clone();
            tokio::spawn(async move {
                confirm(&mut hand, &item, None).await;
                hands.lock().await.push(hand);
                drop(permit);
            });
        }
    }
}
