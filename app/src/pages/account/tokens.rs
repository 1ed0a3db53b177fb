//! One's own tokens: what programs sign in with in one's name.

use std::sync::Arc;

use engine::store::TokenLine;
use leptos::prelude::*;
use model::{Ability, Time};

use crate::form::{self, Posted};
use crate::parts::{alert, time};
use crate::visit::Visit;
use crate::words;

/// One's own tokens, and the form for another.
pub(super) fn tokens(visit: &Visit, tokens: &[TokenLine], now: Time) -> AnyView {
    let revoked = visit.posted(form::REVOKE_TOKEN);
    let posted = visit.posted(form::TOKEN);
    let lines: Vec<_> = tokens.iter().map(|token| line(token, now)).collect();
    let list = if lines.is_empty() {
        view! { <p class="hint">"You have no token."</p> }.into_any()
    } else {
        view! { <ul class="members" aria-label="Tokens">{lines}</ul> }.into_any()
    };
    view! {
        <section class="circle" id="tokens" aria-labelledby="tokens-head">
            <h2 id="tokens-head">"Tokens"</h2>
            {alert::alert(revoked.as_ref())}
            <p class="hint">"What programs use the desk with in your name. Who has one can do what it may be used for."</p>
            {once(posted.as_ref())}
            {list}
            {make(posted.as_ref())}
        </section>
    }
    .into_any()
}

/// The token that was just made.
fn once(posted: Option<&Arc<Posted>>) -> Option<AnyView> {
    let secret = posted?.once.clone()?.0;
    Some(
        view! {
            <div class="once" role="status" tabindex="-1" data-focus="">
                <p>"The token was made. It is shown this once: copy it now."</p>
                <pre class="command" data-copy=""><code>{secret}</code></pre>
            </div>
        }
        .into_any(),
    )
}

fn line(token: &TokenLine, now: Time) -> AnyView {
    let id = token.id.to_string();
    let may: Vec<&str> = token.abilities.iter().map(|ability| words::ability(*ability)).collect();
    let used = token
        .last_used_at
        .map_or_else(|| "never used".into_any(), |at| view! { "last used " {time::ago(at, now)} }.into_any());
    let ends = match token.expires_at {
        None => "never expires".into_any(),
        Some(at) if at <= now => {
            view! { <span class="bad">"expired " {time::ago(at, now)}</span> }.into_any()
        }
        Some(at) => view! { "expires " {time::ahead(at, now)} }.into_any(),
    };
    let which = format!(" the token {id}");
    view! {
        <li class="member member-token">
            <span><code>{id.clone()}</code><br/>{may.join(", ")}<br/>
                <span class="hint">"made " {time::ago(token.created_at, now)} ", " {used} ", " {ends}</span></span>
            <details class="away">
                <summary>"Revoke"<span class="unseen">{which.clone()}</span></summary>
                <form method="post" action=form::REVOKE_TOKEN>
                    <input type="hidden" name="token" value=id/>
                    <p>"It is taken no more, at once and for ever. What it has waiting is withdrawn."</p>
                    <button class="button-final">"Revoke it"<span class="unseen">{which}</span></button>
                </form>
            </details>
        </li>
    }
    .into_any()
}

/// For how long a token can be made: days, and how that is said. Empty: for ever.
const TERMS: [(&str, &str); 5] =
    [("7", "in 7 days"), ("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"), ("", "never")];

/// The form for another token.
fn make(posted: Option<&Arc<Posted>>) -> AnyView {
    let at_fault = posted.filter(|posted| posted.fault.is_some());
    let fault = alert::of_field(posted, "/abilities");
    let ticked = |ability: Ability| {
        at_fault.is_some_and(|posted| {
            posted.fields.iter().any(|(name, value)| name == "ability" && value == ability.as_str())
        })
    };
    let choices: Vec<_> = Ability::ALL.iter().map(|ability| choice(*ability, ticked(*ability))).collect();
    let days = at_fault.map_or_else(|| "30".to_owned(), |posted| posted.typed("days"));
    let term = |(value, said): (&'static str, &'static str)| {
        view! { <option value=value selected=value == days>{said}</option> }
    };
    view! {
        <form class="stack" method="post" action=form::TOKEN aria-labelledby="token-new" novalidate>
            <h3 id="token-new">"Make a token"</h3>
            {alert::alert(at_fault)}
            <fieldset aria-describedby=fault.is_some().then_some("abilities-wrong")>
                <legend>"It may be used to"</legend>
                {alert::beside("abilities-wrong".to_owned(), fault.clone())}
                <div class="choices">{choices}</div>
            </fieldset>
            <div class="field">
                <label for="days">"It expires"</label>
                <select id="days" name="days" class="short">{TERMS.into_iter().map(term).collect_view()}</select>
            </div>
            <button class="button-strong">"Make a token"</button>
        </form>
    }
    .into_any()
}

fn choice(ability: Ability, is_ticked: bool) -> AnyView {
    let id = format!("may-{}", ability.as_str().replace(':', "-"));
    view! {
        <div class="choice">
            <input type="checkbox" id=id.clone() name="ability" value=ability.as_str() checked=is_ticked/>
            <label for=id>{words::ability(ability)} " " <code class="hint">{ability.as_str()}</code></label>
        </div>
    }
    .into_any()
}
