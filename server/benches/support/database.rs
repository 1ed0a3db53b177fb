//! Databases on a PostgreSQL server, each for one run.

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Executor};

/// A fresh database on this server: its address.
pub(crate) async fn create(server: &str, purpose: &str) -> String {
    let name = format!("{purpose}_{}", std::process::id());
    let mut connection = AnyConnection::connect(server).await.expect("the server of TEST_DATABASE_URL");
    connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.expect("a database");
    let (base, _) = server.rsplit_once('/').expect("an address with a database");
    format!("{base}/{name}")
}

/// Removes a database that `create` made.
pub(crate) async fn remove(server: &str, purpose: &str) {
    let name = format!("{purpose}_{}", std::process::id());
    let mut connection = AnyConnection::connect(server).await.expect("the server of TEST_DATABASE_URL");
    let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    connection.execute(AssertSqlSafe(drop)).await.expect("removed");
}

/// Whether this server's commits are on the disk when they are acknowledged.
pub(crate) async fn is_durable(server: &str) -> bool {
    let mut connection = AnyConnection::connect(server).await.expect("the server of TEST_DATABASE_URL");
    let fsync: String = sqlx::query_scalar("SHOW fsync").fetch_one(&mut connection).await.expect("a setting");
    fsync == "on"
}
