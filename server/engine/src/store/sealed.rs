//! Everything that stands sealed in the database, so that it can be sealed again with another key.

use std::collections::BTreeMap;

use sqlx::Row;
use sqlx::any::AnyRow;

use super::{Store, StoreError, Tx};
use crate::seal::Purpose;

/// A column that holds sealed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SealedColumn {
    /// What its values are sealed for.
    pub(crate) purpose: Purpose,
    table: &'static str,
    key: &'static str,
    /// The column that says for which place a value is sealed.
    place: &'static str,
    column: &'static str,
}

/// One sealed value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct SealedValue {
    /// The row's primary key.
    pub(crate) key: RowKey,
    /// What it is bound to.
    pub(crate) place: String,
    /// The value.
    pub(crate) blob: Vec<u8>,
}

/// A primary key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowKey {
    /// An id or a name.
    Text(String),
    /// A hash.
    Bytes(Vec<u8>),
}

const fn column(
    purpose: Purpose,
    table: &'static str,
    key: &'static str,
    place: &'static str,
    column: &'static str,
) -> SealedColumn {
    SealedColumn { purpose, table, key, place, column }
}

impl SealedColumn {
    /// Every column with sealed values.
    pub(crate) const ALL: [Self; 11] = [
        column(Purpose::Input, "calls", "id", "id", "input"),
        column(Purpose::Preview, "calls", "id", "id", "preview"),
        column(Purpose::Title, "calls", "id", "id", "preview_title"),
        column(Purpose::Result, "calls", "id", "id", "result"),
        column(Purpose::Answer, "claims", "slot", "call_id", "answer"),
        column(Purpose::Credential, "credential_secrets", "name", "name", "secret"),
        column(Purpose::Session, "sessions", "hash", "hash", "data"),
        column(Purpose::Browser, "push_subscriptions", "id", "id", "data"),
        column(Purpose::PushKey, "push_keys", "name", "name", "secret"),
        column(Purpose::Grant, "grants", "id", "id", "scope"),
        column(Purpose::LedgerKey, "ledger_keys", "name", "name", "secret"),
    ];

    /// Before the first row.
    fn start(self) -> RowKey {
        if ["slot", "hash"].contains(&self.key) {
            RowKey::Bytes(Vec::new())
        } else {
            RowKey::Text(String::new())
        }
    }
}

impl Store {
    /// The next values of a column, in the order of their keys, that do not begin with `mark`.
    pub(crate) async fn sealed_otherwise(
        &self,
        column: SealedColumn,
        after: Option<&RowKey>,
        mark: &[u8],
        limit: i64,
    ) -> Result<Vec<SealedValue>, StoreError> {
        let SealedColumn { table, key, place, column: value, .. } = column;
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT {key} AS row_key, {place} AS place, {value} AS blob FROM {table} \
             WHERE {key} > $1 AND {value} IS NOT NULL AND SUBSTR({value}, 1, 5) <> $2 ORDER BY {key} LIMIT $3 + 0"
        ));
        let query = match after.cloned().unwrap_or_else(|| column.start()) {
            RowKey::Text(text) => sqlx::query(sql).bind(text),
            RowKey::Bytes(bytes) => sqlx::query(sql).bind(bytes),
        };
        let rows = query.bind(mark.to_vec()).bind(limit).fetch_all(&self.read).await?;
        rows.iter().map(|row| read(column, row)).collect()
    }

    /// How many values each key seals, by how its blobs begin.
    pub(crate) async fn count_sealed(&self) -> Result<BTreeMap<Vec<u8>, u64>, StoreError> {
        let mut counts = BTreeMap::new();
        for SealedColumn { table, column, .. } in SealedColumn::ALL {
            let sql = sqlx::AssertSqlSafe(format!(
                "SELECT SUBSTR({column}, 1, 5) AS mark, COUNT(*) AS count FROM {table} WHERE {column} IS NOT NULL GROUP BY 1"
            ));
            for row in sqlx::query(sql).fetch_all(&self.read).await? {
                let count: i64 = row.try_get("count")?;
                *counts.entry(row.try_get("mark")?).or_insert(0) += count.unsigned_abs();
            }
        }
        Ok(counts)
    }
}

impl Tx {
    /// Puts `fresh` in the place of a value that is still the same. `false`: it was changed or erased meanwhile.
    pub(crate) async fn replace_sealed(
        &mut self,
        column: SealedColumn,
        value: &SealedValue,
        fresh: Vec<u8>,
    ) -> Result<bool, StoreError> {
        let SealedColumn { table, key, column, .. } = column;
        let sql = sqlx::AssertSqlSafe(format!(
            "UPDATE {table} SET {column} = $3 WHERE {key} = $1 AND {column} = $2"
        ));
        let query = match value.key.clone() {
            RowKey::Text(text) => sqlx::query(sql).bind(text),
            RowKey::Bytes(bytes) => sqlx::query(sql).bind(bytes),
        };
        let done = query.bind(value.blob.clone()).bind(fresh).execute(&mut *self.inner).await?;
        Ok(done.rows_affected() == 1)
    }
}

fn read(column: SealedColumn, row: &AnyRow) -> Result<SealedValue, StoreError> {
    let key = match column.start() {
        RowKey::Text(_) => RowKey::Text(row.try_get("row_key")?),
        RowKey::Bytes(_) => RowKey::Bytes(row.try_get("row_key")?),
    };
    let place = match &key {
        RowKey::Bytes(bytes) if column.key == column.place => data_encoding::HEXLOWER.encode(bytes),
        _ => row.try_get("place")?,
    };
    Ok(SealedValue { key, place, blob: row.try_get("blob")? })
}
