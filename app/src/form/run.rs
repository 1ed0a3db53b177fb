//! Calling an action by its form.

use engine::{Actor, Arrival, Engine, PersonActor};
use leptos::prelude::*;
use model::{Answer, OfferedAction, Refusal, Surface};

use super::{Fault, Fields, Form, Next, Posted, visit};
use crate::parts::field;
use crate::parts::link::encode;

/// The prefix of the names of an action's own fields in the form.
pub(crate) const PREFIX: &str = "input.";

/// Calls an action for the person who filled in its form. A write is held for that person; a read is answered on the
/// page.
#[server(name = Run, prefix = "/do", endpoint = "run")]
pub(crate) async fn run(action: String, fields: Fields) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let offered = offered(&visit.engine, &me, &action).await?;
    let input = field::input(&offered.input_schema, &fields).map_err(|errors| Fault {
        errors,
        ..Fault::new(422, "Nothing was done: some fields are at fault.")
    })?;
    let arrival = Arrival {
        actor: Actor::Person(me),
        surface: Surface::Form,
        action,
        input,
        key_header: Vec::new(),
        session: None,
        tenant: None,
        reason: None,
    };
    match visit.engine.call(arrival, None).await? {
        Answer::Waiting(waiting) => Ok(Next::Go(format!("/inbox/{}", waiting.call_id))),
        answer => Ok(Next::Show(Box::new(answer))),
    }
}

/// The action of this name, when it is offered to this person by form.
pub(crate) async fn offered(engine: &Engine, me: &PersonActor, name: &str) -> Result<OfferedAction, Refusal> {
    let actor = Actor::Person(me.clone());
    let offered = engine.offered(&actor, Surface::Form, None).await?;
    offered.into_iter().find(|action| action.name == name).ok_or(Refusal::NotFound)
}

/// The action's name, and its own fields without their prefix.
pub(crate) fn read(fields: &Fields) -> Option<Run> {
    let action = fields.iter().find(|(name, _)| name == "action")?.1.clone();
    let own = fields
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?.to_owned(), value.clone())));
    Some(Run { action, fields: own.collect() })
}

impl Form for Run {
    fn page(posted: &Posted) -> String {
        format!("/run/{}", encode(&posted.typed("action")))
    }
}
