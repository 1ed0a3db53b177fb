//! Using a grant: the call goes on as approved, when in the transaction that makes it durable a use can be taken.

use model::{AgentId, Approval, ApprovalId, ApprovalKind, CallStatus, EventType, Refusal};

use super::scope::{Facts, Scope};
use super::{GrantEnd, can_stand};
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::pipeline::{self, Head, Ready, Showing};
use crate::seal::Purpose;
use crate::store::{GrantRow, GrantUse, GrantsOf, StoreError, Tx};

/// A grant that fits a call. Nothing of it is taken yet.
pub(crate) struct Granted {
    id: ApprovalId,
    agent: AgentId,
    pin: [u8; 32],
    approvers: Vec<String>,
    /// What allows the call, once a use is taken.
    pub(crate) approval: Approval,
    /// What is needed to hold the call after all, when somebody else takes the last use.
    pub(crate) showing: Showing,
    pub(crate) ready: Ready,
}

/// The grant that lets this call through, which waits for one of these approvers otherwise. `None`: there is none, or it
/// cannot be checked.
///
/// # Errors
/// Of the dry run, as for a call that is held: a call that the service refuses ends here, and takes no use.
pub(crate) async fn granted(
    engine: &Engine,
    head: &Head,
    ready: &Ready,
    approvers: &[String],
) -> Result<Option<Granted>, Refusal> {
    let Some(agent) = head.actor.agent().map(|agent| agent.agent) else { return Ok(None) };
    let live = engine.store().grants_for(agent, &head.action.name, engine.now()).await;
    let live = live.unwrap_or_else(|error| {
        tracing::error!(%error, call = %head.id, "standing grants could not be read: the call is held");
        Vec::new()
    });
    if live.is_empty() {
        return Ok(None);
    }
    let outgoing = pipeline::render(engine, head, ready)?;
    let Some(found) = fitting(engine, head, ready, &outgoing, &live).await else { return Ok(None) };
    let showing = pipeline::show(engine, head, ready).await?;
    // A definition may have been set aside while it was shown.
    let pin = head.action.pin();
    if pin != found.pin || showing.outgoing != outgoing {
        return Ok(None);
    }
    Ok(Some(Granted {
        id: found.line.id,
        agent,
        pin,
        approvers: approvers.to_vec(),
        approval: Approval {
            id: Some(found.line.id),
            kind: ApprovalKind::Grant,
            by: vec![found.line.grantor],
            at: Some(found.line.made_at),
        },
        showing,
        ready: ready.clone(),
    }))
}

/// The first of these that fits. One that the catalogue has left behind is ended.
async fn fitting<'a>(
    engine: &Engine,
    head: &Head,
    ready: &Ready,
    outgoing: &Outgoing,
    live: &'a [GrantRow],
) -> Option<&'a GrantRow> {
    let action = &head.action;
    if !can_stand(action, &outgoing.method) {
        return None;
    }
    let facts = Facts::of(action, head.tenant.as_deref(), &ready.arguments, outgoing);
    let credential = action.credential.as_ref().map(|credential| &credential.name);
    let owner = head.actor.person().map(|owner| owner.id);
    let pin = action.pin();
    for row in live.iter().filter(|row| row.line.credential.as_ref() == credential) {
        if row.pin != pin {
            if let Err(error) =
                engine.end_grants_now(GrantsOf::One(row.line.id), GrantEnd::Changed, None).await
            {
                tracing::error!(%error, grant = %row.line.id, "a standing grant whose action changed could not be ended");
            }
        } else if (action.self_approval || Some(row.line.grantor) != owner)
            && engine.scope_of(row).is_some_and(|scope| scope.fits(&facts))
        {
            return Some(row);
        }
    }
    None
}

impl Engine {
    /// What a grant lets through; `None`: it has ended, or cannot be read and lets nothing through.
    pub(super) fn scope_of(&self, row: &GrantRow) -> Option<Scope> {
        let blob = row.scope.as_deref()?;
        let opened = self.sealer().open(Purpose::Grant, &row.line.id.to_string(), blob);
        let plain = opened
            .inspect_err(|error| tracing::error!(%error, grant = %row.line.id, "a standing grant cannot be read: it lets nothing through"))
            .ok()?;
        serde_json::from_slice(&plain).ok()
    }
}

impl Granted {
    /// Takes a use for the call that is stored in this transaction, with its journal lines. `false`: none can be taken.
    pub(crate) async fn take(
        &self,
        engine: &Engine,
        tx: &mut Tx,
        head: &Head,
        status: CallStatus,
    ) -> Result<bool, StoreError> {
        let at = engine.now();
        let wanted =
            GrantUse { id: self.id, agent: self.agent, pin: self.pin, approvers: &self.approvers, at };
        let Some(was_last) = tx.take_use(wanted).await? else { return Ok(false) };
        tx.insert_event(&pipeline::event(engine, head, EventType::GrantUsed, status)).await?;
        if was_last {
            tx.insert_event(&pipeline::event(engine, head, EventType::GrantEnded, status)).await?;
        }
        Ok(true)
    }

    /// Writes down with the stored call which grant let it through.
    pub(crate) async fn note(&self, tx: &mut Tx, head: &Head) -> Result<(), StoreError> {
        tx.note_grant(head.id, self.id).await
    }

    /// Who decides the call when it is held after all.
    pub(crate) fn into_held(self) -> (Ready, Showing, Vec<String>) {
        (self.ready, self.showing, self.approvers)
    }
}
