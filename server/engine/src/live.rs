//! What changes for one person while they look at the desk: which calls, and how many wait. Never what is in them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::{CallId, EventId, PersonId, Refusal};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::records::sees_all;
use crate::store::{Place, StoreError};

/// How many views one person has open at most on one node: a browser shares one among its tabs.
pub(crate) const MOST_OF_ONE: usize = 8;

/// How many views one node has open at most.
const MOST_OF_ALL: usize = 1_024;

/// How many events are looked at once.
const BATCH: i64 = 200;

/// How far behind a view may be. What lies further back is not told call by call: whoever left, or reads slowly, would
/// be told of thousands at once.
const MOST_MISSED: i64 = 1_000;

/// How long the nudges alone are trusted: another process's changes come after this time.
const RESCAN: Duration = Duration::from_millis(500);

/// For how long changes are gathered after some were told: a flood is told in few messages.
const GATHER: Duration = Duration::from_millis(200);

/// How often the count is looked at when no event came: who may decide a call can change without one.
const RECOUNT: Duration = Duration::from_secs(10);

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The last event that is told; whoever comes back names it. `None`: nothing was ever told.
    pub last: Option<EventId>,
    /// The calls that changed, each once.
    pub calls: Vec<CallId>,
    /// Whether so much was missed that any call may have changed.
    pub all: bool,
    /// Whether the journal has grown; told only to those who see everybody's.
    pub journal: bool,
    /// How many calls wait for the person now. A hundred stands for a hundred or more.
    pub waiting: u64,
}

/// The views that this process has open, by person.
#[derive(Debug, Clone, Default)]
pub(crate) struct Viewers(Arc<Mutex<HashMap<PersonId, usize>>>);

/// One of them; it counts until it is dropped.
#[derive(Debug)]
struct Viewing {
    viewers: Viewers,
    person: PersonId,
}

/// What one look has found.
struct Read {
    /// Where it ends.
    place: Place,
    /// The last event of it.
    last: Option<EventId>,
    /// The calls that it is about, each once.
    calls: Vec<CallId>,
    /// Whether it was too much to be told call by call.
    all: bool,
}

/// What changes for one person, as it goes on.
pub struct Live {
    engine: Engine,
    person: PersonId,
    place: Place,
    last: Option<EventId>,
    told: Option<u64>,
    told_at: Option<Instant>,
    counted_at: Option<Instant>,
    nudges: Receiver<CallId>,
    _viewing: Viewing,
}

impl Engine {
    /// What changes for this person from now on, or from behind the event that a page was made after. The first look
    /// always tells how many calls wait.
    ///
    /// # Errors
    /// `RateLimited` when the person, or everybody, has too many of them open.
    pub async fn live(&self, person: &PersonActor, after: Option<EventId>) -> Result<Live, Refusal> {
        let viewing = self.viewers().enter(person.id()).ok_or(Refusal::RateLimited { retry_after: 30 })?;
        // Subscribed before reading, or a change in between is heard late.
        let nudges = self.nudges().listen();
        self.place_events().await?;
        let place = match after {
            Some(event) => self.store().place_of(event).await?,
            None => self.store().last_place().await?,
        };
        Ok(Live {
            engine: self.clone(),
            person: person.id(),
            place,
            last: after,
            told: None,
            told_at: None,
            counted_at: None,
            nudges,
            _viewing: viewing,
        })
    }

    /// The last event in the stream: what a page that is made now is made after. One that has no place yet is told to
    /// the page too, so nothing is missed; before the first event, an id that comes before all.
    pub async fn last_event(&self) -> Result<EventId, Refusal> {
        let last = self.store().last_placed_event().await?;
        Ok(last.map_or_else(|| EventId::from_uuid(uuid::Uuid::nil()), |(_, event)| event))
    }
}

impl Live {
    /// What has changed since the last time; waits for it. `None`: it is over, because the process ends or the person
    /// may sign in no more. Nothing is lost when the wait is given up.
    ///
    /// # Errors
    /// `Unavailable` when the database cannot be read. It can be asked again.
    pub async fn next(&mut self) -> Result<Option<Change>, Refusal> {
        if let Some(at) = self.told_at {
            tokio::time::sleep_until(at + GATHER).await;
        }
        loop {
            if self.engine.ending().waits_are_over() {
                return Ok(None);
            }
            let Some(me) = self.engine.visitor(self.person).await? else { return Ok(None) };
            if let Some(change) = self.look(sees_all(&me)?).await? {
                return Ok(Some(change));
            }
            self.rest().await;
        }
    }

    async fn look(&mut self, sees_all: bool) -> Result<Option<Change>, Refusal> {
        let Read { place, last, calls, all } = self.read().await?;
        let is_stale = self.counted_at.is_none_or(|at| at.elapsed() >= RECOUNT);
        let has_news = all || !calls.is_empty();
        let waiting =
            if has_news || is_stale { Some(self.engine.count_waiting_for(self.person).await?) } else { None };
        // Nothing is awaited from here on, so that a wait that is given up has moved nothing.
        let journal = sees_all && self.place < place;
        self.place = place;
        if waiting.is_some() {
            self.counted_at = Some(Instant::now());
        }
        let counts_anew = waiting.is_some() && self.told != waiting;
        let Some(waiting) = waiting.or(self.told) else { return Ok(None) };
        if !has_news && !journal && !counts_anew {
            return Ok(None);
        }
        self.last = last.or(self.last);
        self.told = Some(waiting);
        self.told_at = Some(Instant::now());
        Ok(Some(Change { last: self.last, calls, all, journal, waiting }))
    }

    /// Everything behind the place, up to the end that the stream has now.
    async fn read(&self) -> Result<Read, StoreError> {
        self.engine.place_events().await?;
        let store = self.engine.store();
        let mut read = Read { place: self.place, last: None, calls: Vec::new(), all: false };
        let Some((end, last)) = store.last_placed_event().await? else { return Ok(read) };
        if self.place.until(end) > MOST_MISSED {
            return Ok(Read { place: end, last: Some(last), all: true, ..read });
        }
        let mut known = HashSet::new();
        while read.place < end {
            let (changes, next) =
                store.changes_behind(read.place, self.person, self.engine.now(), BATCH).await?;
            if next == read.place {
                break;
            }
            read.place = next;
            for (event, call) in changes {
                read.last = Some(event);
                if known.insert(call) {
                    read.calls.push(call);
                }
            }
        }
        Ok(read)
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

impl Viewers {
    fn enter(&self, person: PersonId) -> Option<Viewing> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = open.values().sum::<usize>() < MOST_OF_ALL
            && open.get(&person).is_none_or(|count| *count < MOST_OF_ONE);
        if !has_room {
            return None;
        }
        *open.entry(person).or_insert(0) += 1;
        Some(Viewing { viewers: self.clone(), person })
    }
}

impl Drop for Viewing {
    fn drop(&mut self) {
        let mut open = self.viewers.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.person) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.person);
            }
        }
    }
}
