//! One's own account: name, password, passkeys, time zone, sessions and tokens.

mod delegations;
mod passkeys;
mod password;
mod sessions;
mod tokens;
mod you;

pub(super) use password::field as password_field;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::frame::{Shape, Sheet, page};
use crate::parts::text;
use crate::words;

/// One's own account.
#[component]
pub(crate) fn Account() -> impl IntoView {
    let done = use_query_map().read_untracked().get("done").unwrap_or_default();
    page(None, move |visit, me| async move {
        let sessions = visit.engine.own_sessions(&me, visit.session).await?;
        let tokens = visit.engine.own_tokens(&me).await?;
        let ways = visit.engine.own_ways(&me).await?;
        let passkeys = passkeys::Passkeys::of(&visit, &me, &ways).await?;
        let here =
            sessions.iter().find(|session| session.is_this).map_or("", |session| session.browser.as_str());
        let own = visit.engine.own_delegations(&me).await?;
        let now = visit.engine.now();
        let person = me.person();
        let body = view! {
            <h1>"Account"</h1>
            <p class="lead">{text::line(&person.email)} ", " {words::roles(&person.roles)}</p>
            {was_done(&done).filter(|_| visit.posted.is_none()).map(|said| view! { <p class="done" role="status">{said}</p> })}
            {you::you(&visit, person)}
            <p class="ways"><a class="button" href="/account/notices">"How you are told"</a> <a class="button" href="/grants">"Standing grants"</a></p>
            {delegations::delegations(&visit, &me, &own, now)}
            {password::password(&visit, person, &ways)}
            {passkeys.show(&visit, here, now)}
            {sessions::sessions(&visit, &sessions, now)}
            {tokens::tokens(&visit, &tokens, now)}
        };
        Ok(Sheet::new("Account", Shape::Column, body))
    })
}

/// What was done just before, in the words of this page alone.
fn was_done(what: &str) -> Option<&'static str> {
    Some(match what {
        "account" => "Saved.",
        "delegated" => "Saved. It is shown to both of you, and it can be ended at any time.",
        "delegation" => "It has ended.",
        "password" => "Your password was changed. Everywhere else you are signed out.",
        "proved" => "It is you. You may add and remove passkeys now.",
        "passkey-added" => "The passkey was added.",
        "passkey-renamed" => "The passkey has its new name.",
        "passkey-removed" => "The passkey was removed. It is taken no more.",
        "session" => "That session has ended.",
        "sessions" => "All other sessions have ended.",
        "token" => "The token was revoked. What it had waiting was withdrawn.",
        _ => return None,
    })
}
