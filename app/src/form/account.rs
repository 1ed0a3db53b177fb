//! One's own name and time zone.

use leptos::prelude::*;

use super::{Fault, Form, Next, Posted, visit};

/// Where the account is shown, after something of it was changed: the page says what. Nothing else can stand there.
pub(super) fn changed(what: &'static str) -> Next {
    Next::Go(format!("/account?done={what}"))
}

/// Changes what the person is called and the zone in which they read times. An empty zone is UTC.
#[server(name = ChangeAccount, prefix = "/do", endpoint = "account")]
pub(crate) async fn change_account(name: String, time_zone: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let zone = Some(time_zone.as_str()).filter(|zone| !zone.is_empty());
    visit.engine.change_account(&me, &name, zone).await?;
    Ok(changed("account"))
}

impl Form for ChangeAccount {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}
