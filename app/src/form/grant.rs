//! Letting through more calls like one that is confirmed, and revoking that.

use std::time::Duration;

use engine::GrantWanted;
use leptos::prelude::*;
use model::{ApprovalId, CallId, Refusal};

use super::decide::{not_read, page_of, refused};
use super::{Fault, Fields, Form, Next, Posted, visit};
use crate::parts::inbox_query::beside;

/// How long a grant may last, in minutes, as the form offers it.
pub(crate) const MINUTES: [u64; 5] = [15, 60, 120, 240, 480];

/// Confirms a held call and lets through more like it, `uses` further ones within `minutes`. `vary`: the keys of the parts
/// that may vary. Takes the same proof as a Confirm that the preview was shown.
#[server(name = Allow, prefix = "/do", endpoint = "grant")]
pub(crate) async fn allow(
    call: String,
    preview_version: String,
    view_token: String,
    uses: String,
    minutes: String,
    vary: Vec<String>,
    list: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let decider = visit.visitor.ok_or_else(Fault::signed_out)?.decider()?;
    let id: CallId = call.parse().map_err(|_| Refusal::NotFound)?;
    visit.engine.decides(&decider, id).await?;
    visit.engine.view_token_fits(&view_token, decider.actor(), id, &preview_version).map_err(not_read)?;
    let shown = visit.engine.preview_shown(&decider, id, &preview_version).await?;
    // What is no number is none that fits.
    let lasts = Duration::from_secs(minutes.trim().parse::<u64>().unwrap_or(0).saturating_mul(60));
    let wanted = GrantWanted { vary, uses: uses.trim().parse().unwrap_or(0), lasts };
    match visit.engine.confirm_and_grant(&decider, id, preview_version, wanted).await {
        Ok(call) => Ok(Next::Go(beside(&format!("/inbox/{}", call.id), list.as_deref().unwrap_or_default()))),
        Err(Refusal::Invalid(errors)) => Err(not_made(errors)),
        Err(refusal) => Err(refused(refusal, shown)),
    }
}

fn not_made(errors: Vec<model::FieldError>) -> Fault {
    let whole = errors.iter().find(|error| matches!(error.field.as_str(), "/grant" | "/vary"));
    let next = whole.map_or("Mend what is marked and try again.", |error| error.message.as_str());
    let sentence = format!("Nothing was done: the call was not confirmed and nothing was allowed. {next}");
    Fault { errors, ..Fault::new(422, sentence) }
}

/// The fields, and the ticked parts.
pub(super) fn read(fields: &Fields) -> Option<Allow> {
    let said = |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    Some(Allow {
        call: said("call")?,
        preview_version: said("preview_version")?,
        view_token: said("view_token")?,
        uses: said("uses")?,
        minutes: said("minutes")?,
        vary: ticked(fields).map(str::to_owned).collect(),
        list: said("list"),
    })
}

/// The keys of the ticked parts.
pub(crate) fn ticked(fields: &Fields) -> impl Iterator<Item = &str> {
    fields.iter().filter(|(name, _)| name == "vary").map(|(_, key)| key.as_str())
}

/// Revokes a standing grant.
#[server(name = RevokeGrant, prefix = "/do", endpoint = "revoke-grant")]
pub(crate) async fn revoke_grant(grant: String) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id: ApprovalId = grant.parse().map_err(|_| Refusal::NotFound)?;
    // Who presses what somebody else has pressed already finds it as it was wanted.
    visit.engine.revoke_grant(&me, id).await?;
    Ok(Next::Go("/grants".to_owned()))
}

impl Form for Allow {
    fn page(posted: &Posted) -> String {
        page_of(posted)
    }
}

impl Form for RevokeGrant {
    fn page(_: &Posted) -> String {
        "/grants".to_owned()
    }
}
