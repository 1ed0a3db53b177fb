//! Agents' keys and people's tokens. Only hashes are stored.

use model::{Ability, AgentId, KeyId, PersonId, Time};
use sqlx::any::AnyRow;

use super::columns::{Columns, to_json};
use super::{Store, StoreError, Tx};
use crate::agent::KeyLine;
use crate::token::HashedToken;

/// A key or token that is in force, with whose it is.
#[derive(Debug, Clone)]
pub struct KeyRow {
    /// Its id.
    pub id: KeyId,
    /// The agent and its name, for an agent's key.
    pub agent: Option<(AgentId, String)>,
    /// The person: the agent's owner, or whose token it is.
    pub person: PersonId,
    /// What it may be used for.
    pub abilities: Vec<Ability>,
    /// Every write goes to the approval queue.
    pub requires_approval: bool,
    /// The actions it may see; `None`: all.
    pub toolset: Option<Vec<String>>,
    /// The one session it is bound to.
    pub session: Option<String>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Time>,
}

/// One of a person's tokens, as that person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenLine {
    /// Its id.
    pub id: KeyId,
    /// What it may be used for.
    pub abilities: Vec<Ability>,
    /// When it was made.
    pub created_at: Time,
    /// When it stops being taken.
    pub expires_at: Option<Time>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Time>,
}

/// A key or token to be stored.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// What it is and whose.
    pub row: KeyRow,
    /// The hash of the token.
    pub hash: HashedToken,
    /// When it was made.
    pub created_at: Time,
    /// When it stops being taken.
    pub expires_at: Option<Time>,
}

/// In force: not revoked, not expired, neither the agent revoked nor the person disabled. `$2` is now.
const IN_FORCE: &str = "SELECT k.id, k.agent_id, a.name AS agent_name, k.person_id, k.abilities, k.requires_approval, \
    k.toolset, k.session, k.last_used_at FROM keys k JOIN persons p ON p.id = k.person_id LEFT JOIN agents a ON a.id = k.agent_id \
    WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2) AND p.disabled_at IS NULL \
    AND a.revoked_at IS NULL";

impl Store {
    /// The key in force with this hash.
    pub async fn key_by_hash(&self, hash: HashedToken, now: Time) -> Result<Option<KeyRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{IN_FORCE} AND k.hash = $1"));
        let row =
            sqlx::query(sql).bind(hash.0.to_vec()).bind(now.micros()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// The key in force with this id.
    pub async fn key(&self, id: KeyId, now: Time) -> Result<Option<KeyRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{IN_FORCE} AND k.id = $1"));
        let row = sqlx::query(sql).bind(id.to_string()).bind(now.micros()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// Every key an agent has had.
    pub async fn keys_of_agent(&self, agent: AgentId) -> Result<Vec<KeyId>, StoreError> {
        let rows = sqlx::query("SELECT id FROM keys WHERE agent_id = $1")
            .bind(agent.to_string())
            .fetch_all(&self.read)
            .await?;
        rows.iter().map(|row| Columns::new("keys", "id", row).parse("id")).collect()
    }

    /// The keys of an agent with what is worth telling of them, newest first.
    pub async fn key_lines(&self, agent: AgentId) -> Result<Vec<KeyLine>, StoreError> {
        let rows = sqlx::query(
            "SELECT k.id, k.requires_approval, k.abilities, k.toolset, k.session, k.created_at, k.last_used_at, k.expires_at, \
             k.revoked_at, (SELECT COUNT(*) FROM calls c WHERE c.key_id = k.id AND c.state IN ('held', 'approved', 'queued')) AS unsent \
             FROM keys k WHERE k.agent_id = $1 ORDER BY k.id DESC",
        )
        .bind(agent.to_string())
        .fetch_all(&self.read)
        .await?;
        rows.iter().map(read_line).collect()
    }

    /// A person's tokens that were not revoked, the newest first.
    pub async fn tokens_of(&self, person: PersonId) -> Result<Vec<TokenLine>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, abilities, created_at, expires_at, last_used_at FROM keys \
             WHERE person_id = $1 AND agent_id IS NULL AND revoked_at IS NULL ORDER BY id DESC",
        )
        .bind(person.to_string())
        .fetch_all(&self.read)
        .await?;
        let line = |row| {
            let columns = Columns::new("keys", "id", row);
            Ok(TokenLine {
                id: columns.parse("id")?,
                abilities: columns.json("abilities")?,
                created_at: columns.time("created_at")?,
                expires_at: columns.time_maybe("expires_at")?,
                last_used_at: columns.time_maybe("last_used_at")?,
            })
        };
        rows.iter().map(line).collect()
    }

    /// How many tokens of a person's own are in force, while the person is.
    pub async fn live_tokens_of(&self, person: PersonId, now: Time) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM keys WHERE person_id = $1 AND agent_id IS NULL AND revoked_at IS NULL \
             AND (expires_at IS NULL OR expires_at > $2)",
        )
        .bind(person.to_string())
        .bind(now.micros())
        .fetch_one(&self.read)
        .await?;
        Ok(count.unsigned_abs())
    }

    /// Remembers that a key was used, at most once a minute.
    pub async fn touch_key(&self, id: KeyId, now: Time) -> Result<(), StoreError> {
        let query = sqlx::query(
            "UPDATE keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)",
        )
        .bind(id.to_string())
        .bind(now.micros())
        .bind(now.plus_seconds(-60).micros());
        self.write(query).await.map(drop)
    }
}

impl Tx {
    /// Stores a key or token.
    pub async fn insert_key(&mut self, key: &NewKey) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO keys (id, agent_id, person_id, hash, abilities, requires_approval, toolset, session, created_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind(key.row.id.to_string())
        .bind(key.row.agent.as_ref().map(|(id, _)| id.to_string()))
        .bind(key.row.person.to_string())
        .bind(key.hash.0.to_vec())
        .bind(to_json(&key.row.abilities))
        .bind(i64::from(key.row.requires_approval))
        .bind(key.row.toolset.as_ref().map(to_json))
        .bind(&key.row.session)
        .bind(key.created_at.micros())
        .bind(key.expires_at.map(Time::micros))
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Revokes a person's own token. `false`: it was already, or is none of theirs.
    pub async fn revoke_token_of(
        &mut self,
        person: PersonId,
        id: KeyId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE keys SET revoked_at = $3 WHERE id = $1 AND person_id = $2 AND agent_id IS NULL AND revoked_at IS NULL",
        )
        .bind(id.to_string())
        .bind(person.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Revokes one key or token. `false`: it was already, or there is none.
    pub async fn revoke_key(&mut self, id: KeyId, now: Time) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL")
            .bind(id.to_string())
            .bind(now.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn read(row: &AnyRow) -> Result<KeyRow, StoreError> {
    let columns = Columns::new("keys", "id", row);
    let agent = match columns.parse_maybe("agent_id")? {
        Some(id) => Some((id, columns.get("agent_name")?)),
        None => None,
    };
    Ok(KeyRow {
        id: columns.parse("id")?,
        agent,
        person: columns.parse("person_id")?,
        abilities: columns.json("abilities")?,
        requires_approval: columns.flag("requires_approval")?,
        toolset: columns.json_maybe("toolset")?,
        session: columns.get("session")?,
        last_used_at: columns.time_maybe("last_used_at")?,
    })
}

fn read_line(row: &AnyRow) -> Result<KeyLine, StoreError> {
    let columns = Columns::new("keys", "id", row);
    Ok(KeyLine {
        id: columns.parse("id")?,
        requires_approval: columns.flag("requires_approval")?,
        abilities: columns.json("abilities")?,
        toolset: columns.json_maybe("toolset")?,
        session: columns.get("session")?,
        created_at: columns.time("created_at")?,
        last_used_at: columns.time_maybe("last_used_at")?,
        expires_at: columns.time_maybe("expires_at")?,
        revoked_at: columns.time_maybe("revoked_at")?,
        unsent: columns.number("unsent")?,
    })
}
