//! Step 3, registration: the action's `register_when` holds. Exposure, not authorization.

use model::Refusal;

use super::stage::{Call, Permitted, Registered};
use super::stop::Stop;
use crate::engine::Engine;

pub(super) fn check(engine: &Engine, call: Call<Permitted>) -> Result<Call<Registered>, Stop> {
    let rule = call.head.action.register_when.as_ref();
    let holds = rule.is_none_or(|rule| rule.holds(&call.head.caller, engine.now(), None));
    if holds { Ok(call.become_next()) } else { Err(Refusal::NotFound.into()) }
}
