//! Secrets of credentials that are kept in the store, sealed.

use std::collections::BTreeMap;

use model::Time;

use super::columns::Columns;
use super::{Store, StoreError};

impl Store {
    /// The sealed secret of the credential with this name.
    pub async fn sealed_secret(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(sqlx::query_scalar("SELECT secret FROM credential_secrets WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.read)
            .await?)
    }

    /// The names under which secrets are kept, and when each was set.
    pub async fn kept_secrets(&self) -> Result<BTreeMap<String, Time>, StoreError> {
        let rows = sqlx::query("SELECT name, set_at FROM credential_secrets").fetch_all(&self.read).await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("credential_secrets", "name", row);
                Ok((columns.get("name")?, columns.time("set_at")?))
            })
            .collect()
    }

    /// Stores or replaces the sealed secret of a credential.
    pub async fn set_sealed_secret(&self, name: &str, secret: &[u8], now: Time) -> Result<(), StoreError> {
        let query = sqlx::query(
            "INSERT INTO credential_secrets (name, secret, set_at) VALUES ($1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET secret = excluded.secret, set_at = excluded.set_at",
        )
        .bind(name)
        .bind(secret.to_vec())
        .bind(now.micros());
        self.write(query).await.map(drop)
    }
}
