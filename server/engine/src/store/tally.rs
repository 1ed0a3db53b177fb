//! How many journal lines were made durable by this process, by what they say.

use model::{EventType, Surface};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// What a line is counted by. Both come from closed lists, so no caller can make a label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Line {
    r#type: &'static str,
    surface: &'static str,
}

/// The lines that were counted. Cheap to clone.
pub(crate) type Tally = Family<Line, Counter>;

/// The lines of one transaction: they count when it is durable, not before.
#[derive(Debug)]
pub(super) struct Pending {
    tally: Tally,
    lines: Vec<Line>,
}

impl Pending {
    pub(super) const fn new(tally: Tally) -> Self {
        Self { tally, lines: Vec::new() }
    }

    pub(super) fn add(&mut self, r#type: EventType, surface: Surface) {
        self.lines.push(Line { r#type: r#type.as_str(), surface: surface.as_str() });
    }

    pub(super) fn count(self) {
        for line in self.lines {
            self.tally.get_or_create(&line).inc();
        }
    }
}
