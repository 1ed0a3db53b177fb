//! Browsers that are told by web push, and the key that push services know this desk by.

use model::{BrowserId, PersonId, Time};
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A browser that is told by web push.
#[derive(Debug, Clone)]
pub(crate) struct BrowserRow {
    pub(crate) id: BrowserId,
    pub(crate) person: PersonId,
    /// SHA-256 of its endpoint.
    pub(crate) endpoint_hash: [u8; 32],
    /// What its person sees.
    pub(crate) label: String,
    /// Endpoint and keys, sealed.
    pub(crate) data: Vec<u8>,
    pub(crate) created_at: Time,
}

const COLUMNS: &str = "SELECT id, person_id, endpoint_hash, label, data, created_at FROM push_subscriptions";

impl Store {
    /// Somebody's browsers, in the order in which they came.
    pub(crate) async fn browsers_of(&self, person: PersonId) -> Result<Vec<BrowserRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE person_id = $1 ORDER BY id"));
        let rows = sqlx::query(sql).bind(person.to_string()).fetch_all(&self.read).await?;
        rows.iter().map(read).collect()
    }

    /// One browser.
    pub(crate) async fn browser(&self, id: BrowserId) -> Result<Option<BrowserRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE id = $1"));
        let row = sqlx::query(sql).bind(id.to_string()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// Whether any browser is told.
    pub(crate) async fn has_browsers(&self) -> Result<bool, StoreError> {
        let one: Option<String> = sqlx::query_scalar("SELECT id FROM push_subscriptions LIMIT 1")
            .fetch_optional(&self.read)
            .await?;
        Ok(one.is_some())
    }

    /// Takes a browser away, if it is this person's. `false`: there is none.
    pub(crate) async fn delete_browser(&self, person: PersonId, id: BrowserId) -> Result<bool, StoreError> {
        let query = sqlx::query("DELETE FROM push_subscriptions WHERE id = $1 AND person_id = $2")
            .bind(id.to_string())
            .bind(person.to_string());
        Ok(self.write(query).await? == 1)
    }

    /// The sealed key of this name.
    pub(crate) async fn push_key(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(sqlx::query_scalar("SELECT secret FROM push_keys WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.read)
            .await?)
    }

    /// Keeps a key, unless another process has kept one of this name.
    pub(crate) async fn keep_push_key(&self, name: &str, secret: &[u8], now: Time) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO push_keys (name, secret, made_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        )
        .bind(name)
        .bind(secret.to_vec())
        .bind(now.micros());
        self.write(query).await.map(drop)
    }
}

impl Tx {
    /// Puts a key in the place of one that cannot be opened, and forgets every browser, as each was told with the old one:
    /// how many. `None`: the old one is not there any more, and nothing was changed.
    pub(crate) async fn replace_push_key(
        &mut self,
        name: &str,
        old: &[u8],
        new: &[u8],
        now: Time,
    ) -> Result<Option<u64>, StoreError> {
        let replaced =
            sqlx::query("UPDATE push_keys SET secret = $1, made_at = $2 WHERE name = $3 AND secret = $4")
                .bind(new.to_vec())
                .bind(now.micros())
                .bind(name)
                .bind(old.to_vec())
                .execute(&mut *self.inner)
                .await?;
        if replaced.rows_affected() == 0 {
            return Ok(None);
        }
        let gone = sqlx::query("DELETE FROM push_subscriptions").execute(&mut *self.inner).await?;
        Ok(Some(gone.rows_affected()))
    }

    /// Keeps a browser. An endpoint is one browser: whoever had it before is told there no more.
    pub(crate) async fn insert_browser(&mut self, browser: &BrowserRow) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM push_subscriptions WHERE endpoint_hash = $1")
            .bind(browser.endpoint_hash.to_vec())
            .execute(&mut *self.inner)
            .await?;
        sqlx::query(
            "INSERT INTO push_subscriptions (id, person_id, endpoint_hash, label, data, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(browser.id.to_string())
        .bind(browser.person.to_string())
        .bind(browser.endpoint_hash.to_vec())
        .bind(&browser.label)
        .bind(browser.data.clone())
        .bind(browser.created_at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }
}

fn read(row: &AnyRow) -> Result<BrowserRow, StoreError> {
    let columns = Columns::new("push_subscriptions", "id", row);
    Ok(BrowserRow {
        id: columns.parse("id")?,
        person: columns.parse("person_id")?,
        endpoint_hash: columns.digest("endpoint_hash")?,
        label: columns.get("label")?,
        data: columns.get("data")?,
        created_at: columns.time("created_at")?,
    })
}
