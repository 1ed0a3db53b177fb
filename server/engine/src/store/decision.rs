//! What people said to held calls. A decision is never changed; it can only be voided.

use model::{ApprovalId, CallId, PasskeyId, PersonId, Time, Verdict};

use super::columns::Columns;
use super::right::{VOICE, mine, still_holds};
use super::{Store, StoreError, Tx};

/// A decision to be stored.
#[derive(Debug, Clone)]
pub struct NewDecision<'a> {
    /// Its id.
    pub id: ApprovalId,
    /// The call.
    pub call: CallId,
    /// Who decided.
    pub person: PersonId,
    /// In whose place; `None`: by their own right.
    pub r#for: Option<PersonId>,
    /// Whether it is an override of those who decide the call.
    pub is_override: bool,
    /// Yes or no.
    pub verdict: Verdict,
    /// The preview that was decided on.
    pub preview_version: Option<&'a str>,
    /// The person's words.
    pub reason: Option<&'a str>,
    /// When.
    pub at: Time,
    /// The passkey that it was said with.
    pub passkey: Option<PasskeyId>,
    /// By what right: the subjects of [`Tx::rights_of`].
    pub rights: &'a [String],
}

/// A confirmation that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// Its id.
    pub id: ApprovalId,
    /// Who confirmed.
    pub person: PersonId,
    /// In whose place; `None`: by their own right.
    pub r#for: Option<PersonId>,
    /// Whether it is an override; then it is the only one.
    pub is_override: bool,
    /// The person's words.
    pub reason: Option<String>,
    /// When.
    pub at: Time,
}

/// Somebody whose decision counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedBy {
    /// Who.
    pub person: PersonId,
    /// Their name.
    pub name: String,
    /// Whose voice it was: theirs, or that of the one in whose place they decided.
    pub voice: PersonId,
    /// The name of the one in whose place they decided.
    pub r#for: Option<String>,
    /// When and with which words, when it was an override.
    pub overrode: Option<(Time, String)>,
}

/// Of the decisions `d` of a call, those that decided it: an override before the votes of others.
const DECIDED: &str = "d.voided_at IS NULL AND (d.kind = 'override' OR NOT EXISTS \
    (SELECT 1 FROM decisions o WHERE o.call_id = d.call_id AND o.kind = 'override' AND o.voided_at IS NULL))";

impl Store {
    /// The confirmations by which a call was decided, in their order: an override alone, or the votes that count.
    pub async fn confirmations(&self, call: CallId) -> Result<Vec<Confirmation>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT d.id, d.person_id, d.for_id, d.kind, d.reason, d.at FROM decisions d WHERE d.call_id = $1 AND d.verdict = 'confirm' \
             AND {DECIDED} ORDER BY d.id"
        ));
        let rows = sqlx::query(sql).bind(call.to_string()).fetch_all(&self.read).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("decisions", "id", row);
                Ok(Confirmation {
                    id: columns.parse("id")?,
                    person: columns.parse("person_id")?,
                    r#for: columns.parse_maybe("for_id")?,
                    is_override: is_override(&columns)?,
                    reason: columns.get("reason")?,
                    at: columns.time("at")?,
                })
            })
            .collect()
    }

    /// Those whose decision counts, in its order: whoever overrode alone, or everybody who voted.
    pub async fn decided_by(&self, call: CallId) -> Result<Vec<DecidedBy>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT d.id, d.person_id, COALESCE(d.for_id, d.person_id) AS voice, p.name, f.name AS for_name, d.kind, d.reason, d.at FROM decisions d JOIN persons p ON p.id = d.person_id \
             LEFT JOIN persons f ON f.id = d.for_id WHERE d.call_id = $1 AND {DECIDED} ORDER BY d.id"
        ));
        let rows = sqlx::query(sql).bind(call.to_string()).fetch_all(&self.read).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("decisions", "id", row);
                let overrode = if is_override(&columns)? {
                    let words: Option<String> = columns.get("reason")?;
                    Some((columns.time("at")?, words.unwrap_or_default()))
                } else {
                    None
                };
                Ok(DecidedBy {
                    person: columns.parse("person_id")?,
                    name: columns.get("name")?,
                    voice: columns.parse("voice")?,
                    r#for: columns.get("for_name")?,
                    overrode,
                })
            })
            .collect()
    }

    /// Whether this person's override of a call counts.
    pub async fn has_overridden(&self, call: CallId, person: PersonId) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM decisions WHERE call_id = $1 AND person_id = $2 AND kind = 'override' AND voided_at IS NULL",
        )
        .bind(call.to_string())
        .bind(person.to_string())
        .fetch_one(&self.read)
        .await?;
        Ok(count > 0)
    }
}

fn is_override(columns: &Columns<'_>) -> Result<bool, StoreError> {
    Ok(columns.get::<String>("kind")? == "override")
}

impl Tx {
    /// By whose voice this person decides a call now: their own, or that of one in whose place they are. `None`: they may decide
    /// it no more. Only true while the call's row is locked.
    pub async fn voice_of(
        &mut self,
        call: CallId,
        person: PersonId,
        now: Time,
    ) -> Result<Option<PersonId>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{} SELECT c.id, {VOICE} AS voice FROM calls c WHERE c.id = $2",
            mine("$3")
        ));
        let row = sqlx::query(sql)
            .bind(person.to_string())
            .bind(call.to_string())
            .bind(now.micros())
            .fetch_optional(&mut *self.inner)
            .await?;
        row.map_or(Ok(None), |row| Columns::new("calls", "id", &row).parse_maybe("voice"))
    }

    /// What this person is called in the list of those who decide a call, in its order.
    pub async fn rights_of(&mut self, call: CallId, person: PersonId) -> Result<Vec<String>, StoreError> {
        let subjects = sqlx::query_scalar(
            "SELECT ca.subject FROM call_approvers ca JOIN person_subjects s ON s.subject = ca.subject \
             WHERE ca.call_id = $1 AND s.person_id = $2 ORDER BY ca.subject",
        );
        Ok(subjects.bind(call.to_string()).bind(person.to_string()).fetch_all(&mut *self.inner).await?)
    }

    /// How many have to confirm a call by now, and whether each of them with a passkey. Only true while the call's row is locked.
    pub async fn rule_of(&mut self, call: CallId) -> Result<(u32, bool), StoreError> {
        let row = sqlx::query("SELECT id, quorum, step_up FROM calls WHERE id = $1").bind(call.to_string());
        let row = row.fetch_one(&mut *self.inner).await?;
        let columns = Columns::new("calls", "id", &row);
        Ok((columns.number("quorum")?, columns.get::<i64>("step_up")? != 0))
    }

    /// Stores a decision. A second one of the same person on the same call is a unique violation, and so is a second one by the
    /// same voice.
    pub async fn insert_decision(&mut self, decision: &NewDecision<'_>) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO decisions (id, call_id, person_id, verdict, preview_version, reason, at, for_id, kind, passkey_id, rights) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(decision.id.to_string())
        .bind(decision.call.to_string())
        .bind(decision.person.to_string())
        .bind(decision.verdict.as_str())
        .bind(decision.preview_version)
        .bind(decision.reason)
        .bind(decision.at.micros())
        .bind(decision.r#for.map(|person| person.to_string()))
        .bind(if decision.is_override { "override" } else { "vote" })
        .bind(decision.passkey.map(|id| id.to_string()))
        .bind(Some(decision.rights.join("\n")).filter(|rights| !rights.is_empty()))
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// How many distinct people have confirmed this preview. Whoever did so in another's place is one of them, and the schema lets
    /// neither decide twice. Only true while the call's row is locked.
    pub async fn count_confirmations(&mut self, call: CallId) -> Result<u32, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(DISTINCT COALESCE(for_id, person_id)) FROM decisions WHERE call_id = $1 AND verdict = 'confirm' AND voided_at IS NULL",
        )
        .bind(call.to_string())
        .fetch_one(&mut *self.inner)
        .await?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// Whether what counts of what was said is enough to send a call: an override, or as many voices as it takes. Only true while
    /// the call's row is locked.
    pub async fn is_confirmed(&mut self, call: CallId, quorum: u32) -> Result<bool, StoreError> {
        let overrides: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM decisions WHERE call_id = $1 AND kind = 'override' AND verdict = 'confirm' AND voided_at IS NULL",
        )
        .bind(call.to_string())
        .fetch_one(&mut *self.inner)
        .await?;
        Ok(overrides > 0 || self.count_confirmations(call).await? >= quorum)
    }

    /// Voids what one person said about a call, and what was said in their place. `false`: nothing that counts was said.
    pub async fn void_decision_of(
        &mut self,
        call: CallId,
        person: PersonId,
        now: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE decisions SET voided_at = $3 WHERE call_id = $1 AND (person_id = $2 OR for_id = $2) AND voided_at IS NULL",
        )
        .bind(call.to_string())
        .bind(person.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Voids what was said in this person's place: they speak for themselves now.
    pub async fn void_decisions_for(
        &mut self,
        call: CallId,
        person: PersonId,
        now: Time,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE decisions SET voided_at = $3 WHERE call_id = $1 AND for_id = $2 AND voided_at IS NULL",
        )
        .bind(call.to_string())
        .bind(person.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Voids what was said by a right that holds no more.
    pub async fn void_decisions_of_others(&mut self, call: CallId, now: Time) -> Result<(), StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "UPDATE decisions AS d SET voided_at = $2 WHERE d.call_id = $1 AND d.voided_at IS NULL AND NOT {}",
            still_holds("$2")
        ));
        sqlx::query(sql).bind(call.to_string()).bind(now.micros()).execute(&mut *self.inner).await?;
        Ok(())
    }

    /// Voids what was said about a call: its preview changed, or a confirmation was undone.
    pub async fn void_decisions(&mut self, call: CallId, now: Time) -> Result<(), StoreError> {
        sqlx::query("UPDATE decisions SET voided_at = $2 WHERE call_id = $1 AND voided_at IS NULL")
            .bind(call.to_string())
            .bind(now.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }
}
