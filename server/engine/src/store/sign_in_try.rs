//! Tries to sign in that failed, and from where people have signed in. Everything is a digest: what was typed is not kept.

use model::Time;

use super::{Store, StoreError, Tx};

/// How many failures in a row are taken, and how fast they are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// After so many failures tries have to wait. At least 2.
    pub burst: i64,
    /// One failure is forgotten in so many seconds.
    pub forgets_in: i64,
}

/// Whether a try is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is, and is counted: what is owed by now, by which the same try is taken back.
    Yes(i64),
    /// Not before that time. Nothing was counted.
    NotBefore(Time),
}

const SECOND: i64 = 1_000_000;

/// How long tries have to wait after the burst's last failure, and after each further one, in seconds.
const WAITS: [i64; 6] = [30, 60, 120, 240, 480, 900];

/// From when on the next try is taken, where `owed` (an SQL expression, microseconds) is remembered at `$2`: `$3` is what
/// one failure adds, `$4` what the burst may add before its last. Where there is no wait it is 0, not now: of several tries
/// at once the one that comes last may have looked at its clock first.
fn free_at(owed: &str) -> String {
    let step = |(at, seconds): (usize, &i64)| {
        format!(" WHEN {owed} <= $4 + {} * $3 THEN $2 + {}", at + 1, seconds * SECOND)
    };
    let steps: String = WAITS.iter().enumerate().take(WAITS.len() - 1).map(step).collect();
    format!("CASE WHEN {owed} <= $4 THEN 0{steps} ELSE $2 + {} END", WAITS[WAITS.len() - 1] * SECOND)
}

impl Limit {
    const fn adds(self) -> i64 {
        self.forgets_in * SECOND
    }

    const fn before_last(self) -> i64 {
        (self.burst - 1) * self.adds()
    }
}

impl Tx {
    /// Counts one try as a failure, unless it has to wait. The row stays this transaction's own until it ends.
    pub async fn count_try(
        &mut self,
        subject: [u8; 32],
        limit: Limit,
        now: Time,
    ) -> Result<Taken, StoreError> {
        let owed =
            "(CASE WHEN sign_in_tries.owed_until > $2 THEN sign_in_tries.owed_until - $2 ELSE 0 END + $3)";
        let sql = format!(
            "INSERT INTO sign_in_tries (subject, owed_until, free_at) VALUES ($1, $2 + $3, 0) \
             ON CONFLICT (subject) DO UPDATE SET owed_until = $2 + {owed}, free_at = {} \
             WHERE sign_in_tries.free_at <= $2 RETURNING owed_until",
            free_at(owed)
        );
        let owed: Option<i64> = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .bind(subject.to_vec())
            .bind(now.micros())
            .bind(limit.adds())
            .bind(limit.before_last())
            .fetch_optional(&mut *self.inner)
            .await?;
        if let Some(owed) = owed {
            return Ok(Taken::Yes(owed));
        }
        let free_at: Option<i64> = sqlx::query_scalar("SELECT free_at FROM sign_in_tries WHERE subject = $1")
            .bind(subject.to_vec())
            .fetch_optional(&mut *self.inner)
            .await?;
        Ok(Taken::NotBefore(free_at.map_or(now, Time::from_micros)))
    }

    /// Takes the counted try back that left `owed`: it did not fail. Nobody had to wait before it, and nobody has to after
    /// it, unless others failed meanwhile; what they failed stays counted.
    pub async fn uncount_try(
        &mut self,
        subject: [u8; 32],
        limit: Limit,
        owed: i64,
        now: Time,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE sign_in_tries SET owed_until = owed_until - $3, \
             free_at = CASE WHEN owed_until = $5 THEN 0 ELSE {} END WHERE subject = $1",
            free_at("(owed_until - $3 - $2)")
        );
        sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(subject.to_vec())
            .bind(now.micros())
            .bind(limit.adds())
            .bind(limit.before_last())
            .bind(owed)
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// Forgets every failure of a subject.
    pub async fn forget_tries(&mut self, subject: [u8; 32]) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sign_in_tries WHERE subject = $1")
            .bind(subject.to_vec())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// Remembers that a person has signed in from there.
    pub async fn note_place(&mut self, place: [u8; 32], now: Time) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO sign_in_places (place, seen_at) VALUES ($1, $2) ON CONFLICT (place) DO UPDATE SET seen_at = $2",
        )
        .bind(place.to_vec())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }
}

impl Store {
    /// Whether a person has signed in from there since then.
    pub async fn knows_place(&self, place: [u8; 32], since: Time) -> Result<bool, StoreError> {
        let found: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM sign_in_places WHERE place = $1 AND seen_at > $2")
                .bind(place.to_vec())
                .bind(since.micros())
                .fetch_one(&self.read)
                .await?;
        Ok(found > 0)
    }

    /// Forgets failures that are no longer remembered, at most so many.
    pub async fn delete_old_tries(&self, now: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM sign_in_tries WHERE subject IN (SELECT subject FROM sign_in_tries WHERE owed_until <= $1 AND free_at <= $1 ORDER BY owed_until LIMIT $2 + 0) AND owed_until <= $1",
        )
        .bind(now.micros())
        .bind(limit);
        self.write(query).await
    }

    /// Forgets places that nobody has signed in from since then, at most so many.
    pub async fn delete_old_places(&self, before: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM sign_in_places WHERE place IN (SELECT place FROM sign_in_places WHERE seen_at <= $1 ORDER BY seen_at LIMIT $2 + 0)",
        )
        .bind(before.micros())
        .bind(limit);
        self.write(query).await
    }
}
