//! Step 5: `authorize` without input.

use model::Refusal;

use super::stage::{Authorized, Call, Head, Member};
use super::stop::Stop;
use crate::engine::Engine;

pub(super) fn check(engine: &Engine, call: Call<Member>) -> Result<Call<Authorized>, Stop> {
    let rule = call.head.action.authorize.as_ref();
    let holds = rule.is_none_or(|rule| rule.holds(&call.head.caller, engine.now(), None));
    if holds { Ok(call.become_next()) } else { Err(refusal(&call.head).into()) }
}

/// What a denied caller is told: that it is denied, or nothing at all when the action says so.
pub(super) fn refusal(head: &Head) -> Refusal {
    if head.action.deny_as_not_found { Refusal::NotFound } else { Refusal::Denied }
}
