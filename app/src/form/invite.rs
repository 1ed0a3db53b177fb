//! Inviting people, and taking an invitation back.

use engine::invitation::InvitationWanted;
use leptos::prelude::*;
use model::{InvitationId, Refusal, Role};

use super::{Fault, Fields, Form, Next, Posted, ShownOnce, visit};

/// Invites somebody. The link is shown on this answer alone.
#[server(name = Invite, prefix = "/do", endpoint = "invite")]
pub(crate) async fn invite(email: String, name: String, roles: Vec<Role>) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let before = visit.engine.invitations(&me).await?;
    let replaces = before.iter().any(|one| one.email == email.trim().to_lowercase());
    let wanted = InvitationWanted { email, name, roles };
    let (_, token) = visit.engine.invite(&me, wanted).await.map_err(not_invited)?;
    let link = format!("{}/invitation/{}", visit.engine.public_url(), token.reveal());
    Ok(Next::Once(ShownOnce(link, replaces)))
}

fn not_invited(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Invalid(errors) => {
            Fault { errors, ..Fault::new(422, "Nobody was invited. Mend what is marked and try again.") }
        }
        refusal => refusal.into(),
    }
}

/// The fields, and the ticked roles.
pub(super) fn read(fields: &Fields) -> Option<Invite> {
    let said = |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    Some(Invite { email: said("email")?, name: said("name")?, roles: roles(fields)? })
}

/// The ticked roles.
pub(super) fn roles(fields: &Fields) -> Option<Vec<Role>> {
    fields.iter().filter(|(name, _)| name == "role").map(|(_, role)| role.parse().ok()).collect()
}

/// Takes an invitation back.
#[server(name = WithdrawInvitation, prefix = "/do", endpoint = "withdraw-invitation")]
pub(crate) async fn withdraw_invitation(invitation: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id: InvitationId = invitation.parse().map_err(|_| Refusal::NotFound)?;
    if visit.engine.withdraw_invitation(&me, id).await? {
        return Ok(Next::Go("/people#invited".to_owned()));
    }
    Err(Fault::new(409, "Nothing was changed: it was used or withdrawn already. This is how it stands now."))
}

impl Form for Invite {
    fn page(_: &Posted) -> String {
        "/people".to_owned()
    }
}

impl Form for WithdrawInvitation {
    fn page(_: &Posted) -> String {
        "/people".to_owned()
    }
}
