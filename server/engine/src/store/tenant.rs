//! Tenants and who is in them.

use model::PersonId;

use super::{Store, StoreError};

impl Store {
    /// Whether the person is a member of the tenant with this id or name.
    pub async fn is_member(&self, tenant: &str, person: PersonId) -> Result<bool, StoreError> {
        let found = sqlx::query_scalar::<_, i64>(
            "SELECT COUNT(*) FROM tenants t JOIN tenant_members m ON m.tenant_id = t.id \
             WHERE (t.id = $1 OR t.name = $1) AND m.person_id = $2",
        )
        .bind(tenant)
        .bind(person.to_string())
        .fetch_one(&self.read)
        .await?;
        Ok(found > 0)
    }
}
