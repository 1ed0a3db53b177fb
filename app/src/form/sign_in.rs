//! Signing in with email and password.

use engine::sign_in::SignedIn;
use leptos::prelude::*;
use model::Refusal;

use super::{Fault, Form, Next, Posted, visit};
use crate::parts::link::{local_path, with_query};
use crate::words::wait;

const PASSWORDS_OFF: &str =
    "Passwords are switched off at this desk. This one was not looked at, and you are not signed in.";

/// Signs in. The answer is the same for an unknown address and for a wrong password.
#[server(name = SignIn, prefix = "/do", endpoint = "sign-in")]
pub(crate) async fn sign_in(email: String, password: String, next: Option<String>) -> Result<Next, Fault> {
    let visit = visit()?;
    if !visit.engine.catalogue().sign_in.passwords {
        return Err(Fault::new(403, PASSWORDS_OFF));
    }
    let wrong = || {
        Fault::new(422, "This email and this password do not fit together. You are not signed in. Try again.")
    };
    let tried = visit.engine.sign_in(email.trim(), &password, visit.from).await.map_err(not_looked_at)?;
    let SignedIn { person, epoch } = tried.ok_or_else(wrong)?;
    let to = next.as_deref().and_then(local_path).unwrap_or("/inbox").to_owned();
    Ok(Next::SignedIn { person: person.id(), epoch, to })
}

pub(super) fn not_looked_at(refusal: Refusal) -> Fault {
    let Refusal::RateLimited { retry_after } = refusal else { return refusal.into() };
    let sentence = format!(
        "Too many tries have failed. This one was not looked at, and you are not signed in. Try again in {}.",
        wait(retry_after)
    );
    Fault { retry_after: Some(retry_after), ..Fault::new(429, sentence) }
}

impl Form for SignIn {
    fn page(posted: &Posted) -> String {
        with_query("/sign-in", [("next", posted.typed("next").as_str())])
    }
}
