//! Before the door: while the caller, or everything, is paused, every call is answered the same, whether there is such
//! an action or not. Nothing of the call is looked at, claimed or written, and it leaves no event.

use model::Refusal;

use crate::actor::Actor;
use crate::engine::Engine;

pub(super) async fn check(engine: &Engine, actor: &Actor) -> Result<(), Refusal> {
    // Asked here, and not when the caller was authenticated: a body may come in slowly, and code may keep an actor.
    engine.refuse_paused(actor).await
}
