//! Confirm or decline.

use std::sync::Arc;

use engine::Item;
use leptos::prelude::*;
use model::{Effect, Preview};

use super::passkey::{self, Confirming};
use super::{alert, pause, text};
use crate::form::{self, Posted};
use crate::words;

/// What a decision is made with.
pub(crate) struct Deciding {
    /// The proof that the preview is shown.
    pub(crate) token: String,
    /// How the call is confirmed.
    pub(crate) confirming: Confirming,
}

/// The form of a decision: the reason after the payload, the buttons in a bar that stays in view.
/// The bar says why nothing happens while the buttons do not listen yet.
/// `list` is the query of the list beside the call. `more` stands between the form and the bar, which stays last: so it never
/// moves while somebody scrolls, and its buttons go on listening.
pub(crate) fn decide(
    item: &Item,
    preview: &Preview,
    deciding: &Deciding,
    list: &str,
    posted: Option<&Arc<Posted>>,
    more: Option<AnyView>,
) -> AnyView {
    let typed = |name: &str| posted.map(|posted| posted.typed(name)).unwrap_or_default();
    let reason_fault = alert::of_field(posted, "/reason");
    let confirm = format!("Confirm: {}", words::action(&item.call.action));
    let is_final = preview.effect == Effect::Destructive;
    let stopped = item.pause.as_ref();
    let can_confirm =
        stopped.is_none() && matches!(deciding.confirming, Confirming::Plain | Confirming::WithPasskey(_));
    let say_yes = match stopped {
        None => say_yes(confirm, (is_final, more.is_some()), &deciding.confirming, item),
        Some(stopped) => {
            view! { <p class="bar-paused">"Paused: it cannot be confirmed until " {pause::until(stopped)} "."</p> }.into_any()
        }
    };
    view! {
        <form id="decide" class="decide" method="post" action=form::DECIDE autocomplete="off">
            // The first button of a form is pressed by Enter in a text box. This one does nothing.
            <button disabled hidden aria-hidden="true" tabindex="-1"></button>
            <input type="hidden" name="call" value=item.call.id.to_string()/>
            <input type="hidden" name="preview_version" value=preview.version.clone()/>
            <input type="hidden" name="view_token" value=deciding.token.clone()/>
            {passkey::answer()}
            {(!list.is_empty()).then(|| view! { <input type="hidden" name="list" value=list.to_owned()/> })}
            {replies(&typed("reply"))}
            <div class="field">
                <label for="reason">"Reason"</label>
                <p class="hint" id="reason-hint">"Optional. When you decline, " {if item.agent.is_some() { "the agent" } else { "whoever asked" }} " is told."</p>
                <textarea id="reason" name="reason" rows="2" maxlength="2000"
                    aria-invalid=reason_fault.is_some().then_some("true")
                    aria-describedby=alert::described("reason", reason_fault.is_some()) inner_html=text::content(&typed("reason"))></textarea>
                {alert::beside("reason-wrong".to_owned(), reason_fault)}
            </div>
        </form>
        {more}
        <div class="bar" data-guard="">
            {(is_final && can_confirm).then(|| target(&typed("target"), posted))}
            {can_confirm.then(|| view! { <p class="guard-hint" aria-live="polite">"Read first: it can be pressed in a moment."</p> })}
            <button form="decide" name="decision" value="decline" class="decline">"Decline"</button>
            {say_yes}
        </div>
    }
    .into_any()
}

/// The button that confirms, or why there is none.
/// Where more like it can be allowed, and somebody is about to, it says that it is for this call alone.
fn say_yes(
    words: String,
    (is_final, is_beside_grant): (bool, bool),
    confirming: &Confirming,
    item: &Item,
) -> AnyView {
    let class = if is_final { "confirm confirm-final" } else { "confirm" };
    match confirming {
        Confirming::Plain => {
            let only = is_beside_grant.then(|| view! { <span class="only-this">"Confirm only this one"</span> });
            view! { <button form="decide" name="decision" value="confirm" class=class><span>{words}</span>{only}</button> }.into_any()
        }
        Confirming::WithPasskey(party) => view! {
            {passkey::says()}
            {passkey::instead("Confirming this with your passkey", party, &format!("/inbox/{}", item.call.id))}
            <button form="decide" name="decision" value="confirm" class=format!("{class} passkey-act") data-passkey="confirm">{words} " with a passkey"</button>
        }
        .into_any(),
        Confirming::NoPasskey => passkey::missing("Confirming this"),
        Confirming::Impossible(why) => passkey::none_here("Confirming this", *why),
    }
}

/// Plain sentences to decline with. One that is picked is told before one's own words.
fn replies(chosen: &str) -> AnyView {
    let reply = |(at, words): (usize, &'static str)| {
        let id = format!("reply-{at}");
        view! {
            <span class="reply">
                <input type="radio" id=id.clone() name="reply" value=words checked=words == chosen/>
                <label for=id>{if words.is_empty() { "Own words only" } else { words }}</label>
            </span>
        }
    };
    let all = std::iter::once("").chain(form::REPLIES).enumerate();
    view! {
        <fieldset class="replies">
            <legend>"When you decline, say " <span class="optional">"or use your own words below"</span></legend>
            {all.map(reply).collect_view()}
        </fieldset>
    }
    .into_any()
}

/// What somebody types to confirm what cannot be put back. It stands in the bar, so that it is in view with its button.
fn target(typed: &str, posted: Option<&Arc<Posted>>) -> AnyView {
    let fault = alert::of_field(posted, "/target");
    view! {
        <div class="field">
            <label for="target">"Type the target"</label>
            <p class="hint" id="target-hint">"This cannot be put back. To confirm, type what it would happen to, as the preview names it."</p>
            <input id="target" name="target" form="decide" type="text" value=typed.to_owned() autocapitalize="none" spellcheck="false"
                aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::described("target", fault.is_some())/>
            {alert::beside("target-wrong".to_owned(), fault)}
        </div>
    }
    .into_any()
}
