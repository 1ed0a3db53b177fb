//! Who decided, of the journal's lines that tell of a decision: the line itself does not name them.

use model::EventId;

use super::columns::Columns;
use super::{Store, StoreError};

/// Somebody who decided, as the journal tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDecider {
    /// The line.
    pub event: EventId,
    /// Their name.
    pub name: String,
    /// The name of the one in whose place they decided.
    pub r#for: Option<String>,
}

impl Store {
    /// Who decided, of these lines. A line and its decision are of one transaction, and of one moment.
    pub async fn deciders_of_events(&self, events: &[EventId]) -> Result<Vec<EventDecider>, StoreError> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<_> = (1..=events.len()).map(|place| format!("${place}")).collect();
        let sql = sqlx::AssertSqlSafe(format!(
            "SELECT e.id, p.name, f.name AS for_name FROM events e JOIN decisions d ON d.call_id = e.call_id AND d.at = e.at \
             JOIN persons p ON p.id = d.person_id LEFT JOIN persons f ON f.id = d.for_id WHERE e.id IN ({}) ORDER BY d.id",
            places.join(", ")
        ));
        let query = events.iter().fold(sqlx::query(sql), |query, id| query.bind(id.to_string()));
        let read = |row| {
            let columns = Columns::new("events", "id", row);
            Ok(EventDecider {
                event: columns.parse("id")?,
                name: columns.get("name")?,
                r#for: columns.get("for_name")?,
            })
        };
        query.fetch_all(&self.read).await?.iter().map(read).collect()
    }
}
