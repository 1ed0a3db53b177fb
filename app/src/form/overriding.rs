//! Overriding those who decide a held call.

use engine::OverrideWanted;
use engine::passkey::StepUp;
use leptos::prelude::*;
use model::{CallId, Refusal};

use super::passkey::assertion;
use super::{Fault, Form, Next, Posted, decide, visit};

/// Overrides, with words, as the page for it showed the call.
#[server(name = Override, prefix = "/do", endpoint = "override")]
pub(crate) async fn overriding(
    call: String,
    preview_version: String,
    view_token: String,
    target: Option<String>,
    reason: Option<String>,
    passkey: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id: CallId = call.parse().map_err(|_| Refusal::NotFound)?;
    let (target, reason) = (target.unwrap_or_default(), reason.unwrap_or_default());
    let session = visit.session.ok_or_else(Fault::signed_out)?;
    let proof = passkey.filter(|text| !text.is_empty()).map(|text| assertion(&text)).transpose()?;
    let proof = proof.map(|assertion| StepUp { assertion, session });
    let wanted = OverrideWanted {
        version: &preview_version,
        view_token: &view_token,
        target: &target,
        reason: &reason,
        proof: proof.as_ref(),
    };
    match visit.engine.override_call(&me, id, wanted).await {
        Ok(call) => {
            let to = format!("/inbox/{}", call.id);
            Ok(decide::after(&call, proof.is_some(), to))
        }
        Err(refusal) => Err(refused(refusal)),
    }
}

fn refused(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::PreviewChanged(_) => Fault::new(
            409,
            "Nothing was sent: it has changed since you looked, or the page is no longer good. This is how it stands now. Read it, then decide.",
        ),
        Refusal::UpstreamUnreachable | Refusal::UpstreamFailed(_) => Fault::new(
            502,
            "The service could not be asked whether this still holds. Nothing was sent, and the call is still held. Try again in a moment.",
        ),
        Refusal::Invalid(errors) if errors.iter().any(|error| error.field == "/view") => Fault::new(
            422,
            "Nothing was done: the button was pressed within half a second of the page appearing. Read it, then decide.",
        ),
        refusal @ (Refusal::StepUpRequired { .. } | Refusal::PasskeyRefused(_)) => {
            decide::refused(refusal, None)
        }
        Refusal::Invalid(errors) => Fault {
            errors,
            ..Fault::new(422, "Nothing was sent: some fields are at fault. Mend them and try again.")
        },
        refusal => refusal.into(),
    }
}

impl Form for Override {
    fn page(posted: &Posted) -> String {
        let call = posted.typed("call").parse::<CallId>();
        call.map_or_else(|_| "/inbox".to_owned(), |id| format!("/inbox/{id}/override"))
    }
}
