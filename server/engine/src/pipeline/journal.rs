//! Events of calls that end before they have a row of their own.

use model::{CallStatus, Event, EventId, EventType, Refusal};

use super::stage::Head;
use crate::engine::Engine;

/// A journal line about a call on its way.
pub(crate) fn event(engine: &Engine, head: &Head, r#type: EventType, status: CallStatus) -> Event {
    Event {
        id: EventId::from_uuid(engine.ambient().uuid()),
        at: engine.now(),
        r#type,
        call_id: head.id,
        action: head.action.name.clone(),
        surface: head.surface,
        person_id: head.actor.person().map(|person| person.id),
        agent_id: head.actor.agent().map(|agent| agent.agent),
        session: head.session.clone(),
        status,
        upstream_status: None,
        receipt_id: None,
        proof: None,
        by: None,
    }
}

/// The one ending event of a call that a step refused.
pub(super) async fn refused(engine: &Engine, head: &Head, refusal: &Refusal) {
    let (r#type, status, upstream_status) = match refusal {
        Refusal::UpstreamFailed(status) => (EventType::Failed, CallStatus::Failed, *status),
        Refusal::UpstreamUnreachable | Refusal::Unavailable => (EventType::Failed, CallStatus::Failed, None),
        Refusal::Refused { upstream_status, .. } => {
            (EventType::Refused, CallStatus::Refused, *upstream_status)
        }
        _ => (EventType::Refused, CallStatus::Refused, None),
    };
    let mut event = event(engine, head, r#type, status);
    event.upstream_status = upstream_status;
    if *refusal == Refusal::NotFound {
        engine.note_withheld(event).await;
    } else {
        engine.note(event).await;
    }
}
