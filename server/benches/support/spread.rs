//! How a set of times is spread.

use std::time::Duration;

use serde::Serialize;

/// Microseconds.
#[derive(Debug, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: u64,
    pub(crate) p99: u64,
}

impl Spread {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: usize| {
            let index = (times.len() * share / 100).min(times.len().saturating_sub(1));
            times.get(index).map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
        };
        Self { median: at(50), p99: at(99) }
    }
}

/// One number for so many of the other, to two digits.
#[expect(clippy::cast_precision_loss, reason = "microseconds of a benchmark")]
pub(crate) fn ratio(one: u64, other: u64) -> f64 {
    (one as f64 / other.max(1) as f64 * 100.0).round() / 100.0
}
