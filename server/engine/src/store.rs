//! Storage: one SQL text for both databases, one file per noun.
//!
//! Lookups return `Option`: absence is no error until a caller says so. Every state change is one `UPDATE … WHERE
//! state = …` whose row count is checked. Owner predicates are in the SQL.

mod account_event;
mod agent;
mod call;
mod claim;
mod columns;
mod copy;
mod decision;
mod delegation;
mod dialect;
mod event;
mod event_by;
mod event_list;
mod event_place;
mod grant;
mod group;
mod group_commit;
mod identity;
mod inspection;
mod invitation;
mod key;
mod ledger;
mod line;
mod list;
mod load;
mod notice;
mod open_calls;
mod passkey;
mod pause;
mod person;
mod prompt;
mod push;
mod queue;
mod readers;
mod receipt;
mod receipt_list;
mod retention;
mod right;
mod sealed;
mod sealed_secret;
mod session;
mod sign_in_try;
mod sql;
mod story;
mod taint;
mod tally;
mod tenant;
mod turn;
mod twins;
mod upstream_tool;
mod waits;

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

use sqlx::any::AnyArguments;
use sqlx::migrate::Migrator;
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AnyPool, Transaction};

pub use self::call::{CallRow, CallState, NewCall, SendEnd, Standing, Unsent};
pub use self::claim::{ClaimRow, NewClaim};
pub use self::copy::Copied;
pub(crate) use self::copy::Standstill;
pub use self::decision::{Confirmation, DecidedBy, NewDecision};
pub use self::delegation::NewDelegation;
pub use self::dialect::Dialect;
pub use self::event::NewEvent;
pub use self::event_by::EventDecider;
pub use self::event_place::Place;
pub use self::grant::{EndedGrant, GrantRow, GrantUse, GrantsOf};
pub use self::group::GroupLine;
use self::group_commit::{Bounds, Fence, GroupCommit, Member};
pub use self::identity::{Identity, IdentityChange, IdentityEvent, Offered, Subject};
pub use self::inspection::{Inspection, Schema};
pub use self::invitation::InvitationLine;
pub use self::key::{KeyRow, NewKey, TokenLine};
pub(crate) use self::ledger::{CheckpointRow, LeafRow, LedgerKeyRow, Records, Unsequenced};
pub use self::list::{Cursor, Turn, Window};
pub(crate) use self::load::{Connections, Load};
pub(crate) use self::notice::{MOST_CALLS, NewNotice, NoticeEnd, NoticeRow, Waiting};
pub use self::passkey::{Bound, ChallengePurpose, NewPasskey, PasskeyRow, UsedPasskey};
pub use self::pause::NewPause;
pub use self::person::Proof;
pub use self::prompt::{NewPrompt, PromptRow};
pub(crate) use self::push::BrowserRow;
use self::readers::Readers;
pub use self::receipt::{Amendment, NewReceipt};
pub(crate) use self::sealed::{SealedColumn, SealedValue};
pub use self::session::{NewSession, SessionLine, SessionRow};
pub use self::sign_in_try::{Limit, Taken};
pub(crate) use self::tally::Tally;
pub use self::tenant::TenantLine;
pub use self::twins::Twins;

static SQLITE: Migrator = sqlx::migrate!("../../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../../migrations/postgres");

/// What can go wrong in storage.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database said no or was not there.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// What was to be made durable was undone, with everything else that shared its commit.
    #[error("the database could not commit, and nothing of it was kept: {0}")]
    NotCommitted(Arc<sqlx::Error>),
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
    /// A copy is not sound, by what the database said of it.
    #[error("the copy is not sound: {0}")]
    Copy(String),
}

impl StoreError {
    /// Whether a row with the same unique value was there first.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

/// Storage. Cheap to clone.
///
/// SQLite has one writer, and connections for reads beside it. PostgreSQL uses one pool for both.
#[derive(Clone, Debug)]
pub struct Store {
    read: Readers,
    writers: Writers,
    dialect: Dialect,
    tally: Tally,
}

/// Who may write.
#[derive(Clone, Debug)]
enum Writers {
    /// One at a time, all that wait with one commit.
    One(GroupCommit),
    /// Each on a connection of its own.
    Many(AnyPool),
}

/// A transaction. Dropped without `commit` it changes nothing.
pub struct Tx {
    inner: Inner,
    lines: tally::Pending,
}

/// The connection of a transaction, and how it ends.
enum Inner {
    Member(Member),
    Own(Transaction<'static, Any>),
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
        let (read, writers) = match dialect {
            Dialect::Sqlite => {
                let file = dialect::sqlite_path(url, base)?;
                let fence = Fence::new();
                let writer = GroupCommit::start(options.clone(), file, Bounds::USUAL, fence.clone());
                (Readers::of_file(options, fence), Writers::One(writer))
            }
            Dialect::Postgres => {
                let pool = dialect::pool(options).await?;
                (Readers::Pool(pool.clone()), Writers::Many(pool))
            }
        };
        dialect.check_durability(&read).await?;
        Ok(Self { read, writers, dialect, tally: Tally::default() })
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
        match &self.read {
            Readers::File(file) => {
                let one = file.pool_of_one().await?;
                let migrated = SQLITE.run(&one).await;
                one.close().await;
                migrated?;
            }
            Readers::Pool(pool) => POSTGRES.run(pool).await?,
        }
        Ok(())
    }

    /// Whether the database answers and has this version's schema.
    pub async fn ready(&self) -> Result<bool, StoreError> {
        let applied = sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM _sqlx_migrations WHERE success")
            .fetch_one(&self.read)
            .await?;
        let known = self.migrations().iter().count();
        Ok(usize::try_from(applied).is_ok_and(|applied| applied >= known))
    }

    /// This version's schema.
    const fn migrations(&self) -> &'static Migrator {
        match self.dialect {
            Dialect::Sqlite => &SQLITE,
            Dialect::Postgres => &POSTGRES,
        }
    }

    /// Begins a transaction that may write. On SQLite nobody else begins before it has ended.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        let inner = match &self.writers {
            Writers::One(writer) => Inner::Member(writer.begin().await?),
            Writers::Many(pool) => Inner::Own(pool.begin().await?),
        };
        Ok(Tx { inner, lines: tally::Pending::new(self.tally.clone()) })
    }

    /// One statement that writes, durable when this returns: how many rows it changed.
    async fn write(&self, query: Query<'_, Any, AnyArguments>) -> Result<u64, StoreError> {
        let done = match &self.writers {
            Writers::Many(pool) => query.execute(pool).await?,
            Writers::One(_) => {
                let mut tx = self.begin().await?;
                let done = query.execute(&mut *tx.inner).await?;
                tx.commit().await?;
                done
            }
        };
        Ok(done.rows_affected())
    }

    /// Which database it is.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The journal lines that became durable through this store.
    pub(crate) fn tally(&self) -> Tally {
        self.tally.clone()
    }

    /// Waits for what is under way and closes every connection.
    pub async fn close(&self) {
        if let Writers::One(writer) = &self.writers {
            writer.close().await;
        }
        self.read.close().await;
    }
}

impl Tx {
    /// Whether nobody else writes until this transaction has ended.
    const fn writes_alone(&self) -> bool {
        matches!(self.inner, Inner::Member(_))
    }

    /// Makes everything of this transaction durable, at once.
    ///
    /// # Errors
    /// `NotCommitted` or what the database said: nothing of it was kept.
    pub async fn commit(self) -> Result<(), StoreError> {
        match self.inner {
            Inner::Member(member) => member.commit().await?,
            Inner::Own(transaction) => transaction.commit().await?,
        }
        self.lines.count();
        Ok(())
    }
}

impl Deref for Inner {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        match self {
            Self::Member(member) => member,
            Self::Own(transaction) => transaction,
        }
    }
}

impl DerefMut for Inner {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        match self {
            Self::Member(member) => member,
            Self::Own(transaction) => transaction,
        }
    }
}
