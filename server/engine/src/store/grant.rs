//! Standing grants. A use is one guarded statement: whether the grant lives, has a use left, was made by somebody who may
//! still decide such calls, and is of what the catalogue says now, is asked where the use is counted.

use model::{AgentId, ApprovalId, CallId, EventId, EventType, Listing, PersonId, Surface, Time};
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::{Store, StoreError, Tx, Window};
use crate::grant::{GrantEnd, GrantLine, MOST_LIVE, NewGrant};

/// A grant as it is stored.
#[derive(Debug, Clone)]
pub struct GrantRow {
    /// What everybody who may see it is told.
    pub line: GrantLine,
    /// Where the call it was made with came in.
    pub surface: Surface,
    /// What the catalogue said when it was made.
    pub pin: [u8; 32],
    /// What a call has to be like, sealed, until it ends.
    pub scope: Option<Vec<u8>>,
}

/// A use to be taken.
#[derive(Debug, Clone, Copy)]
pub struct GrantUse<'a> {
    /// The grant.
    pub id: ApprovalId,
    /// The agent that calls.
    pub agent: AgentId,
    /// What the catalogue says now.
    pub pin: [u8; 32],
    /// Who may decide such a call now.
    pub approvers: &'a [String],
    /// Now.
    pub at: Time,
}

/// Grants to be ended.
#[derive(Debug, Clone, Copy)]
pub enum GrantsOf {
    /// This one.
    One(ApprovalId),
    /// Those that were made with this call.
    Call(CallId),
    /// Those that this person made.
    Grantor(PersonId),
    /// Those for this agent.
    Agent(AgentId),
    /// Those for the agents of this person.
    Owner(PersonId),
}

/// A grant that ended just now.
#[derive(Debug, Clone, Copy)]
pub struct EndedGrant {
    /// The grant.
    pub id: ApprovalId,
    /// The call it was made with.
    pub call: CallId,
    /// Where that came in.
    surface: Surface,
}

const SELECT: &str = "SELECT g.id, g.call_id, g.person_id, p.name AS grantor_name, g.agent_id, a.name AS agent_name, a.owner_id, \
    g.action, g.title, g.surface, g.credential, g.method, g.host, g.pin, g.scope, g.uses, g.used, g.made_at, g.expires_at, g.last_used_at, \
    g.ended_at, g.how, e.name AS ended_by_name FROM grants g JOIN persons p ON p.id = g.person_id JOIN agents a ON a.id = g.agent_id \
    LEFT JOIN persons e ON e.id = g.ended_by";

/// Whether the person `$1` may know of `g`: who made it, whose agent it is for, and with `$2` an operator.
const SEEN: &str = "($2 = 1 OR g.person_id = $1 OR a.owner_id = $1)";

/// Whether the agent of `g` may act: it is not revoked, and its owner not disabled.
const AGENT_ACTS: &str = "EXISTS (SELECT 1 FROM agents a JOIN persons w ON w.id = a.owner_id WHERE a.id = g.agent_id \
    AND a.revoked_at IS NULL AND w.disabled_at IS NULL)";

/// Whether the Confirm that `g` was made with can be taken back no more: until then nothing goes through.
const STANDS: &str =
    "NOT EXISTS (SELECT 1 FROM calls o WHERE o.id = g.call_id AND o.state IN ('held', 'approved'))";

/// Whether this person is one of these subjects by a right of their own, whatever somebody else lends them. The subjects
/// are bound from `$first` on.
fn own_right(person: &str, subjects: &[String], first: usize) -> String {
    let places: Vec<_> = (first..first + subjects.len()).map(|place| format!("${place}")).collect();
    let among = places.join(", ");
    format!(
        "EXISTS (SELECT 1 FROM persons o WHERE o.id = {person} AND o.disabled_at IS NULL AND (('id:' || o.id) IN ({among}) \
         OR ('person:' || o.email) IN ({among}) \
         OR EXISTS (SELECT 1 FROM person_roles r WHERE r.person_id = o.id AND ('role:' || r.role) IN ({among})) \
         OR EXISTS (SELECT 1 FROM group_members m WHERE m.person_id = o.id AND ('group:' || m.group_name) IN ({among}))))"
    )
}

impl Store {
    /// One grant.
    pub async fn grant(&self, id: ApprovalId) -> Result<Option<GrantRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE g.id = $1"));
        let row = sqlx::query(sql).bind(id.to_string()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// The grants for calls of this action by this agent that live and have a use left, those that lapse first in front.
    pub async fn grants_for(
        &self,
        agent: AgentId,
        action: &str,
        now: Time,
    ) -> Result<Vec<GrantRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} WHERE g.agent_id = $1 AND g.action = $2 AND g.ended_at IS NULL AND g.expires_at > $3 AND g.used < g.uses AND {STANDS} \
             ORDER BY g.expires_at, g.id LIMIT $4 + 0"
        ));
        let query = sqlx::query(sql).bind(agent.to_string()).bind(action).bind(now.micros()).bind(MOST_LIVE);
        query.fetch_all(&self.read).await?.iter().map(read).collect()
    }

    /// Grants that have not ended, behind this one in the order of their ids.
    pub async fn grants_alive(
        &self,
        after: Option<ApprovalId>,
        limit: i64,
    ) -> Result<Vec<GrantRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} WHERE g.ended_at IS NULL AND g.id > $1 ORDER BY g.id LIMIT $2 + 0"
        ));
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        let rows = sqlx::query(sql).bind(after).bind(limit).fetch_all(&self.read).await?;
        rows.iter().map(read).collect()
    }

    /// The grants that a person may know of, live or ended, newest first. `all`: everybody's, for operators.
    pub async fn grants_seen_by(
        &self,
        person: PersonId,
        all: bool,
        live: bool,
        window: &Window,
    ) -> Result<Listing<GrantRow>, StoreError> {
        let ended = if live { "IS NULL" } else { "IS NOT NULL" };
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} WHERE {SEEN} AND g.ended_at {ended} AND g.id < $3 ORDER BY g.id DESC LIMIT $4 + 0"
        ));
        let rows = sqlx::query(sql)
            .bind(person.to_string())
            .bind(i64::from(all))
            .bind(window.before_id())
            .bind(window.fetch())
            .fetch_all(&self.read)
            .await?;
        let rows = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(window.page(rows, |row| row.line.id.to_string()))
    }

    /// How many live grants a person may know of; `all`: everybody's, for operators. When there are more than `most`, that.
    pub async fn count_grants_seen_by(
        &self,
        person: PersonId,
        all: bool,
        now: Time,
        most: i64,
    ) -> Result<u64, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT COUNT(*) FROM (SELECT 1 FROM grants g JOIN agents a ON a.id = g.agent_id WHERE {SEEN} AND g.ended_at IS NULL \
             AND g.expires_at > $3 LIMIT $4 + 0) w"
        ));
        let count = sqlx::query_scalar(sql).bind(person.to_string()).bind(i64::from(all));
        let count: i64 = count.bind(now.micros()).bind(most).fetch_one(&self.read).await?;
        Ok(count.unsigned_abs())
    }

    /// The grant that was made with this call, the newest one; else the one that let it through.
    pub async fn grant_about(&self, call: CallId) -> Result<Option<GrantRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} WHERE g.call_id = $1 OR g.id = (SELECT c.grant_id FROM calls c WHERE c.id = $1) ORDER BY g.id DESC LIMIT 1"
        ));
        let row = sqlx::query(sql).bind(call.to_string()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// Whether a person is one of these subjects by a right of their own.
    pub async fn has_own_right(&self, person: PersonId, subjects: &[String]) -> Result<bool, StoreError> {
        let sql =
            format!("SELECT COUNT(*) FROM persons g WHERE g.id = $1 AND {}", own_right("$1", subjects, 2));
        let mut query = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).bind(person.to_string());
        for subject in subjects {
            query = query.bind(subject.clone());
        }
        let count: i64 = query.fetch_one(&self.read).await?;
        Ok(!subjects.is_empty() && count > 0)
    }

    /// Whether the agent of a grant may act.
    pub async fn agent_of_grant_acts(&self, id: ApprovalId) -> Result<bool, StoreError> {
        let sql =
            sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM grants g WHERE g.id = $1 AND {AGENT_ACTS}"));
        let count: i64 = sqlx::query_scalar(sql).bind(id.to_string()).fetch_one(&self.read).await?;
        Ok(count > 0)
    }
}

impl Tx {
    /// Stores a grant. `false`: who makes it may not decide such calls by a right of their own, or the agent has as many
    /// as it may; nothing was changed.
    pub async fn insert_grant(&mut self, new: &NewGrant) -> Result<bool, StoreError> {
        let sql = format!(
            "INSERT INTO grants (id, call_id, person_id, agent_id, action, title, surface, credential, method, host, pin, scope, uses, made_at, expires_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15 WHERE {} \
             AND (SELECT COUNT(*) FROM grants g WHERE g.agent_id = $4 AND g.ended_at IS NULL AND g.expires_at > $14) < $16",
            own_right("$3", &new.approvers, 17)
        );
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(new.id.to_string())
            .bind(new.call.to_string())
            .bind(new.grantor.to_string())
            .bind(new.agent.to_string())
            .bind(&new.action)
            .bind(&new.title)
            .bind(new.surface.as_str())
            .bind(&new.credential)
            .bind(&new.method)
            .bind(&new.host)
            .bind(new.pin.to_vec())
            .bind(new.scope.clone())
            .bind(i64::from(new.uses))
            .bind(new.made_at.micros())
            .bind(new.expires_at.micros())
            .bind(MOST_LIVE);
        for subject in &new.approvers {
            query = query.bind(subject.clone());
        }
        Ok(query.execute(&mut *self.inner).await?.rows_affected() == 1)
    }

    /// Takes one use of a grant for a call that is stored in this transaction. `None`: it cannot be taken. Else whether it
    /// was the last one, which ends the grant.
    pub async fn take_use(&mut self, wanted: GrantUse<'_>) -> Result<Option<bool>, StoreError> {
        let last = "g.used + 1 >= g.uses";
        let sql = format!(
            "UPDATE grants AS g SET used = g.used + 1, last_used_at = $2, ended_at = CASE WHEN {last} THEN $2 END, \
             how = CASE WHEN {last} THEN 'used_up' END, scope = CASE WHEN {last} THEN NULL ELSE g.scope END \
             WHERE g.id = $1 AND g.ended_at IS NULL AND g.used < g.uses AND g.expires_at > $2 AND g.pin = $3 AND g.agent_id = $4 \
             AND {STANDS} AND {AGENT_ACTS} AND {} RETURNING how",
            own_right("g.person_id", wanted.approvers, 5)
        );
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(wanted.id.to_string())
            .bind(wanted.at.micros())
            .bind(wanted.pin.to_vec())
            .bind(wanted.agent.to_string());
        for subject in wanted.approvers {
            query = query.bind(subject.clone());
        }
        let row = query.fetch_optional(&mut *self.inner).await?;
        row.map(|row| Ok(Columns::new("grants", "id", &row).get::<Option<String>>("how")?.is_some()))
            .transpose()
    }

    /// Writes down which grant let a call through.
    pub async fn note_grant(&mut self, call: CallId, grant: ApprovalId) -> Result<(), StoreError> {
        sqlx::query("UPDATE calls SET grant_id = $2 WHERE id = $1")
            .bind(call.to_string())
            .bind(grant.to_string())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// Ends grants that have not ended. A use that is being taken is waited for, and none is taken afterwards.
    pub async fn end_grants(
        &mut self,
        which: GrantsOf,
        how: GrantEnd,
        by: Option<PersonId>,
        now: Time,
    ) -> Result<Vec<EndedGrant>, StoreError> {
        let (condition, of) = match which {
            GrantsOf::One(id) => ("id = $4", id.to_string()),
            GrantsOf::Call(id) => ("call_id = $4", id.to_string()),
            GrantsOf::Grantor(id) => ("person_id = $4", id.to_string()),
            GrantsOf::Agent(id) => ("agent_id = $4", id.to_string()),
            GrantsOf::Owner(id) => {
                ("agent_id IN (SELECT a.id FROM agents a WHERE a.owner_id = $4)", id.to_string())
            }
        };
        let sql = sqlx::AssertSqlSafe(format!(
            "UPDATE grants SET ended_at = $1, how = $2, ended_by = $3, scope = NULL WHERE ended_at IS NULL AND {condition} \
             RETURNING id, call_id, surface"
        ));
        let query = sqlx::query(sql)
            .bind(now.micros())
            .bind(how.as_str())
            .bind(by.map(|person| person.to_string()))
            .bind(of);
        let rows = query.fetch_all(&mut *self.inner).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("grants", "id", row);
                Ok(EndedGrant {
                    id: columns.parse("id")?,
                    call: columns.parse("call_id")?,
                    surface: columns.parse("surface")?,
                })
            })
            .collect()
    }

    /// Writes the journal line of a grant's end, about the call it was made with, as that stands now.
    pub async fn insert_end_of_grant(
        &mut self,
        id: EventId,
        at: Time,
        r#type: EventType,
        ended: EndedGrant,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO events (id, at, type, call_id, action, surface, person_id, agent_id, session, status) \
             SELECT $1, $2, $3, c.id, c.action, c.surface, c.person_id, c.agent_id, c.session, c.state FROM calls c WHERE c.id = $4",
        )
        .bind(id.to_string())
        .bind(at.micros())
        .bind(r#type.as_str())
        .bind(ended.call.to_string())
        .execute(&mut *self.inner)
        .await?;
        sqlx::query("INSERT INTO events_unplaced (event_id) VALUES ($1)")
            .bind(id.to_string())
            .execute(&mut *self.inner)
            .await?;
        self.lines.add(r#type, ended.surface);
        Ok(())
    }
}

fn read(row: &AnyRow) -> Result<GrantRow, StoreError> {
    let columns = Columns::new("grants", "id", row);
    let ended = match (columns.time_maybe("ended_at")?, columns.get::<Option<String>>("how")?) {
        (None, None) => None,
        (Some(at), Some(how)) => Some((at, how.parse().map_err(|()| columns.fault("how"))?)),
        _ => return Err(columns.fault("how")),
    };
    Ok(GrantRow {
        line: GrantLine {
            id: columns.parse("id")?,
            call: columns.parse("call_id")?,
            grantor: columns.parse("person_id")?,
            grantor_name: columns.get("grantor_name")?,
            agent: columns.parse("agent_id")?,
            agent_name: columns.get("agent_name")?,
            owner: columns.parse("owner_id")?,
            action: columns.get("action")?,
            title: columns.get("title")?,
            credential: columns.get("credential")?,
            method: columns.get("method")?,
            host: columns.get("host")?,
            uses: columns.number("uses")?,
            used: columns.number("used")?,
            made_at: columns.time("made_at")?,
            expires_at: columns.time("expires_at")?,
            last_used_at: columns.time_maybe("last_used_at")?,
            ended,
            ended_by: columns.get("ended_by_name")?,
            allowed: None,
        },
        surface: columns.parse("surface")?,
        pin: columns.digest("pin")?,
        scope: columns.get("scope")?,
    })
}
