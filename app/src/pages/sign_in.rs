//! The page to sign in on.

use engine::party::Party;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::form;
use crate::parts::icon::Mark;
use crate::parts::link::local_path;
use crate::parts::{alert, passkey, text};
use crate::visit::{Reply, Visit};

/// The page to sign in on. Somebody who is signed in goes on at once.
#[component]
pub(crate) fn SignIn() -> impl IntoView {
    let next = use_query_map().read_untracked().get("next").filter(|next| local_path(next).is_some());
    let (Some(visit), Some(reply)) = (Visit::here(), use_context::<Reply>()) else {
        return ().into_any();
    };
    if visit.visitor.is_some() && visit.posted.is_none() {
        reply.set(|parts| parts.redirect = Some(next.unwrap_or_else(|| "/inbox".to_owned())));
        return ().into_any();
    }
    let posted = visit.posted(form::SIGN_IN).or_else(|| visit.posted(form::PASSKEY_SIGN_IN));
    reply.set(|parts| {
        "Sign in".clone_into(&mut parts.title);
        parts.status =
            posted.as_ref().and_then(|posted| posted.fault.as_ref()).map_or(200, |fault| fault.status);
    });
    let settings = visit.engine.catalogue().sign_in.clone();
    let provider = settings.oidc.map(|oidc| provider(&oidc.label, next.as_deref(), !settings.passwords));
    let email = posted.as_ref().map(|posted| posted.typed("email")).unwrap_or_default();
    view! {
        <main id="main" class="alone">
            <p class="mark mark-large"><Mark/><span>"Countersign"</span></p>
            <h1>"Sign in"</h1>
            {alert::alert(posted.as_ref())}
            {provider}
            {settings.passwords.then(|| with_password(next.clone(), email))}
            {visit.engine.party().ok().map(|party| with_passkey(&visit, &party, next))}
        </main>
    }
    .into_any()
}

/// The way in with a passkey, beside the others.
fn with_passkey(visit: &Visit, party: &Party, next: Option<String>) -> AnyView {
    let there = format!("{}/sign-in", party.origin);
    view! {
        <form method="post" action=form::PASSKEY_SIGN_IN class="stack passkey-sign-in">
            {next.map(|next| view! { <input type="hidden" name="next" value=next/> })}
            {passkey::answer()}
            <button class="passkey-act" data-passkey="sign-in">"Sign in with a passkey"</button>
            {passkey::says()}
            <noscript><p class="hint">"Signing in with a passkey takes a browser that runs scripts."</p></noscript>
            <p class="hint passkey-elsewhere">"Passkeys work at " <a href=there.clone()>{there.clone()}</a> "."</p>
        </form>
        {passkey::script(visit, party)}
    }
    .into_any()
}

/// The way to the provider: a link, because it leads to another site.
fn provider(label: &str, next: Option<&str>, is_only: bool) -> AnyView {
    let to = form::way_to_provider(next.unwrap_or_default());
    let class = if is_only { "button button-strong" } else { "button" };
    view! {
        <div class="provider">
            <a class=class href=to rel="external">{text::line(label)}</a>
            <p class="hint">"When you sign out of this desk, you stay signed in there."</p>
        </div>
    }
    .into_any()
}

fn with_password(next: Option<String>, email: String) -> AnyView {
    view! {
        <form method="post" action=form::SIGN_IN class="stack" novalidate>
            {next.map(|next| view! { <input type="hidden" name="next" value=next/> })}
            <div class="field">
                <label for="email">"Email"</label>
                <input id="email" name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required value=email/>
            </div>
            <div class="field">
                <label for="password">"Password"</label>
                <input id="password" name="password" type="password" autocomplete="current-password" required/>
            </div>
            <button class="button-strong">"Sign in"</button>
        </form>
    }
    .into_any()
}
