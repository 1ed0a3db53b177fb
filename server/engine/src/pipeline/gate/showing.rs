//! What is shown before a call is sent, made from exactly what would be sent.

use model::{Preview, Refusal};
use sha2::{Digest, Sha256};

use super::super::stage::{Head, Ready};
use super::attention;
use crate::egress::{BodyRead, Sent};
use crate::engine::Engine;
use crate::handling;
use crate::outgoing::Outgoing;

/// What would be sent, what it rests on, and how it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Showing {
    pub(crate) outgoing: Outgoing,
    pub(crate) fingerprint: [u8; 32],
    pub(crate) preview: Preview,
}

/// A dry run's answer.
struct Checked {
    status: u16,
    body: bytes::Bytes,
}

/// Renders the request, asks the upstream by a dry run where the action has one, and writes the preview: all of it but
/// what the call looks like, which is looked up whenever it is shown.
pub(crate) async fn show(engine: &Engine, head: &Head, ready: &Ready) -> Result<Showing, Refusal> {
    if head.action.tool_call().is_some() {
        engine.look_at_tool_again(&head.action).await?;
    }
    let outgoing = render(engine, head, ready)?;
    let checked = dry_run(engine, head, ready).await?;
    let raw = checked.as_ref().map(|checked| (checked.status, checked.body.as_ref()));
    let fingerprint = head.action.fingerprint(&outgoing, raw);
    let known = checked.as_ref().map(|checked| json_or_text(&checked.body));
    let warnings = attention::reasons(engine, head, &outgoing).await?;
    let mut preview =
        head.action.preview(&ready.input, &outgoing, known.as_ref(), head.reason.clone(), warnings);
    preview.version = version(head, &preview, fingerprint);
    Ok(Showing { outgoing, fingerprint, preview })
}

/// The request alone, checked against its credential's rules.
pub(crate) fn render(engine: &Engine, head: &Head, ready: &Ready) -> Result<Outgoing, Refusal> {
    let outgoing = head.action.render(&ready.input)?;
    if head.action.handler().is_some() {
        // It stays in the house.
        return Ok(outgoing);
    }
    // What egress leaves out (a header that is not the agent's to set) is not shown either.
    Ok(engine.egress().check(head.action.credential.as_deref(), outgoing)?.outgoing().clone())
}

/// Asks the upstream what would happen. A 4xx is its refusal; then nothing is held.
async fn dry_run(engine: &Engine, head: &Head, ready: &Ready) -> Result<Option<Checked>, Refusal> {
    if let Some(handler) = head.action.handler() {
        let seen = handling::dry_run(engine, handler, head, ready).await?;
        return Ok(seen.map(|seen| Checked { status: 200, body: seen.to_string().into() }));
    }
    let Some(outgoing) = head.action.render_dry_run(&ready.input).map_err(Refusal::Invalid)? else {
        return Ok(None);
    };
    let credential = head.action.credential.as_deref();
    let checked = engine.egress().check(credential, outgoing)?;
    // It reads, and its caller may be shown what it read.
    let agent = head.actor.agent().map(|agent| agent.agent);
    engine.taint_by_read(credential, agent, head.session.as_deref()).await?;
    let secret = engine.secret_of(credential).await?;
    match engine.egress().send(checked, secret.as_ref(), None).await {
        Sent::Answered(response) if response.status >= 500 => {
            Err(Refusal::UpstreamFailed(Some(response.status)))
        }
        Sent::Answered(response) if response.status >= 400 => Err(head.action.refusal_for(response.status)),
        Sent::Answered(response) => match response.body {
            BodyRead::Whole(body) => Ok(Some(Checked { status: response.status, body })),
            BodyRead::TooLarge { .. } | BodyRead::Cut | BodyRead::Streamed => {
                Err(Refusal::UpstreamFailed(Some(response.status)))
            }
        },
        Sent::NeverLeft(why) => Err(why.into()),
        // A dry run reads: what is not known about it did no harm.
        Sent::Unknown(_) => Err(Refusal::UpstreamFailed(None)),
    }
}

/// Names this preview of this call and no other.
fn version(head: &Head, preview: &Preview, fingerprint: [u8; 32]) -> String {
    let shown = serde_json::to_vec(preview).unwrap_or_else(|_| unreachable!("plain data always serializes"));
    let digest = Sha256::new()
        .chain_update(head.id.to_string())
        .chain_update(fingerprint)
        .chain_update(shown)
        .finalize();
    data_encoding::HEXLOWER.encode(&digest[..16])
}

/// JSON when it is JSON, else the text; what is neither is no value for a template.
pub(crate) fn json_or_text(body: &[u8]) -> serde_json::Value {
    if body.is_empty() {
        return serde_json::Value::Null;
    }
    serde_json::from_slice(body).unwrap_or_else(|_| {
        std::str::from_utf8(body).map_or(serde_json::Value::Null, serde_json::Value::from)
    })
}
