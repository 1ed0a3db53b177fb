//! Group commit: how many transactions share the one writer of SQLite, and one durable commit.
//!
//! A task owns the writing connection and lends it to one transaction after the other. All that come while the database
//! is busy are one group, one transaction of SQLite, in which each is a savepoint: what is dropped or fails undoes only
//! its own. When nobody waits any more, or the group is full, one COMMIT makes all of them durable, and only then is any
//! of them told so. Somebody who is alone waits for nobody.
//!
//! Nothing of a group is visible outside of it before its COMMIT. Inside, a later transaction builds on what an earlier
//! one wrote, and they are durable together or not at all. One that is dropped may have seen what is not durable yet (a
//! key that is taken, a call that is decided): its group ends with it, and nobody reads before that, so that whoever
//! dropped it finds outside what it saw inside.

#[cfg(test)]
mod tests;

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection};
use tokio::sync::{mpsc, oneshot, watch};

use super::turn::Turn;
use super::{Dialect, StoreError};

/// How large a group becomes at most. It bounds how long its first member waits, and others who want to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How many transactions share one commit.
    members: usize,
    /// For how long a group takes in others.
    age: Duration,
}

impl Bounds {
    /// A commit takes some milliseconds; a group is worth several of them.
    pub(super) const USUAL: Self = Self { members: 64, age: Duration::from_millis(20) };
}

/// For how long somebody waits for the writer before being told that the database is busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many may wait for the writer.
const MOST_WAITING: usize = 4_096;

/// The way to the one writer. Cheap to clone; when the last one is gone the writer ends.
#[derive(Clone, Debug)]
pub(super) struct GroupCommit {
    asks: mpsc::Sender<Ask>,
}

/// Whoever wants to begin a transaction.
type Asker = oneshot::Sender<Result<Member, sqlx::Error>>;

/// What a member is told: that it is durable, or why nobody's work in its group is.
type Outcome = Result<(), Arc<sqlx::Error>>;

enum Ask {
    Begin(Asker),
    Close(oneshot::Sender<()>),
}

/// A transaction of a group, which has the writer for itself until it commits or is dropped.
pub(super) struct Member {
    lent: Option<(AnyConnection, oneshot::Sender<Back>)>,
    /// Put up when this member is dropped; the first one has seen nothing that is not durable.
    fence: Option<Fence>,
}

/// Up while somebody may know more than what is durable: until their group has ended nobody reads.
#[derive(Clone, Debug)]
pub(super) struct Fence(Arc<watch::Sender<bool>>);

impl Fence {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Returns when it is down.
    pub(super) async fn pass(&self) {
        if *self.0.borrow() {
            // A closed channel would say that the writer is gone.
            let _ = self.0.subscribe().wait_for(|is_up| !is_up).await;
        }
    }
}

/// The writer comes back. With nobody to tell, the member's work is undone.
struct Back {
    connection: AnyConnection,
    committed: Option<oneshot::Sender<Outcome>>,
}

impl GroupCommit {
    /// Starts the writer of the database in this file, in a task of its own. It connects when it is first needed.
    pub(super) fn start(options: AnyConnectOptions, file: PathBuf, bounds: Bounds, fence: Fence) -> Self {
        let (asks, asked) = mpsc::channel(MOST_WAITING);
        let writer = Writer { asked, options, bounds, fence, turn: Turn::at(file), connection: None };
        drop(tokio::spawn(writer.run()));
        Self { asks }
    }

    /// Begins a transaction as soon as the writer is free.
    ///
    /// # Errors
    /// `PoolTimedOut` when it stays busy, `PoolClosed` after `close`, and whatever BEGIN failed with.
    pub(super) async fn begin(&self) -> Result<Member, sqlx::Error> {
        let (asker, answer) = oneshot::channel();
        let asking = async {
            self.asks.send(Ask::Begin(asker)).await.map_err(|_| sqlx::Error::PoolClosed)?;
            answer.await.map_err(|_| sqlx::Error::PoolClosed)?
        };
        tokio::time::timeout(PATIENCE, asking).await.map_err(|_| sqlx::Error::PoolTimedOut)?
    }

    /// Ends the writer after everybody who came before. Whoever comes later is turned away.
    pub(super) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        if self.asks.send(Ask::Close(done)).await.is_ok() {
            // A writer that is gone is closed.
            let _ = closed.await;
        }
    }
}

impl Member {
    /// Returns when everything of this transaction is durable. Given up meanwhile, it may become durable all the same.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        let (done, outcome) = oneshot::channel();
        self.give_back(Some(done));
        match outcome.await {
            Ok(outcome) => outcome.map_err(StoreError::NotCommitted),
            // The writer ended with its runtime.
            Err(_) => Err(sqlx::Error::PoolClosed.into()),
        }
    }

    fn give_back(&mut self, committed: Option<oneshot::Sender<Outcome>>) {
        if let Some((connection, back)) = self.lent.take() {
            // A writer that is gone wants nothing back; closed, the connection undoes what was not committed.
            let _ = back.send(Back { connection, committed });
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let (Some(fence), Some(_)) = (&self.fence, &self.lent) {
            // Before it comes back, or the group could have ended already.
            fence.0.send_replace(true);
        }
        self.give_back(None);
    }
}

impl Deref for Member {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        self.lent.as_ref().map_or_else(|| unreachable!("only its end takes it"), |(connection, _)| connection)
    }
}

impl DerefMut for Member {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        self.lent.as_mut().map_or_else(|| unreachable!("only its end takes it"), |(connection, _)| connection)
    }
}

/// The owner of the writing connection.
struct Writer {
    asked: mpsc::Receiver<Ask>,
    options: AnyConnectOptions,
    bounds: Bounds,
    fence: Fence,
    turn: Turn,
    connection: Option<AnyConnection>,
}

impl Writer {
    async fn run(mut self) {
        let mut ask = self.asked.recv().await;
        while let Some(Ask::Begin(asker)) = ask {
            let taken = self.write_group(asker).await;
            self.fence.0.send_replace(false);
            ask = match taken {
                Some(ask) => Some(ask),
                None => self.asked.recv().await,
            };
        }
        if let Some(connection) = self.connection.take() {
            close(connection).await;
        }
        if let Some(Ask::Close(done)) = ask {
            // Who asked may have gone.
            let _ = done.send(());
        }
    }

    /// One group, from BEGIN to COMMIT. Answers with what was asked meanwhile and is no part of it.
    async fn write_group(&mut self, first: Asker) -> Option<Ask> {
        let mut group = match self.begin_group().await {
            Ok(group) => group,
            Err(error) => {
                // Who asked may have gone.
                let _ = first.send(Err(error));
                return None;
            }
        };
        let mut ask = Some(Ask::Begin(first));
        while let Some(Ask::Begin(asker)) = ask {
            let is_first = group.members.is_empty();
            let is_kept = group.lend(asker, (!is_first).then(|| self.fence.clone())).await?;
            let is_open = is_kept && group.is_open(self.bounds);
            ask = if is_open { self.asked.try_recv().ok() } else { None };
            let goes_on = matches!(ask, Some(Ask::Begin(_)));
            let Some(whole) = group.run(between(is_first, is_kept, goes_on)).await else { return ask };
            group = whole;
        }
        self.connection = group.end().await;
        ask
    }

    async fn begin_group(&mut self) -> Result<Group, sqlx::Error> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let turn = self.turn.take().await;
        // A deferred transaction could fail half-way when another process writes first.
        let begun = execute(&mut connection, "BEGIN IMMEDIATE").await;
        drop(turn);
        if let Err(error) = begun {
            close(connection).await;
            return Err(error);
        }
        Ok(Group { connection: Some(connection), members: Vec::new(), begun: Instant::now() })
    }

    async fn connect(&mut self) -> Result<AnyConnection, sqlx::Error> {
        let mut connection = self.options.connect().await?;
        Dialect::Sqlite.prepare_connection(&mut connection).await?;
        Ok(connection)
    }
}

/// What has to be said between two members. The first one needs no savepoint: there is nobody's work to keep when it is
/// undone. Neither does the last one have to be released: COMMIT does.
const fn between(is_first: bool, is_kept: bool, goes_on: bool) -> Option<&'static str> {
    match (is_first, is_kept, goes_on) {
        (true, _, true) => Some("SAVEPOINT member"),
        (false, true, true) => Some("RELEASE member; SAVEPOINT member"),
        (false, false, _) => Some("ROLLBACK TO member"),
        (_, _, false) => None,
    }
}

/// One transaction of SQLite and those who wait for its COMMIT.
struct Group {
    /// Gone while it is lent.
    connection: Option<AnyConnection>,
    members: Vec<oneshot::Sender<Outcome>>,
    begun: Instant,
}

impl Group {
    /// Lends the connection until it comes back: whether what was done with it is to be kept. `None`: it did not come
    /// back.
    async fn lend(&mut self, asker: Asker, fence: Option<Fence>) -> Option<bool> {
        let (back, returned) = oneshot::channel();
        // An asker that has gone drops the member at once.
        let _ = asker.send(Ok(Member { lent: Some((self.connection.take()?, back)), fence }));
        let Ok(Back { connection, committed }) = returned.await else {
            fail(std::mem::take(&mut self.members), sqlx::Error::WorkerCrashed);
            return None;
        };
        self.connection = Some(connection);
        let is_kept = committed.is_some();
        self.members.extend(committed);
        Some(is_kept)
    }

    /// Says this to the database. `None`: it could not be done, and the whole group was undone. SQLite ends a whole
    /// transaction by itself when the disk is full or broken.
    async fn run(mut self, sql: Option<&'static str>) -> Option<Self> {
        if let (Some(sql), Some(connection)) = (sql, &mut self.connection)
            && let Err(error) = execute(connection, sql).await
        {
            self.give_up(error).await;
            return None;
        }
        Some(self)
    }

    /// Whether one more may come in.
    fn is_open(&self, bounds: Bounds) -> bool {
        self.members.len() < bounds.members && self.begun.elapsed() < bounds.age
    }

    /// Makes everything durable, and tells everybody. Answers with the connection, unless it is of no more use.
    async fn end(self) -> Option<AnyConnection> {
        let sql = if self.members.is_empty() { "ROLLBACK" } else { "COMMIT" };
        let Self { connection, members, .. } = self.run(Some(sql)).await?;
        for member in members {
            // Who committed may have gone; its work is durable all the same.
            let _ = member.send(Ok(()));
        }
        connection
    }

    /// Undoes the whole group: closing the connection does, whatever state it is in.
    async fn give_up(self, error: sqlx::Error) {
        if !self.members.is_empty() {
            tracing::error!(%error, members = self.members.len(), "a group of transactions was undone");
        }
        if let Some(connection) = self.connection {
            close(connection).await;
        }
        fail(self.members, error);
    }
}

fn fail(members: Vec<oneshot::Sender<Outcome>>, error: sqlx::Error) {
    let error = Arc::new(error);
    for member in members {
        // Who committed may have gone.
        let _ = member.send(Err(error.clone()));
    }
}

async fn execute(connection: &mut AnyConnection, sql: &'static str) -> Result<(), sqlx::Error> {
    sqlx::query(sql).execute(connection).await.map(drop)
}

async fn close(connection: AnyConnection) {
    if let Err(error) = connection.close().await {
        tracing::warn!(%error, "the writing connection did not close in order");
    }
}
