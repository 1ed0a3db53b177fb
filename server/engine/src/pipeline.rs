//! The pipeline: every call, from every surface, in this order. A step that says no ends the call.
//!
//! Each step is one file and a function from one stage of a call to the next, so a step cannot be left out: `run` on a
//! call that was not cleared does not compile. Nothing but steps stands here.

mod arguments;
mod authorize;
mod authorize_input;
mod claim;
mod door;
mod gate;
mod intent;
mod journal;
mod membership;
mod pause;
mod prepare;
mod queue;
mod registration;
mod run;
mod stage;
mod stop;
mod token;
mod validate;
mod waiting;

use std::sync::Arc;

use model::{Answer, CallId, FieldError, OfferedAction, Refusal, Surface};

pub(crate) use self::gate::{
    Showing, approvers_of, caller_name, hash_of, json_or_text, named_approvers, render, sealed_row, show,
    waits_for_approval_alone,
};
pub(crate) use self::journal::event;
pub(crate) use self::stage::{Allowed, Call, Found, Head, Ready};
pub(crate) use self::stop::Stop;
pub(crate) use self::waiting::waiting;
use crate::actor::Actor;
use crate::arrival::Arrival;
use crate::engine::Engine;
use crate::metrics::Step;

/// One call, from its arrival to its answer. `unread`: what its surface could not make an input of.
pub(crate) async fn run(
    engine: &Engine,
    id: CallId,
    arrival: Arrival,
    unread: Vec<FieldError>,
) -> Result<Answer, Refusal> {
    pause::check(engine, &arrival.actor).await?;
    let tenant = membership::name_of(engine, arrival.tenant.clone()).await?;
    let call = door::open(engine, id, Arrival { tenant, ..arrival })?.with_unread(unread);
    let trace = call.trace();
    match steps(engine, call).await {
        Ok(answer) => Ok(answer),
        Err(Stop::Answered(answer)) => Ok(*answer),
        Err(Stop::Ended(refusal)) => Err(refusal),
        Err(Stop::Refused(refusal)) => {
            journal::refused(engine, &trace, &refusal).await;
            Err(door::told(&trace.actor, refusal))
        }
    }
}

/// Steps 2 to 13.
async fn steps(engine: &Engine, call: Call<Found>) -> Result<Answer, Stop> {
    let mut watch = engine.metrics().watch(Step::Allow);
    let call = allow(engine, call).await?;
    watch.next(Step::Claim);
    let call = claim::look_up(engine, call).await?;
    watch.next(Step::Gate);
    let call = gate::pass(engine, call).await?;
    let call = queue::put(engine, call).await?;
    watch.next(Step::Run);
    run::run(engine, call).await
}

/// Steps 2 to 9: may this caller do this, with these arguments? A person's Confirm walks them again.
pub(crate) async fn allow(engine: &Engine, call: Call<Found>) -> Result<Call<Allowed>, Stop> {
    let call = token::check(call)?;
    let call = registration::check(engine, call)?;
    let call = membership::check(engine, call).await?;
    let call = authorize::check(engine, call)?;
    let call = arguments::cut(call);
    let call = prepare::prepare(call)?;
    let call = validate::check(call)?;
    authorize_input::check(engine, call)
}

/// The door again, for a held call that a person confirms.
pub(crate) fn reopen(engine: &Engine, id: CallId, arrival: Arrival) -> Result<Call<Found>, Refusal> {
    door::open(engine, id, arrival)
}

/// What this caller would be offered now: for each action, every check that needs no input.
pub(crate) async fn offered(
    engine: &Engine,
    actor: &Actor,
    surface: Surface,
    tenant: Option<&str>,
) -> Result<Vec<OfferedAction>, Refusal> {
    let mut offered = Vec::new();
    let tenant = membership::name_of(engine, tenant.map(str::to_owned)).await?;
    for action in engine.catalogue().actions().cloned().collect::<Vec<_>>() {
        let arrival = Arrival::asking(actor.clone(), surface, &action.name, tenant.as_deref());
        let id = CallId::from_uuid(engine.ambient().uuid());
        let Ok(call) = door::open(engine, id, arrival) else { continue };
        match open_to(engine, call).await {
            Ok(()) => offered.push(action.offered_with(&gate::control_fields(actor, &action))),
            Err(Stop::Refused(Refusal::Unavailable)) => return Err(Refusal::Unavailable),
            Err(_) => {}
        }
    }
    Ok(offered)
}

/// Steps 2 to 5.
async fn open_to(engine: &Engine, call: Call<Found>) -> Result<(), Stop> {
    let call = token::check(call)?;
    let call = registration::check(engine, call)?;
    let call = membership::check(engine, call).await?;
    authorize::check(engine, call).map(|_| ())
}

/// The action a call found, shared.
pub(crate) type SharedAction = Arc<crate::catalogue::Action>;
