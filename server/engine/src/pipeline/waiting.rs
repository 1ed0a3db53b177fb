//! What the caller of a call that has not ended is told.

use model::answer::{Waiting, WaitingStatus};
use model::{CallId, Surface};

use crate::engine::Engine;
use crate::store::{CallRow, CallState};

/// What the caller of a call that has not ended is told.
pub(crate) fn waiting(engine: &Engine, row: &CallRow) -> Waiting {
    let id = row.id;
    let approve_url = engine.url(&format!("/inbox/{id}"));
    Waiting {
        status: status(row),
        executed: false,
        call_id: id,
        message: message(row, id, &approve_url),
        approve_url,
        poll: format!("/v1/calls/{id}"),
        expires_at: row.expires_at,
    }
}

/// A call for the queue is held until it is confirmed; from then on it is the queue's.
fn status(row: &CallRow) -> WaitingStatus {
    match row.state {
        CallState::Held { .. } | CallState::Approved { .. } => WaitingStatus::Held,
        _ if row.surface == Surface::Queue => WaitingStatus::Queued,
        _ => WaitingStatus::Held,
    }
}

fn message(row: &CallRow, id: CallId, approve_url: &str) -> String {
    let next = format!("Do not call again: ask /v1/calls/{id} how it stands.");
    match row.state {
        CallState::Sending { .. } | CallState::Running => {
            format!("It is being sent now; whether it was done is not known yet. {next}")
        }
        CallState::Queued => format!("Nothing has been done. This call waits in the queue. {next}"),
        CallState::Approved { .. } => {
            format!(
                "Nothing has been done. A person has confirmed this call, and it will be sent soon. {next}"
            )
        }
        _ => {
            format!("Nothing has been done. A person has to confirm this call at {approve_url}. {next}")
        }
    }
}
