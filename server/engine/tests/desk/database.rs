//! A database of a test's own, on either engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

/// A database that is there for one test and removed with its last handle.
#[derive(Clone)]
pub enum Database {
    Sqlite(Arc<tempfile::TempDir>),
    Postgres(Arc<Created>),
}

/// A database on the test server.
pub struct Created {
    server: String,
    name: String,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A fresh SQLite file.
pub fn sqlite() -> Database {
    Database::Sqlite(Arc::new(tempfile::tempdir().expect("a temporary folder")))
}

/// A fresh database on the server of `TEST_DATABASE_URL`, which `end2end/test` starts. `None`, and a word on the
/// console, when the variable is not set; where everything has to be tested that is a fault.
pub async fn postgres() -> Option<Database> {
    let Ok(server) = std::env::var("TEST_DATABASE_URL") else {
        assert!(
            std::env::var_os("CI").is_none(),
            "TEST_DATABASE_URL is not set: half of the tests would not run"
        );
        eprintln!("not run on PostgreSQL: TEST_DATABASE_URL is not set (end2end/test sets it)");
        return None;
    };
    let name = format!("desk_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
    execute(&server, format!("CREATE DATABASE {name}")).await.expect("a database");
    Some(Database::Postgres(Arc::new(Created { server, name })))
}

impl Database {
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(folder) => format!("sqlite:{}", folder.path().join("desk.db").display()),
            Self::Postgres(created) => {
                let (base, _) = created.server.rsplit_once('/').expect("an address with a database");
                format!("{base}/{}", created.name)
            }
        }
    }

    pub fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Sqlite(folder) => Some(folder.path().join("desk.db")),
            Self::Postgres(_) => None,
        }
    }

    /// Runs a statement behind the desk's back; `Err` with what the database said.
    pub async fn run(&self, sql: &str) -> Result<(), String> {
        execute(&self.url(), sql.to_owned()).await
    }

    /// The first column of every row, as text.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        self.rows(sql).await.iter().map(|row| row.try_get::<String, _>(0).expect("a text")).collect()
    }

    /// One number.
    pub async fn count(&self, sql: &str) -> i64 {
        self.rows(sql).await[0].try_get::<i64, _>(0).expect("a number")
    }

    async fn rows(&self, sql: &str) -> Vec<AnyRow> {
        let mut connection = connect(&self.url()).await.expect("a connection");
        sqlx::query(AssertSqlSafe(sql.to_owned())).fetch_all(&mut connection).await.expect("rows")
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // Dropping is not asynchronous, and the test's own runtime may be ending.
        let removal = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(execute(&server, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")))
        });
        drop(removal.join());
    }
}

async fn connect(url: &str) -> Result<AnyConnection, sqlx::Error> {
    sqlx::any::install_default_drivers();
    AnyConnection::connect(url).await
}

async fn execute(url: &str, sql: String) -> Result<(), String> {
    let mut connection = connect(url).await.map_err(|error| error.to_string())?;
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await;
    done.map(|_| ()).map_err(|error| error.to_string())
}
