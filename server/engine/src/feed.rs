//! The journal as it goes on: a person's events, each once, in an order that never changes.

use std::time::Duration;

use model::{Event, EventId, PersonId, Refusal};
use tokio::sync::broadcast::Receiver;
use tokio::sync::{OwnedSemaphorePermit, broadcast::error::RecvError};

use crate::actor::{Actor, PersonActor, Via};
use crate::engine::Engine;
use crate::records::sees_all;
use crate::store::{Place, StoreError};

/// How many feeds one process has open at most.
pub(crate) const MOST_FEEDS: usize = 256;

/// How many events are read at once.
const BATCH: i64 = 200;

/// How long the nudges alone are trusted: another process's events come after this time.
const RESCAN: Duration = Duration::from_millis(500);

/// The journal as it goes on, for one person.
pub struct Feed {
    engine: Engine,
    person: PersonActor,
    place: Place,
    nudges: Receiver<model::CallId>,
    _permit: OwnedSemaphorePermit,
}

impl Engine {
    /// A person's events from now on, or from behind the one they saw last: own calls, an operator's all.
    ///
    /// # Errors
    /// `Denied` without `receipts:read`; `RateLimited` when too many feeds are open.
    pub async fn feed(&self, person: PersonActor, after: Option<EventId>) -> Result<Feed, Refusal> {
        sees_all(&person)?;
        let permit = self.feeds().clone().try_acquire_owned();
        let permit = permit.map_err(|_| Refusal::RateLimited { retry_after: 30 })?;
        // Subscribed before reading, or a change in between is heard late.
        let nudges = self.nudges().listen();
        self.place_events().await?;
        let place = match after {
            Some(event) => self.store().place_of(event).await?,
            None => self.store().last_place().await?,
        };
        Ok(Feed { engine: self.clone(), person, place, nudges, _permit: permit })
    }

    /// Gives every event its place in the stream. Readers do it when they look; the job, when nobody does.
    pub async fn place_events(&self) -> Result<(), StoreError> {
        while self.store().place_events(BATCH).await? {}
        Ok(())
    }
}

impl Feed {
    /// The next events, at least one; waits for them. `None`: it is over, because the process ends or the person may
    /// read no more.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be read. The feed can be asked again.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, Refusal> {
        loop {
            if self.engine.ending().waits_are_over() {
                return Ok(None);
            }
            let Some(owner) = self.reach().await? else { return Ok(None) };
            self.engine.place_events().await?;
            let (events, place) = self.engine.store().events_behind(self.place, owner, BATCH).await?;
            let moved = place != self.place;
            self.place = place;
            if !events.is_empty() {
                return Ok(Some(events));
            }
            if !moved {
                self.rest().await;
            }
        }
    }

    /// Whose events the person may read now: `Some(None)`, everybody's; `None`, nobody's any more.
    async fn reach(&mut self) -> Result<Option<Option<PersonId>>, Refusal> {
        let person = match self.person.via() {
            Via::Session => self.engine.visitor(self.person.id()).await?,
            Via::Token { key, .. } => match self.engine.store().key(*key, self.engine.now()).await? {
                Some(row) => match self.engine.actor_of(row).await? {
                    Some(Actor::Person(person)) => Some(person),
                    _ => None,
                },
                None => None,
            },
        };
        let Some(person) = person else { return Ok(None) };
        self.person = person;
        match sees_all(&self.person) {
            Ok(all) => Ok(Some((!all).then(|| self.person.id()))),
            Err(Refusal::Denied) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Until something happened in this process, or it is time to look what others did.
    async fn rest(&mut self) {
        let told = tokio::time::timeout(RESCAN, self.nudges.recv()).await;
        if let Ok(Err(RecvError::Closed)) = told {
            tokio::time::sleep(RESCAN).await;
        }
        // One look answers everything that was said until now.
        while self.nudges.try_recv().is_ok() {}
    }
}
