//! What a receipt tells, put together of what is kept of its call.

use model::{ApprovalKind, Finding, Outcome, PersonId, ReceiptFacts, Surface, Time};

use super::columns::Columns;
use super::{Store, StoreError};
use crate::story::{Happened, Right, Step, Story};

/// What is kept of a call after its end, as far as its receipt tells it.
struct Kept {
    asked_at: Time,
    was_held: bool,
    begun_at: Option<Time>,
}

impl Store {
    /// The story of a receipt. `None`: it was forgotten meanwhile.
    pub async fn story(&self, receipt: ReceiptFacts) -> Result<Option<Story>, StoreError> {
        let row = sqlx::query(
            "SELECT c.id, c.title, c.created_at, c.expires_at, c.begun_at FROM receipts r JOIN calls c ON c.id = r.call_id \
             WHERE r.id = $1",
        )
        .bind(receipt.id.to_string())
        .fetch_optional(&self.read)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let columns = Columns::new("calls", "id", &row);
        let kept = Kept {
            asked_at: columns.time("created_at")?,
            was_held: columns.time_maybe("expires_at")?.is_some(),
            begun_at: columns.time_maybe("begun_at")?,
        };
        let call: model::CallId = columns.parse("id")?;
        let decided = self.decided_steps(&call.to_string()).await?;
        let later = self.later_steps(&receipt).await?;
        let steps = steps(&receipt, &kept, decided, later);
        Ok(Some(Story { call, title: columns.get("title")?, steps, receipt }))
    }

    /// Who confirmed, and by what right, in the order in which they did.
    async fn decided_steps(&self, call: &str) -> Result<Vec<Step>, StoreError> {
        let rows = sqlx::query(
            "SELECT d.id, d.person_id, p.name, d.for_id, f.name AS for_name, d.kind, d.reason, d.at, d.voided_at, d.passkey_id, d.rights, \
             (SELECT COUNT(*) FROM decisions o WHERE o.call_id = d.call_id AND o.person_id = d.for_id AND o.for_id IS NULL \
             AND o.at = d.voided_at) AS replaced FROM decisions d \
             JOIN persons p ON p.id = d.person_id LEFT JOIN persons f ON f.id = d.for_id WHERE d.call_id = $1 AND d.verdict = 'confirm' ORDER BY d.id",
        )
        .bind(call)
        .fetch_all(&self.read)
        .await?;
        let mut steps = Vec::new();
        for row in &rows {
            let columns = Columns::new("decisions", "id", row);
            let (at, by) = (Some(columns.time("at")?), columns.parse("person_id")?);
            let (name, voided) = (columns.get("name")?, columns.time_maybe("voided_at")?.is_some());
            let with_passkey = columns.get::<Option<String>>("passkey_id")?.is_some();
            if columns.get::<String>("kind")? == "override" {
                let reason: Option<String> = columns.get("reason")?;
                let reason = reason.unwrap_or_default();
                let happened = Happened::Overridden { by, name, reason, voided, with_passkey };
                steps.push(Step { at, happened });
                continue;
            }
            let r#for: Option<PersonId> = columns.parse_maybe("for_id")?;
            let rights = match columns.get::<Option<String>>("rights")? {
                Some(told) => told.lines().filter_map(Right::of).collect(),
                None => self.rights_now(call, r#for.unwrap_or(by)).await?,
            };
            let r#for = columns.get("for_name")?;
            let replaced = columns.get::<i64>("replaced")? > 0;
            let happened = Happened::Confirmed { by, name, r#for, rights, voided, replaced, with_passkey };
            steps.push(Step { at, happened });
        }
        Ok(steps)
    }

    /// By what right somebody would decide a call today: for decisions of a time when that was not written down.
    async fn rights_now(&self, call: &str, person: PersonId) -> Result<Vec<Right>, StoreError> {
        let subjects: Vec<String> = sqlx::query_scalar(
            "SELECT ca.subject FROM call_approvers ca JOIN person_subjects s ON s.subject = ca.subject \
             WHERE ca.call_id = $1 AND s.person_id = $2 ORDER BY ca.subject",
        )
        .bind(call)
        .bind(person.to_string())
        .fetch_all(&self.read)
        .await?;
        Ok(subjects.iter().filter_map(|subject| Right::of(subject)).collect())
    }

    /// What became known after the receipt was written.
    async fn later_steps(&self, receipt: &ReceiptFacts) -> Result<Vec<Step>, StoreError> {
        let rows = sqlx::query(
            "SELECT m.id, m.at, m.outcome, m.upstream_status, m.reason, p.name FROM receipt_amendments m \
             LEFT JOIN persons p ON p.id = m.person_id WHERE m.receipt_id = $1 ORDER BY m.id",
        )
        .bind(receipt.id.to_string())
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("receipt_amendments", "id", row);
                let settled = |finding| -> Result<Happened, StoreError> {
                    Ok(Happened::Settled {
                        by: columns.get("name")?,
                        finding,
                        reason: columns.get("reason")?,
                    })
                };
                let happened = match columns.parse("outcome")? {
                    Outcome::SettledHappened => settled(Finding::Happened)?,
                    Outcome::SettledDidNotHappen => settled(Finding::DidNotHappen)?,
                    Outcome::Done => Happened::AnsweredLate(columns.number_maybe("upstream_status")?),
                    Outcome::InDoubt => Happened::Unanswered,
                };
                Ok(Step { at: Some(columns.time("at")?), happened })
            })
            .collect()
    }
}

/// Whose standing grant let a call through.
fn granted(receipt: &ReceiptFacts) -> Happened {
    Happened::Granted {
        id: receipt.approval.id,
        by: receipt.approval.by.first().copied(),
        name: receipt.approved_by.first().cloned().unwrap_or_default(),
        made_at: receipt.approval.at,
    }
}

/// What happened, in its order.
fn steps(receipt: &ReceiptFacts, kept: &Kept, decided: Vec<Step>, later: Vec<Step>) -> Vec<Step> {
    let step = |at: Option<Time>, happened| Step { at, happened };
    let mut steps = vec![step(Some(kept.asked_at), Happened::Asked)];
    if kept.was_held || !decided.is_empty() {
        steps.push(step(Some(kept.asked_at), Happened::Held));
    }
    steps.extend(decided);
    // What people said has its own steps.
    let by_people = matches!(receipt.approval.kind, ApprovalKind::Person | ApprovalKind::Override);
    if receipt.approval.kind == ApprovalKind::Grant {
        // The person's word came before the call did.
        steps.push(step(Some(kept.asked_at), granted(receipt)));
    } else if !by_people {
        let at = receipt.approval.at.or(Some(kept.asked_at));
        steps.push(step(at, Happened::Passed(receipt.approval.kind)));
    }
    // What passed at once was begun as it was asked for. Calls of earlier versions do not tell.
    let passed = !by_people && receipt.surface != Surface::Queue;
    let approved_at = receipt.approval.at.filter(|_| receipt.approval.kind != ApprovalKind::Grant);
    let begun_at = kept.begun_at.or_else(|| approved_at.or(Some(kept.asked_at)).filter(|_| passed));
    steps.push(step(begun_at, Happened::Sent));
    let was_lost = receipt.outcome != Outcome::Done || !later.is_empty();
    let answered = if was_lost { Happened::Unanswered } else { Happened::Answered(receipt.upstream_status) };
    steps.push(step(Some(receipt.at), answered));
    steps.extend(later);
    steps
}
