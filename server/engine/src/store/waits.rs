//! Which held calls still wait for a person: those that they decide, and that neither they nor anybody by their voice has
//! voted on. And those on which somebody has.

use model::{CallId, PersonId, Time};

use super::call::{FROM, SELECT, read, read_standing, standing};
use super::right::{DECIDES, OWN_VOICES, VOICE, mine};
use super::{CallRow, Standing, Store, StoreError};

/// Whether the call `c`, which the person `$1` decides, still waits for their word, behind [`mine`].
pub(super) fn waits() -> String {
    format!(
        "NOT EXISTS (SELECT 1 FROM decisions said WHERE said.call_id = c.id AND said.voided_at IS NULL \
         AND (said.person_id = $1 OR COALESCE(said.for_id, said.person_id) = {VOICE}))"
    )
}

impl Store {
    /// The held calls on which the person, or somebody in their place, has voted, newest first, each with how they stand to it.
    pub(crate) async fn voted_lines(
        &self,
        person: PersonId,
        now: Time,
        limit: i64,
    ) -> Result<Vec<(CallRow, Standing)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {SELECT}, {} {FROM} WHERE c.state = 'held' AND c.expires_at > $2 AND EXISTS (SELECT 1 FROM decisions said \
             WHERE said.call_id = c.id AND said.voided_at IS NULL AND (said.person_id = $1 OR said.for_id = $1)) \
             ORDER BY c.id DESC LIMIT $3 + 0",
            mine("$2"),
            standing()
        ));
        let rows = sqlx::query(sql).bind(person.to_string()).bind(now.micros()).bind(limit);
        let rows = rows.fetch_all(&self.read).await?;
        rows.iter().map(|row| Ok((read(row)?, read_standing(row, person)?))).collect()
    }

    /// Whether the person decides a held call as an operator alone, and those who decide it otherwise are fewer than it takes.
    pub(crate) async fn stands_in_as_operator(
        &self,
        call: CallId,
        person: PersonId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} SELECT COUNT(*) FROM calls c WHERE c.id = $3 AND c.state = 'held' \
             AND EXISTS (SELECT 1 FROM call_approvers ca JOIN mine m ON m.subject = ca.subject \
             WHERE ca.call_id = c.id AND ca.subject = 'role:operator' AND m.voice = $1) \
             AND NOT EXISTS (SELECT 1 FROM call_approvers ca JOIN mine m ON m.subject = ca.subject \
             WHERE ca.call_id = c.id AND ca.subject <> 'role:operator' AND m.voice = $1) \
             AND (SELECT COUNT(DISTINCT s.person_id) {OWN_VOICES} AND ca.subject <> 'role:operator') < c.quorum",
            mine("$2")
        ));
        let count: i64 = sqlx::query_scalar(sql)
            .bind(person.to_string())
            .bind(now.micros())
            .bind(call.to_string())
            .fetch_one(&self.read)
            .await?;
        Ok(count > 0)
    }

    /// The calls among those that the person decides that somebody overrode since then, newest first.
    pub(crate) async fn overridden_lines(
        &self,
        person: PersonId,
        since: Time,
        now: Time,
        limit: i64,
    ) -> Result<Vec<(CallRow, Standing)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {SELECT}, {} {FROM} JOIN decisions o ON o.call_id = c.id AND o.kind = 'override' AND o.voided_at IS NULL \
             WHERE o.at > $3 AND o.person_id <> $1 AND {DECIDES} ORDER BY o.at DESC LIMIT $4 + 0",
            mine("$2"),
            standing()
        ));
        let rows = sqlx::query(sql)
            .bind(person.to_string())
            .bind(now.micros())
            .bind(since.micros())
            .bind(limit)
            .fetch_all(&self.read)
            .await?;
        rows.iter().map(|row| Ok((read(row)?, read_standing(row, person)?))).collect()
    }
}
