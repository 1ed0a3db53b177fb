//! The durable queue: calls in the state `queued`, and reads that a worker has taken from there.
//!
//! Taking a call is one `UPDATE … WHERE state = 'queued'`, so two workers on two nodes never both get it.

use model::{Attempt, CallId, CallStatus, PersonId, Time};

use super::columns::{Columns, to_json};
use super::pause::PAUSED;
use super::{Store, StoreError, Tx};

impl Store {
    /// What is queued and not paused, oldest first, from behind a call on.
    pub async fn queued_calls(&self, after: Option<CallId>, limit: i64) -> Result<Vec<CallId>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT id FROM calls WHERE state = 'queued' AND id > $1 AND NOT {PAUSED} ORDER BY id LIMIT $2 + 0"
        ));
        let rows = sqlx::query(sql)
            .bind(after.map(|id| id.to_string()).unwrap_or_default())
            .bind(limit)
            .fetch_all(&self.read)
            .await?;
        rows.iter().map(|row| Columns::new("calls", "id", row).parse("id")).collect()
    }

    /// How many calls are queued that no agent made: of a person, else of nobody in particular.
    pub async fn count_queued_of(&self, person: Option<PersonId>) -> Result<u64, StoreError> {
        let count = "SELECT COUNT(*) FROM calls WHERE state = 'queued' AND agent_id IS NULL";
        let of = |condition| sqlx::AssertSqlSafe(format!("{count} AND {condition}"));
        let query = match person {
            Some(person) => sqlx::query_scalar(of("person_id = $1")).bind(person.to_string()),
            None => sqlx::query_scalar(of("person_id IS NULL")),
        };
        let count: i64 = query.fetch_one(&self.read).await?;
        Ok(count.unsigned_abs())
    }

    /// Queued reads that were being run by a process that answers for them no more.
    pub async fn reads_with_lapsed_lease(&self, now: Time, limit: i64) -> Result<Vec<CallId>, StoreError> {
        let rows = sqlx::query(
            "SELECT id FROM calls WHERE state = 'running' AND effect = 'read' AND surface = 'queue' AND lease_until <= $1 \
             ORDER BY lease_until LIMIT $2 + 0",
        )
        .bind(now.micros())
        .bind(limit)
        .fetch_all(&self.read)
        .await?;
        rows.iter().map(|row| Columns::new("calls", "id", row).parse("id")).collect()
    }
}

impl Tx {
    /// Held to queued: a call for the queue was confirmed, without an undo window.
    pub async fn queue_confirmed(&mut self, id: CallId, now: Time) -> Result<bool, StoreError> {
        let sql = "UPDATE calls SET state = 'queued', decided_at = $2 WHERE id = $1 AND state = 'held' AND surface = 'queue'";
        self.queue(sql, id, now).await
    }

    /// Approved to queued: a call for the queue was confirmed, and its undo window has passed.
    pub async fn queue_due(&mut self, id: CallId, now: Time) -> Result<bool, StoreError> {
        let sql = "UPDATE calls SET state = 'queued' WHERE id = $1 AND state = 'approved' AND surface = 'queue' AND send_at <= $2";
        self.queue(sql, id, now).await
    }

    async fn queue(&mut self, sql: &'static str, id: CallId, now: Time) -> Result<bool, StoreError> {
        let done = sqlx::query(sql).bind(id.to_string()).bind(now.micros()).execute(&mut *self.inner).await?;
        Ok(done.rows_affected() == 1)
    }

    /// Takes a call from the queue, under a lease. `to` is `Sending`, the durable intent of a write, or `Running`.
    pub async fn start_queued(
        &mut self,
        id: CallId,
        to: CallStatus,
        now: Time,
        owner: &str,
        lease_until: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE calls SET state = $2, begun_at = $5, lease_owner = $3, lease_until = $4 WHERE id = $1 AND state = 'queued'",
        )
        .bind(id.to_string())
        .bind(to.as_str())
        .bind(owner)
        .bind(lease_until.micros())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Puts a read back whose process answers for it no more.
    pub async fn requeue_read(
        &mut self,
        id: CallId,
        now: Time,
        attempts: &[Attempt],
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE calls SET state = 'queued', lease_owner = NULL, lease_until = NULL, attempts = $3 \
             WHERE id = $1 AND state = 'running' AND effect = 'read' AND surface = 'queue' AND lease_until <= $2",
        )
        .bind(id.to_string())
        .bind(now.micros())
        .bind(to_json(attempts))
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}
