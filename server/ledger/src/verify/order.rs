//! Whether leaves come in their order, and which do not come.

use std::collections::BTreeMap;

use super::{Report, Word};

/// The order of the leaves that have come.
pub(super) struct Order {
    is_whole: bool,
    expected: u64,
    /// Leaves that were passed over: where each stretch begins, and before which index it ends.
    gaps: BTreeMap<u64, u64>,
    is_unbroken: bool,
}

impl Order {
    /// Of every leaf, or of some.
    pub(super) fn new(is_whole: bool) -> Self {
        Self { is_whole, expected: 0, gaps: BTreeMap::new(), is_unbroken: true }
    }

    /// The index that comes next when nothing is wrong.
    pub(super) fn expected(&self) -> u64 {
        self.expected
    }

    /// Whether every leaf has come so far, each in its place.
    pub(super) fn is_unbroken(&self) -> bool {
        self.is_unbroken
    }

    /// A leaf came that cannot be read. It is told already, and so does not count as one that did not come.
    pub(super) fn lose(&mut self) {
        self.is_unbroken = false;
        if self.is_whole {
            self.expected += 1;
        }
    }

    /// This leaf came. `false`: not in its place.
    pub(super) fn take(&mut self, index: u64, report: &mut Report) -> bool {
        if index >= self.expected {
            if self.is_whole && index > self.expected {
                self.gaps.insert(self.expected, index);
                self.is_unbroken = false;
            }
            self.expected = index + 1;
            return true;
        }
        let what = if !self.is_whole || self.fill(index) {
            self.is_unbroken = false;
            "It comes behind leaves that were written after it."
        } else {
            "It comes twice."
        };
        report.find(Word::Reordered, Some(index), what.to_owned());
        false
    }

    /// A leaf that had been passed over. `false`: it had not.
    fn fill(&mut self, index: u64) -> bool {
        let Some((&begin, &end)) = self.gaps.range(..=index).next_back().filter(|(_, end)| index < **end)
        else {
            return false;
        };
        self.gaps.remove(&begin);
        if begin < index {
            self.gaps.insert(begin, index);
        }
        if index + 1 < end {
            self.gaps.insert(index + 1, end);
        }
        true
    }

    /// Tells which of so many leaves never came.
    pub(super) fn end(mut self, size: u64, report: &mut Report) {
        if self.expected < size {
            self.gaps.insert(self.expected, size);
        }
        for (begin, end) in self.gaps {
            let what = match end - begin {
                1 => "It is not in the export.".to_owned(),
                more => format!("It and the {} behind it are not in the export.", more - 1),
            };
            report.find(Word::Missing, Some(begin), what);
        }
    }
}
