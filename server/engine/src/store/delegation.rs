//! Who stands in for whom, and until when.

use model::{CallId, DelegationId, PersonId, Time};
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::right::{OWN_VOICES, running};
use super::{Store, StoreError, Tx};
use crate::delegation::Delegation;

/// A delegation to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewDelegation {
    /// Its id.
    pub id: DelegationId,
    /// Whose voice is passed on.
    pub delegator: PersonId,
    /// Who uses it.
    pub delegate: PersonId,
    /// From when on.
    pub from: Time,
    /// The first moment at which it counts no more.
    pub until: Time,
    /// When it was made.
    pub at: Time,
}

const SELECT: &str = "SELECT g.id, g.delegator_id, a.name AS delegator_name, g.delegate_id, b.name AS delegate_name, g.from_at, g.until_at \
    FROM delegations g JOIN persons a ON a.id = g.delegator_id JOIN persons b ON b.id = g.delegate_id";

impl Store {
    /// Delegations of this person, given and received, that run or will; `None`: everybody's. The earliest first.
    pub async fn delegations_of(
        &self,
        person: Option<PersonId>,
        now: Time,
    ) -> Result<Vec<Delegation>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} WHERE g.ended_at IS NULL AND g.until_at > $2 AND ($1 IS NULL OR g.delegator_id = $1 OR g.delegate_id = $1) \
             ORDER BY g.from_at, g.id"
        ));
        let rows = sqlx::query(sql)
            .bind(person.map(|person| person.to_string()))
            .bind(now.micros())
            .fetch_all(&self.read)
            .await?;
        rows.iter().map(read).collect()
    }

    /// Delegations that run now and pass on a right to decide this call.
    pub async fn delegations_on(&self, call: CallId, now: Time) -> Result<Vec<Delegation>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} JOIN calls c ON c.id = $1 WHERE {} AND EXISTS (SELECT 1 {OWN_VOICES} AND s.person_id = g.delegator_id) \
             AND NOT (c.self_approval = 0 AND COALESCE(c.person_id, '') = g.delegate_id) ORDER BY g.from_at, g.id",
            running("$2")
        ));
        let rows = sqlx::query(sql).bind(call.to_string()).bind(now.micros()).fetch_all(&self.read).await?;
        rows.iter().map(read).collect()
    }
}

impl Tx {
    /// Nobody else changes what this person has passed on until this transaction ends. `false`: they are disabled.
    pub async fn lock_person(&mut self, person: PersonId) -> Result<bool, StoreError> {
        let done =
            sqlx::query("UPDATE persons SET created_at = created_at WHERE id = $1 AND disabled_at IS NULL")
                .bind(person.to_string())
                .execute(&mut *self.inner)
                .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Stores a delegation. `false`: the delegator has passed their voice on for some of this time already. Only true while
    /// the delegator is locked.
    pub async fn insert_delegation(&mut self, new: &NewDelegation) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "INSERT INTO delegations (id, delegator_id, delegate_id, from_at, until_at, created_at) \
             SELECT $1, p.id, $3, $4, $5, $6 FROM persons p WHERE p.id = $2 AND NOT EXISTS (SELECT 1 FROM delegations g \
             WHERE g.delegator_id = $2 AND g.ended_at IS NULL AND g.from_at < $5 AND g.until_at > $4)",
        )
        .bind(new.id.to_string())
        .bind(new.delegator.to_string())
        .bind(new.delegate.to_string())
        .bind(new.from.micros())
        .bind(new.until.micros())
        .bind(new.at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// How many delegations of a person run or will.
    pub async fn count_delegations(&mut self, delegator: PersonId, now: Time) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT COUNT(*) FROM delegations WHERE delegator_id = $1 AND ended_at IS NULL AND until_at > $2",
        )
        .bind(delegator.to_string())
        .bind(now.micros())
        .fetch_one(&mut *self.inner)
        .await?)
    }

    /// Ends a delegation of this person's, given or received. `false`: there is none, or it is over.
    pub async fn end_delegation(
        &mut self,
        id: DelegationId,
        person: PersonId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE delegations SET ended_at = $3 WHERE id = $1 AND (delegator_id = $2 OR delegate_id = $2) \
             AND ended_at IS NULL AND until_at > $3",
        )
        .bind(id.to_string())
        .bind(person.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Ends every delegation of a person, given and received: they are disabled.
    pub async fn end_delegations_of(&mut self, person: PersonId, now: Time) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE delegations SET ended_at = $2 WHERE (delegator_id = $1 OR delegate_id = $1) AND ended_at IS NULL",
        )
        .bind(person.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Keeps a delegation that runs from being ended until this transaction has ended. `false`: none runs.
    pub async fn hold_delegation(
        &mut self,
        delegator: PersonId,
        delegate: PersonId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE delegations SET ended_at = NULL WHERE delegator_id = $1 AND delegate_id = $2 AND ended_at IS NULL \
             AND from_at <= $3 AND until_at > $3",
        )
        .bind(delegator.to_string())
        .bind(delegate.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() > 0)
    }
}

fn read(row: &AnyRow) -> Result<Delegation, StoreError> {
    let columns = Columns::new("delegations", "id", row);
    Ok(Delegation {
        id: columns.parse("id")?,
        delegator: columns.parse("delegator_id")?,
        delegator_name: columns.get("delegator_name")?,
        delegate: columns.parse("delegate_id")?,
        delegate_name: columns.get("delegate_name")?,
        from: columns.time("from_at")?,
        until: columns.time("until_at")?,
    })
}
