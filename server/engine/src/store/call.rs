//! Calls: one row from the claim to the end.

use std::collections::HashSet;

use model::{
    AgentId, Attempt, CallId, CallStatus, Effect, KeyId, Listing, PersonId, ReceiptId, Refusal, Surface, Time,
};
use sqlx::any::AnyRow;

use super::columns::{Columns, to_json};
use super::pause::PAUSED;
use super::right::{DECIDES, OPERATES, OVERRIDES, OVERRODE, OWN_VOICES, VOICE, mine};
use super::waits::waits;
use super::{Store, StoreError, Tx, Window};

/// A call as it is stored.
#[derive(Debug, Clone)]
pub struct CallRow {
    /// Its id.
    pub id: CallId,
    /// Where it stands, with what that state knows.
    pub state: CallState,
    /// The action's name.
    pub action: String,
    /// The action's title: what the call is named by after its end.
    pub title: String,
    /// What it does to the world.
    pub effect: Effect,
    /// Where it came in.
    pub surface: Surface,
    /// Whose call it is.
    pub person_id: Option<PersonId>,
    /// That person's name.
    pub person_name: Option<String>,
    /// The agent that called.
    pub agent_id: Option<AgentId>,
    /// That agent's name.
    pub agent_name: Option<String>,
    /// The key or token that was shown.
    pub key_id: Option<KeyId>,
    /// The agent's session.
    pub session: Option<String>,
    /// The tenant the call named.
    pub tenant: Option<String>,
    /// How many distinct people have to confirm.
    pub quorum: u32,
    /// It is confirmed with a passkey alone.
    pub step_up: bool,
    /// When it came in.
    pub created_at: Time,
    /// When a person decided, if one did.
    pub decided_at: Option<Time>,
    /// When it lapses or would have lapsed.
    pub expires_at: Option<Time>,
    /// The idempotency slot it holds, or held.
    pub claim_slot: Option<[u8; 32]>,
    /// The request its key stands for.
    pub claim_hash: Option<[u8; 32]>,
    /// Sealed arguments and request, until the end.
    pub input: Option<Vec<u8>>,
    /// Sealed preview, until the end.
    pub preview: Option<Vec<u8>>,
    /// The preview's title, sealed by itself, until the end.
    pub preview_title: Option<Vec<u8>>,
    /// The preview's version.
    pub preview_version: Option<String>,
    /// The fingerprint the preview was made with.
    pub fingerprint: Option<[u8; 32]>,
    /// Sealed result, as long as it is kept.
    pub result: Option<Vec<u8>>,
    /// Why it did not end as done.
    pub problem: Option<Refusal>,
    /// What the upstream answered.
    pub upstream_status: Option<u16>,
    /// The receipt.
    pub receipt_id: Option<ReceiptId>,
    /// Earlier sends that are known not to have happened.
    pub attempts: Vec<Attempt>,
}

/// Where a call stands, with what that state knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallState {
    /// In the durable queue.
    Queued,
    /// Waiting for a person.
    Held {
        /// When it lapses.
        expires_at: Time,
    },
    /// Confirmed; can be undone until then.
    Approved {
        /// When it is sent.
        send_at: Time,
    },
    /// Bytes may be on their way.
    Sending {
        /// Until when the process that sends answers for it.
        lease_until: Time,
    },
    /// A queued read is at work.
    Running,
    /// Done.
    Done,
    /// The upstream or the action said no.
    Refused,
    /// A person said no.
    Declined {
        /// Their words.
        reason: Option<String>,
    },
    /// Nobody answered in time.
    Expired,
    /// Taken back.
    Withdrawn,
    /// The upstream failed or was not reached.
    Failed,
    /// Nobody knows whether it happened.
    InDoubt,
}

impl CallState {
    /// The state's word.
    pub const fn status(&self) -> CallStatus {
        match self {
            Self::Queued => CallStatus::Queued,
            Self::Held { .. } => CallStatus::Held,
            Self::Approved { .. } => CallStatus::Approved,
            Self::Sending { .. } => CallStatus::Sending,
            Self::Running => CallStatus::Running,
            Self::Done => CallStatus::Done,
            Self::Refused => CallStatus::Refused,
            Self::Declined { .. } => CallStatus::Declined,
            Self::Expired => CallStatus::Expired,
            Self::Withdrawn => CallStatus::Withdrawn,
            Self::Failed => CallStatus::Failed,
            Self::InDoubt => CallStatus::InDoubt,
        }
    }
}

/// A call to be stored, held or already on its way.
#[derive(Debug, Clone)]
pub struct NewCall {
    /// The row; `state` is `Held`, `Queued` or `Sending`.
    pub row: CallRow,
    /// SHA-256 over the canonical JSON of the caller's arguments.
    pub input_hash: [u8; 32],
    /// Who may decide it: subjects of the view `person_subjects`.
    pub approvers: Vec<String>,
    /// Whether the owner may be among those who decide.
    pub self_approval: bool,
    /// Who sends it, when it is on its way.
    pub lease_owner: Option<String>,
}

/// What a finished send leaves in the call's row.
#[derive(Debug, Clone)]
pub struct SendEnd<'a> {
    /// `Done`, `Refused`, `Failed` or `InDoubt`.
    pub status: CallStatus,
    /// When.
    pub at: Time,
    /// Sealed result.
    pub result: Option<&'a [u8]>,
    /// When the result is erased at the latest.
    pub erase_at: Option<Time>,
    /// Why it did not end as done.
    pub problem: Option<&'a Refusal>,
    /// What the upstream answered.
    pub upstream_status: Option<u16>,
    /// The receipt, when one was written.
    pub receipt_id: Option<ReceiptId>,
    /// All sends known not to have happened, this one included.
    pub attempts: &'a [Attempt],
}

/// Which calls of which nothing has been sent. No other call can be ended without its send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsent {
    /// Held and not lapsed.
    Held,
    /// Held and lapsed.
    Lapsed,
    /// In the queue.
    Queued,
    /// Held, queued, or confirmed and still to be undone.
    Any,
}

impl Unsent {
    /// `$3` is now.
    const fn condition(self) -> &'static str {
        match self {
            Self::Held => "state = 'held' AND expires_at > $3",
            Self::Lapsed => "state = 'held' AND expires_at <= $3",
            Self::Queued => "state = 'queued'",
            Self::Any => "state IN ('held', 'approved', 'queued')",
        }
    }
}

/// How one person stands to a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// It is their own agents' or their own call.
    pub owns: bool,
    /// They may decide it.
    pub decides: bool,
    /// The other one in whose place they may.
    pub stands_in_for: Option<PersonId>,
    /// They may override those who decide it.
    pub overrides: bool,
}

/// Every column of `CallRow`. Joined by the callers' own conditions on `c`.
pub(super) const SELECT: &str = "SELECT c.id, c.state, c.action, c.title, c.effect, c.surface, c.person_id, p.name AS person_name, \
    c.agent_id, a.name AS agent_name, c.key_id, c.session, c.tenant, c.quorum, c.step_up, c.created_at, c.expires_at, c.decided_at, \
    c.send_at, c.lease_until, c.claim_slot, c.claim_hash, c.input, c.preview, c.preview_title, c.preview_version, c.fingerprint, c.result, c.problem, \
    c.decline_reason, c.upstream_status, c.receipt_id, c.attempts";
pub(super) const FROM: &str =
    "FROM calls c LEFT JOIN persons p ON p.id = c.person_id LEFT JOIN agents a ON a.id = c.agent_id";

/// Calls `c` that have not been sent, and that nobody may make any more at the moment `$1`.
const OF_ENDED: &str = "FROM calls c LEFT JOIN persons p ON p.id = c.person_id LEFT JOIN agents a ON a.id = c.agent_id \
    LEFT JOIN keys k ON k.id = c.key_id WHERE c.state IN ('held', 'approved', 'queued') \
    AND (p.disabled_at IS NOT NULL OR a.revoked_at <= $1 OR k.revoked_at <= $1)";

impl Store {
    /// The call with this id, for the desk itself.
    pub async fn call(&self, id: CallId) -> Result<Option<CallRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} {FROM} WHERE c.id = $1"));
        let row = sqlx::query(sql).bind(id.to_string()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// The call with this id, if the agent made it.
    pub async fn call_of_agent(&self, id: CallId, agent: AgentId) -> Result<Option<CallRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} {FROM} WHERE c.id = $1 AND c.agent_id = $2"));
        let row =
            sqlx::query(sql).bind(id.to_string()).bind(agent.to_string()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// The call with this id and how the person stands to it, if they own it, may decide it, or are an operator.
    pub async fn call_seen_by(
        &self,
        person: PersonId,
        id: CallId,
        now: Time,
    ) -> Result<Option<(CallRow, Standing)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {SELECT}, {} {FROM} WHERE c.id = $2 AND (c.person_id = $1 OR {DECIDES} OR {OPERATES} OR {OVERRODE})",
            mine("$3"),
            standing()
        ));
        self.seen(sql, person, id, now).await
    }

    /// The call with this id, however it stands, if the person may override those who decide it.
    pub async fn call_to_override(
        &self,
        person: PersonId,
        id: CallId,
        now: Time,
    ) -> Result<Option<(CallRow, Standing)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {SELECT}, {} {FROM} WHERE c.id = $2 AND {OVERRIDES}",
            mine("$3"),
            standing()
        ));
        self.seen(sql, person, id, now).await
    }

    /// `$1` is the person, `$2` the call, `$3` now.
    async fn seen(
        &self,
        sql: sqlx::AssertSqlSafe<String>,
        person: PersonId,
        id: CallId,
        now: Time,
    ) -> Result<Option<(CallRow, Standing)>, StoreError> {
        let row = sqlx::query(sql)
            .bind(person.to_string())
            .bind(id.to_string())
            .bind(now.micros())
            .fetch_optional(&self.read)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((read(&row)?, read_standing(&row, person)?)))
    }

    /// The held calls that the person may override, newest first.
    pub async fn held_of_others(
        &self,
        person: PersonId,
        window: &Window,
        now: Time,
    ) -> Result<Listing<CallRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} {SELECT} {FROM} WHERE c.state = 'held' AND c.expires_at + 0 > $2 AND c.id < $3 AND {OVERRIDES} \
             ORDER BY c.id DESC LIMIT $4 + 0",
            mine("$2")
        ));
        let rows = sqlx::query(sql)
            .bind(person.to_string())
            .bind(now.micros())
            .bind(window.before_id())
            .bind(window.fetch())
            .fetch_all(&self.read)
            .await?;
        page(window, &rows)
    }

    /// The held calls that the person may decide, newest first, each with how they stand to it: those on which they have said yes
    /// too, for they may still say no.
    pub async fn held_for(
        &self,
        person: PersonId,
        window: &Window,
        now: Time,
    ) -> Result<Listing<(CallRow, Standing)>, StoreError> {
        // Without the sum a database may look for them by when they lapse, and sort all of them for one page.
        let sql = sqlx::AssertSqlSafe(format!(
            "{}, held AS MATERIALIZED (SELECT c.* FROM calls c WHERE c.state = 'held' AND c.expires_at + 0 > $2 AND {DECIDES} \
             AND c.id < $3 ORDER BY c.id DESC LIMIT $4 + 0) {SELECT}, {} {} ORDER BY c.id DESC",
            mine("$2"),
            standing(),
            FROM.replacen("calls c", "held c", 1)
        ));
        let rows = sqlx::query(sql)
            .bind(person.to_string())
            .bind(now.micros())
            .bind(window.before_id())
            .bind(window.fetch())
            .fetch_all(&self.read)
            .await?;
        let rows = rows.iter().map(|row| Ok((read(row)?, read_standing(row, person)?)));
        let rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
        Ok(window.page(rows, |(row, _)| row.id.to_string()))
    }

    /// How many held calls wait for the person's word; when there are more than `most`, that.
    pub async fn count_held_for(&self, person: PersonId, now: Time, most: i64) -> Result<i64, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} SELECT COUNT(*) FROM (SELECT 1 FROM calls c WHERE c.state = 'held' AND c.expires_at > $2 \
             AND {DECIDES} AND {} LIMIT $3 + 0) w",
            mine("$2"),
            waits()
        ));
        let count = sqlx::query_scalar(sql).bind(person.to_string()).bind(now.micros()).bind(most);
        Ok(count.fetch_one(&self.read).await?)
    }

    /// How many calls whose outcome is not known the person may settle; when there are more than `most`, that.
    pub async fn count_in_doubt_for(
        &self,
        person: PersonId,
        now: Time,
        most: i64,
    ) -> Result<i64, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} SELECT COUNT(*) FROM (SELECT 1 FROM calls c WHERE c.state = 'in_doubt' \
             AND ({OPERATES} OR {DECIDES}) LIMIT $3 + 0) w",
            mine("$2")
        ));
        let count = sqlx::query_scalar(sql).bind(person.to_string()).bind(now.micros()).bind(most);
        Ok(count.fetch_one(&self.read).await?)
    }

    /// The person's own calls and their agents', newest first.
    pub async fn calls_of(&self, person: PersonId, window: &Window) -> Result<Listing<CallRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} {FROM} WHERE c.person_id = $1 AND c.id < $2 ORDER BY c.id DESC LIMIT $3 + 0"
        ));
        let rows = sqlx::query(sql)
            .bind(person.to_string())
            .bind(window.before_id())
            .bind(window.fetch())
            .fetch_all(&self.read)
            .await?;
        page(window, &rows)
    }

    /// How many calls of an agent wait, for a person or in the queue.
    pub async fn count_open_of_agent(&self, agent: AgentId) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM calls WHERE state IN ('held', 'queued') AND agent_id = $1",
        )
        .bind(agent.to_string())
        .fetch_one(&self.read)
        .await?;
        Ok(count.unsigned_abs())
    }

    /// Whether a call still has this quorum, and stands under a rule that is as strict as this one already: at least so
    /// many, the owner barred, a passkey asked for, these approvers (when any are named).
    pub async fn is_ruled(
        &self,
        row: &CallRow,
        quorum: u32,
        self_approval: bool,
        step_up: bool,
        named: &[String],
    ) -> Result<bool, StoreError> {
        let rows = sqlx::query(
            "SELECT ca.subject FROM calls c LEFT JOIN call_approvers ca ON ca.call_id = c.id \
             WHERE c.id = $1 AND c.quorum = $2 AND c.quorum >= $3 AND c.self_approval <= $4 AND c.step_up >= $5 AND c.step_up = $6",
        )
        .bind(row.id.to_string())
        .bind(i64::from(row.quorum))
        .bind(i64::from(quorum))
        .bind(i64::from(self_approval))
        .bind(i64::from(step_up))
        .bind(i64::from(row.step_up))
        .fetch_all(&self.read)
        .await?;
        let mut stored = HashSet::new();
        for row in &rows {
            stored.extend(Columns::new("call_approvers", "subject", row).get::<Option<String>>("subject")?);
        }
        Ok(!rows.is_empty() && (named.is_empty() || stored == named.iter().cloned().collect()))
    }

    /// Confirmed calls whose undo window has passed and that are not paused, oldest first.
    pub async fn calls_to_send(&self, now: Time, limit: i64) -> Result<Vec<CallId>, StoreError> {
        let sql = format!(
            "SELECT id FROM calls WHERE state = 'approved' AND send_at <= $1 AND NOT {PAUSED} ORDER BY send_at LIMIT $2 + 0"
        );
        self.ids(sqlx::AssertSqlSafe(sql), now, limit).await
    }

    /// Held calls that nobody decided in time.
    pub async fn calls_to_expire(&self, now: Time, limit: i64) -> Result<Vec<CallId>, StoreError> {
        self.ids(
            "SELECT id FROM calls WHERE state = 'held' AND expires_at <= $1 ORDER BY expires_at LIMIT $2 + 0",
            now,
            limit,
        )
        .await
    }

    /// Calls that were being sent by a process that answers for them no more.
    pub async fn calls_with_lapsed_lease(&self, now: Time, limit: i64) -> Result<Vec<CallId>, StoreError> {
        self.ids("SELECT id FROM calls WHERE state = 'sending' AND lease_until <= $1 ORDER BY lease_until LIMIT $2 + 0", now, limit).await
    }

    /// Open calls that a key made and that have not been sent.
    pub async fn unsent_calls_of_key(&self, key: KeyId) -> Result<Vec<CallId>, StoreError> {
        let rows =
            sqlx::query("SELECT id FROM calls WHERE key_id = $1 AND state IN ('held', 'approved', 'queued')")
                .bind(key.to_string())
                .fetch_all(&self.read)
                .await?;
        rows.iter().map(|row| Columns::new("calls", "id", row).parse("id")).collect()
    }

    /// Open calls of a person and their agents that have not been sent.
    pub async fn unsent_calls_of_person(&self, person: PersonId) -> Result<Vec<CallId>, StoreError> {
        let rows = sqlx::query(
            "SELECT id FROM calls WHERE person_id = $1 AND state IN ('held', 'approved', 'queued')",
        )
        .bind(person.to_string())
        .fetch_all(&self.read)
        .await?;
        rows.iter().map(|row| Columns::new("calls", "id", row).parse("id")).collect()
    }

    /// Calls that have not been sent, whose owner is disabled or whose key or agent is revoked. A key that has only run out
    /// leaves its calls.
    pub async fn unsent_calls_of_ended(&self, now: Time, limit: i64) -> Result<Vec<CallId>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("SELECT c.id {OF_ENDED} ORDER BY c.id LIMIT $2 + 0"));
        let rows = sqlx::query(sql).bind(now.micros()).bind(limit).fetch_all(&self.read).await?;
        rows.iter().map(|row| Columns::new("calls", "id", row).parse("id")).collect()
    }

    /// Whether this call is one of those.
    pub async fn is_of_ended(&self, id: CallId, now: Time) -> Result<bool, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("SELECT COUNT(*) {OF_ENDED} AND c.id = $2"));
        let count: i64 =
            sqlx::query_scalar(sql).bind(now.micros()).bind(id.to_string()).fetch_one(&self.read).await?;
        Ok(count > 0)
    }

    /// How many held calls of others would go to the operators without this person
    /// ([`Tx::hand_over_orphans`](super::Tx::hand_over_orphans)).
    pub async fn orphans_without(&self, person: PersonId) -> Result<u64, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT COUNT(*) FROM calls c WHERE c.state = 'held' AND COALESCE(c.person_id, '') <> $1 \
             AND NOT EXISTS (SELECT 1 FROM call_approvers o WHERE o.call_id = c.id AND o.subject = 'role:operator') \
             AND (SELECT COUNT(DISTINCT s.person_id) {OWN_VOICES} AND s.person_id <> $1) < c.quorum"
        ));
        let count: i64 = sqlx::query_scalar(sql).bind(person.to_string()).fetch_one(&self.read).await?;
        Ok(count.unsigned_abs())
    }

    /// Open calls of an action that have not been sent.
    pub async fn unsent_calls_of_action(&self, action: &str) -> Result<Vec<CallId>, StoreError> {
        let rows =
            sqlx::query("SELECT id FROM calls WHERE action = $1 AND state IN ('held', 'approved', 'queued')")
                .bind(action)
                .fetch_all(&self.read)
                .await?;
        rows.iter().map(|row| Columns::new("calls", "id", row).parse("id")).collect()
    }

    async fn ids(
        &self,
        sql: impl sqlx::SqlSafeStr,
        now: Time,
        limit: i64,
    ) -> Result<Vec<CallId>, StoreError> {
        let rows = sqlx::query(sql).bind(now.micros()).bind(limit).fetch_all(&self.read).await?;
        rows.iter().map(|row| Columns::new("calls", "id", row).parse("id")).collect()
    }

    /// Renews the lease of a send. `false`: this process answers for it no more.
    pub async fn renew_lease(&self, id: CallId, owner: &str, until: Time) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "UPDATE calls SET lease_until = $3 WHERE id = $1 AND state IN ('sending', 'running') AND lease_owner = $2",
        )
        .bind(id.to_string())
        .bind(owner)
        .bind(until.micros());
        Ok(self.write(query).await? == 1)
    }

    /// Notes the first delivery of a result: from then on it is kept for a shorter time.
    pub async fn mark_delivered(&self, id: CallId, now: Time, erase_at: Time) -> Result<(), StoreError> {
        let query = sqlx::query(
            "UPDATE calls SET delivered_at = $2, erase_at = CASE WHEN erase_at < $3 THEN erase_at ELSE $3 END \
             WHERE id = $1 AND delivered_at IS NULL AND erase_at IS NOT NULL",
        )
        .bind(id.to_string())
        .bind(now.micros())
        .bind(erase_at.micros());
        self.write(query).await.map(drop)
    }

    /// Erases results that have been kept long enough, at most so many.
    pub async fn erase_results(&self, now: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "UPDATE calls SET result = NULL, erase_at = NULL WHERE id IN \
             (SELECT id FROM calls WHERE erase_at IS NOT NULL AND erase_at <= $1 ORDER BY erase_at LIMIT $2 + 0)",
        )
        .bind(now.micros())
        .bind(limit);
        self.write(query).await
    }
}

impl Tx {
    /// Stores a call that is held, queued or on its way.
    pub async fn insert_call(&mut self, new: &NewCall) -> Result<(), StoreError> {
        let row = &new.row;
        let lease_until = match row.state {
            CallState::Sending { lease_until } => Some(lease_until),
            _ => None,
        };
        sqlx::query(
            "INSERT INTO calls (id, state, action, title, effect, surface, person_id, agent_id, key_id, session, tenant, \
             self_approval, quorum, created_at, expires_at, decided_at, lease_until, lease_owner, input_hash, claim_slot, claim_hash, input, preview, \
             preview_version, fingerprint, preview_title, step_up) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)",
        )
        .bind(row.id.to_string())
        .bind(row.state.status().as_str())
        .bind(&row.action)
        .bind(&row.title)
        .bind(row.effect.as_str())
        .bind(row.surface.as_str())
        .bind(row.person_id.map(|id| id.to_string()))
        .bind(row.agent_id.map(|id| id.to_string()))
        .bind(row.key_id.map(|id| id.to_string()))
        .bind(&row.session)
        .bind(&row.tenant)
        .bind(i64::from(new.self_approval))
        .bind(i64::from(row.quorum))
        .bind(row.created_at.micros())
        .bind(row.expires_at.map(Time::micros))
        .bind(row.decided_at.map(Time::micros))
        .bind(lease_until.map(Time::micros))
        .bind(&new.lease_owner)
        .bind(new.input_hash.to_vec())
        .bind(row.claim_slot.map(|slot| slot.to_vec()))
        .bind(row.claim_hash.map(|hash| hash.to_vec()))
        .bind(row.input.clone())
        .bind(row.preview.clone())
        .bind(&row.preview_version)
        .bind(row.fingerprint.map(|print| print.to_vec()))
        .bind(row.preview_title.clone())
        .bind(i64::from(row.step_up))
        .execute(&mut *self.inner)
        .await?;
        self.insert_approvers(row.id, &new.approvers).await
    }

    /// Takes the row of a held call that still has this preview and that this person may decide now, so that nobody
    /// else moves it until the end of this transaction. `false`: it is past holding, lapsed, has another preview, or
    /// is no longer theirs to decide.
    pub async fn lock_held(
        &mut self,
        id: CallId,
        decider: PersonId,
        version: Option<&str>,
        now: Time,
    ) -> Result<bool, StoreError> {
        self.lock(DECIDES, id, decider, version, now).await
    }

    /// The same for whoever may override those who decide it.
    pub async fn lock_to_override(
        &mut self,
        id: CallId,
        person: PersonId,
        version: Option<&str>,
        now: Time,
    ) -> Result<bool, StoreError> {
        self.lock(OVERRIDES, id, person, version, now).await
    }

    async fn lock(
        &mut self,
        right: &'static str,
        id: CallId,
        person: PersonId,
        version: Option<&str>,
        now: Time,
    ) -> Result<bool, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} UPDATE calls AS c SET state = 'held' WHERE c.id = $2 AND c.state = 'held' AND c.expires_at > $3 \
             AND ($4 IS NULL OR c.preview_version = $4) AND {right}",
            mine("$3")
        ));
        let done = sqlx::query(sql)
            .bind(person.to_string())
            .bind(id.to_string())
            .bind(now.micros())
            .bind(version)
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Makes the rule of a held call stricter, never looser. `false`: it is as strict already, or held no more.
    pub async fn tighten(
        &mut self,
        id: CallId,
        quorum: u32,
        self_approval: bool,
        step_up: bool,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE calls SET quorum = CASE WHEN quorum < $2 THEN $2 ELSE quorum END, \
             self_approval = CASE WHEN self_approval > $3 THEN $3 ELSE self_approval END, \
             step_up = CASE WHEN step_up < $4 THEN $4 ELSE step_up END \
             WHERE id = $1 AND state = 'held' AND (quorum < $2 OR self_approval > $3 OR step_up < $4)",
        )
        .bind(id.to_string())
        .bind(i64::from(quorum))
        .bind(i64::from(self_approval))
        .bind(i64::from(step_up))
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Puts these approvers in the place of those a call was held with. `false`: they are the same, or none is named.
    pub async fn name_approvers(&mut self, id: CallId, named: &[String]) -> Result<bool, StoreError> {
        let stored: Vec<String> = sqlx::query_scalar("SELECT subject FROM call_approvers WHERE call_id = $1")
            .bind(id.to_string())
            .fetch_all(&mut *self.inner)
            .await?;
        if named.is_empty() || stored.iter().collect::<HashSet<_>>() == named.iter().collect() {
            return Ok(false);
        }
        sqlx::query("DELETE FROM call_approvers WHERE call_id = $1")
            .bind(id.to_string())
            .execute(&mut *self.inner)
            .await?;
        self.insert_approvers(id, named).await?;
        Ok(true)
    }

    async fn insert_approvers(&mut self, id: CallId, subjects: &[String]) -> Result<(), StoreError> {
        for subject in subjects {
            sqlx::query(
                "INSERT INTO call_approvers (call_id, subject) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            )
            .bind(id.to_string())
            .bind(subject)
            .execute(&mut *self.inner)
            .await?;
        }
        Ok(())
    }

    /// Held calls that too few people can decide go to the operators: every one of them, or this one.
    pub async fn hand_over_orphans(&mut self, one: Option<CallId>) -> Result<u64, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "INSERT INTO call_approvers (call_id, subject) SELECT c.id, 'role:operator' FROM calls c WHERE c.state = 'held' \
             AND ($1 IS NULL OR c.id = $1) AND (SELECT COUNT(DISTINCT s.person_id) {OWN_VOICES}) < c.quorum \
             ON CONFLICT DO NOTHING"
        ));
        let done = sqlx::query(sql).bind(one.map(|id| id.to_string())).execute(&mut *self.inner).await?;
        Ok(done.rows_affected())
    }

    /// Held to approved: it is sent at `send_at` unless it is undone before.
    pub async fn approve(&mut self, id: CallId, now: Time, send_at: Time) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE calls SET state = 'approved', decided_at = $2, send_at = $3 WHERE id = $1 AND state = 'held'")
            .bind(id.to_string())
            .bind(now.micros())
            .bind(send_at.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Takes the row of a confirmed call that is due, so that nobody else moves it until the end of this transaction. `false`: it
    /// is not confirmed any more, or not due.
    pub async fn lock_due(&mut self, id: CallId, now: Time) -> Result<bool, StoreError> {
        let sql =
            "UPDATE calls SET state = 'approved' WHERE id = $1 AND state = 'approved' AND send_at <= $2";
        let done = sqlx::query(sql).bind(id.to_string()).bind(now.micros()).execute(&mut *self.inner).await?;
        Ok(done.rows_affected() == 1)
    }

    /// Approved back to held, because too few of those who confirmed it may decide it by now. Its row is locked.
    pub async fn hold_again(&mut self, id: CallId) -> Result<bool, StoreError> {
        let sql = "UPDATE calls SET state = 'held', decided_at = NULL, send_at = NULL WHERE id = $1 AND state = 'approved'";
        let done = sqlx::query(sql).bind(id.to_string()).execute(&mut *self.inner).await?;
        Ok(done.rows_affected() == 1)
    }

    /// Approved back to held, while the undo window is open or a pause keeps the call from being sent.
    pub async fn undo(&mut self, id: CallId, now: Time) -> Result<bool, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "UPDATE calls SET state = 'held', decided_at = NULL, send_at = NULL WHERE id = $1 AND state = 'approved' \
             AND (send_at > $2 OR {PAUSED})"
        ));
        let done = sqlx::query(sql).bind(id.to_string()).bind(now.micros()).execute(&mut *self.inner).await?;
        Ok(done.rows_affected() == 1)
    }

    /// The durable intent of a call confirmed without an undo window: held to sending.
    pub async fn start_sending(
        &mut self,
        id: CallId,
        now: Time,
        owner: &str,
        lease_until: Time,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE calls SET state = 'sending', decided_at = $2, begun_at = $2, lease_owner = $3, lease_until = $4 WHERE id = $1 AND state = 'held'";
        self.start(sql, id, now, owner, lease_until).await
    }

    /// The durable intent of a confirmed call whose undo window has passed: approved to sending. A call for the queue
    /// is queued instead.
    pub async fn start_due(
        &mut self,
        id: CallId,
        now: Time,
        owner: &str,
        lease_until: Time,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE calls SET state = 'sending', begun_at = $2, lease_owner = $3, lease_until = $4 WHERE id = $1 AND state = 'approved' AND surface <> 'queue' AND send_at <= $2";
        self.start(sql, id, now, owner, lease_until).await
    }

    async fn start(
        &mut self,
        sql: &'static str,
        id: CallId,
        now: Time,
        owner: &str,
        lease_until: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(sql)
            .bind(id.to_string())
            .bind(now.micros())
            .bind(owner)
            .bind(lease_until.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Replaces the preview of a held call.
    pub async fn replace_preview(&mut self, id: CallId, fresh: &CallRow) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE calls SET title = $2, input = $3, preview = $4, preview_version = $5, fingerprint = $6, effect = $7, preview_title = $8 WHERE id = $1 AND state = 'held'",
        )
        .bind(id.to_string())
        .bind(&fresh.title)
        .bind(fresh.input.clone())
        .bind(fresh.preview.clone())
        .bind(&fresh.preview_version)
        .bind(fresh.fingerprint.map(|print| print.to_vec()))
        .bind(fresh.effect.as_str())
        .bind(fresh.preview_title.clone())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Ends a call of which nothing has been sent, and erases its input and preview. `false`: it is not in `from`.
    pub async fn end_unsent(
        &mut self,
        id: CallId,
        from: Unsent,
        to: CallStatus,
        now: Time,
        reason: Option<&str>,
        problem: Option<&Refusal>,
    ) -> Result<bool, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "UPDATE calls SET state = $2, ended_at = $3, decided_at = CASE WHEN $2 = 'declined' THEN $3 ELSE decided_at END, \
             decline_reason = $4, problem = $5, input = NULL, preview = NULL, preview_title = NULL, fingerprint = NULL WHERE id = $1 AND {}",
            from.condition()
        ));
        let done = sqlx::query(sql)
            .bind(id.to_string())
            .bind(to.as_str())
            .bind(now.micros())
            .bind(reason)
            .bind(problem.map(to_json))
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Ends a send. The input and the preview are erased, unless nobody knows how it ended.
    pub async fn end_sending(&mut self, id: CallId, end: &SendEnd<'_>) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE calls SET state = $2, ended_at = $3, result = $4, erase_at = $5, problem = $6, upstream_status = $7, \
             receipt_id = COALESCE($8, receipt_id), attempts = $9, lease_until = NULL, lease_owner = NULL, \
             input = CASE WHEN $2 = 'in_doubt' THEN input END, preview = CASE WHEN $2 = 'in_doubt' THEN preview END, \
             preview_title = CASE WHEN $2 = 'in_doubt' THEN preview_title END, \
             fingerprint = NULL WHERE id = $1 AND state IN ('sending', 'running')",
        )
        .bind(id.to_string())
        .bind(end.status.as_str())
        .bind(end.at.micros())
        .bind(end.result.map(<[u8]>::to_vec))
        .bind(end.erase_at.map(Time::micros))
        .bind(end.problem.map(to_json))
        .bind(end.upstream_status.map(i64::from))
        .bind(end.receipt_id.map(|id| id.to_string()))
        .bind(to_json(end.attempts))
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Ends a call whose outcome was not known, as a person found it. The input and the preview are erased.
    pub async fn settle(
        &mut self,
        id: CallId,
        to: CallStatus,
        now: Time,
        problem: Option<&Refusal>,
        attempts: &[Attempt],
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE calls SET state = $2, ended_at = $3, settled_at = $3, problem = $4, attempts = $5, upstream_status = NULL, \
             input = NULL, preview = NULL, preview_title = NULL, fingerprint = NULL WHERE id = $1 AND state = 'in_doubt'",
        )
        .bind(id.to_string())
        .bind(to.as_str())
        .bind(now.micros())
        .bind(problem.map(to_json))
        .bind(to_json(attempts))
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// An answer that came after the call was given up as in doubt ends it, whatever a person has found meanwhile.
    pub async fn end_late(&mut self, id: CallId, end: &SendEnd<'_>) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE calls SET state = $2, ended_at = $3, settled_at = NULL, result = $4, erase_at = $5, problem = $8, \
             upstream_status = $6, attempts = $7, input = NULL, preview = NULL, preview_title = NULL, fingerprint = NULL \
             WHERE id = $1 AND (state = 'in_doubt' OR settled_at IS NOT NULL)",
        )
        .bind(id.to_string())
        .bind(end.status.as_str())
        .bind(end.at.micros())
        .bind(end.result.map(<[u8]>::to_vec))
        .bind(end.erase_at.map(Time::micros))
        .bind(end.upstream_status.map(i64::from))
        .bind(to_json(end.attempts))
        .bind(end.problem.map(to_json))
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Sending to in doubt, when the process that sent it answers for it no more.
    pub async fn give_up_lapsed(
        &mut self,
        id: CallId,
        now: Time,
        receipt: Option<ReceiptId>,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE calls SET state = 'in_doubt', ended_at = $2, receipt_id = $3, lease_until = NULL, lease_owner = NULL \
             WHERE id = $1 AND state = 'sending' AND lease_until <= $2",
        )
        .bind(id.to_string())
        .bind(now.micros())
        .bind(receipt.map(|id| id.to_string()))
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn page(window: &Window, rows: &[AnyRow]) -> Result<Listing<CallRow>, StoreError> {
    let rows = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(window.page(rows, |row| row.id.to_string()))
}

pub(super) fn read(row: &AnyRow) -> Result<CallRow, StoreError> {
    let columns = Columns::new("calls", "id", row);
    Ok(CallRow {
        id: columns.parse("id")?,
        state: read_state(&columns)?,
        action: columns.get("action")?,
        title: columns.get("title")?,
        effect: columns.parse("effect")?,
        surface: columns.parse("surface")?,
        person_id: columns.parse_maybe("person_id")?,
        person_name: columns.get("person_name")?,
        agent_id: columns.parse_maybe("agent_id")?,
        agent_name: columns.get("agent_name")?,
        key_id: columns.parse_maybe("key_id")?,
        session: columns.get("session")?,
        tenant: columns.get("tenant")?,
        quorum: columns.number("quorum")?,
        step_up: columns.flag("step_up")?,
        created_at: columns.time("created_at")?,
        decided_at: columns.time_maybe("decided_at")?,
        expires_at: columns.time_maybe("expires_at")?,
        claim_slot: columns.digest_maybe("claim_slot")?,
        claim_hash: columns.digest_maybe("claim_hash")?,
        input: columns.get("input")?,
        preview: columns.get("preview")?,
        preview_title: columns.get("preview_title")?,
        preview_version: columns.get("preview_version")?,
        fingerprint: columns.digest_maybe("fingerprint")?,
        result: columns.get("result")?,
        problem: columns.json_maybe("problem")?,
        upstream_status: columns.number_maybe("upstream_status")?,
        receipt_id: columns.parse_maybe("receipt_id")?,
        attempts: columns.json("attempts")?,
    })
}

/// The columns that say how the person `$1` stands to `c`, behind `mine`.
pub(super) fn standing() -> String {
    format!(
        "CASE WHEN c.person_id = $1 THEN 1 ELSE 0 END AS owns, {VOICE} AS voice, CASE WHEN {OVERRIDES} THEN 1 ELSE 0 END AS overrides"
    )
}

/// The same, read. CASE gives INTEGER on PostgreSQL, hence the smaller type.
pub(super) fn read_standing(row: &AnyRow, person: PersonId) -> Result<Standing, StoreError> {
    let columns = Columns::new("calls", "id", row);
    let voice: Option<PersonId> = columns.parse_maybe("voice")?;
    Ok(Standing {
        owns: columns.small_flag("owns")?,
        decides: voice.is_some(),
        stands_in_for: voice.filter(|voice| *voice != person),
        overrides: columns.small_flag("overrides")?,
    })
}

fn read_state(columns: &Columns<'_>) -> Result<CallState, StoreError> {
    Ok(match columns.parse::<CallStatus>("state")? {
        CallStatus::Queued => CallState::Queued,
        CallStatus::Held => {
            let expires_at = columns.time_maybe("expires_at")?;
            CallState::Held { expires_at: columns.need(expires_at, "expires_at")? }
        }
        CallStatus::Approved => {
            let send_at = columns.time_maybe("send_at")?;
            CallState::Approved { send_at: columns.need(send_at, "send_at")? }
        }
        CallStatus::Sending => {
            let lease_until = columns.time_maybe("lease_until")?;
            CallState::Sending { lease_until: columns.need(lease_until, "lease_until")? }
        }
        CallStatus::Running => CallState::Running,
        CallStatus::Done => CallState::Done,
        CallStatus::Refused => CallState::Refused,
        CallStatus::Declined => CallState::Declined { reason: columns.get("decline_reason")? },
        CallStatus::Expired => CallState::Expired,
        CallStatus::Withdrawn => CallState::Withdrawn,
        CallStatus::Failed => CallState::Failed,
        CallStatus::InDoubt => CallState::InDoubt,
    })
}

impl CallRow {
    /// A row for a new call; state, claim, sealed parts and times of holding are still to be filled in.
    pub(crate) fn fresh(head: &crate::pipeline::Head) -> Self {
        Self {
            id: head.id,
            state: CallState::Running,
            action: head.action.name.clone(),
            title: head.action.title.clone(),
            effect: head.action.effect,
            surface: head.surface,
            person_id: head.actor.person().map(|person| person.id),
            person_name: None,
            agent_id: head.actor.agent().map(|agent| agent.agent),
            agent_name: None,
            key_id: head.actor.key(),
            session: head.session.clone(),
            tenant: head.tenant.clone(),
            quorum: 1,
            step_up: false,
            created_at: head.at,
            decided_at: None,
            expires_at: None,
            claim_slot: None,
            claim_hash: None,
            input: None,
            preview: None,
            preview_title: None,
            preview_version: None,
            fingerprint: None,
            result: None,
            problem: None,
            upstream_status: None,
            receipt_id: None,
            attempts: Vec::new(),
        }
    }
}
