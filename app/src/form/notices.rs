//! How somebody wants to be told.

use engine::PersonActor;
use engine::notice::{Choices, Quiet};
use leptos::prelude::*;
use model::Refusal;

use super::{Fault, Form, Next, Posted, visit};
use crate::visit::Visit;
use crate::words::wait;

/// Where it is shown.
pub(super) const PAGE: &str = "/account/notices";

/// Changes how somebody is told. `act` is `save` (`mail`, `quiet_from`, `quiet_to`), `remove` (a `browser`) or `test`.
#[server(name = Notices, prefix = "/do", endpoint = "notices")]
pub(crate) async fn notices(
    act: String,
    mail: Option<String>,
    quiet_from: Option<String>,
    quiet_to: Option<String>,
    browser: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.clone().ok_or_else(Fault::signed_out)?;
    match act.as_str() {
        "save" => save(&visit, &me, mail.is_some(), [quiet_from, quiet_to]).await,
        "remove" => {
            let id = browser.and_then(|id| id.parse().ok()).ok_or_else(Fault::unreadable)?;
            visit.engine.remove_browser(&me, id).await?;
            Ok(done("removed"))
        }
        "test" => {
            if visit.engine.test_notices(&me).await.map_err(not_tested)? {
                return Ok(done("tested"));
            }
            Err(Fault::new(409, "Nothing was sent: there is no way to tell you yet. Choose one below."))
        }
        _ => Err(Fault::unreadable()),
    }
}

async fn save(
    visit: &Visit,
    me: &PersonActor,
    mail: bool,
    times: [Option<String>; 2],
) -> Result<Next, Fault> {
    let [from, to] = times.map(|time| time.unwrap_or_default().trim().to_owned());
    let quiet = if from.is_empty() && to.is_empty() {
        None
    } else {
        Some(Quiet::parse(&from, &to).ok_or_else(|| {
            Fault::of_field(
                "/quiet",
                "Give both times, and two different ones, such as 22:00 and 07:00. Leave both empty for no quiet hours.",
                "Nothing was changed. Mend what is marked and try again.",
            )
        })?)
    };
    visit.engine.set_notice_choices(me, Choices { mail, quiet }).await?;
    Ok(done("saved"))
}

fn not_tested(refusal: Refusal) -> Fault {
    let Refusal::RateLimited { retry_after } = refusal else { return refusal.into() };
    let sentence = format!(
        "Nothing was sent: you have asked for three tests within a minute. Try again in {}.",
        wait(retry_after)
    );
    Fault { retry_after: Some(retry_after), ..Fault::new(429, sentence) }
}

/// Shows the page again, which then says so.
pub(super) fn done(what: &str) -> Next {
    Next::Go(format!("{PAGE}?done={what}"))
}

impl Form for Notices {
    fn page(_: &Posted) -> String {
        PAGE.to_owned()
    }
}
