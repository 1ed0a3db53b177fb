//! What the desk costs a read that passes: the same request through the desk, through a plain proxy of the same stack
//! (axum in, one hyper connection of its own out) and straight to the service, taking turns in one run.
//!
//! `cargo bench -p server --bench read [-- ROUNDS]`. The last line is JSON; times are in microseconds.

#[allow(dead_code, unused_imports, reason = "each benchmark uses its own part")]
mod support;

use std::time::Duration;

use serde_json::json;

use self::support::{Client, Desk, Spread, plain_proxy, upstream};

/// Rounds that are not counted: connections, caches, the first pages of the database.
const WARM_UP: usize = 300;

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    let rounds = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(3_000);
    let service = upstream().await;
    let proxy = plain_proxy(service).await;
    let desk = Desk::start(service);
    let mut ways = [
        Client::new(service, "GET", "/quota", None).await,
        Client::new(proxy, "GET", "/quota", None).await,
        Client::new(desk.address, "POST", "/v1/actions/read_quota", Some(&desk.key)).await,
    ];
    let mut times: [Vec<Duration>; 3] = Default::default();
    for round in 0..WARM_UP + rounds {
        for (way, times) in ways.iter_mut().zip(&mut times) {
            let took = way.exchange().await;
            if round >= WARM_UP {
                times.push(took);
            }
        }
    }
    let [direct, proxy, desk] = times.map(Spread::of);
    println!("{rounds} reads each, one at a time, in turns");
    for (name, spread) in [("straight", &direct), ("plain proxy", &proxy), ("desk", &desk)] {
        println!("{name:<12} median {:>7} µs   p99 {:>7} µs", spread.median, spread.p99);
    }
    let added = desk.median.saturating_sub(proxy.median);
    println!("the desk adds {added} µs to the plain proxy at the median (the mark is 1000 µs)");
    println!(
        "{}",
        json!({
            "bench": "read", "rounds": rounds, "added_us": added,
            "ratio_to_proxy": support::ratio(desk.median, proxy.median),
            "straight": direct, "proxy": proxy, "desk": desk,
        })
    );
}
