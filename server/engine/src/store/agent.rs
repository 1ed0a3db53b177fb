//! Agents.

use model::{AgentId, PersonId, Time};

use super::columns::Columns;
use super::{Store, StoreError, Tx};
use crate::agent::AgentLine;

impl Store {
    /// Every agent with its newest key, by name.
    pub async fn agents(&self) -> Result<Vec<AgentLine>, StoreError> {
        let rows = sqlx::query(
            "SELECT a.id, a.name, a.revoked_at, p.name AS owner, p.email AS owner_email, k.requires_approval, k.abilities, k.toolset, \
                    k.last_used_at, k.revoked_at AS key_revoked_at \
             FROM agents a JOIN persons p ON p.id = a.owner_id \
             JOIN keys k ON k.id = (SELECT MAX(n.id) FROM keys n WHERE n.agent_id = a.id) \
             ORDER BY a.name",
        )
        .fetch_all(&self.read)
        .await?;
        rows.iter().map(read_line).collect()
    }

    /// How many agents a person has that were not revoked.
    pub async fn live_agents_of(&self, owner: PersonId) -> Result<u64, StoreError> {
        let count: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM agents WHERE owner_id = $1 AND revoked_at IS NULL")
                .bind(owner.to_string())
                .fetch_one(&self.read)
                .await?;
        Ok(count.unsigned_abs())
    }

    /// The id of the agent with this name.
    pub async fn agent_by_name(&self, name: &str) -> Result<Option<AgentId>, StoreError> {
        let row = sqlx::query("SELECT id FROM agents WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.read)
            .await?;
        row.map(|row| Columns::new("agents", "id", &row).parse("id")).transpose()
    }
}

impl Tx {
    /// Adds an agent. A taken name is a unique violation (`StoreError::is_taken`).
    pub async fn insert_agent(
        &mut self,
        id: AgentId,
        owner: PersonId,
        name: &str,
        now: Time,
    ) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO agents (id, owner_id, name, created_at) VALUES ($1, $2, $3, $4)")
            .bind(id.to_string())
            .bind(owner.to_string())
            .bind(name)
            .bind(now.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// Revokes an agent and every key of it. `false`: it was already, or there is none.
    pub async fn revoke_agent(&mut self, id: AgentId, now: Time) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE agents SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL")
            .bind(id.to_string())
            .bind(now.micros())
            .execute(&mut *self.inner)
            .await?;
        sqlx::query("UPDATE keys SET revoked_at = $2 WHERE agent_id = $1 AND revoked_at IS NULL")
            .bind(id.to_string())
            .bind(now.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn read_line(row: &sqlx::any::AnyRow) -> Result<AgentLine, StoreError> {
    let columns = Columns::new("agents", "id", row);
    let key_revoked_at = columns.time_maybe("key_revoked_at")?;
    Ok(AgentLine {
        id: columns.parse("id")?,
        name: columns.get("name")?,
        owner: columns.get("owner")?,
        owner_email: columns.get("owner_email")?,
        requires_approval: columns.flag("requires_approval")?,
        abilities: columns.json("abilities")?,
        toolset: columns.json_maybe("toolset")?,
        last_used_at: columns.time_maybe("last_used_at")?,
        revoked_at: columns.time_maybe("revoked_at")?.or(key_revoked_at),
    })
}
