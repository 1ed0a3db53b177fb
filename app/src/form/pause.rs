//! Pausing one agent, or everything, and resuming.

use engine::PauseScope;
use leptos::prelude::*;
use model::{AgentId, Refusal};

use super::{Fault, Form, Next, Posted, visit};

/// Pauses or resumes. `scope` is an agent's id or `everything`, `act` is `pause` or `resume`, and `at` the page it was
/// posted from: `calls`, `agent` or `agents`.
#[server(name = Pause, prefix = "/do", endpoint = "pause")]
pub(crate) async fn pause(
    scope: String,
    act: String,
    reason: Option<String>,
    at: Option<String>,
) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let place = place(&scope, at.as_deref().unwrap_or_default());
    let scope = scope_of(&scope).ok_or(Refusal::NotFound)?;
    let done = match act.as_str() {
        "pause" => visit.engine.pause(&me, scope, reason.as_deref()).await,
        "resume" => visit.engine.resume(&me, scope).await,
        _ => return Err(Fault::unreadable()),
    };
    match (done, scope) {
        // Who presses what somebody else has pressed already finds it as it was wanted.
        (Ok(_), _) => Ok(Next::Go(place)),
        (Err(Refusal::Denied), PauseScope::Agent(_)) => Err(Fault::new(
            403,
            "Nothing was changed: an operator has paused this agent, and only operators can resume it.",
        )),
        (Err(refusal), _) => Err(not_done(refusal)),
    }
}

fn not_done(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Invalid(errors) => {
            let said = errors.iter().find(|error| error.field == "/agent");
            let sentence = said.map_or_else(
                || "Nothing was changed. Mend what is marked and try again.".to_owned(),
                |error| format!("Nothing was changed. {}", error.message),
            );
            Fault { errors, ..Fault::new(422, sentence) }
        }
        refusal => refusal.into(),
    }
}

fn scope_of(word: &str) -> Option<PauseScope> {
    if word == "everything" {
        return Some(PauseScope::Everything);
    }
    word.parse().map(PauseScope::Agent).ok()
}

/// The page that the form was on. Its word is one of three, whoever wrote it.
fn place(scope: &str, at: &str) -> String {
    match (at, scope.parse::<AgentId>()) {
        ("calls", _) => "/calls".to_owned(),
        ("agent", Ok(agent)) => format!("/agents/{agent}"),
        _ => "/agents".to_owned(),
    }
}

impl Form for Pause {
    fn page(posted: &Posted) -> String {
        place(&posted.typed("scope"), &posted.typed("at"))
    }
}
