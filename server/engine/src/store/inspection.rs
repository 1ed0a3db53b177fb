//! What can be seen of a database without changing it.

use std::path::{Path, PathBuf};

use model::Time;

use super::{Dialect, Store, StoreError, dialect};

/// How a database's schema stands to this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// It is this version's.
    Current,
    /// So many migrations are missing; `serve` and `migrate` apply them.
    Behind(u64),
    /// It has so many migrations that this version does not know.
    Ahead(u64),
}

/// What was seen of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Its file; `None` on PostgreSQL.
    pub file: Option<PathBuf>,
    /// How its schema stands.
    pub schema: Schema,
    /// Settings by which it would lose what it acknowledged, with the value they have.
    pub lossy: Vec<(&'static str, String)>,
    /// What the database's clock says; `None` on SQLite, which has this machine's.
    pub clock: Option<Time>,
    /// When the newest journal line was written.
    pub newest: Option<Time>,
}

/// Settings of the server by which a crash would cost what was acknowledged.
const MUST_BE_ON: [&str; 2] = ["fsync", "full_page_writes"];

impl Inspection {
    /// Looks at the database of this address, which is neither made nor brought up to date. `None`: it is not there.
    ///
    /// # Errors
    /// When it cannot be reached, is not readable, or does not run durably for this process.
    pub async fn of(url: &str, base: &Path) -> Result<Option<Self>, StoreError> {
        let Some(store) = Store::open_existing(url, base).await? else { return Ok(None) };
        let seen = see(&store, url, base).await;
        store.close().await;
        seen.map(Some)
    }
}

async fn see(store: &Store, url: &str, base: &Path) -> Result<Inspection, StoreError> {
    let schema = store.schema().await?;
    let newest = match schema {
        Schema::Behind(_) => None,
        _ => sqlx::query_scalar::<_, Option<i64>>(
            "SELECT MAX(at) FROM (SELECT at FROM events ORDER BY id DESC LIMIT 100) newest",
        )
        .fetch_one(&store.read)
        .await?
        .map(Time::from_micros),
    };
    let mut seen = Inspection { file: None, schema, lossy: Vec::new(), clock: None, newest };
    match store.dialect() {
        Dialect::Sqlite => seen.file = Some(dialect::sqlite_path(url, base)?),
        Dialect::Postgres => {
            for name in MUST_BE_ON {
                let value: String = sqlx::query_scalar("SELECT current_setting($1)")
                    .bind(name)
                    .fetch_one(&store.read)
                    .await?;
                if value != "on" {
                    seen.lossy.push((name, value));
                }
            }
            let micros = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
            seen.clock = Some(Time::from_micros(sqlx::query_scalar(micros).fetch_one(&store.read).await?));
        }
    }
    Ok(seen)
}

impl Store {
    /// How the schema stands.
    pub(crate) async fn schema(&self) -> Result<Schema, StoreError> {
        let table = match self.dialect {
            Dialect::Sqlite => "SELECT COUNT(*) FROM sqlite_master WHERE name = '_sqlx_migrations'",
            Dialect::Postgres => {
                "SELECT COUNT(*) FROM pg_tables WHERE tablename = '_sqlx_migrations' AND schemaname = ANY (current_schemas(false))"
            }
        };
        let known: Vec<i64> = self.migrations().iter().map(|migration| migration.version).collect();
        if sqlx::query_scalar::<_, i64>(table).fetch_one(&self.read).await? == 0 {
            return Ok(Schema::Behind(known.len() as u64));
        }
        let applied: Vec<i64> = sqlx::query_scalar("SELECT version FROM _sqlx_migrations WHERE success")
            .fetch_all(&self.read)
            .await?;
        let missing = known.iter().filter(|version| !applied.contains(version)).count();
        let strange = applied.iter().filter(|version| !known.contains(version)).count();
        Ok(match (missing, strange) {
            (0, 0) => Schema::Current,
            (0, strange) => Schema::Ahead(strange as u64),
            (missing, _) => Schema::Behind(missing as u64),
        })
    }
}
