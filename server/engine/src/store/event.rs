//! The journal: ids and status only.

use model::{
    AgentId, CallId, CallStatus, Event, EventId, EventType, Listing, PersonId, Proof, ReceiptId, Surface,
    Time,
};
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::{Store, StoreError, Tx, Window};

/// A journal line to be written.
pub type NewEvent = Event;

/// Whether a journal line `e` is for this person, `$2`: it is about a call of theirs, and they may know of it. Of
/// nobody: everybody's, for operators.
pub(super) const FOR_PERSON: &str = "($2 IS NULL OR (e.person_id = $2 AND NOT EXISTS \
    (SELECT 1 FROM events_withheld w WHERE w.event_id = e.id)))";

/// Every column of an `Event`, of the table `events e`.
pub(super) const COLUMNS: &str = "e.id, e.at, e.type, e.call_id, e.action, e.surface, e.person_id, e.agent_id, e.session, \
    e.status, e.upstream_status, e.receipt_id, e.by_id, e.proof";

impl Store {
    /// The journal, newest first: everybody's, or one person's own calls.
    pub async fn events(
        &self,
        owner: Option<PersonId>,
        window: &Window,
    ) -> Result<Listing<Event>, StoreError> {
        let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT {COLUMNS} FROM events e WHERE e.id < $1 AND {FOR_PERSON} ORDER BY e.id DESC LIMIT $3 + 0"
        )))
        .bind(window.before_id())
        .bind(owner.map(|id| id.to_string()))
        .bind(window.fetch())
        .fetch_all(&self.read)
        .await?;
        let events = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Ok(window.page(events, |event| event.id.to_string()))
    }
}

impl Tx {
    /// Keeps a journal line of this transaction from everybody but operators.
    pub async fn withhold_event(&mut self, event: EventId) -> Result<(), StoreError> {
        sqlx::query("INSERT INTO events_withheld (event_id) VALUES ($1)")
            .bind(event.to_string())
            .execute(&mut *self.inner)
            .await?;
        Ok(())
    }

    /// Writes a journal line. It gets its place in the stream once this transaction has ended.
    pub async fn insert_event(&mut self, event: &NewEvent) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO events (id, at, type, call_id, action, surface, person_id, agent_id, session, status, upstream_status, receipt_id, by_id, proof) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
        )
        .bind(event.id.to_string())
        .bind(event.at.micros())
        .bind(event.r#type.as_str())
        .bind(event.call_id.to_string())
        .bind(&event.action)
        .bind(event.surface.as_str())
        .bind(event.person_id.map(|id| id.to_string()))
        .bind(event.agent_id.map(|id| id.to_string()))
        .bind(&event.session)
        .bind(event.status.as_str())
        .bind(event.upstream_status.map(i64::from))
        .bind(event.receipt_id.map(|id| id.to_string()))
        .bind(event.by.map(|id| id.to_string()))
        .bind(event.proof.map(Proof::as_str))
        .execute(&mut *self.inner)
        .await?;
        sqlx::query("INSERT INTO events_unplaced (event_id) VALUES ($1)")
            .bind(event.id.to_string())
            .execute(&mut *self.inner)
            .await?;
        self.lines.add(event.r#type, event.surface);
        Ok(())
    }
}

pub(super) fn read(row: &AnyRow) -> Result<Event, StoreError> {
    let columns = Columns::new("events", "id", row);
    Ok(Event {
        id: columns.parse::<EventId>("id")?,
        at: columns.time("at")?,
        r#type: columns.parse::<EventType>("type")?,
        call_id: columns.parse::<CallId>("call_id")?,
        action: columns.get("action")?,
        surface: columns.parse::<Surface>("surface")?,
        person_id: columns.parse_maybe::<PersonId>("person_id")?,
        agent_id: columns.parse_maybe::<AgentId>("agent_id")?,
        session: columns.get("session")?,
        status: columns.parse::<CallStatus>("status")?,
        upstream_status: columns.number_maybe("upstream_status")?,
        receipt_id: columns.parse_maybe::<ReceiptId>("receipt_id")?,
        by: columns.parse_maybe::<PersonId>("by_id")?,
        proof: columns.parse_maybe::<Proof>("proof")?,
    })
}

/// When something happened and to which call: what a `NewEvent` is built from.
impl super::CallRow {
    /// A journal line about this call.
    pub fn event(&self, id: EventId, at: Time, r#type: EventType, status: CallStatus) -> NewEvent {
        Event {
            id,
            at,
            r#type,
            call_id: self.id,
            action: self.action.clone(),
            surface: self.surface,
            person_id: self.person_id,
            agent_id: self.agent_id,
            session: self.session.clone(),
            status,
            upstream_status: None,
            receipt_id: None,
            by: None,
            proof: None,
        }
    }
}
