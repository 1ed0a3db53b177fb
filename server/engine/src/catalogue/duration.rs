//! Lengths of time and sizes as the catalogue writes them.

use std::time::Duration;

use super::document::{Kind, Node, Section};
use super::mistake::{Notes, Wrong};

const DURATION: &str = "a number of seconds, or a string such as \"5s\", \"10m\", \"24h\" or \"30d\"";
const SIZE: &str = "a number of bytes, or a string such as \"64 KiB\" or \"1 MiB\"";

/// A hundred years: nothing waits longer, and sums stay far from overflow.
const LONGEST: u64 = 100 * 366 * 86_400;

impl Section<'_> {
    /// A length of time, or its default.
    pub(super) fn duration(&self, key: &str, default: Duration) -> Duration {
        self.get(key).and_then(|node| duration(node, key, self.notes)).unwrap_or(default)
    }

    /// A number of bytes, or its default.
    pub(super) fn size(&self, key: &str, default: usize) -> usize {
        self.get(key).and_then(|node| size(node, key, self.notes)).unwrap_or(default)
    }
}

fn duration(node: &Node, key: &str, notes: &Notes<'_>) -> Option<Duration> {
    let seconds = match &node.kind {
        Kind::Number(number) => number.as_u64(),
        Kind::Text(text) => seconds(text),
        _ => None,
    };
    let seconds = seconds.filter(|seconds| *seconds <= LONGEST);
    if seconds.is_none() {
        notes.add(&node.span, Wrong::new(format!("“{key}” is no length of time")).expected(DURATION));
    }
    seconds.map(Duration::from_secs)
}

fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let unit: u64 = match text[split..].trim_start() {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    text[..split].parse::<u64>().ok()?.checked_mul(unit)
}

fn size(node: &Node, key: &str, notes: &Notes<'_>) -> Option<usize> {
    let bytes = match &node.kind {
        Kind::Number(number) => number.as_u64(),
        Kind::Text(text) => bytes(text),
        _ => None,
    };
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
    if bytes.is_none() {
        notes.add(&node.span, Wrong::new(format!("“{key}” is no size")).expected(SIZE));
    }
    bytes
}

fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let unit: u64 = match text[split..].trim_start() {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    text[..split].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_and_sizes() {
        assert_eq!(seconds("5s"), Some(5));
        assert_eq!(seconds("10 m"), Some(600));
        assert_eq!(seconds("30d"), Some(2_592_000));
        for wrong in ["", "s", "5", "5w", "-5s", "1.5h", "99999999999999999999d"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        assert_eq!(bytes("64 KiB"), Some(65_536));
        assert_eq!(bytes("64kb"), None);
    }
}
