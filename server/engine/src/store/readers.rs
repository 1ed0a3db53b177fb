//! Connections for reads beside the one writer of SQLite.
//!
//! A pool of sqlx asks a connection whether it is there each time it is taken and each time it comes back. For a file
//! that is twice as much work as most reads, and there is nothing that could have gone away.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryFutureExt, TryStreamExt};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions, AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo};
use sqlx::{
    Any, AnyConnection, AnyPool, ConnectOptions, Connection, Describe, Either, Error, Execute, Executor,
    SqlStr,
};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::Dialect;
use super::group_commit::Fence;

/// How many read at once.
const PLACES: u32 = 4;

/// For how long somebody waits for a place before being told that the database is busy.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where reads go. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) enum Readers {
    /// Connections of their own, to a file.
    File(Arc<File>),
    /// The pool that everything uses.
    Pool(AnyPool),
}

/// Connections to one file.
pub(super) struct File {
    options: AnyConnectOptions,
    fence: Fence,
    idle: Mutex<Vec<AnyConnection>>,
    places: Semaphore,
}

/// A connection for one read.
struct Lent<'a> {
    file: &'a File,
    connection: Option<AnyConnection>,
    _place: SemaphorePermit<'a>,
}

impl Readers {
    /// Of the database file with these options. They connect when they are first needed.
    pub(super) fn of_file(options: AnyConnectOptions, fence: Fence) -> Self {
        let places = Semaphore::new(PLACES as usize);
        Self::File(Arc::new(File { options, fence, idle: Mutex::default(), places }))
    }

    /// Waits for the reads under way and closes every connection.
    pub(super) async fn close(&self) {
        match self {
            Self::Pool(pool) => pool.close().await,
            Self::File(file) => file.close().await,
        }
    }
}

impl File {
    async fn close(&self) {
        // An error only says that it is closed already.
        drop(self.places.acquire_many(PLACES).await);
        self.places.close();
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for connection in idle {
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "a reading connection did not close in order");
            }
        }
    }

    async fn lend(&self) -> Result<Lent<'_>, Error> {
        self.fence.pass().await;
        let waiting = tokio::time::timeout(PATIENCE, self.places.acquire()).await;
        let place = waiting.map_err(|_| Error::PoolTimedOut)?.map_err(|_| Error::PoolClosed)?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(Lent { file: self, connection: Some(connection), _place: place })
    }

    /// A connection of its own, as a pool.
    pub(super) async fn pool_of_one(&self) -> Result<AnyPool, Error> {
        let pool = AnyPoolOptions::new().max_connections(1);
        pool.after_connect(|connection, _| Box::pin(Dialect::Sqlite.prepare_connection(connection)))
            .connect_with(self.options.clone())
            .await
    }

    async fn connect(&self) -> Result<AnyConnection, Error> {
        let mut connection = self.options.connect().await?;
        Dialect::Sqlite.prepare_connection(&mut connection).await?;
        Ok(connection)
    }
}

impl Lent<'_> {
    fn connection(&mut self) -> &mut AnyConnection {
        self.connection.as_mut().unwrap_or_else(|| unreachable!("only its end takes it"))
    }

    /// What a read ended with. A connection that failed otherwise than by the database's own word is not used again.
    fn ended<T>(mut self, read: Result<T, Error>) -> Result<T, Error> {
        if matches!(&read, Err(error) if !matches!(error, Error::Database(_))) {
            self.connection = None;
        }
        read
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // One that was given up in the middle of a read ends it before it begins the next.
        if let Some(connection) = self.connection.take() {
            self.file.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").finish_non_exhaustive()
    }
}

impl<'p> Executor<'p> for &'p Readers {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<AnyQueryResult, AnyRow>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let file = match self {
            Readers::Pool(pool) => return pool.fetch_many(query),
            Readers::File(file) => file,
        };
        let read = async move {
            let mut lent = file.lend().await?;
            let found: Result<Vec<_>, _> = lent.connection().fetch_many(query).try_collect().await;
            lent.ended(found).map(|found| stream::iter(found.into_iter().map(Ok)))
        };
        read.try_flatten_stream().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<AnyRow>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let file = match self {
            Readers::Pool(pool) => return pool.fetch_optional(query),
            Readers::File(file) => file,
        };
        Box::pin(async move {
            let mut lent = file.lend().await?;
            let found = lent.connection().fetch_optional(query).await;
            lent.ended(found)
        })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &[AnyTypeInfo],
    ) -> BoxFuture<'e, Result<AnyStatement, Error>>
    where
        'p: 'e,
    {
        let parameters = parameters.to_vec();
        Box::pin(async move {
            match self {
                Readers::Pool(pool) => pool.prepare_with(sql, &parameters).await,
                Readers::File(file) => {
                    let mut lent = file.lend().await?;
                    let prepared = lent.connection().prepare_with(sql, &parameters).await;
                    lent.ended(prepared)
                }
            }
        })
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Any>, Error>>
    where
        'p: 'e,
    {
        Box::pin(async move {
            match self {
                Readers::Pool(pool) => pool.describe(sql).await,
                Readers::File(file) => {
                    let mut lent = file.lend().await?;
                    let described = lent.connection().describe(sql).await;
                    lent.ended(described)
                }
            }
        })
    }
}
