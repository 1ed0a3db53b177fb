//! What admins change of a person: roles, and whether the account can be used.

use leptos::prelude::*;
use model::{PersonId, Refusal, Role};

use super::invite::roles;
use super::{Fault, Fields, Form, Next, Posted, visit};
use crate::parts::link::encode;

/// Gives a person these roles beside `member`, and no other.
#[server(name = SetRoles, prefix = "/do", endpoint = "roles")]
pub(crate) async fn set_roles(person: String, roles: Vec<Role>) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id = id_of(&person)?;
    visit.engine.set_roles(&me, id, &roles).await.map_err(refused)?;
    Ok(changed(id, "roles"))
}

/// The person, and the ticked roles.
pub(super) fn read(fields: &Fields) -> Option<SetRoles> {
    let person = fields.iter().find(|(name, _)| name == "person").map(|(_, value)| value.clone())?;
    Some(SetRoles { person, roles: roles(fields)? })
}

/// Disables a person.
#[server(name = Disable, prefix = "/do", endpoint = "disable")]
pub(crate) async fn disable(person: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id = id_of(&person)?;
    if visit.engine.disable(&me, id).await.map_err(refused)? {
        Ok(changed(id, "disabled"))
    } else {
        Err(already())
    }
}

/// Makes a disabled account usable again.
#[server(name = Enable, prefix = "/do", endpoint = "enable")]
pub(crate) async fn enable(person: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id = id_of(&person)?;
    if visit.engine.enable(&me, id).await? { Ok(changed(id, "enabled")) } else { Err(already()) }
}

fn id_of(person: &str) -> Result<PersonId, Fault> {
    person.parse().map_err(|_| Refusal::NotFound.into())
}

fn changed(person: PersonId, what: &str) -> Next {
    Next::Go(format!("/people/{person}?done={what}"))
}

fn already() -> Fault {
    Fault::new(409, "Nothing was changed: somebody has done that already. This is how it stands now.")
}

/// What the engine has to say stands in one sentence, whatever field it is about.
fn refused(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Invalid(errors) => {
            let why = errors.first().map_or("", |error| error.message.as_str());
            Fault::new(422, format!("Nothing was changed. {why}"))
        }
        refusal => refusal.into(),
    }
}

fn page_of(posted: &Posted) -> String {
    format!("/people/{}", encode(&posted.typed("person")))
}

impl Form for SetRoles {
    fn page(posted: &Posted) -> String {
        page_of(posted)
    }
}

impl Form for Disable {
    fn page(posted: &Posted) -> String {
        page_of(posted)
    }
}

impl Form for Enable {
    fn page(posted: &Posted) -> String {
        page_of(posted)
    }
}
