//! Prompts that a caller itself confirms with a token. Only the token's hash is stored.

use model::Time;

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A prompt to be stored.
#[derive(Debug, Clone)]
pub struct NewPrompt {
    /// SHA-256 of the token.
    pub hash: [u8; 32],
    /// Who was asked.
    pub caller: String,
    /// The action's name.
    pub action: String,
    /// The arguments the token was made for.
    pub input_hash: [u8; 32],
    /// What the preview rested on.
    pub fingerprint: [u8; 32],
    /// When it was made.
    pub created_at: Time,
    /// When it lapses.
    pub expires_at: Time,
}

/// A prompt as it stands.
#[derive(Debug, Clone)]
pub struct PromptRow {
    /// Who was asked.
    pub caller: String,
    /// The action's name.
    pub action: String,
    /// The arguments the token was made for.
    pub input_hash: [u8; 32],
    /// What the preview rested on.
    pub fingerprint: [u8; 32],
    /// When it lapses.
    pub expires_at: Time,
    /// It was redeemed, or replaced because the values changed.
    pub used: bool,
    /// Its caller rejected it.
    pub rejected: bool,
}

impl Store {
    /// The prompt with this token's hash.
    pub async fn prompt(&self, hash: [u8; 32]) -> Result<Option<PromptRow>, StoreError> {
        let row = sqlx::query(
            "SELECT caller, action, input_hash, fingerprint, expires_at, used_at, rejected_at FROM prompts WHERE hash = $1",
        )
        .bind(hash.to_vec())
        .fetch_optional(&self.read)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let columns = Columns::new("prompts", "caller", &row);
        Ok(Some(PromptRow {
            caller: columns.get("caller")?,
            action: columns.get("action")?,
            input_hash: columns.digest("input_hash")?,
            fingerprint: columns.digest("fingerprint")?,
            expires_at: columns.time("expires_at")?,
            used: columns.time_maybe("used_at")?.is_some(),
            rejected: columns.time_maybe("rejected_at")?.is_some(),
        }))
    }

    /// Whether a caller has fewer than so many prompts that wait for their token.
    pub async fn has_room_for_prompt(&self, caller: &str, now: Time, most: u32) -> Result<bool, StoreError> {
        let open: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM (SELECT 1 FROM prompts WHERE caller = $1 AND expires_at > $2 AND used_at IS NULL AND rejected_at IS NULL LIMIT $3 + 0) AS open_prompts",
        )
        .bind(caller)
        .bind(now.micros())
        .bind(i64::from(most))
        .fetch_one(&self.read)
        .await?;
        Ok(open < i64::from(most))
    }

    /// Forgets prompts that lapsed a day ago, at most so many.
    pub async fn delete_old_prompts(&self, now: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM prompts WHERE hash IN (SELECT hash FROM prompts WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 + 0)",
        )
        .bind(now.plus_seconds(-86_400).micros())
        .bind(limit);
        self.write(query).await
    }
}

impl Tx {
    /// Stores a prompt.
    pub async fn insert_prompt(&mut self, prompt: &NewPrompt) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO prompts (hash, caller, action, input_hash, fingerprint, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(prompt.hash.to_vec())
        .bind(&prompt.caller)
        .bind(&prompt.action)
        .bind(prompt.input_hash.to_vec())
        .bind(prompt.fingerprint.to_vec())
        .bind(prompt.created_at.micros())
        .bind(prompt.expires_at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Spends a prompt, once. `false`: it was spent, rejected or has lapsed.
    pub async fn spend_prompt(&mut self, hash: [u8; 32], now: Time) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE prompts SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND rejected_at IS NULL AND expires_at > $2",
        )
        .bind(hash.to_vec())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Rejects its caller's own prompt. `false`: there is none to reject.
    pub async fn reject_prompt(
        &mut self,
        hash: [u8; 32],
        caller: &str,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE prompts SET rejected_at = $3 WHERE hash = $1 AND caller = $2 AND used_at IS NULL AND rejected_at IS NULL AND expires_at > $3",
        )
        .bind(hash.to_vec())
        .bind(caller)
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}
