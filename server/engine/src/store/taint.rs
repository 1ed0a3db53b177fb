//! Sessions of agents that have read what nobody vouches for.

use model::{AgentId, Time};

use super::{Store, StoreError};

impl Store {
    /// Marks a session. One that is marked stays as it is.
    pub async fn taint_session(&self, agent: AgentId, session: &str, now: Time) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO session_taints (agent_id, session, tainted_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        )
        .bind(agent.to_string())
        .bind(session)
        .bind(now.micros());
        self.write(query).await.map(drop)
    }

    /// Whether a session is marked.
    pub async fn is_tainted(&self, agent: AgentId, session: &str) -> Result<bool, StoreError> {
        let found: Option<i64> =
            sqlx::query_scalar("SELECT tainted_at FROM session_taints WHERE agent_id = $1 AND session = $2")
                .bind(agent.to_string())
                .bind(session)
                .fetch_optional(&self.read)
                .await?;
        Ok(found.is_some())
    }
}
