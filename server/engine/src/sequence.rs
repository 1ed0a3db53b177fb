//! Leaves get their indexes: one behind the other, in one order that all nodes agree on.
//!
//! What waits came in with its own transaction; this comes after it, beside every send. Two that do it at once meet at the
//! same index, and one of them gives way.

use ledger::leaf::{self, Kind};

use crate::engine::Engine;
use crate::fail_point;
use crate::store::{LeafRow, StoreError, Unsequenced};

/// How many leaves are put in with one commit.
const BATCH: i64 = 250;

/// How many batches one turn does at most: a desk that was brought up to date with many receipts is caught up in some turns.
const BATCHES: u32 = 400;

impl Engine {
    /// Gives every record that waits its leaf, or as many as one turn does. `true`: there may be more.
    ///
    /// # Errors
    /// When the database does not answer. What has a leaf by then keeps it.
    pub async fn sequence(&self) -> Result<bool, StoreError> {
        for _ in 0..BATCHES {
            if !self.sequence_some().await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A batch of it. `true`: there may be more.
    async fn sequence_some(&self) -> Result<bool, StoreError> {
        let waiting = self.store().unsequenced(BATCH).await?;
        if waiting.is_empty() {
            return Ok(false);
        }
        let leaves = self.leaves_of(&waiting).await?;
        let Some(first) = leaves.first() else {
            tracing::error!(records = waiting.len(), "receipts that wait for the ledger are gone");
            return Ok(false);
        };
        let mut tx = self.store().begin().await?;
        // Somebody else has put some in since.
        if tx.ledger_size().await? != first.index {
            return Ok(true);
        }
        let appended = match tx.append_leaves(&leaves).await {
            Ok(()) => {
                fail_point::reach("leaves-uncommitted").await;
                tx.commit().await
            }
            Err(error) => Err(error),
        };
        match appended {
            Err(error) if error.is_taken() => Ok(true),
            done => done.map(|()| waiting.len() as u64 == BATCH.unsigned_abs()),
        }
    }

    /// The leaves of what waits, from the end of the ledger on.
    async fn leaves_of(&self, waiting: &[Unsequenced]) -> Result<Vec<LeafRow>, StoreError> {
        // Before the records: what is looked at later can only be more.
        let mut next = self.store().ledger_size().await?;
        let ids = |kind: Kind| {
            let these = waiting.iter().filter(move |one| one.kind == kind);
            these.map(|one| one.record.clone()).collect::<Vec<_>>()
        };
        let mut records = self.store().recorded(Kind::Receipt, &ids(Kind::Receipt)).await?;
        records.extend(self.store().recorded(Kind::Amendment, &ids(Kind::Amendment)).await?);
        let mut leaves = Vec::new();
        for one in waiting {
            let Some(content) = records.get(&one.record) else { continue };
            let salt = self.ambient().bytes::<32>();
            let record = leaf::record(next, one.kind, content);
            let hash = leaf::hash(&salt, record.as_bytes()).0;
            let (record, receipt) = (one.record.clone(), one.receipt.clone());
            leaves.push(LeafRow { index: next, record, receipt, kind: one.kind, salt: Some(salt), hash });
            next += 1;
        }
        Ok(leaves)
    }
}
