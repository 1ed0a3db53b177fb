//! Pauses: of one agent, or of everything.
//!
//! Whether one is in force is asked of the database at every call, so that every node knows at once. Whoever writes an
//! intent to send asks in the same transaction, and a pause is written where no such transaction is under way: none
//! commits its intent after it.

use model::{AgentId, PauseId, PersonId, Time};
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::{Store, StoreError, Tx};
use crate::pause::{Pause, PauseScope};

/// A pause to be stored.
#[derive(Debug, Clone)]
pub struct NewPause<'a> {
    /// Its id.
    pub id: PauseId,
    /// What is paused.
    pub scope: PauseScope,
    /// Whether the agent's owner paused it, by no other right.
    pub as_owner: bool,
    /// Who; `None`: the command line.
    pub person: Option<PersonId>,
    /// Their words.
    pub reason: Option<&'a str>,
    /// When.
    pub at: Time,
}

/// Whether a pause is in force for the call `calls`.
pub(super) const PAUSED: &str = "EXISTS (SELECT 1 FROM pauses z WHERE z.resumed_at IS NULL \
    AND (z.scope = 'everything' OR z.scope = calls.agent_id))";

const IN_FORCE: &str =
    "SELECT COUNT(*) FROM pauses WHERE resumed_at IS NULL AND (scope = 'everything' OR scope = $1)";

const SELECT: &str = "SELECT z.id, z.agent_id, z.as_owner, z.reason, z.paused_at, z.resumed_at, p.name AS paused_by, \
    r.name AS resumed_by FROM pauses z LEFT JOIN persons p ON p.id = z.person_id LEFT JOIN persons r ON r.id = z.resumed_by";

impl Store {
    /// Whether calls of this agent, or with `None` of callers that are no agents, are paused.
    pub async fn is_paused(&self, agent: Option<AgentId>) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar(IN_FORCE).bind(text(agent)).fetch_one(&self.read).await?;
        Ok(count > 0)
    }

    /// The pause that calls of this agent meet: that of everything before its own.
    pub async fn pause_of(&self, agent: Option<AgentId>) -> Result<Option<Pause>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} WHERE z.resumed_at IS NULL AND (z.scope = 'everything' OR z.scope = $1) \
             ORDER BY CASE WHEN z.agent_id IS NULL THEN 0 ELSE 1 END LIMIT 1"
        ));
        let row = sqlx::query(sql).bind(text(agent)).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// Every pause in force.
    pub async fn pauses_in_force(&self) -> Result<Vec<Pause>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE z.resumed_at IS NULL ORDER BY z.id"));
        sqlx::query(sql).fetch_all(&self.read).await?.iter().map(read).collect()
    }

    /// The pauses of one scope, also those that ended, newest first.
    pub async fn pauses_of(&self, scope: PauseScope, limit: i64) -> Result<Vec<Pause>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE z.scope = $1 ORDER BY z.id DESC LIMIT $2 + 0"));
        let rows = sqlx::query(sql).bind(scope.to_string()).bind(limit).fetch_all(&self.read).await?;
        rows.iter().map(read).collect()
    }
}

impl Tx {
    /// Whether calls of this agent, or with `None` of callers that are no agents, are paused. Until this transaction
    /// has ended nobody pauses anything.
    pub async fn is_paused(&mut self, agent: Option<AgentId>) -> Result<bool, StoreError> {
        if !self.writes_alone() {
            // Nobody who only asks waits for another: this lock gives way to that of a pause alone.
            sqlx::query("LOCK TABLE pauses IN ROW SHARE MODE").execute(&mut *self.inner).await?;
        }
        let count: i64 = sqlx::query_scalar(IN_FORCE).bind(text(agent)).fetch_one(&mut *self.inner).await?;
        Ok(count > 0)
    }

    /// Waits until every transaction has ended that asked whether there is a pause, and lets no other one ask before
    /// this one has ended.
    pub async fn lock_pauses(&mut self) -> Result<(), StoreError> {
        if !self.writes_alone() {
            sqlx::query("LOCK TABLE pauses IN EXCLUSIVE MODE").execute(&mut *self.inner).await?;
        }
        Ok(())
    }

    /// The pause of just this scope that is in force.
    pub async fn pause_in_force(&mut self, scope: PauseScope) -> Result<Option<Pause>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE z.resumed_at IS NULL AND z.scope = $1"));
        let row = sqlx::query(sql).bind(scope.to_string()).fetch_optional(&mut *self.inner).await?;
        row.as_ref().map(read).transpose()
    }

    /// Stores a pause. A second one in force is a unique violation.
    pub async fn insert_pause(&mut self, new: &NewPause<'_>) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO pauses (id, scope, agent_id, as_owner, person_id, reason, paused_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(new.id.to_string())
        .bind(new.scope.to_string())
        .bind(new.scope.agent().map(|agent| agent.to_string()))
        .bind(i64::from(new.as_owner))
        .bind(new.person.map(|person| person.to_string()))
        .bind(new.reason)
        .bind(new.at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Ends the pause of this scope that is in force. `false`: there is none.
    pub async fn end_pause(
        &mut self,
        scope: PauseScope,
        by: Option<PersonId>,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE pauses SET resumed_at = $2, resumed_by = $3 WHERE scope = $1 AND resumed_at IS NULL",
        )
        .bind(scope.to_string())
        .bind(now.micros())
        .bind(by.map(|person| person.to_string()))
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

/// What stands for callers that are no agents: no scope.
fn text(agent: Option<AgentId>) -> String {
    agent.map(|agent| agent.to_string()).unwrap_or_default()
}

fn read(row: &AnyRow) -> Result<Pause, StoreError> {
    let columns = Columns::new("pauses", "id", row);
    let agent = columns.parse_maybe("agent_id")?;
    Ok(Pause {
        scope: agent.map_or(PauseScope::Everything, PauseScope::Agent),
        as_owner: columns.flag("as_owner")?,
        by: columns.get("paused_by")?,
        reason: columns.get("reason")?,
        at: columns.time("paused_at")?,
        resumed_at: columns.time_maybe("resumed_at")?,
        resumed_by: columns.get("resumed_by")?,
    })
}
