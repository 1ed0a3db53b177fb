//! Groups and tenants: who belongs together.

use model::{PersonId, Refusal, TenantId};

use crate::engine::Engine;
use crate::registry::is_name;
use crate::store::{GroupLine, TenantLine};

impl Engine {
    /// Puts a person into a group, which is there from then on.
    ///
    /// # Errors
    /// `Invalid` for a name that is none, or when there is nobody with this address.
    pub async fn add_to_group(&self, group: &str, email: &str) -> Result<(), Refusal> {
        let person = self.member_to_be(group, Some(email)).await?;
        let mut tx = self.store().begin().await?;
        if let Some(person) = person {
            tx.add_to_group(group, person).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Takes a person out of a group, or with no address everybody. `false`: they are not in it.
    pub async fn remove_from_group(&self, group: &str, email: Option<&str>) -> Result<bool, Refusal> {
        let person = self.person_id(email).await?;
        let mut tx = self.store().begin().await?;
        let removed = tx.remove_from_group(group, person).await?;
        tx.hand_over_orphans(None).await?;
        tx.commit().await?;
        Ok(removed)
    }

    /// Every group, by name.
    pub async fn groups(&self) -> Result<Vec<GroupLine>, Refusal> {
        Ok(self.store().groups().await?)
    }

    /// Makes a tenant when there is none of this name, and puts a person into it when one is given.
    ///
    /// # Errors
    /// `Invalid` for a name that is none, or when there is nobody with this address.
    pub async fn add_tenant(&self, name: &str, email: Option<&str>) -> Result<TenantId, Refusal> {
        let person = self.member_to_be(name, email).await?;
        let fresh = TenantId::from_uuid(self.ambient().uuid());
        let mut tx = self.store().begin().await?;
        let id = tx.tenant_named(name, fresh, self.now()).await?;
        if let Some(person) = person {
            tx.add_to_tenant(id, person).await?;
        }
        tx.commit().await?;
        Ok(id)
    }

    /// Takes a person out of a tenant, or with no address removes the tenant. `false`: there is none, or they are not
    /// in it.
    pub async fn remove_tenant(&self, tenant: &str, email: Option<&str>) -> Result<bool, Refusal> {
        let person = self.person_id(email).await?;
        let mut tx = self.store().begin().await?;
        let removed = match person {
            Some(person) => tx.remove_from_tenant(tenant, person).await?,
            None => tx.remove_tenant(tenant).await?,
        };
        tx.commit().await?;
        Ok(removed)
    }

    /// Every tenant, by name.
    pub async fn tenants(&self) -> Result<Vec<TenantLine>, Refusal> {
        Ok(self.store().tenants().await?)
    }

    /// Both faults at once: the name and the address.
    async fn member_to_be(&self, name: &str, email: Option<&str>) -> Result<Option<PersonId>, Refusal> {
        let mut faults = Vec::new();
        if !is_name(name) {
            faults.push(model::FieldError::new(
                "/name",
                "The name has to be 1 to 100 letters, digits, “.”, “-” or “_”.",
            ));
        }
        let person = match self.person_id(email).await {
            Err(Refusal::Invalid(missing)) => {
                faults.extend(missing);
                None
            }
            other => other?,
        };
        if faults.is_empty() { Ok(person) } else { Err(Refusal::Invalid(faults)) }
    }

    async fn person_id(&self, email: Option<&str>) -> Result<Option<PersonId>, Refusal> {
        let Some(email) = email else { return Ok(None) };
        match self.store().person_by_email(email).await? {
            Some((person, _)) => Ok(Some(person.id)),
            None => Err(Refusal::invalid("/person", "There is nobody with this address.")),
        }
    }
}
