//! Calls as a list shows them: named by a title, without what is in them.

use model::{AgentId, CallId, Effect, Listing, PersonId, Time};
use sqlx::any::AnyRow;

use super::call::{FROM, SELECT, read, read_standing, standing};
use super::columns::Columns;
use super::right::{DECIDES, OPERATES, mine};
use super::waits::waits;
use super::{CallRow, Standing, Store, StoreError, Window};
use crate::filter::{InboxFilter, InboxOrder};

/// Every column of a `CallRow`, but what is in the call only where no title stands for it. A result never.
fn columns() -> String {
    let whole = |column: &str| format!("CASE WHEN c.preview_title IS NULL THEN c.{column} END AS {column}");
    SELECT
        .replace("c.input, c.preview,", &format!("{}, {},", whole("input"), whole("preview")))
        .replace("c.result,", "NULL AS result,")
}

/// What the held calls of a person can be narrowed by: an agent's name, an action's name and title, an effect.
pub(crate) type Kind = (Option<String>, String, String, Effect);

impl Store {
    /// The held calls that wait for the person's word and that fit, in the order that is asked for: each with how they stand to it.
    pub(crate) async fn held_lines(
        &self,
        person: PersonId,
        filter: &InboxFilter,
        window: &Window,
        now: Time,
    ) -> Result<Listing<(CallRow, Standing)>, StoreError> {
        let place = match filter.order {
            // Without the sum a database may look for them by when they lapse, and sort all of them for one page.
            InboxOrder::Newest => "c.expires_at + 0 > $2 AND $7 IS NOT NULL AND c.id < $8 ORDER BY c.id DESC",
            InboxOrder::Lapsing => {
                "c.expires_at > $2 AND (c.expires_at > $7 OR (c.expires_at = $7 AND c.id > $8)) ORDER BY c.expires_at, c.id"
            }
        };
        let (at, id) = match filter.order {
            InboxOrder::Newest => (0, window.before_id()),
            InboxOrder::Lapsing => window.behind_lapse(),
        };
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {}, {} {FROM} WHERE c.state = 'held' AND {DECIDES} AND {} AND ($3 IS NULL OR a.name = $3) \
             AND ($4 IS NULL OR c.action = $4) AND ($5 IS NULL OR c.effect = $5) AND {place} LIMIT $6 + 0",
            mine("$2"),
            columns(),
            standing(),
            waits()
        ));
        let rows = sqlx::query(sql)
            .bind(person.to_string())
            .bind(now.micros())
            .bind(filter.agent.clone())
            .bind(filter.action.clone())
            .bind(filter.effect.map(|effect| effect.as_str().to_owned()))
            .bind(window.fetch())
            .bind(at)
            .bind(id)
            .fetch_all(&self.read)
            .await?;
        let rows = with_standing(&rows, person)?;
        Ok(window.page(rows, |(row, _)| match (filter.order, row.expires_at) {
            (InboxOrder::Lapsing, Some(at)) => format!("{}_{}", at.micros(), row.id),
            _ => row.id.to_string(),
        }))
    }

    /// Each kind of call among those that wait for the person's word, once.
    pub(crate) async fn kinds_held_for(&self, person: PersonId, now: Time) -> Result<Vec<Kind>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} SELECT DISTINCT a.name AS agent_name, c.action, c.title, c.effect {FROM} \
             WHERE c.state = 'held' AND c.expires_at > $2 AND {DECIDES} AND {}",
            mine("$2"),
            waits()
        ));
        let rows = sqlx::query(sql).bind(person.to_string()).bind(now.micros()).fetch_all(&self.read).await?;
        let kind = |row: &AnyRow| {
            let columns = Columns::new("calls", "action", row);
            Ok((
                columns.get("agent_name")?,
                columns.get("action")?,
                columns.get("title")?,
                columns.parse("effect")?,
            ))
        };
        rows.iter().map(kind).collect()
    }

    /// Calls whose outcome is not known and that the person may settle, newest first: each with how they stand to it.
    pub(crate) async fn in_doubt_for(
        &self,
        person: PersonId,
        now: Time,
        limit: i64,
    ) -> Result<Vec<(CallRow, Standing)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {}, {} {FROM} WHERE c.state = 'in_doubt' AND ({OPERATES} OR {DECIDES}) ORDER BY c.id DESC LIMIT $3 + 0",
            mine("$2"),
            columns(),
            standing()
        ));
        let rows = sqlx::query(sql).bind(person.to_string()).bind(now.micros()).bind(limit);
        with_standing(&rows.fetch_all(&self.read).await?, person)
    }

    /// Those of these calls that the person may see, in no order.
    pub(crate) async fn lines_of(
        &self,
        person: PersonId,
        calls: &[CallId],
        now: Time,
    ) -> Result<Vec<(CallRow, Standing)>, StoreError> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<_> = (3..calls.len() + 3).map(|place| format!("${place}")).collect();
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {}, {} {FROM} WHERE c.id IN ({}) AND (c.person_id = $1 OR {DECIDES} OR {OPERATES})",
            mine("$2"),
            columns(),
            standing(),
            places.join(", ")
        ));
        let query = sqlx::query(sql).bind(person.to_string()).bind(now.micros());
        let query = calls.iter().fold(query, |query, id| query.bind(id.to_string()));
        with_standing(&query.fetch_all(&self.read).await?, person)
    }

    /// What an agent asked for in a session before this call and the person may see, newest first.
    pub(crate) async fn earlier_lines(
        &self,
        person: PersonId,
        agent: AgentId,
        session: &str,
        before: CallId,
        now: Time,
        limit: i64,
    ) -> Result<Vec<(CallRow, Standing)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {}, {} {FROM} WHERE c.agent_id = $2 AND c.session = $3 AND c.id < $4 \
             AND (c.person_id = $1 OR {DECIDES} OR {OPERATES}) ORDER BY c.id DESC LIMIT $5 + 0",
            mine("$6"),
            columns(),
            standing()
        ));
        let rows = sqlx::query(sql)
            .bind(person.to_string())
            .bind(agent.to_string())
            .bind(session)
            .bind(before.to_string())
            .bind(limit)
            .bind(now.micros())
            .fetch_all(&self.read)
            .await?;
        with_standing(&rows, person)
    }

    /// The twins of a stored call that the person may see, newest first: those that wait, are under way or in doubt, or
    /// were done or failed since then.
    pub(crate) async fn twin_lines(
        &self,
        person: PersonId,
        call: CallId,
        since: Time,
        now: Time,
        limit: i64,
    ) -> Result<Vec<(CallRow, Standing)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {}, {} {FROM} JOIN calls o ON o.input_hash = c.input_hash AND o.action = c.action \
             AND COALESCE(o.person_id, '') = COALESCE(c.person_id, '') AND o.id <> c.id \
             WHERE o.id = $2 AND (c.state IN ('held', 'queued', 'approved', 'sending', 'running', 'in_doubt') \
             OR (c.state IN ('done', 'failed') AND c.ended_at > $3)) \
             AND (c.person_id = $1 OR {DECIDES} OR {OPERATES}) ORDER BY c.id DESC LIMIT $4 + 0",
            mine("$5"),
            columns(),
            standing()
        ));
        let rows = sqlx::query(sql)
            .bind(person.to_string())
            .bind(call.to_string())
            .bind(since.micros())
            .bind(limit)
            .bind(now.micros())
            .fetch_all(&self.read)
            .await?;
        with_standing(&rows, person)
    }
}

fn with_standing(rows: &[AnyRow], person: PersonId) -> Result<Vec<(CallRow, Standing)>, StoreError> {
    rows.iter().map(|row| Ok((read(row)?, read_standing(row, person)?))).collect()
}
