//! A copy of a SQLite database, whole and by itself, made beside everybody who reads and writes.

use std::path::Path;
use std::str::FromStr;

use model::{PauseId, Time};
use percent_encoding::utf8_percent_encode;
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection, Executor};

use super::dialect::IN_PATH;
use super::{Dialect, Store, StoreError};

/// What a copy holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Receipts, settlements and late answers not counted apart.
    pub receipts: u64,
    /// Held calls.
    pub held: u64,
    /// Writes that were confirmed or on their way: in doubt in the copy.
    pub in_doubt: u64,
}

/// What happens after a copy was made, the copy does not know. A write that was about to be sent was sent by then, a
/// prompt was redeemed, somebody has signed out: none of it may begin again when the copy takes the database's place.
/// A write on its way gets a lease that has run out, and recovery puts it in doubt.
const TAKE_BACK: [&str; 5] = [
    "UPDATE calls SET state = 'sending', lease_until = 0, lease_owner = 'a copy' \
     WHERE state IN ('approved', 'queued', 'sending') AND effect <> 'read'",
    "DELETE FROM prompts WHERE used_at IS NULL AND rejected_at IS NULL",
    "DELETE FROM sessions",
    "DELETE FROM invitations WHERE used_at IS NULL",
    // How many uses were taken since, it does not know either.
    "UPDATE grants SET ended_at = made_at, how = 'revoked', scope = NULL WHERE ended_at IS NULL",
];

/// What a copy says when it has taken the database's place: everything is paused until somebody has looked.
pub(crate) struct Standstill {
    /// The pause's id.
    pub(crate) id: PauseId,
    /// When the copy was made.
    pub(crate) at: Time,
    /// Why, in words for people.
    pub(crate) reason: String,
}

impl Store {
    /// Writes everything that is durable now into this file, which is empty, as one database without files beside it.
    /// The file is not yet forced to the disk.
    ///
    /// # Errors
    /// `Address` on PostgreSQL, which has tools of its own; whatever the database failed with, and a copy that is
    /// not sound.
    pub(crate) async fn copy_into(&self, file: &Path, pause: &Standstill) -> Result<Copied, StoreError> {
        if self.dialect != Dialect::Sqlite {
            return Err(StoreError::Address("only a SQLite database is copied by this server".to_owned()));
        }
        let path = file.to_str().ok_or_else(|| StoreError::Address("the path is not UTF-8".to_owned()))?;
        sqlx::query("VACUUM INTO $1").bind(path).execute(&self.read).await?;
        let options =
            AnyConnectOptions::from_str(&format!("sqlite://{}", utf8_percent_encode(path, IN_PATH)))?;
        let mut copy = options.disable_statement_logging().connect().await?;
        let copied = adjust(&mut copy, pause).await;
        copy.close().await?;
        copied
    }
}

/// Makes the copy one that can take the database's place, and looks whether it is sound.
async fn adjust(copy: &mut AnyConnection, pause: &Standstill) -> Result<Copied, StoreError> {
    copy.execute("PRAGMA journal_mode = DELETE; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON").await?;
    let mut tx = copy.begin().await?;
    for statement in TAKE_BACK {
        tx.execute(statement).await?;
    }
    // Where everything is paused already, it stays so by those words.
    sqlx::query(
        "INSERT INTO pauses (id, scope, as_owner, reason, paused_at) VALUES ($1, 'everything', 0, $2, $3) ON CONFLICT DO NOTHING",
    )
    .bind(pause.id.to_string())
    .bind(&pause.reason)
    .bind(pause.at.micros())
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    let sound: String = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&mut *copy).await?;
    if sound != "ok" {
        return Err(StoreError::Copy(sound));
    }
    Ok(Copied {
        receipts: count(copy, "SELECT COUNT(*) FROM receipts").await?,
        held: count(copy, "SELECT COUNT(*) FROM calls WHERE state = 'held'").await?,
        in_doubt: count(copy, "SELECT COUNT(*) FROM calls WHERE state IN ('sending', 'in_doubt')").await?,
    })
}

async fn count(copy: &mut AnyConnection, sql: &'static str) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut *copy).await?;
    Ok(count.unsigned_abs())
}
