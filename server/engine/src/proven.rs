//! Receipts with proofs: the leaves of the ledger, to be judged by whoever has a checkpoint, without this desk.

use std::collections::VecDeque;

use ledger::export::{Consistency, Extent, Header, Leaf, VERSION};
use ledger::leaf::{self, Kind};
use ledger::{Checkpoint, Hash, Tree};
use model::{Listing, Refusal};

use crate::checkpoint::Unsigned;
use crate::engine::Engine;
use crate::filter::{PageAsked, ReceiptFilter};
use crate::store::{LeafRow, Records, StoreError};

/// How many leaves are read at once.
const AT_ONCE: u64 = 500;

/// Why there is no export with proofs.
#[derive(Debug, thiserror::Error)]
pub enum Unproven {
    /// The ledger or its key.
    #[error(transparent)]
    Ledger(#[from] Unsigned),
    /// The receipts could not be listed.
    #[error("{}", .0.problem().detail)]
    Receipts(Refusal),
    /// Nothing has been signed yet.
    #[error("the ledger has no checkpoint yet")]
    NoCheckpoint,
    /// A checkpoint was given that is not of this ledger.
    #[error("checkpoint {0} is not one of this ledger: {1}")]
    Stranger(usize, String),
}

impl From<StoreError> for Unproven {
    fn from(error: StoreError) -> Self {
        Self::Ledger(error.into())
    }
}

/// An export with proofs while it is written.
pub struct Proven {
    header: Header,
    /// The stretches or single leaves that are to come.
    rest: VecDeque<Part>,
    tree: Option<Tree>,
}

/// Leaves that are read together.
enum Part {
    From(u64, u64),
    These(Vec<u64>),
}

impl Proven {
    /// Its first line, with its end.
    pub fn header(&self) -> String {
        self.header.line()
    }

    /// How many lines follow it.
    pub fn lines(&self) -> u64 {
        self.header.lines
    }
}

impl Engine {
    /// Begins an export of all leaves, or of those that are about the receipts that a filter shows, up to the newest
    /// checkpoint. `kept`: checkpoints that it is to be judged by; without any, the one before the newest. It is for who
    /// runs the desk: the filter's person is the only bound.
    ///
    /// # Errors
    /// When there is no checkpoint yet, or one of `kept` is not signed by this desk.
    pub async fn prove(&self, filter: Option<&ReceiptFilter>, kept: &[String]) -> Result<Proven, Unproven> {
        let key = self.ledger_signer().await?.verifier();
        let newest = self.store().last_checkpoint().await?.ok_or(Unproven::NoCheckpoint)?;
        let open = |(at, note): (usize, &String)| {
            Checkpoint::open(note, &key).map_err(|error| Unproven::Stranger(at + 1, error.to_string()))
        };
        let mut older = kept.iter().enumerate().map(open).collect::<Result<Vec<_>, _>>()?;
        let mut old = kept.first().cloned();
        if old.is_none()
            && let Some(row) = self.store().checkpoint_before(newest.size).await?
        {
            older.extend(Checkpoint::open(&row.note, &key));
            old = Some(row.note);
        }
        let mut header = Header {
            countersign_ledger: VERSION,
            extent: Extent::Whole,
            lines: newest.size,
            key: key.to_string(),
            old,
            new: newest.note,
            consistency: Vec::new(),
        };
        let Some(filter) = filter else {
            let rest = VecDeque::from([Part::From(0, newest.size)]);
            return Ok(Proven { header, rest, tree: None });
        };
        let indexes = self.leaves_shown(filter, newest.size).await?;
        let tree = self.whole_tree(newest.size).await?;
        header.extent = Extent::Selection;
        header.lines = indexes.len() as u64;
        header.consistency = older.iter().filter_map(|older| began(&tree, older.size)).collect();
        let rest = indexes.chunks(usize::try_from(AT_ONCE).unwrap_or(usize::MAX));
        let rest = rest.map(|chunk| Part::These(chunk.to_vec())).collect();
        Ok(Proven { header, rest, tree: Some(tree) })
    }

    /// The next lines of an export; `None`: it is whole.
    ///
    /// # Errors
    /// When the database does not answer: the export is not whole.
    pub async fn prove_more(&self, proven: &mut Proven) -> Result<Option<String>, Unproven> {
        let rows = match proven.rest.pop_front() {
            None => return Ok(None),
            Some(Part::These(indexes)) => self.store().leaves_at(&indexes).await?,
            Some(Part::From(from, end)) => {
                let until = end.min(from + AT_ONCE);
                if until < end {
                    proven.rest.push_front(Part::From(until, end));
                }
                self.store().leaves(from, until).await?
            }
        };
        let receipts = self.store().recorded(Kind::Receipt, &ids(&rows, Kind::Receipt)).await?;
        let amendments = self.store().recorded(Kind::Amendment, &ids(&rows, Kind::Amendment)).await?;
        let mut text = String::new();
        for row in rows {
            let records = match row.kind {
                Kind::Receipt => &receipts,
                Kind::Amendment => &amendments,
            };
            line(&row, records, proven.tree.as_ref()).write(&mut text);
        }
        Ok(Some(text))
    }

    /// The indexes of the leaves about the receipts that a filter shows, in their order.
    async fn leaves_shown(&self, filter: &ReceiptFilter, before: u64) -> Result<Vec<u64>, Unproven> {
        let (mut indexes, mut cursor) = (Vec::new(), None);
        loop {
            let page = PageAsked { limit: Some(Listing::<()>::MAX_LIMIT), cursor };
            let leaf = self.all_done(filter, &page).await.map_err(Unproven::Receipts)?;
            let receipts: Vec<_> = leaf.items.iter().map(|facts| facts.id).collect();
            indexes.extend(self.store().leaves_about(&receipts).await?);
            cursor = leaf.older;
            if cursor.is_none() {
                break;
            }
        }
        indexes.retain(|index| *index < before);
        indexes.sort_unstable();
        Ok(indexes)
    }

    /// The tree with all its nodes: 64 bytes a leaf.
    async fn whole_tree(&self, size: u64) -> Result<Tree, Unproven> {
        let mut hashes = Vec::new();
        let mut from = 0;
        while from < size {
            let until = size.min(from + 8 * AT_ONCE);
            let read = self.store().leaf_hashes(from, until).await?;
            hashes.extend(read.into_iter().map(|(_, hash)| Hash(hash)));
            from = until;
        }
        Ok(Tree::of(hashes))
    }
}

fn ids(rows: &[LeafRow], kind: Kind) -> Vec<String> {
    rows.iter().filter(|row| row.kind == kind).map(|row| row.record.clone()).collect()
}

fn began(tree: &Tree, size: u64) -> Option<Consistency> {
    let proof = tree.consistency(usize::try_from(size).ok()?)?;
    Some(Consistency { size, proof })
}

/// A leaf's line. What is not there is left out: whoever judges the export tells what that means.
fn line(row: &LeafRow, records: &Records, tree: Option<&Tree>) -> Leaf {
    let record = records.get(&row.record).map(|content| leaf::record(row.index, row.kind, content));
    let proof = tree.and_then(|tree| tree.inclusion(usize::try_from(row.index).ok()?));
    Leaf { index: row.index, hash: Hash(row.hash), salt: row.salt, record, proof }
}
