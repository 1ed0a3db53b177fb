//! One's own new password.

use leptos::prelude::*;
use model::Refusal;

use super::{Fault, Form, Next, Posted, visit};
use crate::words::wait;

/// Changes the person's password. They stay signed in here, and nowhere else.
#[server(name = ChangePassword, prefix = "/do", endpoint = "password")]
pub(crate) async fn change_password(present: String, password: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    visit.engine.change_password(&me, &present, &password, visit.session).await.map_err(not_changed)?;
    // Under another id: whoever had the old one is signed out with the rest.
    Ok(Next::Renewed("/account?done=password".to_owned()))
}

fn not_changed(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::RateLimited { retry_after } => {
            let sentence = format!(
                "Too many tries with a wrong present password. This one was not looked at, and nothing was changed. Try again in {}.",
                wait(retry_after)
            );
            Fault { retry_after: Some(retry_after), ..Fault::new(429, sentence) }
        }
        Refusal::Invalid(errors) => Fault {
            errors,
            ..Fault::new(422, "Your password was not changed. Mend what is marked and try again.")
        },
        refusal => refusal.into(),
    }
}

impl Form for ChangePassword {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}
