//! What is true of an export: each line is looked at once, and nothing of it is kept.

mod order;
mod report;
mod roots;

use std::io::{self, BufRead};

use ct_merkle::{HashableLeaf, InclusionProof};
use serde::Deserialize;
use sha2::Sha256;
use sha2::digest::Update;

use self::order::Order;
pub use self::report::{Finding, Report, Word};
use self::roots::Roots;
use crate::checkpoint::Checkpoint;
use crate::export::{Extent, Header, Line, VERSION};
use crate::hash::Hash;
use crate::leaf::{self, Salt};
use crate::note::VerifierKey;
use crate::tree;

/// The longest line that is read, in bytes: far longer than any receipt.
const LONGEST: u64 = 16 << 20;

/// The file could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum NoExport {
    /// It could not be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It is something else.
    #[error("this is no export with proofs: its first line is not the header of one")]
    NoHeader,
    /// Another version wrote it.
    #[error("the export has version {0}; this program reads version 1")]
    OtherVersion(u64),
    /// What was asked for cannot be told of it.
    #[error(
        "the export has no proof for the checkpoint of {0} leaves: export again with `--checkpoint` and that checkpoint"
    )]
    NoProof(u64),
}

/// Judges an export by a key and the checkpoints that somebody kept, as notes; it has two of its own.
///
/// Nothing in the file is taken on trust but what the signatures cover.
///
/// # Errors
/// When there is nothing to be judged; whatever is wrong with an export is in the report.
pub fn verify(mut file: impl BufRead, key: &VerifierKey, kept: &[String]) -> Result<Report, NoExport> {
    let mut buffer = Vec::new();
    read_line(&mut file, &mut buffer)?;
    let header: Header = serde_json::from_slice(&buffer).map_err(|_| NoExport::NoHeader)?;
    if header.countersign_ledger != VERSION {
        return Err(NoExport::OtherVersion(header.countersign_ledger));
    }
    let mut report = Report::new(header.extent == Extent::Whole);
    let Some(heads) = heads(&header, key, kept, &mut report) else { return Ok(report) };
    let mut lines = Lines::new(heads, header.extent);
    if header.extent == Extent::Selection {
        lines.roots.prove(&header.consistency, &mut report)?;
    }
    while read_line(&mut file, &mut buffer)? {
        lines.take(&buffer, &mut report);
    }
    lines.end(&header, &mut report);
    Ok(report)
}

/// The next line, without its end. `false`: there is none.
fn read_line(file: &mut impl BufRead, buffer: &mut Vec<u8>) -> io::Result<bool> {
    buffer.clear();
    let count = io::Read::take(&mut *file, LONGEST).read_until(b'\n', buffer)?;
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
    }
    Ok(count > 0)
}

/// The heads that the key signed: those that were kept, and those of the file. `None`: there is none to judge by.
fn heads(header: &Header, key: &VerifierKey, kept: &[String], report: &mut Report) -> Option<Roots> {
    if header.key != key.to_string() {
        let what = "The export names another key than the one that was given.";
        report.find(Word::BadSignature, None, what.to_owned());
    }
    let own = header.old.iter().map(|note| (note, "The older checkpoint of the export"));
    let kept = kept.iter().map(|note| (note, "A checkpoint that was given"));
    let mut roots = Roots::default();
    for (note, whose) in kept.chain(own) {
        match Checkpoint::open(note, key) {
            Ok(checkpoint) => roots.add(&checkpoint, report),
            Err(error) => {
                report.find(Word::BadSignature, None, format!("{whose} cannot be trusted: {error}."));
            }
        }
    }
    match Checkpoint::open(&header.new, key) {
        Ok(checkpoint) => {
            roots.add(&checkpoint, report);
            roots.reaches((checkpoint.size, checkpoint.root));
            Some(roots)
        }
        Err(error) => {
            let what = format!(
                "The checkpoint of the export cannot be trusted: {error}. Its leaves were not looked at."
            );
            report.find(Word::BadSignature, None, what);
            None
        }
    }
}

/// The lines as they come.
struct Lines {
    roots: Roots,
    extent: Extent,
    order: Order,
    count: u64,
}

/// What a record says of itself.
#[derive(Deserialize)]
struct Said {
    index: u64,
}

/// A leaf that is known by its content, for the check of a proof.
struct Content<'c>(&'c Salt, &'c [u8]);

impl HashableLeaf for Content<'_> {
    fn hash<H: Update>(&self, hasher: &mut H) {
        hasher.update(self.0);
        hasher.update(self.1);
    }
}

impl Lines {
    fn new(roots: Roots, extent: Extent) -> Self {
        let order = Order::new(extent == Extent::Whole);
        Self { roots, extent, order, count: 0 }
    }

    /// Looks at a line.
    fn take(&mut self, text: &[u8], report: &mut Report) {
        let expected = self.order.expected();
        self.count += 1;
        let Ok(line) = serde_json::from_slice::<Line<'_>>(text) else {
            let what = format!("Line {} of the file is no leaf.", self.count + 1);
            report.find(Word::Altered, Some(expected), what);
            self.order.lose();
            return;
        };
        let index = self.content(&line, report);
        if index >= self.roots.size() {
            let what = "The newest checkpoint of the export does not cover it.".to_owned();
            return report.find(Word::Altered, Some(index), what);
        }
        let is_next = self.order.take(index, report);
        if is_next && self.extent == Extent::Whole && self.order.is_unbroken() {
            self.roots.push(line.leaf);
        }
    }

    /// Looks at what stands in a line: the index that its record committed to, or else that of the line.
    fn content(&self, line: &Line<'_>, report: &mut Report) -> u64 {
        let Some(record) = line.record else {
            self.without_record(line, report);
            return line.index;
        };
        let salt = line.salt.as_deref().and_then(leaf::read);
        let content = salt.and_then(|salt| self.committed(line, salt, record.get()));
        let Some(said) = content else {
            report.find(
                Word::Altered,
                Some(line.index),
                "Its record is not what the ledger committed to.".to_owned(),
            );
            return line.index;
        };
        report.records += 1;
        if said != line.index {
            let what = format!("It stands in the place of leaf {}.", line.index);
            report.find(Word::Reordered, Some(said), what);
        }
        said
    }

    /// The index that the record committed to; `None`: the leaf is another, or is not in the tree.
    fn committed(&self, line: &Line<'_>, salt: Salt, record: &str) -> Option<u64> {
        // Written as it was hashed, or at least saying the same.
        let again;
        let record = if leaf::hash(&salt, record.as_bytes()) == line.leaf {
            record
        } else {
            again = leaf::canonical(&serde_json::from_str(record).ok()?)?;
            (leaf::hash(&salt, again.as_bytes()) == line.leaf).then_some(again.as_str())?
        };
        let said = serde_json::from_str::<Said>(record).ok()?;
        let is_in = self.extent == Extent::Whole || {
            let digests: Vec<_> = line.proof.as_ref()?.iter().map(|hash| hash.0.into()).collect();
            let proof = InclusionProof::<Sha256>::from_digests(&digests);
            tree::head(self.roots.reach())
                .verify_inclusion(&Content(&salt, record.as_bytes()), said.index, &proof)
                .is_ok()
        };
        is_in.then_some(said.index)
    }

    fn without_record(&self, line: &Line<'_>, report: &mut Report) {
        match (&line.salt, self.extent) {
            (None, Extent::Whole) => report.forgotten(),
            (Some(_), Extent::Whole) => {
                let what = "Its record is gone, and not by retention: its salt is still there.".to_owned();
                report.find(Word::Missing, Some(line.index), what);
            }
            (_, Extent::Selection) => {
                report.find(Word::Missing, Some(line.index), "It has no record.".to_owned());
            }
        }
    }

    /// Looks at what did not come.
    fn end(self, header: &Header, report: &mut Report) {
        report.leaves = self.count;
        report.size = self.roots.size();
        if self.extent == Extent::Selection {
            if self.count < header.lines {
                let what =
                    format!("The export has {} leaves and says that it has {}.", self.count, header.lines);
                report.find(Word::Missing, None, what);
            }
            if self.count > header.lines {
                let what =
                    format!("The export has {} leaves and says that it has {}.", self.count, header.lines);
                report.find(Word::Altered, None, what);
            }
            return self.roots.end_selection(report);
        }
        let is_unbroken = self.order.is_unbroken();
        self.order.end(self.roots.size(), report);
        if is_unbroken {
            self.roots.end(report);
        }
    }
}

/// The head of so many leaves.
pub(crate) type Head = (u64, Hash);
