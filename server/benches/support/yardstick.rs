//! The yardstick: one writer that commits one row after the other, durably, on the disk and the database of the desk.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::{AnyConnection, Connection, Executor};

use super::database;

pub(crate) struct Yardstick {
    connection: AnyConnection,
    count: i64,
}

impl Yardstick {
    /// A database file of its own in this folder, with the desk's settings.
    pub(crate) async fn sqlite(folder: &Path) -> Self {
        let file = folder.join("yardstick.db");
        let mut connection =
            AnyConnection::connect(&format!("sqlite://{}?mode=rwc", file.display())).await.expect("a file");
        let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL";
        connection.execute(settings).await.expect("settings");
        Self::with(connection).await
    }

    /// A database of its own on this server.
    pub(crate) async fn postgres(server: &str) -> Self {
        let mut connection =
            AnyConnection::connect(&database::create(server, "yardstick").await).await.expect("a database");
        connection.execute("SET synchronous_commit = on").await.expect("settings");
        Self::with(connection).await
    }

    async fn with(mut connection: AnyConnection) -> Self {
        connection
            .execute("CREATE TABLE rows (id BIGINT PRIMARY KEY, word TEXT NOT NULL)")
            .await
            .expect("a table");
        Self { connection, count: 0 }
    }

    /// How long one row took to be durable.
    pub(crate) async fn commit(&mut self) -> Duration {
        self.count += 1;
        let begun = Instant::now();
        let row = sqlx::query("INSERT INTO rows (id, word) VALUES ($1, $2)").bind(self.count);
        row.bind("a row of about a hundred bytes, which is less than what any of the desk's own transactions write")
            .execute(&mut self.connection)
            .await
            .expect("a row");
        begun.elapsed()
    }

    /// How many rows one writer makes durable in a second, one after the other, measured for that long.
    pub(crate) async fn a_second(&mut self, measured: Duration) -> f64 {
        let begun = Instant::now();
        let mut count = 0.0;
        while begun.elapsed() < measured {
            self.commit().await;
            count += 1.0;
        }
        count / begun.elapsed().as_secs_f64()
    }
}
