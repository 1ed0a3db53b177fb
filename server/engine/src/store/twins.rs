//! Calls that are just like another one: the same person's (or nobody's), of the same action, with the same arguments.

use std::collections::HashMap;

use model::{CallId, PersonId, Time};
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::{Store, StoreError};

/// How many calls are just like another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Twins {
    /// How many wait, are under way, or are in doubt.
    pub open: u64,
    /// How many were done since the given time.
    pub done: u64,
    /// How many failed since then.
    pub failed: u64,
}

/// The columns of `Twins` over calls `t`; `$1` is the time.
const COUNTS: &str = "COUNT(CASE WHEN t.state IN ('held', 'queued', 'approved', 'sending', 'running', 'in_doubt') THEN 1 END) AS open, \
     COUNT(CASE WHEN t.state = 'done' AND t.ended_at > $1 THEN 1 END) AS done, \
     COUNT(CASE WHEN t.state = 'failed' AND t.ended_at > $1 THEN 1 END) AS failed";

impl Store {
    /// The twins of a call that is not stored, or not yet.
    pub async fn twins(
        &self,
        id: CallId,
        person: Option<PersonId>,
        action: &str,
        input_hash: [u8; 32],
        since: Time,
    ) -> Result<Twins, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT {COUNTS} FROM calls t WHERE t.input_hash = $2 AND t.action = $3 AND COALESCE(t.person_id, '') = $4 AND t.id <> $5"
        ));
        let row = sqlx::query(sql)
            .bind(since.micros())
            .bind(input_hash.to_vec())
            .bind(action)
            .bind(person.map(|id| id.to_string()).unwrap_or_default())
            .bind(id.to_string())
            .fetch_one(&self.read)
            .await?;
        read(&row)
    }

    /// The twins of stored calls, all in one query. A call that has none is missing.
    pub async fn twins_of(
        &self,
        calls: &[CallId],
        since: Time,
    ) -> Result<HashMap<CallId, Twins>, StoreError> {
        if calls.is_empty() {
            return Ok(HashMap::new());
        }
        let places: Vec<_> = (2..calls.len() + 2).map(|place| format!("${place}")).collect();
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT c.id, {COUNTS} FROM calls c JOIN calls t ON t.input_hash = c.input_hash AND t.action = c.action \
             AND COALESCE(t.person_id, '') = COALESCE(c.person_id, '') AND t.id <> c.id WHERE c.id IN ({}) GROUP BY c.id",
            places.join(", ")
        ));
        let query =
            calls.iter().fold(sqlx::query(sql).bind(since.micros()), |query, id| query.bind(id.to_string()));
        let rows = query.fetch_all(&self.read).await?;
        rows.iter().map(|row| Ok((Columns::new("calls", "id", row).parse("id")?, read(row)?))).collect()
    }
}

fn read(row: &AnyRow) -> Result<Twins, StoreError> {
    let columns = Columns::new("calls", "id", row);
    Ok(Twins {
        open: columns.number("open")?,
        done: columns.number("done")?,
        failed: columns.number("failed")?,
    })
}
