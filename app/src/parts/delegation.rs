//! Who decides in whose place, and until when.

use engine::Delegation;
use leptos::prelude::*;
use model::{PersonId, Time};

use super::{text, time};
use crate::form;

/// What stands above the inbox while this person passes their voice on, or decides in another's place.
pub(crate) fn running(delegations: &[Delegation], me: PersonId, now: Time) -> Option<AnyView> {
    let lines: Vec<_> = delegations.iter().filter(|one| one.runs(now)).map(|one| line(one, me)).collect();
    (!lines.is_empty())
        .then(|| view! { <ul class="stand-in" aria-label="While somebody is away">{lines}</ul> }.into_any())
}

fn line(one: &Delegation, me: PersonId) -> AnyView {
    let until = time::minute(one.last());
    if one.delegator == me {
        view! {
            <li><strong>{text::line(&one.delegate_name)} " decides yours"</strong> ", until " {until} ". You still may. " <a href="/account#delegations">"Change"</a></li>
        }
        .into_any()
    } else {
        view! {
            <li><strong>"You decide for " {text::line(&one.delegator_name)}</strong> ", until " {until} ". " <a href="/account#delegations">"Change"</a></li>
        }
        .into_any()
    }
}

/// What stands on a held call that this person decides in another's place.
pub(crate) fn in_place_of(one: &Delegation) -> AnyView {
    view! {
        <p class="stand-in-note"><strong>"You decide for " {text::line(&one.delegator_name)}</strong> ", until " {time::minute(one.last())} ". It counts as theirs, and the receipt says that it was you."</p>
    }
    .into_any()
}

/// Who decides a held call in whose place, for its owner and those who decide it. `but` is told elsewhere.
pub(crate) fn on_call(delegations: &[Delegation], but: Option<&Delegation>, me: PersonId) -> Option<AnyView> {
    let line = |one: &Delegation| {
        let whose = if one.delegator == me { "you".into_any() } else { text::line(&one.delegator_name) };
        view! { <li>{text::line(&one.delegate_name)} " decides for " {whose} ", until " {time::minute(one.last())}</li> }
    };
    let lines: Vec<_> = delegations.iter().filter(|one| Some(*one) != but).map(line).collect();
    (!lines.is_empty()).then(|| {
        view! { <ul class="stand-in-more" aria-label="While somebody is away">{lines}</ul> }.into_any()
    })
}

/// Everybody's, for operators and admins.
pub(crate) fn all(delegations: &[Delegation], now: Time) -> AnyView {
    let line = |one: &Delegation| {
        view! {
            <li class="member"><span>
                <a href=format!("/people/{}", one.delegate)>{text::line(&one.delegate_name)}</a> " decides for "
                <a href=format!("/people/{}", one.delegator)>{text::line(&one.delegator_name)}</a>
                <br/><span class="hint">{span(one, now)}</span>
            </span></li>
        }
        .into_any()
    };
    let list = if delegations.is_empty() {
        view! { <p class="hint">"Nobody decides for anybody else."</p> }.into_any()
    } else {
        let lines: Vec<_> = delegations.iter().map(line).collect();
        view! { <ul class="members" aria-label="While somebody is away">{lines}</ul> }.into_any()
    };
    view! {
        <section class="circle" aria-labelledby="delegations">
            <h2 id="delegations">"While somebody is away"</h2>
            {list}
        </section>
    }
    .into_any()
}

/// One's own, given or received, with the way to end it.
pub(crate) fn own(one: &Delegation, me: PersonId, now: Time) -> AnyView {
    let (who, which) = if one.delegator == me {
        let name = text::plain(&one.delegate_name);
        (
            view! { <strong>{text::line(&one.delegate_name)}</strong> " decides yours" }.into_any(),
            format!(" letting {name} decide yours"),
        )
    } else {
        let name = text::plain(&one.delegator_name);
        (
            view! { "You decide for " <strong>{text::line(&one.delegator_name)}</strong> }.into_any(),
            format!(" deciding for {name}"),
        )
    };
    view! {
        <li class="member">
            <span>{who} <br/><span class="hint">{span(one, now)}</span></span>
            <form method="post" action=form::END_DELEGATION>
                <input type="hidden" name="delegation" value=one.id.to_string()/>
                <button class="quiet">"End"<span class="unseen">{which}</span></button>
            </form>
        </li>
    }
    .into_any()
}

fn span(one: &Delegation, now: Time) -> AnyView {
    if one.runs(now) {
        view! { "until " {time::minute(one.last())} }.into_any()
    } else {
        view! { "from " {time::minute(one.from)} " until " {time::minute(one.last())} }.into_any()
    }
}
