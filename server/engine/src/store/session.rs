//! Browser sessions, by a hash of their id.

use model::Time;

use super::{Store, StoreError};

impl Store {
    /// Stores a new session. `false`: the id is taken.
    pub async fn create_session(
        &self,
        hash: [u8; 32],
        data: &[u8],
        expires_at: Time,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "INSERT INTO sessions (hash, data, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        )
        .bind(hash.to_vec())
        .bind(data.to_vec())
        .bind(expires_at.micros());
        Ok(self.write(query).await? == 1)
    }

    /// Changes a session that is there. One that was ended meanwhile stays ended.
    pub async fn save_session(
        &self,
        hash: [u8; 32],
        data: &[u8],
        expires_at: Time,
    ) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE sessions SET data = $2, expires_at = $3 WHERE hash = $1")
            .bind(hash.to_vec())
            .bind(data.to_vec())
            .bind(expires_at.micros());
        self.write(query).await.map(drop)
    }

    /// A session that has not run out.
    pub async fn session(&self, hash: [u8; 32], now: Time) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(sqlx::query_scalar("SELECT data FROM sessions WHERE hash = $1 AND expires_at > $2")
            .bind(hash.to_vec())
            .bind(now.micros())
            .fetch_optional(&self.read)
            .await?)
    }

    /// Ends a session.
    pub async fn delete_session(&self, hash: [u8; 32]) -> Result<(), StoreError> {
        let query = sqlx::query("DELETE FROM sessions WHERE hash = $1").bind(hash.to_vec());
        self.write(query).await.map(drop)
    }

    /// Forgets sessions that have run out, at most so many.
    pub async fn delete_expired_sessions(&self, now: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)",
        )
        .bind(now.micros())
        .bind(limit);
        self.write(query).await
    }
}
