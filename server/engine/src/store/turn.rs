//! Whose turn it is to write next, among the processes that share a SQLite file.
//!
//! SQLite has no queue for its write lock: who does not get it sleeps and tries again, and beside a process that writes
//! all the time would hardly ever find it free. So whoever wants the lock holds the turn while it waits for it, and
//! nobody without the turn begins: the one that writes all the time stands in line like everybody else.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::Duration;

/// How often a turn is tried for, and for how long in between. After that it goes on without: a process that was
/// suspended while it had the turn keeps nobody from writing.
const TRIES: u32 = 1_000;
const PAUSE: Duration = Duration::from_millis(2);

/// The line of one database file: an empty file beside it that is locked and unlocked.
pub(super) struct Turn {
    path: PathBuf,
    file: Option<File>,
}

/// The turn, until it is dropped.
pub(super) struct Held<'a>(Option<&'a File>);

impl Turn {
    /// The line of this database file. Nothing is made yet.
    pub(super) fn at(database: PathBuf) -> Self {
        let mut path = database.into_os_string();
        path.push("-turn");
        Self { path: path.into(), file: None }
    }

    /// Waits for the turn. A turn is a courtesy, the lock is the database's: where none can be had it goes on without.
    pub(super) async fn take(&mut self) -> Held<'_> {
        if self.file.is_none() {
            self.file = super::dialect::open_private(&self.path)
                .inspect_err(|error| tracing::warn!(%error, path = %self.path.display(), "no line for those who write"))
                .ok();
        }
        let Some(file) = &self.file else { return Held(None) };
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Held(Some(file)),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
                Err(TryLockError::Error(_)) => break,
            }
        }
        Held(None)
    }
}

#[cfg(test)]
impl Held<'_> {
    /// Whether it is the turn, and not going on without.
    pub(super) const fn is_had(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            // What cannot be unlocked is so when the process ends.
            let _ = file.unlock();
        }
    }
}
