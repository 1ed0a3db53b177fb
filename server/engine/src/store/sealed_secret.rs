//! Secrets of credentials that are kept in the store, sealed.

use model::Time;

use super::{Store, StoreError};

impl Store {
    /// The sealed secret of the credential with this name.
    pub async fn sealed_secret(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(sqlx::query_scalar("SELECT secret FROM credential_secrets WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.read)
            .await?)
    }

    /// Stores or replaces the sealed secret of a credential.
    pub async fn set_sealed_secret(&self, name: &str, secret: &[u8], now: Time) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO credential_secrets (name, secret, set_at) VALUES ($1, $2, $3) \
             ON CONFLICT (name) DO UPDATE SET secret = excluded.secret, set_at = excluded.set_at",
        )
        .bind(name)
        .bind(secret.to_vec())
        .bind(now.micros())
        .execute(&self.write)
        .await?;
        Ok(())
    }
}
