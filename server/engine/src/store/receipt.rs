//! Receipts: append-only. What became known later is a row of its own, and the outcome is derived.

use std::collections::HashMap;

use model::{Approval, CallId, Finding, Outcome, PersonId, Receipt, ReceiptFacts, ReceiptId, Time};
use sqlx::any::AnyRow;

use super::columns::{Columns, to_json};
use super::{Store, StoreError, Tx};
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

/// Every column of a `Receipt`, of `receipts r` joined with `JOINS`, and the names that go with it. What the upstream
/// answered late says more than what a person found, whichever clock was ahead.
pub(super) const COLUMNS: &str = "r.id, r.at, r.person_id, r.agent_id, r.session, r.credential, r.action, r.surface, r.method, \
    r.url, r.body_size, r.body_sha256, r.approval_id, r.approval_kind, r.approval_by, r.approval_for, r.approval_reason, r.approval_at, \
    COALESCE(m.upstream_status, r.upstream_status) AS upstream_status, COALESCE(m.outcome, r.outcome) AS outcome, \
    a.name AS agent_name, p.name AS person_name";
pub(super) const JOINS: &str = "LEFT JOIN receipt_amendments m ON m.id = (SELECT n.id FROM receipt_amendments n \
    WHERE n.receipt_id = r.id ORDER BY CASE WHEN n.person_id IS NULL THEN 0 ELSE 1 END, n.id DESC LIMIT 1) \
    LEFT JOIN agents a ON a.id = r.agent_id LEFT JOIN persons p ON p.id = r.person_id";

/// How the receipt `r` ended as far as something became known of it later; `NULL`: nothing did.
pub(super) const AMENDED: &str = "(SELECT n.outcome FROM receipt_amendments n WHERE n.receipt_id = r.id \
    ORDER BY CASE WHEN n.person_id IS NULL THEN 0 ELSE 1 END, n.id DESC LIMIT 1)";

impl Store {
    /// One receipt, if it is the owner's (`None`: anybody's).
    pub async fn receipt(
        &self,
        owner: Option<PersonId>,
        id: ReceiptId,
    ) -> Result<Option<Receipt>, StoreError> {
        self.receipt_row(owner, id).await?.as_ref().map(read).transpose()
    }

    /// The same with the names that go with it, and without the digest.
    pub async fn receipt_facts(
        &self,
        owner: Option<PersonId>,
        id: ReceiptId,
    ) -> Result<Option<ReceiptFacts>, StoreError> {
        let row = self.receipt_row(owner, id).await?;
        Ok(self.facts(row.as_slice()).await?.pop())
    }

    async fn receipt_row(
        &self,
        owner: Option<PersonId>,
        id: ReceiptId,
    ) -> Result<Option<AnyRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM receipts r {JOINS} WHERE r.id = $1 AND ($2 IS NULL OR r.person_id = $2)"
        ));
        Ok(sqlx::query(sql)
            .bind(id.to_string())
            .bind(owner.map(|id| id.to_string()))
            .fetch_optional(&self.read)
            .await?)
    }

    /// Rows as facts with names.
    pub(super) async fn facts(&self, rows: &[AnyRow]) -> Result<Vec<ReceiptFacts>, StoreError> {
        let receipts = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let people = |approval: &Approval| {
            approval.by.iter().chain(approval.r#for.iter().flatten()).copied().collect::<Vec<_>>()
        };
        let names = self.names(receipts.iter().flat_map(|receipt| people(&receipt.approval))).await?;
        receipts.into_iter().zip(rows).map(|(receipt, row)| facts(receipt, row, &names)).collect()
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

    /// The names of the given people.
    async fn names(
        &self,
        ids: impl Iterator<Item = PersonId>,
    ) -> Result<HashMap<PersonId, String>, StoreError> {
        let mut names = HashMap::new();
        for id in ids {
            if !names.contains_key(&id)
                && let Some(person) = self.person(id).await?
            {
                names.insert(id, person.name);
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
             body_size, body_sha256, approval_id, approval_kind, approval_by, approval_at, upstream_status, outcome, \
             approval_for, approval_reason) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)",
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
        .bind(to_json(&receipt.approval.r#for))
        .bind(&receipt.approval.reason)
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

pub(super) fn read(row: &AnyRow) -> Result<Receipt, StoreError> {
    let columns = Columns::new("receipts", "id", row);
    let by: Vec<PersonId> = columns.json("approval_by")?;
    // Receipts of earlier versions do not tell: nobody could stand in for anybody then.
    let r#for: Option<Vec<Option<PersonId>>> = columns.json_maybe("approval_for")?;
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
            r#for: r#for.unwrap_or_else(|| vec![None; by.len()]),
            by,
            reason: columns.get("approval_reason")?,
            at: columns.time_maybe("approval_at")?,
        },
        upstream_status: columns.number_maybe("upstream_status")?,
        outcome: columns.parse("outcome")?,
    })
}

fn facts(
    receipt: Receipt,
    row: &AnyRow,
    names: &HashMap<PersonId, String>,
) -> Result<ReceiptFacts, StoreError> {
    let columns = Columns::new("receipts", "id", row);
    let name = |id: &PersonId| names.get(id).cloned().unwrap_or_else(|| id.to_string());
    Ok(ReceiptFacts {
        approved_by: receipt.approval.by.iter().map(name).collect(),
        approved_for: receipt.approval.r#for.iter().map(|id| id.as_ref().map(name)).collect(),
        person: columns.get("person_name")?,
        agent: columns.get("agent_name")?,
        id: receipt.id,
        at: receipt.at,
        person_id: receipt.person_id,
        agent_id: receipt.agent_id,
        session: receipt.session,
        credential: receipt.credential,
        action: receipt.action,
        surface: receipt.surface,
        method: receipt.method,
        url: receipt.url,
        body_size: receipt.body_size,
        approval: receipt.approval,
        upstream_status: receipt.upstream_status,
        outcome: receipt.outcome,
    })
}
