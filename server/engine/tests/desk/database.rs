//! A database of a test's own, on either engine.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
/// console, when the variable is not set.
pub async fn postgres() -> Option<Database> {
    let Ok(server) = std::env::var("TEST_DATABASE_URL") else {
        eprintln!("not run on PostgreSQL: TEST_DATABASE_URL is not set (end2end/test sets it)");
        return None;
    };
    let name = format!("desk_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
    psql(&server, &format!("CREATE DATABASE {name}"));
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
    pub fn run(&self, sql: &str) -> Result<String, String> {
        let output = match self {
            Self::Sqlite(folder) => {
                Command::new("sqlite3").arg(folder.path().join("desk.db")).arg(sql).output()
            }
            Self::Postgres(_) => Command::new("psql")
                .args(["-v", "ON_ERROR_STOP=1", "-At", "-c", sql])
                .arg(self.url())
                .output(),
        };
        let output = output.expect("the database's own shell runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        psql(&self.server, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

fn psql(server: &str, sql: &str) {
    let done = Command::new("psql").args(["-q", "-c", sql]).arg(server).status();
    assert!(done.is_ok_and(|status| status.success()), "psql: {sql}");
}
