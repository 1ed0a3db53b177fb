//! Receipts: append-only. What became known later is a row of its own, and the outcome is derived.

use std::collections::HashMap;

use model::{Approval, CallId, DoneRow, Finding, Listing, Outcome, PersonId, Receipt, ReceiptId, Time};
use sqlx::any::AnyRow;

use super::columns::{Columns, to_json};
use super::{Store, StoreError, Tx, Window};
use crate::filter::ReceiptFilter;
use crate::item::Settled;

/// A receipt to be written; its outcome is `Done` or `InDoubt`.
#[derive(Debug, Clone)]
pub struct NewReceipt {
    /// The receipt.
    pub receipt: Receipt,
    /// The call it is of; a call has one at most.
    pub call: CallId,
    /// The host of its address, with the port when that is not the scheme's default.
    pub host: String,
}

/// What became known of a receipt later.
#[derive(Debug, Clone)]
pub struct Amendment {
    /// Sorts by time.
    pub id: ReceiptId,
    /// The receipt.
    pub receipt: ReceiptId,
    /// When.
    pub at: Time,
    /// How it ended.
    pub outcome: Outcome,
    /// What the upstream answered late.
    pub upstream_status: Option<u16>,
    /// Who settled it.
    pub person: Option<PersonId>,
    /// Their words.
    pub reason: Option<String>,
}

/// What the upstream answered late says more than what a person found, whichever clock was ahead.
const SELECT: &str = "SELECT r.id, r.at, r.person_id, r.agent_id, r.session, r.credential, r.action, r.surface, r.method, \
    r.url, r.body_size, r.body_sha256, r.approval_id, r.approval_kind, r.approval_by, r.approval_at, \
    COALESCE(m.upstream_status, r.upstream_status) AS upstream_status, COALESCE(m.outcome, r.outcome) AS outcome, \
    a.name AS agent_name, p.name AS person_name \
    FROM receipts r LEFT JOIN receipt_amendments m ON m.id = (SELECT n.id FROM receipt_amendments n \
    WHERE n.receipt_id = r.id ORDER BY CASE WHEN n.person_id IS NULL THEN 0 ELSE 1 END, n.id DESC LIMIT 1) \
    LEFT JOIN agents a ON a.id = r.agent_id LEFT JOIN persons p ON p.id = r.person_id";

/// Behind `$1` cursor and `$2` owner: the filter in its order, `$9` limit.
const WHERE: &str = "AND ($3 IS NULL OR a.name = $3 OR r.agent_id = $3) AND ($4 IS NULL OR r.action = $4) AND ($5 IS NULL OR r.host = $5 OR r.host LIKE $5 || ':%') \
    AND ($6 IS NULL OR COALESCE(m.outcome, r.outcome) = $6) AND ($7 IS NULL OR r.at >= $7) AND ($8 IS NULL OR r.at < $8) \
    ORDER BY r.id DESC LIMIT $9";

impl Store {
    /// Receipts, newest first: everybody's, or one person's.
    pub async fn receipts(
        &self,
        owner: Option<PersonId>,
        filter: &ReceiptFilter,
        window: &Window,
    ) -> Result<Listing<Receipt>, StoreError> {
        let rows = self.receipt_rows(owner, filter, window).await?;
        let receipts = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(window.page(receipts, |receipt| receipt.id.to_string()))
    }

    /// The same as lines of the Done tab.
    pub async fn done(
        &self,
        owner: Option<PersonId>,
        filter: &ReceiptFilter,
        window: &Window,
    ) -> Result<Listing<DoneRow>, StoreError> {
        let rows = self.receipt_rows(owner, filter, window).await?;
        let receipts =
            rows.iter().map(|row| Ok((read(row)?, row))).collect::<Result<Vec<_>, StoreError>>()?;
        let names = self.names(receipts.iter().flat_map(|(receipt, _)| &receipt.approval.by)).await?;
        let lines = receipts
            .iter()
            .map(|(receipt, row)| done_row(receipt, row, &names))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(window.page(lines, |line| line.id.to_string()))
    }

    /// One receipt, if it is the owner's (`None`: anybody's).
    pub async fn receipt(
        &self,
        owner: Option<PersonId>,
        id: ReceiptId,
    ) -> Result<Option<Receipt>, StoreError> {
        let sql =
            sqlx::AssertSqlSafe(format!("{SELECT} WHERE r.id = $1 AND ($2 IS NULL OR r.person_id = $2)"));
        let row = sqlx::query(sql)
            .bind(id.to_string())
            .bind(owner.map(|id| id.to_string()))
            .fetch_optional(&self.read)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// What a person found out about the receipt's call last, if one did and no answer came after.
    pub async fn settlement(&self, receipt: ReceiptId) -> Result<Option<Settled>, StoreError> {
        let row = sqlx::query(
            "SELECT m.id, m.at, m.outcome, m.reason, p.name FROM receipt_amendments m LEFT JOIN persons p ON p.id = m.person_id \
             WHERE m.id = (SELECT MAX(n.id) FROM receipt_amendments n WHERE n.receipt_id = $1)",
        )
        .bind(receipt.to_string())
        .fetch_optional(&self.read)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let columns = Columns::new("receipt_amendments", "id", &row);
        let finding = match columns.parse("outcome")? {
            Outcome::SettledHappened => Finding::Happened,
            Outcome::SettledDidNotHappen => Finding::DidNotHappen,
            Outcome::Done | Outcome::InDoubt => return Ok(None),
        };
        let at = columns.time("at")?;
        Ok(Some(Settled { finding, at, by: columns.get("name")?, reason: columns.get("reason")? }))
    }

    async fn receipt_rows(
        &self,
        owner: Option<PersonId>,
        filter: &ReceiptFilter,
        window: &Window,
    ) -> Result<Vec<AnyRow>, StoreError> {
        // One text each, so that an owner's receipts are found by their own index.
        let whose = if owner.is_some() { "r.person_id = $2" } else { "$2 IS NULL" };
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE r.id < $1 AND {whose} {WHERE}"));
        Ok(sqlx::query(sql)
            .bind(window.before_id())
            .bind(owner.map(|id| id.to_string()))
            .bind(&filter.agent)
            .bind(&filter.action)
            .bind(&filter.host)
            .bind(filter.outcome.map(Outcome::as_str))
            .bind(filter.from.map(Time::micros))
            .bind(filter.to.map(Time::micros))
            .bind(window.fetch())
            .fetch_all(&self.read)
            .await?)
    }

    /// The names of the given people.
    async fn names(
        &self,
        ids: impl Iterator<Item = &PersonId>,
    ) -> Result<HashMap<PersonId, String>, StoreError> {
        let mut names = HashMap::new();
        for id in ids {
            if !names.contains_key(id)
                && let Some(person) = self.person(*id).await?
            {
                names.insert(*id, person.name);
            }
        }
        Ok(names)
    }
}

impl Tx {
    /// Writes a receipt.
    pub async fn insert_receipt(&mut self, new: &NewReceipt) -> Result<(), StoreError> {
        let receipt = &new.receipt;
        sqlx::query(
            "INSERT INTO receipts (id, at, call_id, person_id, agent_id, session, credential, action, surface, method, url, host, \
             body_size, body_sha256, approval_id, approval_kind, approval_by, approval_at, upstream_status, outcome) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)",
        )
        .bind(receipt.id.to_string())
        .bind(receipt.at.micros())
        .bind(new.call.to_string())
        .bind(receipt.person_id.map(|id| id.to_string()))
        .bind(receipt.agent_id.map(|id| id.to_string()))
        .bind(&receipt.session)
        .bind(&receipt.credential)
        .bind(&receipt.action)
        .bind(receipt.surface.as_str())
        .bind(&receipt.method)
        .bind(&receipt.url)
        .bind(&new.host)
        .bind(i64::try_from(receipt.body_size).unwrap_or(i64::MAX))
        .bind(&receipt.body_sha256)
        .bind(receipt.approval.id.map(|id| id.to_string()))
        .bind(receipt.approval.kind.as_str())
        .bind(to_json(&receipt.approval.by))
        .bind(receipt.approval.at.map(Time::micros))
        .bind(receipt.upstream_status.map(i64::from))
        .bind(receipt.outcome.as_str())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Writes down what became known of a receipt.
    pub async fn insert_amendment(&mut self, amendment: &Amendment) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO receipt_amendments (id, receipt_id, at, outcome, upstream_status, person_id, reason) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(amendment.id.to_string())
        .bind(amendment.receipt.to_string())
        .bind(amendment.at.micros())
        .bind(amendment.outcome.as_str())
        .bind(amendment.upstream_status.map(i64::from))
        .bind(amendment.person.map(|id| id.to_string()))
        .bind(&amendment.reason)
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }
}

fn read(row: &AnyRow) -> Result<Receipt, StoreError> {
    let columns = Columns::new("receipts", "id", row);
    Ok(Receipt {
        id: columns.parse("id")?,
        at: columns.time("at")?,
        person_id: columns.parse_maybe("person_id")?,
        agent_id: columns.parse_maybe("agent_id")?,
        session: columns.get("session")?,
        credential: columns.get("credential")?,
        action: columns.get("action")?,
        surface: columns.parse("surface")?,
        method: columns.get("method")?,
        url: columns.get("url")?,
        body_size: columns.number("body_size")?,
        body_sha256: columns.get("body_sha256")?,
        approval: Approval {
            id: columns.parse_maybe("approval_id")?,
            kind: columns.parse("approval_kind")?,
            by: columns.json("approval_by")?,
            at: columns.time_maybe("approval_at")?,
        },
        upstream_status: columns.number_maybe("upstream_status")?,
        outcome: columns.parse("outcome")?,
    })
}

fn done_row(
    receipt: &Receipt,
    row: &AnyRow,
    names: &HashMap<PersonId, String>,
) -> Result<DoneRow, StoreError> {
    let columns = Columns::new("receipts", "id", row);
    let person_name = columns.get::<Option<String>>("person_name")?;
    Ok(DoneRow {
        id: receipt.id,
        at: receipt.at,
        method: receipt.method.clone(),
        host_and_path: receipt
            .url
            .split_once("://")
            .map_or(receipt.url.as_str(), |(_, rest)| rest)
            .to_owned(),
        upstream_status: receipt.upstream_status,
        outcome: receipt.outcome,
        agent: columns.get("agent_name")?,
        approval: receipt.approval.kind,
        approved_by: receipt
            .approval
            .by
            .iter()
            .map(|id| (*id, names.get(id).cloned().unwrap_or_else(|| id.to_string())))
            .collect(),
        person: receipt.person_id.zip(person_name),
    })
}
