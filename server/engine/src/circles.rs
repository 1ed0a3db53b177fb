//! Groups and tenants: who belongs together.

use model::{OfferedAction, PersonId, Refusal, Role, Surface, TenantId};

use crate::actor::{Actor, PersonActor};
use crate::catalogue::Approver;
use crate::engine::Engine;
use crate::registry::{is_name, oversees};
use crate::store::{GroupLine, TenantLine};

/// What kind of circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CircleKind {
    /// A group: there as long as somebody is in it.
    Group,
    /// A tenant: there until it is removed.
    Tenant,
}

/// A group or a tenant, as an admin sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// Its name.
    pub name: String,
    /// The addresses of its members, in order.
    pub members: Vec<String>,
    /// Held calls that its end would touch: of a group those that would go to the operators, of a tenant those in it.
    pub held: u64,
    /// The titles of the actions that name it: a group among who decides, a tenant as where they can be called.
    pub actions: Vec<String>,
}

impl Engine {
    /// Every circle of a kind, by name, for admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else.
    pub async fn circles(&self, admin: &PersonActor, kind: CircleKind) -> Result<Vec<Circle>, Refusal> {
        administers(admin)?;
        let (mut held, named): (_, Vec<(String, Vec<String>)>) = match kind {
            CircleKind::Group => {
                let groups = self.groups().await?.into_iter().map(|group| (group.name, group.members));
                (self.store().orphans_without_groups().await?, groups.collect())
            }
            CircleKind::Tenant => {
                let tenants = self.tenants().await?.into_iter().map(|tenant| (tenant.name, tenant.members));
                (self.store().held_in_tenants().await?, tenants.collect())
            }
        };
        let circle = |(name, members): (String, Vec<String>)| {
            let (held, actions) = (held.remove(&name).unwrap_or(0), self.actions_naming(kind, &name));
            Circle { name, members, held, actions }
        };
        Ok(named.into_iter().map(circle).collect())
    }

    /// The titles of the actions that name a circle. What their rules look at is not told.
    fn actions_naming(&self, kind: CircleKind, name: &str) -> Vec<String> {
        let catalogue = self.catalogue();
        let names = catalogue.actions().filter(|action| match kind {
            CircleKind::Group => action
                .approvers
                .iter()
                .any(|approver| matches!(approver, Approver::Group(group) if group == name)),
            CircleKind::Tenant => action.tenants.iter().any(|tenant| tenant == name),
        });
        names.map(|action| action.title.clone()).collect()
    }

    /// The names of the groups and of the tenants that somebody is in, for operators and admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else.
    pub async fn circles_of(
        &self,
        me: &PersonActor,
        id: PersonId,
    ) -> Result<(Vec<String>, Vec<String>), Refusal> {
        oversees(me)?;
        Ok(tokio::try_join!(self.store().groups_of(id), self.store().tenants_of(id))?)
    }

    /// Makes a circle when there is none of this name, and puts a person into it. A tenant may be without one.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins; `Invalid` on `/name` and `/person`.
    pub async fn add_to_circle(
        &self,
        admin: &PersonActor,
        kind: CircleKind,
        name: &str,
        email: Option<&str>,
    ) -> Result<(), Refusal> {
        administers(admin)?;
        match kind {
            CircleKind::Group => self.add_to_group(name, email.unwrap_or_default()).await,
            CircleKind::Tenant => self.add_tenant(name, email).await.map(drop),
        }
    }

    /// Takes a person out of a circle, or with no address removes it. `false`: there is none, or they are not in it.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins; `Invalid` on `/person`.
    pub async fn remove_from_circle(
        &self,
        admin: &PersonActor,
        kind: CircleKind,
        name: &str,
        email: Option<&str>,
    ) -> Result<bool, Refusal> {
        administers(admin)?;
        match kind {
            CircleKind::Group => self.remove_from_group(name, email).await,
            CircleKind::Tenant => self.remove_tenant(name, email).await,
        }
    }

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

    /// In which tenants the person can run an action by hand: their names, and `None` for in no tenant. Tenants are left
    /// out where they change nothing: the action is open to everybody, and no rule of it looks at the tenant.
    pub async fn tenants_to_run_in(
        &self,
        person: &PersonActor,
        action: &str,
    ) -> Result<Vec<Option<String>>, Refusal> {
        let matters = self.catalogue().action(action).is_some_and(|action| action.heeds_tenant());
        let mut places = vec![None];
        if matters {
            places.extend(self.store().tenants_of(person.id()).await?.into_iter().map(Some));
        }
        let actor = Actor::Person(person.clone());
        let mut open = Vec::new();
        for place in places {
            let offered = self.offered(&actor, Surface::Form, place.as_deref()).await?;
            if offered.iter().any(|offer| offer.name == action) {
                open.push(place);
            }
        }
        Ok(open)
    }

    /// Everything the person can run by hand, in whichever tenant, in the catalogue's order.
    pub async fn runnable(&self, person: &PersonActor) -> Result<Vec<OfferedAction>, Refusal> {
        let actor = Actor::Person(person.clone());
        let mut found = self.offered(&actor, Surface::Form, None).await?;
        for tenant in self.store().tenants_of(person.id()).await? {
            let more = self.offered(&actor, Surface::Form, Some(&tenant)).await?;
            let more = more.into_iter().filter(|one| found.iter().all(|other| other.name != one.name));
            found.extend(more.collect::<Vec<_>>());
        }
        let order: Vec<String> = self.catalogue().actions().map(|action| action.name.clone()).collect();
        found.sort_by_key(|offer| order.iter().position(|name| *name == offer.name));
        Ok(found)
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

/// Admins; everybody else learns nothing.
pub(crate) fn administers(person: &PersonActor) -> Result<(), Refusal> {
    if person.person().roles.contains(&Role::Admin) { Ok(()) } else { Err(Refusal::NotFound) }
}
