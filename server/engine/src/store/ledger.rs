//! The ledger: what waits for its leaf, the leaves in their order, and the heads that were signed.
//!
//! What is written stays: triggers see to it, whoever holds the connection. Retention alone takes the salts of what it
//! forgets.

use std::collections::HashMap;

use ledger::leaf::Kind;
use model::{ReceiptId, Time};
use serde_json::{Map, Value, json};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::sql::Values;
use super::{Store, StoreError, Tx};

/// A record that has no leaf yet.
#[derive(Debug, Clone)]
pub(crate) struct Unsequenced {
    pub(crate) record: String,
    pub(crate) receipt: String,
    pub(crate) kind: Kind,
}

/// A leaf.
#[derive(Debug, Clone)]
pub(crate) struct LeafRow {
    pub(crate) index: u64,
    pub(crate) record: String,
    pub(crate) receipt: String,
    pub(crate) kind: Kind,
    /// `None`: its record was forgotten.
    pub(crate) salt: Option<[u8; 32]>,
    pub(crate) hash: [u8; 32],
}

/// A head that was signed.
#[derive(Debug, Clone)]
pub(crate) struct CheckpointRow {
    pub(crate) size: u64,
    /// The signed note.
    pub(crate) note: String,
    /// The heads of the largest whole subtrees, one behind the other.
    pub(crate) peaks: Vec<u8>,
    pub(crate) signed_at: Time,
}

/// What heads are signed with.
#[derive(Debug, Clone)]
pub(crate) struct LedgerKeyRow {
    /// The name of the log.
    pub(crate) origin: String,
    /// Sealed.
    pub(crate) secret: Vec<u8>,
}

/// Records by their ids, as they go into leaves.
pub(crate) type Records = HashMap<String, Value>;

const LEAF: &str = "SELECT idx, record_id, receipt_id, kind, form, salt, hash FROM ledger_leaves";
const CHECKPOINT: &str = "SELECT size, note, peaks, signed_at FROM ledger_checkpoints";

/// The name of the one key there is.
const KEY: &str = "checkpoint";

/// The texts of a receipt that go into its record as they stand.
const RECEIPT_TEXTS: [&str; 14] = [
    "id",
    "call_id",
    "person_id",
    "agent_id",
    "session",
    "credential",
    "action",
    "surface",
    "method",
    "url",
    "host",
    "body_sha256",
    "outcome",
    "approval_kind",
];

impl Store {
    /// The oldest records without a leaf.
    pub(crate) async fn unsequenced(&self, limit: i64) -> Result<Vec<Unsequenced>, StoreError> {
        let rows = sqlx::query(
            "SELECT record_id, receipt_id, kind FROM ledger_waiting ORDER BY record_id LIMIT $1 + 0",
        )
        .bind(limit)
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("ledger_waiting", "record_id", row);
                let (record, receipt) = (columns.get("record_id")?, columns.get("receipt_id")?);
                Ok(Unsequenced { record, receipt, kind: kind(&columns)? })
            })
            .collect()
    }

    /// How many records have no leaf yet.
    pub(crate) async fn count_unsequenced(&self) -> Result<u64, StoreError> {
        let count: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM ledger_waiting").fetch_one(&self.read).await?;
        Ok(count.unsigned_abs())
    }

    /// How many leaves there are.
    pub(crate) async fn ledger_size(&self) -> Result<u64, StoreError> {
        let next: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(idx) + 1, 0) FROM ledger_leaves")
            .fetch_one(&self.read)
            .await?;
        Ok(next.unsigned_abs())
    }

    /// The records with these ids, as they were written: what became known later is in records of its own.
    pub(crate) async fn recorded(&self, kind: Kind, ids: &[String]) -> Result<Records, StoreError> {
        if ids.is_empty() {
            return Ok(Records::new());
        }
        let table = match kind {
            Kind::Receipt => "receipts",
            Kind::Amendment => "receipt_amendments",
        };
        let mut values = Values::default();
        let condition = values.one_of("id", ids);
        let rows = self.rows_of(format!("SELECT * FROM {table} WHERE {condition}"), values).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new(table, "id", row);
                let record = match kind {
                    Kind::Receipt => receipt(&columns)?,
                    Kind::Amendment => amendment(&columns)?,
                };
                Ok((columns.get("id")?, record))
            })
            .collect()
    }

    /// The leaves from this index on, before another one.
    pub(crate) async fn leaves(&self, from: u64, before: u64) -> Result<Vec<LeafRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{LEAF} WHERE idx >= $1 AND idx < $2 ORDER BY idx"));
        let rows = sqlx::query(sql).bind(number(from)).bind(number(before)).fetch_all(&self.read).await?;
        rows.iter().map(leaf).collect()
    }

    /// The leaves with these indexes, in their order.
    pub(crate) async fn leaves_at(&self, indexes: &[u64]) -> Result<Vec<LeafRow>, StoreError> {
        let list = indexes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let sql = format!("{LEAF} WHERE idx IN ({list}) ORDER BY idx");
        self.rows_of(sql, Values::default()).await?.iter().map(leaf).collect()
    }

    /// The indexes of the leaves that are about these receipts.
    pub(crate) async fn leaves_about(&self, receipts: &[ReceiptId]) -> Result<Vec<u64>, StoreError> {
        if receipts.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = receipts.iter().map(ToString::to_string).collect();
        let mut values = Values::default();
        let condition = values.one_of("receipt_id", &ids);
        let rows = self.rows_of(format!("SELECT idx FROM ledger_leaves WHERE {condition}"), values).await?;
        rows.iter().map(|row| Ok(row.try_get::<i64, _>(0)?.unsigned_abs())).collect()
    }

    /// The hashes of the leaves from this index on, before another one; each with its index.
    pub(crate) async fn leaf_hashes(
        &self,
        from: u64,
        before: u64,
    ) -> Result<Vec<(u64, [u8; 32])>, StoreError> {
        let rows = sqlx::query(
            "SELECT idx, record_id, hash FROM ledger_leaves WHERE idx >= $1 AND idx < $2 ORDER BY idx",
        )
        .bind(number(from))
        .bind(number(before))
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("ledger_leaves", "record_id", row);
                Ok((columns.number("idx")?, columns.digest("hash")?))
            })
            .collect()
    }

    /// The newest head that was signed.
    pub(crate) async fn last_checkpoint(&self) -> Result<Option<CheckpointRow>, StoreError> {
        self.checkpoint_before(u64::MAX >> 1).await
    }

    /// The newest head that was signed of fewer leaves.
    pub(crate) async fn checkpoint_before(&self, size: u64) -> Result<Option<CheckpointRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{CHECKPOINT} WHERE size < $1 ORDER BY size DESC LIMIT 1"));
        let row = sqlx::query(sql).bind(number(size)).fetch_optional(&self.read).await?;
        row.as_ref().map(checkpoint).transpose()
    }

    /// What heads are signed with; `None`: there is no key yet.
    pub(crate) async fn ledger_key(&self) -> Result<Option<LedgerKeyRow>, StoreError> {
        let row = sqlx::query("SELECT name, origin, secret FROM ledger_keys WHERE name = $1")
            .bind(KEY)
            .fetch_optional(&self.read)
            .await?;
        row.map(|row| {
            let columns = Columns::new("ledger_keys", "name", &row);
            Ok(LedgerKeyRow { origin: columns.get("origin")?, secret: columns.get("secret")? })
        })
        .transpose()
    }

    /// Keeps a key, unless another process has kept one.
    pub(crate) async fn keep_ledger_key(&self, key: &LedgerKeyRow, now: Time) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO ledger_keys (name, origin, secret, made_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        )
        .bind(KEY)
        .bind(&key.origin)
        .bind(key.secret.clone())
        .bind(now.micros());
        self.write(query).await.map(drop)
    }
}

impl Tx {
    /// How many leaves there are.
    pub(crate) async fn ledger_size(&mut self) -> Result<u64, StoreError> {
        let next: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(idx) + 1, 0) FROM ledger_leaves")
            .fetch_one(&mut *self.inner)
            .await?;
        Ok(next.unsigned_abs())
    }

    /// Puts leaves at the end, one behind the other; what they are of waits no more.
    ///
    /// # Errors
    /// `is_taken` when somebody else has put leaves there.
    pub(crate) async fn append_leaves(&mut self, leaves: &[LeafRow]) -> Result<(), StoreError> {
        let places = |at: usize| (1..=7).map(|on| format!("${}", 7 * at + on)).collect::<Vec<_>>().join(", ");
        let rows = (0..leaves.len()).map(|at| format!("({})", places(at))).collect::<Vec<_>>().join(", ");
        let sql = sqlx::AssertSqlSafe(format!(
            "INSERT INTO ledger_leaves (idx, record_id, receipt_id, kind, form, salt, hash) VALUES {rows}"
        ));
        let mut query = sqlx::query(sql);
        for leaf in leaves {
            query = query
                .bind(number(leaf.index))
                .bind(&leaf.record)
                .bind(&leaf.receipt)
                .bind(leaf.kind.as_str())
                .bind(number(ledger::leaf::FORM))
                .bind(leaf.salt.map(|salt| salt.to_vec()))
                .bind(leaf.hash.to_vec());
        }
        query.execute(&mut *self.inner).await?;
        let places = (1..=leaves.len()).map(|at| format!("${at}")).collect::<Vec<_>>().join(", ");
        let sql = sqlx::AssertSqlSafe(format!("DELETE FROM ledger_waiting WHERE record_id IN ({places})"));
        let query = leaves.iter().fold(sqlx::query(sql), |query, leaf| query.bind(&leaf.record));
        query.execute(&mut *self.inner).await?;
        Ok(())
    }

    /// The size of the largest tree whose head was signed; `None`: of none yet.
    pub(crate) async fn checkpoint_size(&mut self) -> Result<Option<u64>, StoreError> {
        let size: Option<i64> = sqlx::query_scalar("SELECT MAX(size) FROM ledger_checkpoints")
            .fetch_one(&mut *self.inner)
            .await?;
        Ok(size.map(i64::unsigned_abs))
    }

    /// Keeps a head that was signed.
    ///
    /// # Errors
    /// `is_taken` when somebody else has kept one of as many leaves.
    pub(crate) async fn insert_checkpoint(&mut self, checkpoint: &CheckpointRow) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO ledger_checkpoints (size, note, peaks, signed_at) VALUES ($1, $2, $3, $4)")
            .bind(number(checkpoint.size))
            .bind(&checkpoint.note)
            .bind(checkpoint.peaks.clone())
            .bind(checkpoint.signed_at.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// Takes the salts of a receipt's leaves, once it stands among the forgotten: nobody can try out any more what it was.
    pub(super) async fn forget_salts(&mut self, receipt: &str) -> Result<(), StoreError> {
        sqlx::query("UPDATE ledger_leaves SET salt = NULL WHERE receipt_id = $1 AND salt IS NOT NULL")
            .bind(receipt)
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }
}

fn number(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn kind(columns: &Columns<'_>) -> Result<Kind, StoreError> {
    Ok(if columns.get::<String>("kind")? == Kind::Receipt.as_str() { Kind::Receipt } else { Kind::Amendment })
}

fn leaf(row: &AnyRow) -> Result<LeafRow, StoreError> {
    let columns = Columns::new("ledger_leaves", "record_id", row);
    if columns.number::<u64>("form")? != ledger::leaf::FORM {
        let row = columns.get("record_id")?;
        return Err(StoreError::Inconsistent { table: "ledger_leaves", column: "form", row });
    }
    Ok(LeafRow {
        index: columns.number("idx")?,
        record: columns.get("record_id")?,
        receipt: columns.get("receipt_id")?,
        kind: kind(&columns)?,
        salt: columns.digest_maybe("salt")?,
        hash: columns.digest("hash")?,
    })
}

fn checkpoint(row: &AnyRow) -> Result<CheckpointRow, StoreError> {
    let size: i64 = row.try_get("size")?;
    let row = Columns::new("ledger_checkpoints", "note", row);
    Ok(CheckpointRow {
        size: size.unsigned_abs(),
        note: row.get("note")?,
        peaks: row.get("peaks")?,
        signed_at: row.time("signed_at")?,
    })
}

/// A receipt as it was written, in form 1. Texts go in as they stand, so that no later version reads them otherwise; a
/// column that a later version adds goes into another form.
fn receipt(columns: &Columns<'_>) -> Result<Value, StoreError> {
    let mut record = texts(columns, &RECEIPT_TEXTS)?;
    let kind = record.remove("approval_kind");
    let people = |column| -> Result<Value, StoreError> {
        let text: Option<String> = columns.get(column)?;
        Ok(text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
    };
    let approval = json!({
        "id": columns.get::<Option<String>>("approval_id")?,
        "kind": kind,
        "by": people("approval_by")?,
        "for": people("approval_for")?,
        "reason": columns.get::<Option<String>>("approval_reason")?,
        "at": columns.time_maybe("approval_at")?,
    });
    record.insert("at".to_owned(), json!(columns.time("at")?));
    record.insert("body_size".to_owned(), json!(columns.get::<i64>("body_size")?));
    record.insert("upstream_status".to_owned(), json!(columns.get::<Option<i64>>("upstream_status")?));
    record.insert("approval".to_owned(), approval);
    Ok(Value::Object(record))
}

/// What became known of a receipt later, in form 1.
fn amendment(columns: &Columns<'_>) -> Result<Value, StoreError> {
    let mut record = texts(columns, &["id", "receipt_id", "outcome", "person_id", "reason"])?;
    record.insert("at".to_owned(), json!(columns.time("at")?));
    record.insert("upstream_status".to_owned(), json!(columns.get::<Option<i64>>("upstream_status")?));
    Ok(Value::Object(record))
}

fn texts(columns: &Columns<'_>, names: &[&'static str]) -> Result<Map<String, Value>, StoreError> {
    names.iter().map(|name| Ok(((*name).to_owned(), json!(columns.get::<Option<String>>(name)?)))).collect()
}
