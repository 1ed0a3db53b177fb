//! A browser that wants to be told.

use engine::notice::NewBrowser;
use leptos::prelude::*;
use model::Refusal;

use super::notices::{PAGE, done};
use super::{Fault, Form, Next, Posted, visit};

/// Tells somebody in this browser from now on. Its script posts this: only a browser knows its endpoint and keys.
#[server(name = Tell, prefix = "/do", endpoint = "browser")]
pub(crate) async fn tell(
    endpoint: String,
    p256dh: String,
    auth: String,
    label: String,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let new = NewBrowser { endpoint, p256dh, auth, label };
    visit.engine.add_browser(&me, new).await.map_err(not_told)?;
    Ok(done("told"))
}

fn not_told(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Invalid(errors) => {
            let why = errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join(" ");
            Fault::new(422, format!("This browser is not told. {why}"))
        }
        refusal => refusal.into(),
    }
}

impl Form for Tell {
    fn page(_: &Posted) -> String {
        PAGE.to_owned()
    }
}
