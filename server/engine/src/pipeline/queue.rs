//! Between the gate and the run: a call on the surface `queue` is put into the durable queue. A worker runs it.

use model::{Answer, Refusal, Surface};

use super::intent;
use super::stage::{Call, Cleared, Head};
use super::stop::Stop;
use super::waiting::waiting;
use crate::engine::Engine;
use crate::store::CallState;

/// Ends the call here, as queued, when it was meant for the queue.
pub(super) async fn put(engine: &Engine, call: Call<Cleared>) -> Result<Call<Cleared>, Stop> {
    if call.head.surface != Surface::Queue {
        return Ok(call);
    }
    refuse_flood(engine, &call.head).await?;
    let (row, _) = intent::store(engine, &call.head, call.data, CallState::Queued).await?;
    engine.queue().ring();
    Err(Stop::answered(Answer::Waiting(waiting(engine, &row))))
}

/// One caller cannot fill the queue. Looked at before anything is begun; what counts is `Tx::has_room`.
async fn refuse_flood(engine: &Engine, head: &Head) -> Result<(), Stop> {
    let agent = head.actor.agent().map(|agent| agent.agent);
    let person = head.actor.person().map(|person| person.id);
    let open = match agent {
        Some(agent) => engine.store().count_open_of_agent(agent).await?,
        None => engine.store().count_queued_of(person).await?,
    };
    if open >= u64::from(engine.catalogue().server.max_held) {
        return Err(Refusal::RateLimited { retry_after: 60 }.into());
    }
    Ok(())
}
