//! Sessions of signed-in people, kept by the engine under the SHA-256 of their id: who reads the database cannot
//! take a session over.

use std::collections::HashMap;
use std::fmt;

use async_trait::async_trait;
use engine::Engine;
use engine::browser_session::SessionWanted;
use model::{PersonId, Refusal, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tower_sessions::SessionStore;
use tower_sessions::cookie::time::OffsetDateTime;
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{Error, Result};

/// Another id is drawn this often when one is taken. With 128 random bits the first try is enough.
const CREATE_TRIES: usize = 4;

/// Under what a session holds whose it is.
pub(crate) const PERSON: &str = "person";

/// Under what it holds the person's epoch at that moment.
pub(crate) const EPOCH: &str = "epoch";

/// Under what it holds what the browser calls itself.
pub(crate) const BROWSER: &str = "browser";

/// Under what it holds when the session began whose place it takes, where it takes one's.
pub(crate) const BEGUN: &str = "begun";

/// The sessions of the desk.
#[derive(Clone)]
pub(crate) struct Sessions(Engine);

impl Sessions {
    /// Over this engine's database.
    pub(crate) const fn new(engine: Engine) -> Self {
        Self(engine)
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sessions")
    }
}

/// What is stored of a session: everything but its id.
#[derive(Serialize, Deserialize)]
struct Stored {
    data: HashMap<String, Value>,
    expires: Time,
}

#[async_trait]
impl SessionStore for Sessions {
    async fn create(&self, record: &mut Record) -> Result<()> {
        let (bytes, expires) = pack(record)?;
        for _ in 0..CREATE_TRIES {
            if self
                .0
                .session_create(hash(record.id), &bytes, wanted(record, expires)?)
                .await
                .map_err(|refusal| backend(&refusal))?
            {
                return Ok(());
            }
            record.id = Id::default();
        }
        Err(Error::Backend("no free session id was found".to_owned()))
    }

    async fn save(&self, record: &Record) -> Result<()> {
        let (bytes, _) = pack(record)?;
        self.0.session_save(hash(record.id), &bytes).await.map_err(|refusal| backend(&refusal))
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let stored = self.0.session_load(hash(*id)).await.map_err(|refusal| backend(&refusal))?;
        stored.map(|bytes| unpack(*id, &bytes)).transpose()
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        self.0.session_delete(hash(*id)).await.map_err(|refusal| backend(&refusal))
    }
}

/// Whose session it is. There is none of nobody's: one begins with somebody who has proved who they are.
fn wanted(record: &Record, expires: Time) -> Result<SessionWanted> {
    let held = |name: &str| record.data.get(name).cloned().unwrap_or_default();
    let of_nobody = |_| Error::Encode("a session begins with a person".to_owned());
    let person: PersonId = serde_json::from_value(held(PERSON)).map_err(of_nobody)?;
    let epoch = serde_json::from_value(held(EPOCH)).map_err(of_nobody)?;
    let browser = held(BROWSER).as_str().unwrap_or_default().to_owned();
    let goes_on_since = held(BEGUN).as_i64().map(Time::from_micros);
    Ok(SessionWanted { person, epoch, browser, expires, goes_on_since })
}

/// What a session is found by.
pub(crate) fn hash(id: Id) -> [u8; 32] {
    Sha256::digest(id.0.to_be_bytes()).into()
}

/// The bytes to store, and when they lapse.
fn pack(record: &Record) -> Result<(Vec<u8>, Time)> {
    let micros = i64::try_from(record.expiry_date.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX);
    let expires = Time::from_micros(micros);
    let stored = Stored { data: record.data.clone(), expires };
    let bytes = serde_json::to_vec(&stored).map_err(|error| Error::Encode(error.to_string()))?;
    Ok((bytes, expires))
}

/// The session that was stored under this id.
fn unpack(id: Id, bytes: &[u8]) -> Result<Record> {
    let decode = |error: &dyn fmt::Display| Error::Decode(error.to_string());
    let stored: Stored = serde_json::from_slice(bytes).map_err(|error| decode(&error))?;
    let nanos = i128::from(stored.expires.micros()) * 1_000;
    let expiry_date = OffsetDateTime::from_unix_timestamp_nanos(nanos).map_err(|error| decode(&error))?;
    Ok(Record { id, data: stored.data, expiry_date })
}

/// A refusal of the engine in words for the log.
fn backend(refusal: &Refusal) -> Error {
    Error::Backend(refusal.problem().detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::testing::Desk;
    use engine::ambient::Ambient;

    #[test]
    fn a_session_comes_back_whole_and_its_id_is_not_stored() {
        let id = Id(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        let expiry_date =
            OffsetDateTime::from_unix_timestamp_nanos(1_900_000_000_123_456_000).expect("a time");
        let data = HashMap::from([("person".to_owned(), Value::from("per_1"))]);
        let record = Record { id, data, expiry_date };
        let (bytes, expires) = pack(&record).expect("packed");
        assert_eq!(expires.micros(), 1_900_000_000_123_456);
        let text = String::from_utf8(bytes.clone()).expect("JSON");
        assert!(!text.contains(&id.to_string()) && !text.contains(&id.0.to_string()), "{text}");
        assert_eq!(unpack(id, &bytes).expect("unpacked"), record);
    }

    #[test]
    fn a_session_is_found_by_a_digest() {
        assert_ne!(hash(Id(1)), hash(Id(2)));
        assert_ne!(hash(Id(1))[..16], 1_i128.to_be_bytes());
    }

    /// A session of Ann's.
    async fn record(desk: &Desk, id: Id, word: &str) -> Record {
        let people = desk.engine.all_people().await.expect("people");
        let ann = people.iter().find(|person| person.email == "ann@demo.test").expect("Ann");
        let data = [
            ("word", Value::from(word)),
            (PERSON, Value::from(ann.id.to_string())),
            (EPOCH, Value::from(0)),
            (BROWSER, Value::from("Lynx")),
        ];
        let data = data.map(|(name, value)| (name.to_owned(), value)).into();
        let now = Ambient::system().now().plus_seconds(60).micros();
        let expiry_date = OffsetDateTime::from_unix_timestamp_nanos(i128::from(now) * 1_000).expect("a time");
        Record { id, data, expiry_date }
    }

    #[tokio::test]
    async fn a_session_lives_from_its_creation_to_its_end() {
        let desk = Desk::open().await;
        let sessions = Sessions::new(desk.engine.clone());
        let mut first = record(&desk, Id(7), "one").await;
        sessions.create(&mut first).await.expect("created");
        assert_eq!(first.id, Id(7));
        let mut second = record(&desk, Id(7), "two").await;
        sessions.create(&mut second).await.expect("created");
        assert_ne!(second.id, Id(7), "a taken id is never taken over");
        assert_eq!(sessions.load(&Id(7)).await.expect("loaded"), Some(first));
        let changed = record(&desk, Id(7), "three").await;
        sessions.save(&changed).await.expect("saved");
        assert_eq!(sessions.load(&Id(7)).await.expect("loaded"), Some(changed.clone()));
        sessions.delete(&Id(7)).await.expect("deleted");
        assert_eq!(sessions.load(&Id(7)).await.expect("loaded"), None);
        sessions.save(&changed).await.expect("saved");
        assert_eq!(sessions.load(&Id(7)).await.expect("loaded"), None, "an ended session stays ended");
    }

    #[tokio::test]
    async fn a_session_lapses_and_is_never_of_nobody() {
        let desk = Desk::open().await;
        let sessions = Sessions::new(desk.engine.clone());
        let mut lapsed = record(&desk, Id(7), "one").await;
        lapsed.expiry_date = OffsetDateTime::UNIX_EPOCH;
        sessions.create(&mut lapsed).await.expect("created");
        assert_eq!(sessions.load(&Id(7)).await.expect("loaded"), None);
        let mut of_nobody = record(&desk, Id(8), "two").await;
        of_nobody.data.remove(PERSON);
        assert!(sessions.create(&mut of_nobody).await.is_err());
    }
}
