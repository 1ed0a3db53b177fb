//! What differs between SQLite and PostgreSQL, in one place.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor};

use super::StoreError;
use super::readers::Readers;

/// Which database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// One file on this machine.
    Sqlite,
    /// A server that several nodes share.
    Postgres,
}

/// What must not stand bare in the path of a database address.
pub(super) const IN_PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#');

impl Dialect {
    pub(super) fn of(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("sqlite:") {
            Ok(Self::Sqlite)
        } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            Ok(Self::Postgres)
        } else {
            Err(StoreError::Address("a database address begins with “sqlite:” or “postgres://”".to_owned()))
        }
    }

    pub(super) fn connect_options(self, url: &str, base: &Path) -> Result<AnyConnectOptions, StoreError> {
        let url = match self {
            Self::Sqlite => sqlite_url(url, base)?,
            Self::Postgres => url.to_owned(),
        };
        // The parser's error could repeat the address, password included.
        let options = AnyConnectOptions::from_str(&url)
            .map_err(|_| StoreError::Address("the database address cannot be read".to_owned()))?;
        Ok(options.disable_statement_logging())
    }

    /// Settings of every new connection.
    pub(super) async fn prepare_connection(self, connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let settings = match self {
            // secure_delete: what is erased does not linger in free pages.
            Self::Sqlite => {
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                 PRAGMA busy_timeout = 10000; PRAGMA secure_delete = ON"
            }
            Self::Postgres => "SET synchronous_commit = on; SET timezone = 'UTC'; SET jit = off",
        };
        connection.execute(settings).await.map(|_| ())
    }

    /// Refuses a database that does not keep what it acknowledges.
    pub(super) async fn check_durability(self, pool: &Readers) -> Result<(), StoreError> {
        match self {
            Self::Sqlite => {
                let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(pool).await?;
                let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(pool).await?;
                if mode != "wal" || synchronous != 2 {
                    return Err(StoreError::NotDurable(
                        "SQLite does not run with WAL and synchronous=FULL on this file system".to_owned(),
                    ));
                }
            }
            Self::Postgres => {
                let commit: String = sqlx::query_scalar("SHOW synchronous_commit").fetch_one(pool).await?;
                if commit != "on" {
                    return Err(StoreError::NotDurable(
                        "PostgreSQL does not run with synchronous_commit=on".to_owned(),
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Dialect {
    /// Whether opening this address would make a new database.
    pub(super) fn would_be_made(self, url: &str, base: &Path) -> bool {
        self == Self::Sqlite && sqlite_path(url, base).is_ok_and(|path| !path.exists())
    }
}

/// How many connections a process has to PostgreSQL.
const CONNECTIONS: u32 = 16;

/// A connection that was used this recently is taken to be there, and is not asked.
const FRESH: Duration = Duration::from_secs(1);

/// The connections to a PostgreSQL server, for everything.
pub(super) async fn pool(options: AnyConnectOptions) -> Result<AnyPool, StoreError> {
    let pool = AnyPoolOptions::new()
        .max_connections(CONNECTIONS)
        .acquire_timeout(Duration::from_secs(5))
        .after_connect(|connection, _| Box::pin(Dialect::Postgres.prepare_connection(connection)))
        .test_before_acquire(false)
        .before_acquire(|connection, known| {
            Box::pin(async move { Ok(known.idle_for < FRESH || connection.ping().await.is_ok()) })
        })
        .connect_with(options)
        .await?;
    Ok(pool)
}

/// The file of the address.
pub(super) fn sqlite_path(url: &str, base: &Path) -> Result<PathBuf, StoreError> {
    let written = url.trim_start_matches("sqlite:").trim_start_matches("//");
    if written.is_empty() || written.starts_with(":memory:") || written.contains('?') {
        return Err(StoreError::Address("a SQLite address is “sqlite:” and the path of a file".to_owned()));
    }
    Ok(base.join(written))
}

/// The address of the file, absolute; the file is made with owner-only rights when it is not there.
fn sqlite_url(url: &str, base: &Path) -> Result<String, StoreError> {
    let path = sqlite_path(url, base)?;
    open_private(&path).map_err(|error| StoreError::Address(format!("{}: {error}", path.display())))?;
    let path =
        path.to_str().ok_or_else(|| StoreError::Address("the database path is not UTF-8".to_owned()))?;
    Ok(format!("sqlite://{}", utf8_percent_encode(path, IN_PATH)))
}

/// A file that is there afterwards, made with owner-only rights when it was not.
pub(super) fn open_private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
