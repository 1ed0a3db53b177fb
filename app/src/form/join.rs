//! Coming in by a link: an invitation's person, and the first admin.

use engine::invitation::Joined;
use leptos::prelude::*;
use model::Refusal;

use super::{Fault, Form, Next, Posted, visit};
use crate::parts::link::encode;

/// Makes the account that a link offers, and signs in to it.
#[server(name = Join, prefix = "/do", endpoint = "join")]
pub(crate) async fn join(link: String, password: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let joined = visit.engine.accept_invitation(&link, &password).await.map_err(not_made)?;
    Ok(signed_in(joined))
}

/// Makes the first admin, and signs in.
#[server(name = SetUp, prefix = "/do", endpoint = "set-up")]
pub(crate) async fn set_up(
    link: String,
    email: String,
    name: String,
    password: String,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let joined = visit.engine.set_up(&link, &email, &name, &password).await.map_err(not_made)?;
    Ok(signed_in(joined))
}

fn signed_in(joined: Joined) -> Next {
    Next::SignedIn { person: joined.person, epoch: joined.epoch, to: "/inbox".to_owned() }
}

fn not_made(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Invalid(errors) => {
            Fault { errors, ..Fault::new(422, "No account was made. Mend what is marked and try again.") }
        }
        refusal => refusal.into(),
    }
}

impl Form for Join {
    fn page(posted: &Posted) -> String {
        format!("/invitation/{}", encode(&posted.typed("link")))
    }
}

impl Form for SetUp {
    fn page(posted: &Posted) -> String {
        format!("/set-up/{}", encode(&posted.typed("link")))
    }
}
