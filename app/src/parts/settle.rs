//! How did it end? For a call whose outcome is not known.

use std::sync::Arc;

use engine::{Item, Whereabouts};
use leptos::prelude::*;
use model::Finding;

use super::{alert, text, time};
use crate::form::{self, Posted};

/// The form that settles a call in doubt: where to look, what was found, and how somebody knows.
pub(crate) fn settle(item: &Item, posted: Option<&Arc<Posted>>) -> AnyView {
    let typed = |name: &str| posted.map(|posted| posted.typed(name)).unwrap_or_default();
    let (outcome_fault, reason_fault) =
        (alert::of_field(posted, "/outcome"), alert::of_field(posted, "/reason"));
    let outcome = typed("outcome");
    view! {
        <section class="settle" aria-labelledby="settle-head">
            <h2 id="settle-head">"How did it end?"</h2>
            {item.sent.as_ref().map(whereabouts)}
            <p>"Until somebody settles it, a repeat with the same idempotency key is refused. Settled as happened, it is answered from the receipt. Settled as not happened, the key is free and the agent may ask again."</p>
            <form class="stack" method="post" action=form::SETTLE autocomplete="off" novalidate>
                <input type="hidden" name="call" value=item.call.id.to_string()/>
                <fieldset class="choices" aria-describedby=outcome_fault.is_some().then_some("outcome-wrong")>
                    <legend>"What did you find?"</legend>
                    {alert::beside("outcome-wrong".to_owned(), outcome_fault.clone())}
                    {choice(Finding::Happened, "It happened", &outcome)}
                    {choice(Finding::DidNotHappen, "It did not happen", &outcome)}
                </fieldset>
                <div class="field">
                    <label for="reason">"Reason"</label>
                    <p class="hint" id="reason-hint">"How you know, for whoever reads this later: what you looked at, and what it showed."</p>
                    {alert::beside("reason-wrong".to_owned(), reason_fault.clone())}
                    <textarea id="reason" name="reason" rows="3" maxlength="2000" required
                        aria-invalid=reason_fault.is_some().then_some("true")
                        aria-describedby=alert::described("reason", reason_fault.is_some()) inner_html=text::content(&typed("reason"))></textarea>
                </div>
                <button class="button-strong">"Settle"</button>
            </form>
        </section>
    }
    .into_any()
}

fn choice(finding: Finding, label: &'static str, chosen: &str) -> AnyView {
    let id = format!("outcome-{}", finding.as_str());
    view! {
        <div class="choice">
            <input type="radio" id=id.clone() name="outcome" value=finding.as_str() checked=chosen == finding.as_str()/>
            <label for=id>{label}</label>
        </div>
    }
    .into_any()
}

/// Where it went, to look there.
fn whereabouts(sent: &Whereabouts) -> AnyView {
    view! {
        <p>"Look there first: " <code>{text::line(&sent.method)} " " {text::line(&sent.url)}</code> ", " {time::full(sent.at)} "."</p>
    }
    .into_any()
}
