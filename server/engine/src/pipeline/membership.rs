//! Step 4, membership: the caller's person is a member of the tenant, when the call has one.

use model::{Refusal, TenantId};

use super::stage::{Call, Member, Registered};
use super::stop::Stop;
use crate::engine::Engine;

/// A tenant may be named by its id; the catalogue, its rules and the row of a call know it by its name.
pub(super) async fn name_of(engine: &Engine, tenant: Option<String>) -> Result<Option<String>, Refusal> {
    let Some(tenant) = tenant else { return Ok(None) };
    if tenant.parse::<TenantId>().is_err() {
        return Ok(Some(tenant));
    }
    Ok(Some(engine.store().tenant_name(&tenant).await?.unwrap_or(tenant)))
}

pub(super) async fn check(engine: &Engine, call: Call<Registered>) -> Result<Call<Member>, Stop> {
    let tenants = &call.head.action.tenants;
    let belongs = match (&call.head.tenant, call.head.actor.person()) {
        (None, _) => tenants.is_empty(),
        (Some(_), None) => false,
        (Some(tenant), Some(person)) => {
            (tenants.is_empty() || tenants.contains(tenant))
                && engine.store().is_member(tenant, person.id).await?
        }
    };
    if belongs { Ok(call.become_next()) } else { Err(Refusal::NotFound.into()) }
}
