//! What pages say about passkeys, and the fields that their script fills in.
//!
//! What takes the script is shown once it runs, and what stands in its place until then says what it takes. A style sheet
//! chooses, by what the script says of the browser: `data-passkeys` of the document.

use engine::party::{NoParty, Party};
use engine::{Engine, Item, PersonActor};
use leptos::prelude::*;
use model::Refusal;

use crate::visit::Visit;

/// How somebody confirms a call.
#[derive(Debug, Clone)]
pub(crate) enum Confirming {
    /// By pressing the button.
    Plain,
    /// With a passkey.
    WithPasskey(Party),
    /// With a passkey, and they have none.
    NoPasskey,
    /// With a passkey, and this desk cannot have any.
    Impossible(NoParty),
}

/// How this person confirms the call or overrides those who do, if they may.
pub(crate) async fn confirming(
    engine: &Engine,
    me: &PersonActor,
    item: &Item,
) -> Result<Confirming, Refusal> {
    if !item.step_up || !(item.may_decide || item.may_override) {
        return Ok(Confirming::Plain);
    }
    Ok(match engine.party() {
        Err(why) => Confirming::Impossible(why),
        Ok(party) if engine.has_passkey(me.id()).await? => Confirming::WithPasskey(party),
        Ok(_) => Confirming::NoPasskey,
    })
}

/// The script, where confirming takes it.
pub(crate) fn script_of(visit: &Visit, confirming: &Confirming) -> Option<AnyView> {
    match confirming {
        Confirming::WithPasskey(party) => Some(script(visit, party)),
        _ => None,
    }
}

/// What the script that asks for passkeys is told: where they work.
pub(crate) fn script(visit: &Visit, party: &Party) -> AnyView {
    view! { <script type="module" src=visit.assets.passkeys data-passkey-origin=party.origin.clone()></script> }
        .into_any()
}

/// Where the script puts the passkey's answer.
pub(crate) fn answer() -> AnyView {
    view! { <input type="hidden" name="passkey" value=""/> }.into_any()
}

/// Where it says what came of asking.
pub(crate) fn says() -> AnyView {
    view! { <p class="passkey-says" aria-live="polite"></p> }.into_any()
}

/// What stands in the place of a button that takes a passkey, until the script runs; and where it would work.
pub(crate) fn instead(what: &'static str, party: &Party, path: &str) -> AnyView {
    let there = format!("{}{path}", party.origin);
    view! {
        <p class="hint passkey-without">{what} " takes a browser that runs scripts and knows passkeys."</p>
        <p class="hint passkey-elsewhere">{what} " works at " <a href=there.clone()>{there.clone()}</a> "."</p>
    }
    .into_any()
}

/// Why there are none here.
pub(crate) fn impossible(why: NoParty) -> AnyView {
    view! { <p class="hint">"This desk cannot have passkeys: they take " {why.needs()} "."</p> }.into_any()
}

/// What stands in the place of a button that takes a passkey, for somebody who has none.
pub(crate) fn missing(what: &'static str) -> AnyView {
    view! { <p class="bar-why">{what} " takes a passkey, and you have none. " <a href="/account#passkeys">"Add one"</a></p> }
        .into_any()
}

/// The same where nobody can have one.
pub(crate) fn none_here(what: &'static str, why: NoParty) -> AnyView {
    view! { <p class="bar-why">{what} " takes a passkey, and this desk cannot have any: they take " {why.needs()} "."</p> }
        .into_any()
}
