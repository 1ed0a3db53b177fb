//! Storage: one SQL text for both databases, one file per noun.
//!
//! Lookups return `Option`: absence is no error until a caller says so. Every state change is one `UPDATE … WHERE
//! state = …` whose row count is checked. Owner predicates are in the SQL.

mod agent;
mod call;
mod claim;
mod columns;
mod decision;
mod dialect;
mod event;
mod event_place;
mod group;
mod key;
mod list;
mod open_calls;
mod person;
mod prompt;
mod queue;
mod receipt;
mod retention;
mod sealed;
mod sealed_secret;
mod session;
mod taint;
mod tenant;
mod upstream_tool;

use std::path::Path;

use sqlx::any::AnyPoolOptions;
use sqlx::{Any, AnyPool, Transaction};

pub use self::call::{CallRow, CallState, NewCall, SendEnd, Standing, Unsent};
pub use self::claim::{ClaimRow, NewClaim};
pub use self::decision::{Confirmation, NewDecision};
pub use self::dialect::Dialect;
pub use self::event::NewEvent;
pub use self::event_place::Place;
pub use self::group::GroupLine;
pub use self::key::{KeyRow, NewKey};
pub use self::list::{Cursor, Window};
pub use self::prompt::{NewPrompt, PromptRow};
pub use self::receipt::{Amendment, NewReceipt};
pub(crate) use self::sealed::{SealedColumn, SealedValue};
pub use self::tenant::TenantLine;

/// What can go wrong in storage.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database said no or was not there.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// A migration failed.
    #[error("a migration failed: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A row holds what no code of this version writes.
    #[error("table {table}, column {column}, row {row}: holds what this version cannot read")]
    Inconsistent {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The row's id.
        row: String,
    },
    /// The address of the database is not usable.
    #[error("{0}")]
    Address(String),
    /// The database does not keep what it acknowledges.
    #[error("{0}")]
    NotDurable(String),
}

impl StoreError {
    /// Whether a row with the same unique value was there first.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

/// Storage. Cheap to clone.
///
/// SQLite has one writer: a pool of one connection for transactions, another pool for reads beside it. PostgreSQL uses
/// one pool for both.
#[derive(Clone, Debug)]
pub struct Store {
    write: AnyPool,
    read: AnyPool,
    dialect: Dialect,
}

/// A transaction. Dropped without `commit` it changes nothing.
pub struct Tx {
    inner: Transaction<'static, Any>,
}

impl Store {
    /// Opens the database; `sqlite:PATH` is relative to `base`. Nothing is migrated yet.
    ///
    /// # Errors
    /// When the address is not usable, the database is not there, or it would not keep what it acknowledges.
    pub async fn open(url: &str, base: &Path) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let dialect = Dialect::of(url)?;
        let options = dialect.connect_options(url, base)?;
        let pool = |size: u32| {
            AnyPoolOptions::new()
                .max_connections(size)
                .acquire_timeout(std::time::Duration::from_secs(5))
                .after_connect(move |connection, _| Box::pin(dialect.prepare_connection(connection)))
                .connect_with(options.clone())
        };
        let write = pool(dialect.writers()).await?;
        let read = if dialect == Dialect::Sqlite { pool(4).await? } else { write.clone() };
        let store = Self { write, read, dialect };
        store.dialect.check_durability(&store.write).await?;
        Ok(store)
    }

    /// Opens the database to look into it; `None`: it is not there, and it was not made.
    ///
    /// # Errors
    /// When the address is not usable, or the database cannot be reached.
    pub async fn open_existing(url: &str, base: &Path) -> Result<Option<Self>, StoreError> {
        if Dialect::of(url)?.would_be_made(url, base) {
            Ok(None)
        } else {
            Self::open(url, base).await.map(Some)
        }
    }

    /// Brings the schema up to this version.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        match self.dialect {
            Dialect::Sqlite => sqlx::migrate!("../../migrations/sqlite").run(&self.write).await?,
            Dialect::Postgres => sqlx::migrate!("../../migrations/postgres").run(&self.write).await?,
        }
        Ok(())
    }

    /// Whether the database answers and has this version's schema.
    pub async fn ready(&self) -> Result<bool, StoreError> {
        let applied = sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM _sqlx_migrations WHERE success")
            .fetch_one(&self.read)
            .await?;
        let known = match self.dialect {
            Dialect::Sqlite => sqlx::migrate!("../../migrations/sqlite").iter().count(),
            Dialect::Postgres => sqlx::migrate!("../../migrations/postgres").iter().count(),
        };
        Ok(usize::try_from(applied).is_ok_and(|applied| applied >= known))
    }

    /// Begins a transaction that may write.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        let inner = match self.dialect {
            // A deferred transaction could fail half-way when another process writes first.
            Dialect::Sqlite => self.write.begin_with("BEGIN IMMEDIATE").await?,
            Dialect::Postgres => self.write.begin().await?,
        };
        Ok(Tx { inner })
    }

    /// Which database it is.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Waits for what is under way and closes every connection.
    pub async fn close(&self) {
        self.read.close().await;
        self.write.close().await;
    }
}

impl Tx {
    /// Makes everything of this transaction durable, at once.
    pub async fn commit(self) -> Result<(), StoreError> {
        Ok(self.inner.commit().await?)
    }
}
