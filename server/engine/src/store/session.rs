//! Browser sessions, by a hash of their id. One counts while its person's account is usable and nothing has ended all of
//! their sessions since it began.

use model::{BrowserSessionId, PersonId, Time};

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A session to be stored.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// What its person knows it by.
    pub id: BrowserSessionId,
    /// Whose it is.
    pub person: PersonId,
    /// The person's epoch when they proved who they are.
    pub epoch: i64,
    /// What the browser calls itself, as it came.
    pub browser: String,
    /// When it began.
    pub begun_at: Time,
    /// When they last proved who they are.
    pub proved_at: Time,
    /// After this it is over, however much it is used.
    pub ends_at: Time,
    /// After this it is over unless it is used before.
    pub expires_at: Time,
}

/// A session that counts, and when it was last used.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// Whose it is.
    pub person: PersonId,
    /// The person's epoch that it counts in.
    pub epoch: i64,
    /// What is sealed in it.
    pub data: Vec<u8>,
    /// When it began.
    pub begun_at: Time,
    /// When its person last proved who they are.
    pub proved_at: Time,
    /// When it was last used, to the minute.
    pub seen_at: Time,
    /// After this it is over, however much it is used.
    pub ends_at: Time,
}

/// A session as its person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// What its person knows it by.
    pub id: BrowserSessionId,
    /// A digest of what the browser holds, to tell which one is asking.
    pub hash: Vec<u8>,
    /// What the browser calls itself, as it came.
    pub browser: String,
    /// When it began.
    pub begun_at: Time,
    /// When it was last used, to the minute.
    pub seen_at: Time,
}

/// The sessions that count at `$1`.
const COUNTING: &str = "FROM sessions s JOIN persons p ON p.id = s.person_id \
    WHERE s.expires_at > $1 AND p.disabled_at IS NULL AND s.epoch = p.sign_in_epoch";

impl Store {
    /// Stores a new session. `false`: the id is taken.
    pub async fn create_session(
        &self,
        hash: [u8; 32],
        data: &[u8],
        new: &NewSession,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "INSERT INTO sessions (hash, id, person_id, epoch, data, browser, begun_at, seen_at, ends_at, expires_at, proved_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $10, $8, $9, $10) ON CONFLICT DO NOTHING",
        )
        .bind(hash.to_vec())
        .bind(new.id.to_string())
        .bind(new.person.to_string())
        .bind(new.epoch)
        .bind(data.to_vec())
        .bind(&new.browser)
        .bind(new.begun_at.micros())
        .bind(new.ends_at.micros())
        .bind(new.expires_at.micros())
        .bind(new.proved_at.micros());
        Ok(self.write(query).await? == 1)
    }

    /// Changes a session that is there. One that was ended meanwhile stays ended.
    pub async fn save_session(&self, hash: [u8; 32], data: &[u8]) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE sessions SET data = $2 WHERE hash = $1")
            .bind(hash.to_vec())
            .bind(data.to_vec());
        self.write(query).await.map(drop)
    }

    /// Notes that a session was used.
    pub async fn touch_session(&self, hash: [u8; 32], now: Time, expires_at: Time) -> Result<(), StoreError> {
        let query =
            sqlx::query("UPDATE sessions SET seen_at = $2, expires_at = $3 WHERE hash = $1 AND seen_at < $2 AND replaced_at IS NULL")
                .bind(hash.to_vec())
                .bind(now.micros())
                .bind(expires_at.micros());
        self.write(query).await.map(drop)
    }

    /// A session that counts.
    pub async fn session(&self, hash: [u8; 32], now: Time) -> Result<Option<SessionRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT s.id, s.person_id, s.epoch, s.data, s.begun_at, COALESCE(s.proved_at, s.begun_at) AS proved_at, s.seen_at, s.ends_at {COUNTING} AND s.hash = $2"
        ));
        let row = sqlx::query(sql).bind(now.micros()).bind(hash.to_vec()).fetch_optional(&self.read).await?;
        row.map(|row| {
            let columns = Columns::new("sessions", "id", &row);
            Ok(SessionRow {
                person: columns.parse("person_id")?,
                epoch: columns.get("epoch")?,
                data: columns.get("data")?,
                begun_at: columns.time("begun_at")?,
                proved_at: columns.time("proved_at")?,
                seen_at: columns.time("seen_at")?,
                ends_at: columns.time("ends_at")?,
            })
        })
        .transpose()
    }

    /// A person's sessions that count, the last used first.
    pub async fn sessions_of(&self, person: PersonId, now: Time) -> Result<Vec<SessionLine>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT s.id, s.hash, s.browser, s.begun_at, s.seen_at {COUNTING} AND s.person_id = $2 AND s.replaced_at IS NULL ORDER BY s.seen_at DESC, s.id DESC"
        ));
        let rows = sqlx::query(sql).bind(now.micros()).bind(person.to_string()).fetch_all(&self.read).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("sessions", "id", row);
                Ok(SessionLine {
                    id: columns.parse("id")?,
                    hash: columns.get("hash")?,
                    browser: columns.get("browser")?,
                    begun_at: columns.time("begun_at")?,
                    seen_at: columns.time("seen_at")?,
                })
            })
            .collect()
    }

    /// Ends a session; one that was replaced ends by itself.
    pub async fn delete_session(&self, hash: [u8; 32]) -> Result<(), StoreError> {
        let query =
            sqlx::query("DELETE FROM sessions WHERE hash = $1 AND replaced_at IS NULL").bind(hash.to_vec());
        self.write(query).await.map(drop)
    }

    /// Another one takes the place of a session, which lasts until then at most.
    pub async fn replace_session(&self, hash: [u8; 32], now: Time, until: Time) -> Result<(), StoreError> {
        let query = sqlx::query(
            "UPDATE sessions SET replaced_at = $2, expires_at = CASE WHEN expires_at < $3 THEN expires_at ELSE $3 END \
             WHERE hash = $1 AND replaced_at IS NULL",
        )
        .bind(hash.to_vec())
        .bind(now.micros())
        .bind(until.micros());
        self.write(query).await.map(drop)
    }

    /// Ends one of a person's own sessions. `false`: it is none of theirs, or it has ended.
    pub async fn delete_session_of(
        &self,
        person: PersonId,
        id: BrowserSessionId,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query("DELETE FROM sessions WHERE person_id = $1 AND id = $2")
            .bind(person.to_string())
            .bind(id.to_string());
        Ok(self.write(query).await? == 1)
    }

    /// Ends a person's sessions but this one: how many.
    pub async fn delete_other_sessions(&self, person: PersonId, kept: [u8; 32]) -> Result<u64, StoreError> {
        let query = sqlx::query("DELETE FROM sessions WHERE person_id = $1 AND hash <> $2")
            .bind(person.to_string())
            .bind(kept.to_vec());
        self.write(query).await
    }

    /// Forgets sessions that have run out, at most so many.
    pub async fn delete_expired_sessions(&self, now: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 + 0)",
        )
        .bind(now.micros())
        .bind(limit);
        self.write(query).await
    }
}

impl Tx {
    /// Ends every session of a person, those that are being written at this moment among them; but one, when one is
    /// named, goes on.
    pub async fn end_sessions(&mut self, person: PersonId, kept: Option<[u8; 32]>) -> Result<(), StoreError> {
        sqlx::query("UPDATE persons SET sign_in_epoch = sign_in_epoch + 1 WHERE id = $1")
            .bind(person.to_string())
            .execute(&mut *self.inner)
            .await?;
        let kept = kept.map_or_else(Vec::new, |hash| hash.to_vec());
        sqlx::query("DELETE FROM sessions WHERE person_id = $1 AND hash <> $2")
            .bind(person.to_string())
            .bind(kept.clone())
            .execute(&mut *self.inner)
            .await?;
        // That one alone: another may have been written since the statement before this one, in the epoch that has ended.
        sqlx::query(
            "UPDATE sessions SET epoch = (SELECT p.sign_in_epoch FROM persons p WHERE p.id = $1) WHERE person_id = $1 AND hash = $2",
        )
        .bind(person.to_string())
        .bind(kept)
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }
}
