//! Ending one's own sessions.

use leptos::prelude::*;
use model::BrowserSessionId;

use super::account::changed;
use super::{Fault, Form, Next, Posted, visit};

/// Ends one of the person's sessions; without one, all but this. Ending this one signs out.
#[server(name = EndSession, prefix = "/do", endpoint = "session")]
pub(crate) async fn end_session(session: Option<String>) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let asking = visit.session.ok_or_else(Fault::signed_out)?;
    let Some(session) = session else {
        visit.engine.end_other_sessions(&me, asking).await?;
        return Ok(changed("sessions"));
    };
    let gone =
        || Fault::new(409, "Nothing was changed: that session has ended already. This is how it stands now.");
    let id: BrowserSessionId = session.parse().map_err(|_| gone())?;
    let own = visit.engine.own_sessions(&me, Some(asking)).await?;
    if own.iter().any(|one| one.id == id && one.is_this) {
        return Ok(Next::SignedOut);
    }
    if visit.engine.end_own_session(&me, id).await? { Ok(changed("session")) } else { Err(gone()) }
}

impl Form for EndSession {
    fn page(_: &Posted) -> String {
        "/account".to_owned()
    }
}
