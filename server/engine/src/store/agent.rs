//! Agents.

use model::{AgentId, PersonId, Time};

use super::columns::Columns;
use super::{Store, StoreError, Tx};
use crate::agent::AgentLine;
use crate::pause::PauseScope;

/// An agent with its newest key, what waits, and its own pause.
const SELECT: &str = "SELECT a.id, a.name, a.revoked_at, a.owner_id, p.name AS owner, p.email AS owner_email, \
    k.requires_approval, k.abilities, k.toolset, k.revoked_at AS key_revoked_at, \
    (SELECT MAX(u.last_used_at) FROM keys u WHERE u.agent_id = a.id) AS last_used_at, \
    (SELECT COUNT(*) FROM keys l WHERE l.agent_id = a.id AND l.revoked_at IS NULL) AS keys_left, \
    (SELECT COUNT(*) FROM calls c WHERE c.agent_id = a.id AND c.state = 'held') AS held, \
    (SELECT COUNT(*) FROM calls c WHERE c.agent_id = a.id AND c.state IN ('held', 'approved', 'queued')) AS unsent \
    FROM agents a JOIN persons p ON p.id = a.owner_id \
    JOIN keys k ON k.id = (SELECT MAX(n.id) FROM keys n WHERE n.agent_id = a.id)";

impl Store {
    /// Every agent, or those of one owner, by name.
    pub async fn agents(&self, owner: Option<PersonId>) -> Result<Vec<AgentLine>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE $1 = '' OR a.owner_id = $1 ORDER BY a.name"));
        let owner = owner.map(|owner| owner.to_string()).unwrap_or_default();
        let rows = sqlx::query(sql).bind(owner).fetch_all(&self.read).await?;
        let mut agents = rows.iter().map(read_line).collect::<Result<Vec<_>, _>>()?;
        for pause in self.pauses_in_force().await? {
            let agent = agents.iter_mut().find(|agent| pause.scope == PauseScope::Agent(agent.id));
            if let Some(agent) = agent {
                agent.pause = Some(pause);
            }
        }
        Ok(agents)
    }

    /// The agent with this id.
    pub async fn agent(&self, id: AgentId) -> Result<Option<AgentLine>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE a.id = $1"));
        let row = sqlx::query(sql).bind(id.to_string()).fetch_optional(&self.read).await?;
        let Some(mut agent) = row.as_ref().map(read_line).transpose()? else { return Ok(None) };
        let newest = self.pauses_of(PauseScope::Agent(id), 1).await?.into_iter().next();
        agent.pause = newest.filter(|pause| pause.resumed_at.is_none());
        Ok(Some(agent))
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
    let revoked_at = columns.time_maybe("revoked_at")?;
    let key_revoked_at = columns.time_maybe("key_revoked_at")?;
    let keys_left: i64 = columns.get("keys_left")?;
    Ok(AgentLine {
        id: columns.parse("id")?,
        name: columns.get("name")?,
        owner_id: columns.parse("owner_id")?,
        owner: columns.get("owner")?,
        owner_email: columns.get("owner_email")?,
        requires_approval: columns.flag("requires_approval")?,
        abilities: columns.json("abilities")?,
        toolset: columns.json_maybe("toolset")?,
        last_used_at: columns.time_maybe("last_used_at")?,
        revoked_at: revoked_at.or(key_revoked_at.filter(|_| keys_left == 0)),
        is_revoked: revoked_at.is_some(),
        held: columns.number("held")?,
        unsent: columns.number("unsent")?,
        pause: None,
    })
}
