//! Receipts that have passed their retention are forgotten; that their key was used is not.

use model::{ReceiptId, Time};

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A receipt to be forgotten.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forgettable {
    receipt: ReceiptId,
    /// The idempotency slot of its call, when it had a key.
    slot: Option<[u8; 32]>,
}

impl Store {
    /// Receipts about which nothing has become known since then, oldest first. Those that are in doubt are not among
    /// them, however old, nor those that have no leaf in the ledger yet.
    pub(crate) async fn receipts_to_forget(
        &self,
        before: Time,
        limit: i64,
    ) -> Result<Vec<Forgettable>, StoreError> {
        let rows = sqlx::query(
            "SELECT r.id, c.claim_slot FROM receipts r LEFT JOIN calls c ON c.id = r.call_id WHERE r.at <= $1 \
             AND NOT EXISTS (SELECT 1 FROM receipt_amendments m WHERE m.receipt_id = r.id AND m.at > $1) \
             AND NOT EXISTS (SELECT 1 FROM ledger_waiting w WHERE w.receipt_id = r.id) \
             AND COALESCE((SELECT m.outcome FROM receipt_amendments m WHERE m.receipt_id = r.id ORDER BY m.id DESC LIMIT 1), r.outcome) <> 'in_doubt' \
             ORDER BY r.at LIMIT $2 + 0",
        )
        .bind(before.micros())
        .bind(limit)
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("receipts", "id", row);
                Ok(Forgettable { receipt: columns.parse("id")?, slot: columns.digest_maybe("claim_slot")? })
            })
            .collect()
    }
}

impl Tx {
    /// Forgets a receipt and what became known of it, and marks its key. `false`: somebody else has.
    pub(crate) async fn forget_receipt(
        &mut self,
        forgettable: Forgettable,
        now: Time,
    ) -> Result<bool, StoreError> {
        let id = forgettable.receipt.to_string();
        let marked = sqlx::query(
            "INSERT INTO receipts_forgotten (receipt_id, forgotten_at) SELECT r.id, $2 FROM receipts r WHERE r.id = $1 \
             AND NOT EXISTS (SELECT 1 FROM ledger_waiting w WHERE w.receipt_id = r.id) ON CONFLICT DO NOTHING",
        )
        .bind(&id)
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        if marked.rows_affected() == 0 {
            return Ok(false);
        }
        if let Some(slot) = forgettable.slot {
            // The slot may be another call's by now: a key is freed by a 4xx of an action, whose receipt stays.
            sqlx::query(
                "UPDATE claims SET forgotten_at = $2, answer = NULL, erase_at = NULL \
                 WHERE slot = $1 AND call_id = (SELECT call_id FROM receipts WHERE id = $3)",
            )
            .bind(slot.to_vec())
            .bind(now.micros())
            .bind(&id)
            .execute(&mut *self.inner)
            .await?;
        }
        self.forget_salts(&id).await?;
        for sql in
            ["DELETE FROM receipt_amendments WHERE receipt_id = $1", "DELETE FROM receipts WHERE id = $1"]
        {
            sqlx::query(sql).bind(&id).execute(&mut *self.inner).await?;
        }
        Ok(true)
    }
}
