//! The places of events: the one order in which the journal is streamed.
//!
//! An id is made before its transaction ends, and on a clock of its own, so an event may become visible after one with a
//! larger id. A place is given only to events that are visible, one after the other, so nothing ever comes in before a
//! place that was read.

use model::{CallId, Event, EventId, PersonId, Time};

use super::columns::Columns;
use super::event::{COLUMNS, FOR_PERSON, read};
use super::right::{DECIDES, OPERATES, mine};
use super::{Store, StoreError};

/// Where a reader of the stream is: behind the event with this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(i64);

impl Place {
    /// How many events lie between this place and a later one.
    pub(crate) const fn until(self, later: Self) -> i64 {
        later.0 - self.0
    }
}

impl Store {
    /// Gives a place to the oldest events without one. `true`: there may be more.
    ///
    /// Whoever comes second at the same place changes nothing; the first has done its work.
    pub async fn place_events(&self, limit: i64) -> Result<bool, StoreError> {
        let waiting: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM (SELECT 1 FROM events_unplaced LIMIT 1) AS u")
                .fetch_one(&self.read)
                .await?;
        if waiting == 0 {
            return Ok(false);
        }
        match self.try_place_events(limit).await {
            Err(error) if error.is_taken() => Ok(true),
            placed => Ok(placed? >= limit.unsigned_abs()),
        }
    }

    async fn try_place_events(&self, limit: i64) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        let done = sqlx::query(
            "INSERT INTO event_places (place, event_id) \
             SELECT (SELECT COALESCE(MAX(place), 0) FROM event_places) + ROW_NUMBER() OVER (ORDER BY event_id), event_id \
             FROM (SELECT event_id FROM events_unplaced ORDER BY event_id LIMIT $1 + 0) AS oldest",
        )
        .bind(limit)
        .execute(&mut *tx.inner)
        .await?;
        sqlx::query(
            "DELETE FROM events_unplaced WHERE EXISTS \
             (SELECT 1 FROM event_places p WHERE p.event_id = events_unplaced.event_id)",
        )
        .execute(&mut *tx.inner)
        .await?;
        tx.commit().await?;
        Ok(done.rows_affected())
    }

    /// The end of the stream as it stands.
    pub async fn last_place(&self) -> Result<Place, StoreError> {
        let last: i64 = sqlx::query_scalar("SELECT COALESCE(MAX(place), 0) FROM event_places")
            .fetch_one(&self.read)
            .await?;
        Ok(Place(last))
    }

    /// The last event of the stream and its place; `None`: there is none.
    pub(crate) async fn last_placed_event(&self) -> Result<Option<(Place, EventId)>, StoreError> {
        let last = sqlx::query("SELECT place, event_id FROM event_places ORDER BY place DESC LIMIT 1")
            .fetch_optional(&self.read)
            .await?;
        last.map(|row| {
            let columns = Columns::new("event_places", "event_id", &row);
            Ok((Place(columns.number("place")?), columns.parse("event_id")?))
        })
        .transpose()
    }

    /// The next events behind a place about calls that concern the person: their own, those they may decide, and for
    /// operators those that are, or were, in doubt. Each with its call, and the place where to go on.
    pub(crate) async fn changes_behind(
        &self,
        place: Place,
        person: PersonId,
        now: Time,
        limit: i64,
    ) -> Result<(Vec<(EventId, CallId)>, Place), StoreError> {
        // A line of the journal that left no call behind (a read, a preview, a refusal) concerns no page.
        let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
            "{} SELECT p.place, e.id, e.call_id FROM \
             (SELECT place, event_id FROM event_places WHERE place > $2 ORDER BY place LIMIT $3 + 0) AS p \
             LEFT JOIN events e ON e.id = p.event_id AND EXISTS (SELECT 1 FROM calls c WHERE c.id = e.call_id AND \
             (c.person_id = $1 OR {DECIDES} OR ((e.type IN ('action.in_doubt', 'call.settled') OR c.settled_at IS NOT NULL) AND {OPERATES}))) \
             ORDER BY p.place",
            mine("$4")
        )))
        .bind(person.to_string())
        .bind(place.0)
        .bind(limit)
        .bind(now.micros())
        .fetch_all(&self.read)
        .await?;
        let Some(last) = rows.last() else { return Ok((Vec::new(), place)) };
        let last = Place(Columns::new("event_places", "id", last).number("place")?);
        let mut changes = Vec::new();
        for row in &rows {
            let columns = Columns::new("events", "id", row);
            if let (Some(event), Some(call)) = (columns.parse_maybe("id")?, columns.parse_maybe("call_id")?) {
                changes.push((event, call));
            }
        }
        Ok((changes, last))
    }

    /// The place of an event, or of the last one before it when it is not known here.
    pub async fn place_of(&self, event: EventId) -> Result<Place, StoreError> {
        let place: Option<i64> = sqlx::query_scalar(
            "SELECT place FROM event_places WHERE event_id <= $1 ORDER BY event_id DESC LIMIT 1",
        )
        .bind(event.to_string())
        .fetch_optional(&self.read)
        .await?;
        Ok(Place(place.unwrap_or(0)))
    }

    /// The next events behind a place, in the order of their places: everybody's, or one person's own calls. The place
    /// is where to go on, also when none of them were this person's.
    pub async fn events_behind(
        &self,
        place: Place,
        owner: Option<PersonId>,
        limit: i64,
    ) -> Result<(Vec<Event>, Place), StoreError> {
        let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT p.place, {COLUMNS} FROM \
             (SELECT place, event_id FROM event_places WHERE place > $1 ORDER BY place LIMIT $3 + 0) AS p \
             LEFT JOIN events e ON e.id = p.event_id AND {FOR_PERSON} ORDER BY p.place"
        )))
        .bind(place.0)
        .bind(owner.map(|id| id.to_string()))
        .bind(limit)
        .fetch_all(&self.read)
        .await?;
        let Some(last) = rows.last() else { return Ok((Vec::new(), place)) };
        let last = Place(Columns::new("event_places", "id", last).number("place")?);
        let mut events = Vec::new();
        for row in &rows {
            // A place of somebody else's event is gone past, with nothing of the event in it.
            let id: Option<String> = Columns::new("event_places", "id", row).get("id")?;
            if id.is_some() {
                events.push(read(row)?);
            }
        }
        Ok((events, last))
    }
}
