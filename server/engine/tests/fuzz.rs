//! The entry points of `fuzz/` over the corpora that are kept there, and over those with bytes turned, cut and put together.
//!
//! A run has a fixed number of cases from a fixed seed; `FUZZ_SECONDS=600` goes on for so long.

#[path = "../../../fuzz/src/entries.rs"]
#[allow(unreachable_pub, reason = "they are the library of the workspace in `fuzz/`")]
mod entries;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// The longest input.
const LONGEST: usize = 4_096;

/// What is kept for a target, in the order of its names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a corpus").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("a file")).collect()
}

/// Runs a target over its corpus and so many cases made of it.
fn run(target: &str, usual: u32, entry: fn(&[u8])) {
    let kept = corpus(target);
    assert!(kept.len() >= 8, "the corpus of {target} is lost");
    for data in &kept {
        entry(data);
    }
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut rng = match until {
        Some(_) => TestRng::from_seed(RngAlgorithm::XorShift, &seed()),
        None => TestRng::deterministic_rng(RngAlgorithm::XorShift),
    };
    let mut cases = 0;
    while until.map_or(cases < usual, |until| Instant::now() < until) {
        let mut data = kept[below(&mut rng, kept.len())].clone();
        for _ in 0..=below(&mut rng, 4) {
            turn(&mut data, &kept, &mut rng);
        }
        data.truncate(LONGEST);
        let shown = String::from_utf8_lossy(&data).into_owned();
        let found = std::panic::catch_unwind(|| entry(&data));
        assert!(found.is_ok(), "{target} breaks its promise for {shown:?}, bytes {data:?}");
        cases += 1;
    }
}

fn seed() -> [u8; 16] {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_nanos();
    now.to_le_bytes()
}

fn below(rng: &mut TestRng, end: usize) -> usize {
    rng.next_u32() as usize % end.max(1)
}

/// One thing that is done to an input.
fn turn(data: &mut Vec<u8>, kept: &[Vec<u8>], rng: &mut TestRng) {
    const PIECES: [&str; 16] = [
        "%2f",
        "%2e%2e",
        "..",
        "\\",
        "@",
        "\u{202e}",
        "\u{200b}",
        "\u{0}",
        "{{",
        "}}",
        "\"",
        "[::ffff:127.0.0.1]",
        "0x7f.1",
        "\n",
        "💥",
        "9999999999999999999",
    ];
    let at = below(rng, data.len() + 1);
    let length = below(rng, 16.min(data.len() - at) + 1);
    match below(rng, 6) {
        0 if at < data.len() => data[at] ^= 1 << below(rng, 8),
        1 => drop(data.drain(at..at + length)),
        2 => drop(data.splice(at..at, PIECES[below(rng, PIECES.len())].bytes())),
        3 => {
            let again = data[at..at + length].to_vec();
            drop(data.splice(at..at, again));
        }
        4 => {
            let other = &kept[below(rng, kept.len())];
            let from = below(rng, other.len() + 1);
            data.truncate(at);
            data.extend_from_slice(&other[from..]);
        }
        _ => data.truncate(at),
    }
}

#[test]
fn the_address_filter_lets_nothing_into_the_house() {
    run("address", 5_000, entries::address);
}

#[test]
fn the_key_parser_takes_whole_keys_alone() {
    run("key", 5_000, entries::key);
}

#[test]
fn the_catalogue_says_what_is_wrong_and_where() {
    run("catalogue", 250, entries::catalogue);
}

#[test]
fn previews_show_what_is_sent() {
    run("preview", 2_000, entries::preview);
}
