//! Tenants and who is in them.

use std::collections::HashMap;

use model::{PersonId, TenantId, Time};

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A tenant with its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantLine {
    /// Its id.
    pub id: TenantId,
    /// Its name, unique.
    pub name: String,
    /// The addresses of its members, in order.
    pub members: Vec<String>,
}

impl Store {
    /// Whether the person is a member of the tenant with this name.
    pub async fn is_member(&self, tenant: &str, person: PersonId) -> Result<bool, StoreError> {
        let found = sqlx::query_scalar::<_, i64>(
            "SELECT COUNT(*) FROM tenants t JOIN tenant_members m ON m.tenant_id = t.id \
             WHERE t.name = $1 AND m.person_id = $2",
        )
        .bind(tenant)
        .bind(person.to_string())
        .fetch_one(&self.read)
        .await?;
        Ok(found > 0)
    }

    /// The name of the tenant with this id.
    pub async fn tenant_name(&self, id: &str) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar("SELECT name FROM tenants WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.read)
            .await?)
    }

    /// The names of the tenants a person is in, in order.
    pub async fn tenants_of(&self, person: PersonId) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT t.name FROM tenants t JOIN tenant_members m ON m.tenant_id = t.id WHERE m.person_id = $1 ORDER BY t.name",
        )
        .bind(person.to_string())
        .fetch_all(&self.read)
        .await?)
    }

    /// Every tenant, by name.
    pub async fn tenants(&self) -> Result<Vec<TenantLine>, StoreError> {
        let rows = sqlx::query(
            "SELECT t.id, t.name, p.email FROM tenants t LEFT JOIN tenant_members m ON m.tenant_id = t.id \
             LEFT JOIN persons p ON p.id = m.person_id ORDER BY t.name, p.email",
        )
        .fetch_all(&self.read)
        .await?;
        let mut tenants: Vec<TenantLine> = Vec::new();
        for row in &rows {
            let columns = Columns::new("tenants", "id", row);
            let id = columns.parse("id")?;
            if tenants.last().is_none_or(|last| last.id != id) {
                tenants.push(TenantLine { id, name: columns.get("name")?, members: Vec::new() });
            }
            if let (Some(last), Some(email)) = (tenants.last_mut(), columns.get("email")?) {
                last.members.push(email);
            }
        }
        Ok(tenants)
    }

    /// How many held calls name each tenant, by its name; a tenant that none names is not in it.
    pub async fn held_in_tenants(&self) -> Result<HashMap<String, u64>, StoreError> {
        let rows = sqlx::query(
            "SELECT tenant, COUNT(*) AS held FROM calls WHERE state = 'held' AND tenant IS NOT NULL GROUP BY tenant",
        )
        .fetch_all(&self.read)
        .await?;
        let counted = rows.iter().map(|row| {
            let columns = Columns::new("calls", "tenant", row);
            let held: i64 = columns.get("held")?;
            Ok((columns.get("tenant")?, held.unsigned_abs()))
        });
        counted.collect()
    }
}

impl Tx {
    /// The id of the tenant with this name, made with the given id when there is none.
    pub async fn tenant_named(
        &mut self,
        name: &str,
        fresh: TenantId,
        now: Time,
    ) -> Result<TenantId, StoreError> {
        sqlx::query("INSERT INTO tenants (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
            .bind(fresh.to_string())
            .bind(name)
            .bind(now.micros())
            .execute(&mut *self.inner)
            .await?;
        let row = sqlx::query("SELECT id FROM tenants WHERE name = $1")
            .bind(name)
            .fetch_one(&mut *self.inner)
            .await?;
        Columns::new("tenants", "id", &row).parse("id")
    }

    /// Puts a person into a tenant; a member stays one.
    pub async fn add_to_tenant(&mut self, tenant: TenantId, person: PersonId) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO tenant_members (tenant_id, person_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        )
        .bind(tenant.to_string())
        .bind(person.to_string())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Takes a person out of a tenant. `false`: they are not in it.
    pub async fn remove_from_tenant(&mut self, tenant: &str, person: PersonId) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "DELETE FROM tenant_members WHERE person_id = $2 AND tenant_id IN (SELECT id FROM tenants WHERE id = $1 OR name = $1)",
        )
        .bind(tenant)
        .bind(person.to_string())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Removes a tenant and its memberships. `false`: there is none.
    pub async fn remove_tenant(&mut self, tenant: &str) -> Result<bool, StoreError> {
        sqlx::query("DELETE FROM tenant_members WHERE tenant_id IN (SELECT id FROM tenants WHERE id = $1 OR name = $1)")
            .bind(tenant)
            .execute(&mut *self.inner)
            .await?;
        let done = sqlx::query("DELETE FROM tenants WHERE id = $1 OR name = $1")
            .bind(tenant)
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() > 0)
    }
}
