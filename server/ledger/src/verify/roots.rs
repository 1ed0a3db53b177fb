//! The heads that are signed, against the tree that the leaves come to.

use std::collections::BTreeMap;

use super::{Head, NoExport, Report, Word};
use crate::checkpoint::Checkpoint;
use crate::export::Consistency;
use crate::hash::Hash;
use crate::tree::{Frontier, is_consistent};

/// The heads that are signed, by how many leaves each covers.
#[derive(Default)]
pub(super) struct Roots {
    signed: BTreeMap<u64, Hash>,
    reach: Option<Head>,
    tree: Frontier,
    /// Of each head that was passed, whether the tree came to it.
    passed: BTreeMap<u64, bool>,
}

impl Roots {
    /// A head that is signed.
    pub(super) fn add(&mut self, checkpoint: &Checkpoint, report: &mut Report) {
        let before = self.signed.insert(checkpoint.size, checkpoint.root);
        if before.is_some_and(|root| root != checkpoint.root) {
            let what = format!("Two different trees of {} leaves are signed.", checkpoint.size);
            report.find(Word::Forked, None, what);
        }
        self.look();
    }

    /// This is the head that the export is proven against.
    pub(super) fn reaches(&mut self, head: Head) {
        self.reach = Some(head);
    }

    pub(super) fn reach(&self) -> Head {
        self.reach.unwrap_or_else(|| (0, Hash::of_nothing()))
    }

    /// How many leaves the export is of.
    pub(super) fn size(&self) -> u64 {
        self.reach().0
    }

    /// The next leaf of the tree.
    pub(super) fn push(&mut self, leaf: Hash) {
        self.tree.push(leaf);
        self.look();
    }

    fn look(&mut self) {
        if let Some(root) = self.signed.get(&self.tree.size()) {
            self.passed.insert(self.tree.size(), self.tree.root() == *root);
        }
    }

    /// Compares every head with the tree that was built of all leaves.
    pub(super) fn end(self, report: &mut Report) {
        report.confirmed = self.passed.iter().filter(|(_, fits)| **fits).map(|(size, _)| *size).collect();
        self.beyond(report);
        let last = report.confirmed.last().copied();
        let Some((&size, _)) = self.passed.iter().find(|(_, fits)| !**fits) else { return };
        if last.is_some_and(|last| last > size) {
            let what = format!("The tree of {size} leaves that is signed is not the one that later went on.");
            return report.find(Word::Forked, None, what);
        }
        let what = match last {
            Some(0) | None => {
                format!("Among the first {size} leaves are others than those that were signed.")
            }
            Some(last) => {
                format!(
                    "Among the leaves from {last} to {} are others than those that were signed.",
                    size - 1
                )
            }
        };
        report.find(Word::Altered, None, what);
    }

    /// A head that covers more leaves than the export has.
    fn beyond(&self, report: &mut Report) {
        if let Some((size, _)) = self.signed.range(self.size() + 1..).next_back() {
            let what =
                format!("A signed tree has {size} leaves, and the export ends before leaf {}.", self.size());
            report.find(Word::Missing, None, what);
        }
    }

    /// Proves that every older head went on as the one that a selection is proven against.
    pub(super) fn prove(&mut self, proofs: &[Consistency], report: &mut Report) -> Result<(), NoExport> {
        let new = self.reach();
        for (&size, &root) in self.signed.range(..=new.0) {
            let known = proofs.iter().find(|known| known.size == size);
            let proof = match known {
                Some(known) => known.proof.as_slice(),
                None if size == 0 || size == new.0 => &[],
                None => return Err(NoExport::NoProof(size)),
            };
            let fits = is_consistent((size, root), new, proof);
            self.passed.insert(size, fits);
            if !fits {
                let what = format!(
                    "The tree of {size} leaves that is signed is not shown to have gone on as the newer one."
                );
                report.find(Word::Forked, None, what);
            }
        }
        Ok(())
    }

    pub(super) fn end_selection(self, report: &mut Report) {
        report.confirmed = self.passed.iter().filter(|(_, fits)| **fits).map(|(size, _)| *size).collect();
        self.beyond(report);
    }
}
