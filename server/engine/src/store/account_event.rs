//! What happened to people's accounts: append-only, beside the journal of calls.

use model::{EventId, PersonId, Time};

use super::columns::Columns;
use super::{Store, StoreError, Tx};
use crate::account_event::{AccountEvent, AccountEventType};

impl Store {
    /// The newest of what happened to a person's account; of nobody's: to anybody's. With the person's name.
    pub async fn account_events(
        &self,
        person: Option<PersonId>,
        limit: i64,
    ) -> Result<Vec<AccountEvent>, StoreError> {
        let rows = sqlx::query(
            "SELECT e.id, e.at, e.person_id, p.name, e.type, e.about FROM account_events e JOIN persons p ON p.id = e.person_id \
             WHERE ($1 IS NULL OR e.person_id = $1) ORDER BY e.id DESC LIMIT $2 + 0",
        )
        .bind(person.map(|id| id.to_string()))
        .bind(limit)
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("account_events", "id", row);
                Ok(AccountEvent {
                    at: columns.time("at")?,
                    person: columns.parse("person_id")?,
                    name: columns.get("name")?,
                    r#type: columns.parse("type")?,
                    about: columns.get("about")?,
                })
            })
            .collect()
    }
}

impl Tx {
    /// Notes what happened to a person's account.
    pub async fn insert_account_event(
        &mut self,
        id: EventId,
        at: Time,
        person: PersonId,
        r#type: AccountEventType,
        about: &str,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO account_events (id, at, person_id, type, about) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(id.to_string())
        .bind(at.micros())
        .bind(person.to_string())
        .bind(r#type.as_str())
        .bind(about)
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }
}
