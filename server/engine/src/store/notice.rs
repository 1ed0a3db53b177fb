//! The outbox: who is owed a notice, who is being told, and how that ended.
//!
//! A call owes somebody one notice: the row in `notice_told` is the claim, and only one node can make it. Taking a
//! notice to send it is one `UPDATE` under a lease, as in the queue.

use std::collections::HashSet;

use model::{ApprovalId, CallId, NoticeId, PersonId, Time};
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::right::{ASKED, deciders_of, waiting_for};
use super::{Store, StoreError, Tx};
use crate::notice::{Channel, Choices, Kind, Outcome, Quiet};

/// A notice that is owed and not sent yet.
#[derive(Debug, Clone)]
pub(crate) struct NewNotice<'n> {
    /// Its id; receivers see it, so that they know one that is repeated.
    pub(crate) id: NoticeId,
    /// A person's id, or `webhook:NAME`.
    pub(crate) addressee: &'n str,
    /// The way.
    pub(crate) channel: Channel,
    /// Which browser; empty where there is but one.
    pub(crate) target: &'n str,
    /// What it is about.
    pub(crate) kind: Kind,
    /// When it was owed.
    pub(crate) created_at: Time,
    /// When it may be sent.
    pub(crate) due_at: Time,
}

/// A notice of the outbox.
#[derive(Debug, Clone)]
pub(crate) struct NoticeRow {
    pub(crate) id: NoticeId,
    pub(crate) addressee: String,
    pub(crate) channel: Channel,
    pub(crate) target: String,
    pub(crate) kind: Kind,
    pub(crate) created_at: Time,
    /// How often it was tried.
    pub(crate) tries: u32,
    /// Why the last try failed.
    pub(crate) problem: Option<String>,
    /// How it ended, and when.
    pub(crate) end: Option<(Outcome, Time)>,
}

/// How a notice ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoticeEnd<'n> {
    pub(crate) outcome: Outcome,
    pub(crate) problem: Option<&'n str>,
    pub(crate) at: Time,
}

/// A held call that waits for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Which.
    pub(crate) call: CallId,
    /// Since when.
    pub(crate) since: Time,
}

const COLUMNS: &str =
    "SELECT id, addressee, channel, target, kind, created_at, tries, problem, outcome, ended_at FROM notices";

/// The most calls that a notice counts. One more is looked at, so that it can say that there are more.
pub(crate) const MOST_CALLS: u16 = 1_000;

impl Store {
    /// People who may decide a call that was held before `before`, were not told of it, and can be told: by mail when
    /// there is mail, or by a browser. Grouped by person.
    pub(crate) async fn people_to_tell(
        &self,
        before: Time,
        now: Time,
        has_mail: bool,
        limit: i64,
    ) -> Result<Vec<(PersonId, CallId)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} SELECT DISTINCT s.person_id AS person_id, w.id AS id {ASKED} \
             AND NOT EXISTS (SELECT 1 FROM notice_told t WHERE t.addressee = s.person_id AND t.call_id = w.id) \
             AND (($3 = 1 AND COALESCE((SELECT n.mail FROM notice_choices n WHERE n.person_id = s.person_id), 1) = 1) \
             OR EXISTS (SELECT 1 FROM push_subscriptions b WHERE b.person_id = s.person_id)) \
             ORDER BY s.person_id, w.id LIMIT $4 + 0",
            waiting_for("")
        ));
        let rows = sqlx::query(sql)
            .bind(before.micros())
            .bind(now.micros())
            .bind(i64::from(has_mail))
            .bind(limit)
            .fetch_all(&self.read)
            .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("calls", "id", row);
                Ok((columns.parse("person_id")?, columns.parse("id")?))
            })
            .collect()
    }

    /// The held calls that wait for this person, oldest first.
    pub(crate) async fn waiting_for_person(
        &self,
        person: PersonId,
        before: Time,
        now: Time,
    ) -> Result<Vec<Waiting>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} SELECT DISTINCT w.id AS id, w.created_at AS created_at {ASKED} ORDER BY w.id LIMIT $4 + 0",
            waiting_for(" WHERE person_id = $3")
        ));
        let query = sqlx::query(sql).bind(before.micros()).bind(now.micros()).bind(person.to_string());
        waiting(&query.bind(i64::from(MOST_CALLS) + 1).fetch_all(&self.read).await?)
    }

    /// The held calls that anybody of these subjects may decide, oldest first. `untold`: only those that the webhook of
    /// this name was not told of.
    pub(crate) async fn waiting_for_subjects(
        &self,
        subjects: &[String],
        untold: Option<&str>,
        before: Time,
        now: Time,
    ) -> Result<Vec<Waiting>, StoreError> {
        let places: Vec<String> = (0..subjects.len()).map(|index| format!("${}", index + 5)).collect();
        let sql = sqlx::AssertSqlSafe(format!(
            "{} SELECT DISTINCT w.id AS id, w.created_at AS created_at {ASKED} \
             AND ($3 = '' OR NOT EXISTS (SELECT 1 FROM notice_told t WHERE t.addressee = $3 AND t.call_id = w.id)) \
             ORDER BY w.id LIMIT $4 + 0",
            waiting_for(&format!(
                " WHERE person_id IN (SELECT x.person_id FROM person_subjects x WHERE x.subject IN ({}))",
                places.join(", ")
            ))
        ));
        let mut query = sqlx::query(sql)
            .bind(before.micros())
            .bind(now.micros())
            .bind(untold.unwrap_or_default().to_owned())
            .bind(i64::from(MOST_CALLS) + 1);
        for subject in subjects {
            query = query.bind(subject.clone());
        }
        waiting(&query.fetch_all(&self.read).await?)
    }

    /// People who may decide a call that somebody has overridden since then, were not told of it, and can be told.
    pub(crate) async fn people_overridden(
        &self,
        since: Time,
        now: Time,
        has_mail: bool,
        limit: i64,
    ) -> Result<Vec<(PersonId, ApprovalId)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT DISTINCT v.person_id AS person_id, d.id AS id {} AND d.kind = 'override' AND d.voided_at IS NULL AND d.at > $1 \
             AND NOT EXISTS (SELECT 1 FROM notice_overrides t WHERE t.addressee = v.person_id AND t.decision_id = d.id) \
             AND (($3 = 1 AND COALESCE((SELECT n.mail FROM notice_choices n WHERE n.person_id = v.person_id), 1) = 1) \
             OR EXISTS (SELECT 1 FROM push_subscriptions b WHERE b.person_id = v.person_id)) \
             ORDER BY v.person_id, d.id LIMIT $4 + 0",
            deciders_of("$2")
        ));
        let rows = sqlx::query(sql)
            .bind(since.micros())
            .bind(now.micros())
            .bind(i64::from(has_mail))
            .bind(limit)
            .fetch_all(&self.read)
            .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("decisions", "id", row);
                Ok((columns.parse("person_id")?, columns.parse("id")?))
            })
            .collect()
    }

    /// Overrides since then of calls that anybody of these subjects may decide, and that this webhook was not told of.
    pub(crate) async fn overrides_for_subjects(
        &self,
        subjects: &[String],
        addressee: &str,
        since: Time,
        now: Time,
    ) -> Result<Vec<ApprovalId>, StoreError> {
        let places: Vec<String> = (0..subjects.len()).map(|index| format!("${}", index + 4)).collect();
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT DISTINCT d.id AS id {} AND d.kind = 'override' AND d.voided_at IS NULL AND d.at > $1 \
             AND NOT EXISTS (SELECT 1 FROM notice_overrides t WHERE t.addressee = $3 AND t.decision_id = d.id) \
             AND v.person_id IN (SELECT x.person_id FROM person_subjects x WHERE x.subject IN ({})) ORDER BY d.id LIMIT 500",
            deciders_of("$2"),
            places.join(", ")
        ));
        let query = sqlx::query(sql).bind(since.micros()).bind(now.micros()).bind(addressee);
        let query = subjects.iter().fold(query, |query, subject| query.bind(subject.clone()));
        let rows = query.fetch_all(&self.read).await?;
        rows.iter().map(|row| Columns::new("decisions", "id", row).parse("id")).collect()
    }

    /// Calls that were overridden and of which this addressee is owed word since then, oldest first. What was taken back is not
    /// among them, and neither is what a person decides no more.
    pub(crate) async fn overridden_for(
        &self,
        addressee: &str,
        since: Time,
        now: Time,
    ) -> Result<Vec<Waiting>, StoreError> {
        let is_person = addressee.parse::<PersonId>().is_ok();
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT d.call_id AS id, d.at AS created_at FROM notice_overrides t JOIN decisions d ON d.id = t.decision_id \
             WHERE t.addressee = $1 AND t.owed_at >= $2 AND d.voided_at IS NULL AND ($4 = 0 OR EXISTS (SELECT 1 {} AND v.person_id = $1 \
             AND d.id = t.decision_id)) ORDER BY d.id LIMIT $3 + 0",
            deciders_of("$5")
        ));
        let query = sqlx::query(sql)
            .bind(addressee)
            .bind(since.micros())
            .bind(i64::from(MOST_CALLS) + 1)
            .bind(i64::from(is_person))
            .bind(now.micros());
        waiting(&query.fetch_all(&self.read).await?)
    }

    /// Forgets who was told of overrides long ago, at most so many.
    pub(crate) async fn delete_old_overrides(&self, before: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM notice_overrides WHERE decision_id IN (SELECT decision_id FROM notice_overrides WHERE owed_at <= $1 LIMIT $2 + 0)",
        )
        .bind(before.micros())
        .bind(limit);
        self.write(query).await
    }

    /// When this addressee was last told of waiting calls on this way.
    pub(crate) async fn last_told(
        &self,
        addressee: &str,
        channel: Channel,
        target: &str,
    ) -> Result<Option<Time>, StoreError> {
        let last: Option<i64> = sqlx::query_scalar(
            "SELECT MAX(ended_at) FROM notices WHERE addressee = $1 AND channel = $2 AND target = $3 \
             AND kind = 'waiting' AND outcome = 'sent'",
        )
        .bind(addressee)
        .bind(channel.as_str())
        .bind(target)
        .fetch_one(&self.read)
        .await?;
        Ok(last.map(Time::from_micros))
    }

    /// What is due on this way and nobody is sending: of those that were tried least often, the oldest.
    pub(crate) async fn due_notice(
        &self,
        channel: Channel,
        now: Time,
    ) -> Result<Option<NoticeRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{COLUMNS} WHERE channel = $2 AND ended_at IS NULL AND due_at <= $1 AND (lease_until IS NULL OR lease_until <= $1) \
             ORDER BY tries, due_at, id LIMIT 1"
        ));
        let row =
            sqlx::query(sql).bind(now.micros()).bind(channel.as_str()).fetch_optional(&self.read).await?;
        row.as_ref().map(notice).transpose()
    }

    /// The newest notices of somebody, newest first.
    pub(crate) async fn notices_of(&self, addressee: &str, limit: i64) -> Result<Vec<NoticeRow>, StoreError> {
        let sql =
            sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE addressee = $1 ORDER BY id DESC LIMIT $2 + 0"));
        let rows = sqlx::query(sql).bind(addressee).bind(limit).fetch_all(&self.read).await?;
        rows.iter().map(notice).collect()
    }

    /// Takes a notice to send it; what waits is read after this. `false`: it is not due any more, or another process has
    /// it.
    pub(crate) async fn take_notice(
        &self,
        id: NoticeId,
        now: Time,
        owner: &str,
        until: Time,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "UPDATE notices SET lease_owner = $3, lease_until = $4, tries = tries + 1, owes_more = 0 WHERE id = $1 AND ended_at IS NULL \
             AND due_at <= $2 AND (lease_until IS NULL OR lease_until <= $2)",
        )
        .bind(id.to_string())
        .bind(now.micros())
        .bind(owner)
        .bind(until.micros());
        Ok(self.write(query).await? == 1)
    }

    /// Puts a notice back that this process has taken. `counts`: it was tried; else it was only too early.
    pub(crate) async fn put_notice_back(
        &self,
        id: NoticeId,
        owner: &str,
        due_at: Time,
        problem: Option<&str>,
        counts: bool,
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "UPDATE notices SET lease_owner = NULL, lease_until = NULL, due_at = $3, problem = COALESCE($4, problem), \
             tries = tries - $5 WHERE id = $1 AND lease_owner = $2 AND ended_at IS NULL",
        )
        .bind(id.to_string())
        .bind(owner)
        .bind(due_at.micros())
        .bind(problem)
        .bind(i64::from(!counts));
        Ok(self.write(query).await? == 1)
    }

    /// How somebody wants to be told.
    pub(crate) async fn notice_choices(&self, person: PersonId) -> Result<Choices, StoreError> {
        let row = sqlx::query(
            "SELECT person_id, mail, quiet_from, quiet_to FROM notice_choices WHERE person_id = $1",
        )
        .bind(person.to_string())
        .fetch_optional(&self.read)
        .await?;
        let Some(row) = row else { return Ok(Choices::default()) };
        let columns = Columns::new("notice_choices", "person_id", &row);
        let (from, to) = (columns.number_maybe("quiet_from")?, columns.number_maybe("quiet_to")?);
        let quiet = from.zip(to).map(|(from, to)| Quiet { from, to });
        Ok(Choices { mail: columns.flag("mail")?, quiet })
    }

    /// Keeps how somebody wants to be told.
    pub(crate) async fn set_notice_choices(
        &self,
        person: PersonId,
        choices: Choices,
        now: Time,
    ) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO notice_choices (person_id, mail, quiet_from, quiet_to, changed_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (person_id) DO UPDATE SET mail = excluded.mail, quiet_from = excluded.quiet_from, \
             quiet_to = excluded.quiet_to, changed_at = excluded.changed_at",
        )
        .bind(person.to_string())
        .bind(i64::from(choices.mail))
        .bind(choices.quiet.map(|quiet| i64::from(quiet.from)))
        .bind(choices.quiet.map(|quiet| i64::from(quiet.to)))
        .bind(now.micros());
        self.write(query).await.map(drop)
    }

    /// Forgets notices that ended long ago, at most so many.
    pub(crate) async fn delete_old_notices(&self, before: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE ended_at <= $1 ORDER BY ended_at LIMIT $2 + 0)",
        )
        .bind(before.micros())
        .bind(limit);
        self.write(query).await
    }

    /// Forgets who was told of calls that wait no more, at most so many.
    pub(crate) async fn delete_old_tellings(&self, before: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM notice_told WHERE call_id IN (SELECT t.call_id FROM notice_told t JOIN calls c ON c.id = t.call_id \
             WHERE c.state NOT IN ('held', 'approved') AND t.told_at <= $1 LIMIT $2 + 0)",
        )
        .bind(before.micros())
        .bind(limit);
        self.write(query).await
    }
}

impl Tx {
    /// Claims the telling of a call. `false`: somebody has claimed it.
    pub(crate) async fn claim_telling(
        &mut self,
        addressee: &str,
        call: CallId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "INSERT INTO notice_told (addressee, call_id, told_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        )
        .bind(addressee)
        .bind(call.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Claims the telling of an override. `false`: somebody has claimed it.
    pub(crate) async fn claim_override(
        &mut self,
        addressee: &str,
        decision: ApprovalId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "INSERT INTO notice_overrides (addressee, decision_id, owed_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        )
        .bind(addressee)
        .bind(decision.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Since when an override is owed to the addressee of a notice that ends now and told `told`; `None`: it told of all.
    pub(crate) async fn owed_override(
        &mut self,
        addressee: &str,
        since: Time,
        told: &[Waiting],
    ) -> Result<Option<Time>, StoreError> {
        let rows = sqlx::query(
            "SELECT d.call_id AS id, t.owed_at AS created_at FROM notice_overrides t JOIN decisions d ON d.id = t.decision_id \
             WHERE t.addressee = $1 AND t.owed_at >= $2 AND d.voided_at IS NULL",
        )
        .bind(addressee)
        .bind(since.micros())
        .fetch_all(&mut *self.inner)
        .await?;
        let untold = waiting(&rows)?.into_iter().filter(|owed| told.iter().all(|one| one.call != owed.call));
        Ok(untold.map(|owed| owed.since).min())
    }

    /// Puts a notice into the outbox. One like it that is there and not sent tells of this too: when it is taken, or, by
    /// its mark, in one after it when somebody has taken it already.
    pub(crate) async fn insert_notice(&mut self, new: &NewNotice<'_>) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO notices (id, addressee, channel, target, kind, created_at, due_at) VALUES ($1, $2, $3, $4, $5, $6, $7) \
             ON CONFLICT (addressee, channel, target, kind) WHERE ended_at IS NULL DO UPDATE SET owes_more = 1",
        )
        .bind(new.id.to_string())
        .bind(new.addressee)
        .bind(new.channel.as_str())
        .bind(new.target)
        .bind(new.kind.as_str())
        .bind(new.created_at.micros())
        .bind(new.due_at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// When the tests of somebody were asked for since then, in order.
    pub(crate) async fn tests_since(
        &mut self,
        addressee: &str,
        since: Time,
    ) -> Result<Vec<Time>, StoreError> {
        let times: Vec<i64> = sqlx::query_scalar(
            "SELECT created_at FROM notices WHERE addressee = $1 AND kind = 'test' AND created_at > $2 ORDER BY created_at",
        )
        .bind(addressee)
        .bind(since.micros())
        .fetch_all(&mut *self.inner)
        .await?;
        Ok(times.into_iter().map(Time::from_micros).collect())
    }

    /// Whether a notice that ends now owes more than what it told: its addressee was owed a held call since it was taken.
    pub(crate) async fn owes_more(
        &mut self,
        id: NoticeId,
        addressee: &str,
        told: &[Waiting],
    ) -> Result<bool, StoreError> {
        let mark: i64 = sqlx::query_scalar("SELECT owes_more FROM notices WHERE id = $1")
            .bind(id.to_string())
            .fetch_one(&mut *self.inner)
            .await?;
        if mark == 0 {
            return Ok(false);
        }
        let owed: Vec<String> = sqlx::query_scalar(
            "SELECT t.call_id FROM notice_told t JOIN calls c ON c.id = t.call_id WHERE t.addressee = $1 AND c.state = 'held'",
        )
        .bind(addressee)
        .fetch_all(&mut *self.inner)
        .await?;
        let told: HashSet<String> = told.iter().map(|one| one.call.to_string()).collect();
        Ok(owed.iter().any(|call| !told.contains(call)))
    }

    /// Ends a notice that this process has taken. `false`: another process has taken it over.
    pub(crate) async fn end_notice(
        &mut self,
        id: NoticeId,
        owner: &str,
        end: NoticeEnd<'_>,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE notices SET outcome = $3, ended_at = $4, problem = $5, lease_owner = NULL, lease_until = NULL \
             WHERE id = $1 AND lease_owner = $2 AND ended_at IS NULL",
        )
        .bind(id.to_string())
        .bind(owner)
        .bind(end.outcome.as_str())
        .bind(end.at.micros())
        .bind(end.problem)
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn waiting(rows: &[AnyRow]) -> Result<Vec<Waiting>, StoreError> {
    rows.iter()
        .map(|row| {
            let columns = Columns::new("calls", "id", row);
            Ok(Waiting { call: columns.parse("id")?, since: columns.time("created_at")? })
        })
        .collect()
}

fn notice(row: &AnyRow) -> Result<NoticeRow, StoreError> {
    let columns = Columns::new("notices", "id", row);
    let outcome: Option<Outcome> = columns.parse_maybe("outcome")?;
    Ok(NoticeRow {
        id: columns.parse("id")?,
        addressee: columns.get("addressee")?,
        channel: columns.parse("channel")?,
        target: columns.get("target")?,
        kind: columns.parse("kind")?,
        created_at: columns.time("created_at")?,
        tries: columns.number("tries")?,
        problem: columns.get("problem")?,
        end: outcome.zip(columns.time_maybe("ended_at")?),
    })
}
