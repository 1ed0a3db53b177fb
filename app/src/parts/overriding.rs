//! An override: how it looks wherever it is told, and the form that makes one.

use std::sync::Arc;

use engine::Item;
use leptos::prelude::*;
use model::{Preview, Time};

use super::decide::Deciding;
use super::passkey::{self, Confirming};
use super::{alert, icon, pause, text, time};
use crate::form::{self, Posted};
use crate::words;

/// Sign and word, in a colour of its own: it never looks like an ordinary approval.
pub(crate) fn mark() -> AnyView {
    view! { <strong class="override">{icon::overridden()} "Override"</strong> }.into_any()
}

/// What stands above the inbox of those who decide, for a day after somebody overrode them.
pub(crate) fn lately(items: &[Item], now: Time) -> Option<AnyView> {
    let line = |item: &Item| {
        let one = item.decided_by.iter().find(|one| one.overrode.is_some())?;
        let at = one.overrode.as_ref().map(|(at, _)| time::ago(*at, now));
        Some(view! {
            <li>{mark()} " by " {text::line(&one.name)} ", who is none of those who decide it: " <a href=format!("/inbox/{}", item.call.id)>{text::line(&item.title)}</a> ", " {at}</li>
        })
    };
    let lines: Vec<_> = items.iter().filter_map(line).collect();
    (!lines.is_empty())
        .then(|| view! { <ul class="stand-in" aria-label="Overridden lately">{lines}</ul> }.into_any())
}

/// The form of an override: words that are wanted, the target where there is one, and a button of its own.
pub(crate) fn form(
    item: &Item,
    preview: &Preview,
    has_target: bool,
    deciding: Deciding,
    posted: Option<&Arc<Posted>>,
) -> AnyView {
    let typed = |name: &str| posted.map(|posted| posted.typed(name)).unwrap_or_default();
    let fault = alert::of_field(posted, "/reason");
    let button = match &item.pause {
        None => act(item, &deciding.confirming),
        Some(stopped) => {
            view! { <p class="bar-paused">"Paused: it cannot be overridden until " {pause::until(stopped)} "."</p> }.into_any()
        }
    };
    view! {
        <form id="override" class="decide" method="post" action=form::OVERRIDE autocomplete="off" novalidate>
            // The first button of a form is pressed by Enter in a text box. This one does nothing.
            <button disabled hidden aria-hidden="true" tabindex="-1"></button>
            <input type="hidden" name="call" value=item.call.id.to_string()/>
            <input type="hidden" name="preview_version" value=preview.version.clone()/>
            <input type="hidden" name="view_token" value=deciding.token/>
            {passkey::answer()}
            <div class="field">
                <label for="reason">"Reason"</label>
                <p class="hint" id="reason-hint">"Why you override those who decide it. Everybody who reads the receipt reads this."</p>
                {alert::beside("reason-wrong".to_owned(), fault.clone())}
                <textarea id="reason" name="reason" rows="3" maxlength="2000" required
                    aria-invalid=fault.is_some().then_some("true")
                    aria-describedby=alert::described("reason", fault.is_some()) inner_html=text::content(&typed("reason"))></textarea>
            </div>
            {has_target.then(|| target(&typed("target"), posted))}
        </form>
        <div class="bar" data-guard="">
            <p class="guard-hint" aria-live="polite">"Read first: it can be pressed in a moment."</p>
            <a class="button" href="/calls/held">"Leave it"</a>
            {button}
        </div>
    }
    .into_any()
}

/// The button that overrides, or why there is none.
fn act(item: &Item, confirming: &Confirming) -> AnyView {
    let words = format!("Override: {}", words::action(&item.call.action));
    match confirming {
        Confirming::Plain => {
            view! { <button form="override" class="button-override">{words}</button> }.into_any()
        }
        Confirming::WithPasskey(party) => view! {
            {passkey::says()}
            {passkey::instead("Overriding this with your passkey", party, &format!("/inbox/{}/override", item.call.id))}
            <button form="override" class="button-override passkey-act" data-passkey="confirm">{words} " with a passkey"</button>
        }
        .into_any(),
        Confirming::NoPasskey => passkey::missing("Overriding this"),
        Confirming::Impossible(why) => passkey::none_here("Overriding this", *why),
    }
}

fn target(typed: &str, posted: Option<&Arc<Posted>>) -> AnyView {
    let fault = alert::of_field(posted, "/target");
    view! {
        <div class="field">
            <label for="target">"Type the target"</label>
            <p class="hint" id="target-hint">"What it would happen to, as the preview names it."</p>
            {alert::beside("target-wrong".to_owned(), fault.clone())}
            <input id="target" name="target" type="text" value=typed.to_owned() autocapitalize="none" spellcheck="false"
                aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::described("target", fault.is_some())/>
        </div>
    }
    .into_any()
}
