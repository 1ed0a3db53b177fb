//! Step 2, the token: it has the ability of the action's effect.

use model::{Ability, Refusal};

use super::stage::{Call, Found, Permitted};
use super::stop::Stop;

pub(super) fn check(call: Call<Found>) -> Result<Call<Permitted>, Stop> {
    let needed = Ability::for_effect(call.head.action.effect);
    if call.head.actor.has(needed) { Ok(call.become_next()) } else { Err(Refusal::NotFound.into()) }
}
