//! What lists cost on a desk that has done much, beside one that has done little: every list of the Done tab and the inbox,
//! on two databases of the same make, taking turns in one run.
//!
//! `cargo bench -p engine --bench lists`, on SQLite, and on the PostgreSQL of `TEST_DATABASE_URL` when that is set. Sizes
//! come from the environment: `LISTS_SMALL` receipts (10,000) beside `LISTS_LARGE` (1,000,000), `LISTS_HELD` held calls in
//! both (10,000), `LISTS_ROUNDS` (30); `LISTS_ON=sqlite` or `postgres` leaves the other out. Ten million take about 15 GB of
//! room where temporary files are. The last line is JSON; times are in microseconds.

#[path = "lists/appending.rs"]
mod appending;
#[path = "lists/asked.rs"]
mod asked;
#[path = "lists/filled.rs"]
mod filled;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::asked::Asked;
use self::filled::Filled;

/// The mark: how many times the small one's time a list may take.
const MARK: f64 = 2.0;

#[tokio::main(flavor = "multi_thread")]
async fn main() {
    sqlx::any::install_default_drivers();
    let on = std::env::var("LISTS_ON").unwrap_or_default();
    let mut found = Vec::new();
    if on != "postgres" {
        found.push(measure("sqlite", None).await);
    }
    match std::env::var("TEST_DATABASE_URL") {
        Ok(server) if on != "sqlite" => found.push(measure("postgres", Some(&server)).await),
        Ok(_) => {}
        Err(_) => println!("\nnot on PostgreSQL: TEST_DATABASE_URL is not set"),
    }
    println!("{}", json!({ "bench": "lists", "databases": found }));
}

/// A size from the environment.
fn size(name: &str, usual: i64) -> i64 {
    std::env::var(name).ok().and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(usual)
}

async fn measure(name: &str, server: Option<&str>) -> Value {
    let (small, large) = (size("LISTS_SMALL", 10_000), size("LISTS_LARGE", 1_000_000));
    let held = size("LISTS_HELD", 10_000);
    let rounds = size("LISTS_ROUNDS", 30);
    let begun = Instant::now();
    let small = Filled::new(server, "small", small, held).await;
    let large = Filled::new(server, "large", large, held).await;
    println!(
        "\n{name}: {} and {} receipts, {held} held calls in each; filled in {} s",
        small.receipts,
        large.receipts,
        begun.elapsed().as_secs()
    );
    println!(
        "{:<36} {:>11} {:>9} {:>9} {:>7} {:>9} {:>9}",
        "list", "lines", "small µs", "large µs", "ratio", "median", "median"
    );
    let mut lists = Vec::new();
    for asked in Asked::all() {
        lists.push(compare(&asked, &small, &large, rounds).await);
    }
    // A page with fewer lines on the small desk is another page.
    let same = lists.iter().filter(|list| list["lines"][0] == list["lines"][1]);
    let worst = same.max_by(|one, other| ratio_of(one).total_cmp(&ratio_of(other))).cloned();
    if let Some(worst) = &worst {
        println!("the worst: {} with {:.2} (the mark is {MARK})", worst["list"], ratio_of(worst));
    }
    let appended =
        json!({ "small": appending::measure(&small).await, "large": appending::measure(&large).await });
    small.remove().await;
    large.remove().await;
    json!({ "database": name, "lists": lists, "worst": worst, "append_us": appended })
}

fn ratio_of(list: &Value) -> f64 {
    list["ratio"].as_f64().unwrap_or(0.0)
}

/// The same list of both, in turns.
async fn compare(asked: &Asked, small: &Filled, large: &Filled, rounds: i64) -> Value {
    let wanted = [asked.of(small), asked.of(large)];
    let (mut times, mut lines) = ([Vec::new(), Vec::new()], [0, 0]);
    for round in -3..rounds {
        for (at, (desk, wanted)) in [small, large].into_iter().zip(&wanted).enumerate() {
            let begun = Instant::now();
            lines[at] = wanted.ask(desk).await;
            if round >= 0 {
                times[at].push(begun.elapsed());
            }
        }
    }
    let [small, large] = times.map(Spread::of);
    let ratio = two_digits(large.fastest, small.fastest);
    println!(
        "{:<36} {:>5}/{:>5} {:>9} {:>9} {ratio:>7.2} {:>9} {:>9}",
        asked.name, lines[0], lines[1], small.fastest, large.fastest, small.median, large.median
    );
    json!({ "list": asked.name, "lines": lines, "small_us": small.told(), "large_us": large.told(), "ratio": ratio })
}

/// Microseconds. What is compared is the fastest tenth: another program that wants the machine makes a list slower, never faster.
struct Spread {
    fastest: u64,
    median: u64,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |index: usize| {
            times.get(index).map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
        };
        Self { fastest: at(times.len() / 10), median: at(times.len() / 2) }
    }

    fn told(&self) -> Value {
        json!({ "fastest_tenth": self.fastest, "median": self.median })
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a benchmark")]
fn two_digits(one: u64, other: u64) -> f64 {
    (one as f64 / other.max(1) as f64 * 100.0).round() / 100.0
}
