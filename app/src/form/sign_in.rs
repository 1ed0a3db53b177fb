//! Signing in with email and password.

use leptos::prelude::*;

use super::{Fault, Form, Next, Posted, visit};
use crate::parts::link::{local_path, with_query};

/// Signs in. The answer is the same for an unknown address and for a wrong password.
#[server(name = SignIn, prefix = "/do", endpoint = "sign-in")]
pub(crate) async fn sign_in(email: String, password: String, next: Option<String>) -> Result<Next, Fault> {
    let visit = visit()?;
    let wrong = || {
        Fault::new(422, "This email and this password do not fit together. You are not signed in. Try again.")
    };
    let person = visit.engine.sign_in(email.trim(), &password).await?.ok_or_else(wrong)?;
    let to = next.as_deref().and_then(local_path).unwrap_or("/inbox").to_owned();
    Ok(Next::SignedIn { person: person.id(), to })
}

impl Form for SignIn {
    fn page(posted: &Posted) -> String {
        with_query("/sign-in", [("next", posted.typed("next").as_str())])
    }
}
