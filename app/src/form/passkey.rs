//! Passkeys: signing in with one, changing one's own, and proving anew who one is.

use engine::passkey::{Assertion, Attestation};
use engine::sign_in::SignedIn;
use leptos::prelude::*;
use model::{PasskeyId, Refusal};

use super::account::changed;
use super::sign_in::not_looked_at;
use super::{Fault, Form, Next, Posted, visit};
use crate::parts::link::{local_path, with_query};
use crate::words::wait;

/// Signs in with a passkey. The answer is the same for one of nobody's and for one that does not hold.
#[server(name = PasskeySignIn, prefix = "/do", endpoint = "passkey-sign-in")]
pub(crate) async fn passkey_sign_in(passkey: String, next: Option<String>) -> Result<Next, Fault> {
    let visit = visit()?;
    let not_known =
        || Fault::new(422, "This passkey is not known here. You are not signed in. Sign in another way.");
    let assertion = assertion(&passkey)?;
    let tried =
        visit.engine.sign_in_with_passkey(&assertion, visit.from).await.map_err(|refusal| match refusal {
            Refusal::NotFound => not_known(),
            refusal => not_looked_at(refusal),
        })?;
    let SignedIn { person, epoch } = tried.ok_or_else(not_known)?;
    let to = next.as_deref().and_then(local_path).unwrap_or("/inbox").to_owned();
    Ok(Next::SignedIn { person: person.id(), epoch, to })
}

/// What a script posted of a passkey's answer. A form that comes without one was sent without that script.
pub(super) fn assertion(text: &str) -> Result<Assertion, Fault> {
    if text.is_empty() {
        return Err(unscripted());
    }
    Assertion::read(text).ok_or_else(Fault::unreadable)
}

fn unscripted() -> Fault {
    Fault::new(
        422,
        "Nothing was done: passkeys take a browser that runs scripts and knows them. Try again with such a one.",
    )
}

/// Adds, renames or removes one of the person's own passkeys.
#[server(name = ChangePasskey, prefix = "/do", endpoint = "passkey")]
pub(crate) async fn change_passkey(
    act: String,
    name: Option<String>,
    which: Option<String>,
    passkey: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let session = visit.session.ok_or_else(Fault::signed_out)?;
    let gone = || Fault::new(409, "Nothing was changed: that passkey was removed already.");
    let name = name.unwrap_or_default();
    let id = which.and_then(|id| id.parse::<PasskeyId>().ok());
    match act.as_str() {
        "add" => {
            let text = passkey.filter(|text| !text.is_empty()).ok_or_else(unscripted)?;
            let new = Attestation::read(&text).ok_or_else(Fault::unreadable)?;
            visit.engine.add_passkey(&me, session, &name, &new).await.map_err(not_changed)?;
            Ok(changed("passkey-added"))
        }
        "rename" => {
            let renamed = visit.engine.rename_passkey(&me, id.ok_or_else(gone)?, &name).await;
            if renamed.map_err(not_changed)? { Ok(changed("passkey-renamed")) } else { Err(gone()) }
        }
        "remove" => {
            let removed = visit.engine.remove_passkey(&me, session, id.ok_or_else(gone)?).await;
            if removed.map_err(not_changed)? { Ok(changed("passkey-removed")) } else { Err(gone()) }
        }
        _ => Err(Fault::unreadable()),
    }
}

fn not_changed(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Invalid(errors) => {
            let why: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
            Fault {
                message: format!("Your passkeys were not changed. {}", why.join(" ")),
                errors,
                ..Fault::new(422, "")
            }
        }
        refusal => refusal.into(),
    }
}

/// Proves anew who is signed in, with a passkey or the password.
#[server(name = Prove, prefix = "/do", endpoint = "prove")]
pub(crate) async fn prove(proof: Option<String>, passkey: Option<String>) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let session = visit.session.ok_or_else(Fault::signed_out)?;
    if let Some(text) = passkey.filter(|text| !text.is_empty()) {
        visit.engine.prove_with_passkey(&me, session, &assertion(&text)?).await?;
    } else {
        let password = proof.unwrap_or_default();
        visit.engine.prove_with_password(&me, &password).await.map_err(not_proved)?;
    }
    Ok(Next::Renewed("/account?done=proved#passkeys".to_owned()))
}

fn not_proved(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::RateLimited { retry_after } => {
            let sentence = format!(
                "Too many tries with a wrong password. This one was not looked at. Try again in {}.",
                wait(retry_after)
            );
            Fault { retry_after: Some(retry_after), ..Fault::new(429, sentence) }
        }
        Refusal::Invalid(errors) => {
            let why: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
            let why = why.join(" ");
            Fault::of_field("/proof", &why, &format!("It was not proved that it is you. {why}"))
        }
        refusal => refusal.into(),
    }
}

impl Form for PasskeySignIn {
    fn page(posted: &Posted) -> String {
        with_query("/sign-in", [("next", posted.typed("next").as_str())])
    }
}

impl Form for ChangePasskey {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}

impl Form for Prove {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}
