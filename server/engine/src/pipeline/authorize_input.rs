//! Step 9: `authorize` with input.

use super::authorize::refusal;
use super::stage::{Allowed, Call, Valid};
use super::stop::Stop;
use crate::engine::Engine;

pub(super) fn check(engine: &Engine, call: Call<Valid>) -> Result<Call<Allowed>, Stop> {
    let rule = call.head.action.authorize_input.as_ref();
    let holds = rule.is_none_or(|rule| rule.holds(&call.head.caller, engine.now(), Some(&call.data.input)));
    if holds { Ok(call.become_next()) } else { Err(refusal(&call.head).into()) }
}
