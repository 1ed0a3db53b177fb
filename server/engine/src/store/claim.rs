//! Idempotency keys. A slot is a hash of scope and key; the lease of a claim is the lease of its call.

use model::{CallId, CallStatus, ReceiptId, Time};

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A claim to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewClaim {
    /// Hash of scope and key.
    pub slot: [u8; 32],
    /// Hash of the request the key stands for.
    pub request_hash: [u8; 32],
}

/// A claim with how its call stands.
#[derive(Debug, Clone)]
pub struct ClaimRow {
    /// Hash of the request the key stands for.
    pub request_hash: [u8; 32],
    /// The call that holds it.
    pub call: CallId,
    /// How that call stands.
    pub status: CallStatus,
    /// What the upstream answered.
    pub upstream_status: Option<u16>,
    /// The receipt.
    pub receipt_id: Option<ReceiptId>,
    /// The sealed answer, as long as it is kept.
    pub answer: Option<Vec<u8>>,
    /// The receipt has passed its retention.
    pub forgotten: bool,
}

impl Store {
    /// Who holds a slot.
    pub async fn claim(&self, slot: [u8; 32]) -> Result<Option<ClaimRow>, StoreError> {
        let row = sqlx::query(
            "SELECT k.call_id, k.request_hash, k.answer, k.forgotten_at, c.state, c.upstream_status, c.receipt_id \
             FROM claims k JOIN calls c ON c.id = k.call_id WHERE k.slot = $1",
        )
        .bind(slot.to_vec())
        .fetch_optional(&self.read)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let columns = Columns::new("claims", "call_id", &row);
        Ok(Some(ClaimRow {
            request_hash: columns.digest("request_hash")?,
            call: columns.parse("call_id")?,
            status: columns.parse("state")?,
            upstream_status: columns.number_maybe("upstream_status")?,
            receipt_id: columns.parse_maybe("receipt_id")?,
            answer: columns.get("answer")?,
            forgotten: columns.time_maybe("forgotten_at")?.is_some(),
        }))
    }

    /// Erases stored answers that have been kept long enough, at most so many; their keys stay known.
    pub async fn erase_answers(&self, now: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "UPDATE claims SET answer = NULL, erase_at = NULL WHERE slot IN \
             (SELECT slot FROM claims WHERE erase_at IS NOT NULL AND erase_at <= $1 ORDER BY erase_at LIMIT $2 + 0)",
        )
        .bind(now.micros())
        .bind(limit);
        self.write(query).await
    }
}

impl Tx {
    /// Claims a slot for a call. `false`: somebody holds it; nothing was changed.
    pub async fn insert_claim(
        &mut self,
        claim: NewClaim,
        call: CallId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "INSERT INTO claims (slot, request_hash, call_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        )
        .bind(claim.slot.to_vec())
        .bind(claim.request_hash.to_vec())
        .bind(call.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Which call has a slot, as this transaction sees it.
    pub async fn claim_holder(&mut self, slot: [u8; 32]) -> Result<Option<CallId>, StoreError> {
        let row = sqlx::query("SELECT call_id FROM claims WHERE slot = $1")
            .bind(slot.to_vec())
            .fetch_optional(&mut *self.inner)
            .await?;
        row.map(|row| Columns::new("claims", "call_id", &row).parse("call_id")).transpose()
    }

    /// Frees the slot of a call that did not happen.
    pub async fn free_claim(&mut self, slot: [u8; 32], call: CallId) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM claims WHERE slot = $1 AND call_id = $2")
            .bind(slot.to_vec())
            .bind(call.to_string())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// Stores the sealed answer of a call that was done, for replay.
    pub async fn store_answer(
        &mut self,
        slot: [u8; 32],
        call: CallId,
        answer: &[u8],
        erase_at: Time,
    ) -> Result<(), StoreError> {
        sqlx::query("UPDATE claims SET answer = $3, erase_at = $4 WHERE slot = $1 AND call_id = $2")
            .bind(slot.to_vec())
            .bind(call.to_string())
            .bind(answer.to_vec())
            .bind(erase_at.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }
}
