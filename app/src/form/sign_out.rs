//! Signing out.

use leptos::prelude::*;

use super::{Fault, Form, Next, Posted};

/// Ends the session. Somebody who is signed out already is none the worse.
#[allow(clippy::unused_async, reason = "a server function is async")]
#[server(name = SignOut, prefix = "/do", endpoint = "sign-out")]
pub(crate) async fn sign_out() -> Result<Next, Fault> {
    Ok(Next::SignedOut)
}

impl Form for SignOut {
    fn page(_: &Posted) -> String {
        "/sign-in".to_owned()
    }
}
