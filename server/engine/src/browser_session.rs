//! Browser sessions: stored sealed, under a hash of their id; and what a person sees and ends of their own.

use model::{BrowserSessionId, PersonId, Refusal, Time};

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::seal::Purpose;
use crate::store::{NewSession, SessionLine, SessionRow};

/// A session that is not used for so many seconds is over: seven days.
pub const IDLE: i64 = 7 * 86_400;

/// After so many seconds a session is over, however much it is used: thirty days.
pub const LONGEST: i64 = 30 * 86_400;

/// So many seconds does a session last whose place another has taken.
const LINGERS: i64 = 10;

/// A use is noted no more often than this, in seconds.
const NOTED: i64 = 60;

/// What a browser calls itself is kept to this many characters.
const BROWSER: usize = 300;

/// Somebody has proved who they are, and a session of theirs begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionWanted {
    /// Who.
    pub person: PersonId,
    /// The person's epoch at that moment ([`crate::sign_in::SignedIn`]).
    pub epoch: i64,
    /// What the browser calls itself, as it came.
    pub browser: String,
    /// After this it is over, if it is not before by the desk's own limits.
    pub expires: Time,
    /// When the session began whose place it takes: its person has proved anew who they are. `None`: it begins now.
    pub goes_on_since: Option<Time>,
}

/// One of a person's own sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSession {
    /// What to end it by.
    pub id: BrowserSessionId,
    /// What the browser calls itself, as it came.
    pub browser: String,
    /// When it began.
    pub begun_at: Time,
    /// When it was last used, to the minute.
    pub seen_at: Time,
    /// Whether it is the one that asks.
    pub is_this: bool,
}

impl Engine {
    /// Stores a new session. `false`: the id is taken.
    pub async fn session_create(
        &self,
        id_hash: [u8; 32],
        data: &[u8],
        wanted: SessionWanted,
    ) -> Result<bool, Refusal> {
        let now = self.now();
        let begun_at = wanted.goes_on_since.unwrap_or(now);
        let new = NewSession {
            id: BrowserSessionId::from_uuid(self.ambient().uuid()),
            person: wanted.person,
            epoch: wanted.epoch,
            browser: wanted.browser.chars().filter(|letter| *letter != '\0').take(BROWSER).collect(),
            begun_at,
            proved_at: now,
            ends_at: wanted.expires.min(begun_at.plus_seconds(LONGEST)),
            expires_at: wanted.expires.min(now.plus_seconds(IDLE)).min(begun_at.plus_seconds(LONGEST)),
        };
        Ok(self.store().create_session(id_hash, &self.sealed_session(id_hash, data), &new).await?)
    }

    /// Changes a session that is there. One that was ended meanwhile stays ended.
    pub async fn session_save(&self, id_hash: [u8; 32], data: &[u8]) -> Result<(), Refusal> {
        Ok(self.store().save_session(id_hash, &self.sealed_session(id_hash, data)).await?)
    }

    /// A session that counts, and its use noted: it has not run out, its person's account is usable, and nothing has
    /// ended it.
    pub async fn session_load(&self, id_hash: [u8; 32]) -> Result<Option<Vec<u8>>, Refusal> {
        let now = self.now();
        let Some(row) = self.store().session(id_hash, now).await? else { return Ok(None) };
        if now.seconds_since(row.seen_at) >= NOTED {
            let expires = row.ends_at.min(now.plus_seconds(IDLE));
            if let Err(error) = self.store().touch_session(id_hash, now, expires).await {
                tracing::warn!(%error, "the use of a session could not be noted");
            }
        }
        Ok(self.opened(id_hash, &row))
    }

    /// Whose a session is that counts. To ask is no use of it: what asks by itself keeps no session going.
    pub async fn session_person(&self, id_hash: [u8; 32]) -> Result<Option<PersonId>, Refusal> {
        let row = self.store().session(id_hash, self.now()).await?;
        Ok(row.filter(|row| self.opened(id_hash, row).is_some()).map(|row| row.person))
    }

    /// Lets another session take the place of this one: when this one began, and the epoch it counts in, both of which the other
    /// goes on with; `None`: it does
    /// not count. It has nothing of what is proved from now on, and lasts some seconds more, for what the browser had asked
    /// before it heard of the other.
    pub async fn session_replaced(&self, id_hash: [u8; 32]) -> Result<Option<(Time, i64)>, Refusal> {
        let now = self.now();
        let Some(row) = self.store().session(id_hash, now).await? else { return Ok(None) };
        self.store().replace_session(id_hash, now, now.plus_seconds(LINGERS)).await?;
        Ok(Some((row.begun_at, row.epoch)))
    }

    /// Ends a session.
    pub async fn session_delete(&self, id_hash: [u8; 32]) -> Result<(), Refusal> {
        Ok(self.store().delete_session(id_hash).await?)
    }

    /// A person's own sessions, the last used first. `asking` is the hash of the one that asks.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn own_sessions(
        &self,
        me: &PersonActor,
        asking: Option<[u8; 32]>,
    ) -> Result<Vec<OwnSession>, Refusal> {
        me.in_person()?;
        let lines = self.store().sessions_of(me.id(), self.now()).await?;
        let own = |line: SessionLine| OwnSession {
            is_this: asking.is_some_and(|asking| asking[..] == line.hash[..]),
            id: line.id,
            browser: line.browser,
            begun_at: line.begun_at,
            seen_at: line.seen_at,
        };
        Ok(lines.into_iter().map(own).collect())
    }

    /// Ends one of a person's own sessions. `false`: it has ended, or is none of theirs.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn end_own_session(&self, me: &PersonActor, id: BrowserSessionId) -> Result<bool, Refusal> {
        me.in_person()?;
        Ok(self.store().delete_session_of(me.id(), id).await?)
    }

    /// Ends all of a person's own sessions but the one that asks: how many.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn end_other_sessions(&self, me: &PersonActor, asking: [u8; 32]) -> Result<u64, Refusal> {
        me.in_person()?;
        Ok(self.store().delete_other_sessions(me.id(), asking).await?)
    }

    /// A session sealed with a key that is gone is no session; its person signs in again.
    fn opened(&self, id_hash: [u8; 32], row: &SessionRow) -> Option<Vec<u8>> {
        self.sealer().open(Purpose::Session, &place(id_hash), &row.data).ok()
    }

    fn sealed_session(&self, id_hash: [u8; 32], data: &[u8]) -> Vec<u8> {
        self.sealer().seal(Purpose::Session, &place(id_hash), data)
    }
}

fn place(id_hash: [u8; 32]) -> String {
    data_encoding::HEXLOWER.encode(&id_hash)
}
