//! Signing in through a provider: what a person is told when it did not work.

use engine::provider::NotSignedIn;

use super::{Fault, PROVIDER, Posted, SIGN_IN};
use crate::parts::link::{local_path, with_query};
use crate::words::wait;

/// The longest address that is gone to afterwards: it travels in a cookie.
const LONGEST_NEXT: usize = 1_024;

/// Where to go on after signing in: a place on this desk that is no sign-in itself.
pub fn after_sign_in(wanted: Option<&str>) -> String {
    let next = wanted.and_then(local_path);
    let next = next.filter(|next| next.len() <= LONGEST_NEXT && !next.starts_with("/sign-in"));
    next.unwrap_or("/inbox").to_owned()
}

/// The page to sign in on, for somebody who wants to go on from there.
pub fn sign_in_page(next: &str) -> String {
    with_query("/sign-in", [("next", next)])
}

/// The way to the provider, for somebody who wants to go on from there.
pub(crate) fn way_to_provider(next: &str) -> String {
    with_query(PROVIDER, [("next", next)])
}

/// The page to sign in on, when a sign-in through the provider did not work. `next` is where its person wants to go.
pub fn not_signed_in(why: &NotSignedIn, next: &str) -> Posted {
    Posted {
        form: SIGN_IN.to_owned(),
        fields: vec![("next".to_owned(), next.to_owned())],
        fault: Some(fault(why)),
        answer: None,
        made: None,
        once: None,
        told: Vec::new(),
    }
}

fn fault(why: &NotSignedIn) -> Fault {
    let (status, sentence) = match why {
        NotSignedIn::Desk(refusal) => return refusal.clone().into(),
        NotSignedIn::Later(seconds) => {
            let sentence = format!(
                "Too many tries have failed. This one was not looked at, and you are not signed in. Try again in {}.",
                wait(*seconds)
            );
            return Fault { retry_after: Some(*seconds), ..Fault::new(429, sentence) };
        }
        NotSignedIn::NoProvider => (404, "This desk has no sign-in provider. You are not signed in."),
        NotSignedIn::Unreachable => (
            502,
            "The sign-in provider did not answer as it should. You are not signed in. Try again in a minute; if that does not help, tell whoever runs this desk.",
        ),
        NotSignedIn::NotAClient => (
            502,
            "The sign-in provider does not accept this desk. You are not signed in. Tell whoever runs this desk: its log says what to mend.",
        ),
        NotSignedIn::Denied => (
            403,
            "The sign-in provider did not let you in, or you did not agree. You are not signed in. Begin again if that was not meant.",
        ),
        NotSignedIn::Stale => (
            403,
            "This sign-in was begun in another browser, was used before, or took longer than ten minutes. You are not signed in. Begin again.",
        ),
        NotSignedIn::Clock => (
            502,
            "What the sign-in provider said has run out already, or lies ahead. You are not signed in. Tell whoever runs this desk that its clock and the provider's are apart.",
        ),
        NotSignedIn::Unproven => (
            403,
            "What came back from the sign-in provider could not be proven. You are not signed in. Begin again; if that does not help, tell whoever runs this desk.",
        ),
        NotSignedIn::Nobody => (
            403,
            "The sign-in provider knows you, and this desk has no account that you can use. You are not signed in. Ask an admin of this desk to invite you at the address that the provider knows.",
        ),
    };
    Fault::new(status, sentence)
}
