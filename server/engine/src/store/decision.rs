//! What people said to held calls. A decision is never changed; it can only be voided.

use model::{ApprovalId, CallId, PasskeyId, PersonId, Time, Verdict};

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A decision to be stored.
#[derive(Debug, Clone)]
pub struct NewDecision<'a> {
    /// Its id.
    pub id: ApprovalId,
    /// The call.
    pub call: CallId,
    /// Who decided.
    pub person: PersonId,
    /// Yes or no.
    pub verdict: Verdict,
    /// The preview that was decided on.
    pub preview_version: Option<&'a str>,
    /// The person's words.
    pub reason: Option<&'a str>,
    /// When.
    pub at: Time,
    /// The passkey that it was said with.
    pub passkey: Option<PasskeyId>,
}

/// A confirmation that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// Its id.
    pub id: ApprovalId,
    /// Who confirmed.
    pub person: PersonId,
    /// When.
    pub at: Time,
}

impl Store {
    /// The confirmations of a call that count, in their order.
    pub async fn confirmations(&self, call: CallId) -> Result<Vec<Confirmation>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, person_id, at FROM decisions WHERE call_id = $1 AND verdict = 'confirm' AND voided_at IS NULL ORDER BY id",
        )
        .bind(call.to_string())
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("decisions", "id", row);
                Ok(Confirmation {
                    id: columns.parse("id")?,
                    person: columns.parse("person_id")?,
                    at: columns.time("at")?,
                })
            })
            .collect()
    }

    /// The names of those whose decision counts, in its order.
    pub async fn decided_by(&self, call: CallId) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT p.name FROM decisions d JOIN persons p ON p.id = d.person_id WHERE d.call_id = $1 AND d.voided_at IS NULL ORDER BY d.id",
        )
        .bind(call.to_string())
        .fetch_all(&self.read)
        .await?)
    }
}

impl Tx {
    /// Stores a decision. A second one of the same person on the same call is a unique violation.
    pub async fn insert_decision(&mut self, decision: &NewDecision<'_>) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO decisions (id, call_id, person_id, verdict, preview_version, reason, at, passkey_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(decision.id.to_string())
        .bind(decision.call.to_string())
        .bind(decision.person.to_string())
        .bind(decision.verdict.as_str())
        .bind(decision.preview_version)
        .bind(decision.reason)
        .bind(decision.at.micros())
        .bind(decision.passkey.map(|id| id.to_string()))
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// How many distinct people have confirmed this preview. Only true while the call's row is locked.
    pub async fn count_confirmations(&mut self, call: CallId) -> Result<u32, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(DISTINCT person_id) FROM decisions WHERE call_id = $1 AND verdict = 'confirm' AND voided_at IS NULL",
        )
        .bind(call.to_string())
        .fetch_one(&mut *self.inner)
        .await?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// Voids what one person said about a call. `false`: they said nothing that counts.
    pub async fn void_decision_of(
        &mut self,
        call: CallId,
        person: PersonId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE decisions SET voided_at = $3 WHERE call_id = $1 AND person_id = $2 AND voided_at IS NULL",
        )
        .bind(call.to_string())
        .bind(person.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Voids what was said by people who may decide the call no more.
    pub async fn void_decisions_of_others(&mut self, call: CallId, now: Time) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE decisions SET voided_at = $2 WHERE call_id = $1 AND voided_at IS NULL AND NOT EXISTS \
             (SELECT 1 FROM calls c JOIN call_approvers ca ON ca.call_id = c.id JOIN person_subjects s ON s.subject = ca.subject \
             WHERE c.id = decisions.call_id AND s.person_id = decisions.person_id \
             AND NOT (c.self_approval = 0 AND COALESCE(c.person_id, '') = decisions.person_id))",
        )
        .bind(call.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Voids what was said about a call: its preview changed, or a confirmation was undone.
    pub async fn void_decisions(&mut self, call: CallId, now: Time) -> Result<(), StoreError> {
        sqlx::query("UPDATE decisions SET voided_at = $2 WHERE call_id = $1 AND voided_at IS NULL")
            .bind(call.to_string())
            .bind(now.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }
}
