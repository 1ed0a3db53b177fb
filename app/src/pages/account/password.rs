//! One's own new password.

use std::sync::Arc;

use engine::account::Ways;
use leptos::prelude::*;
use model::Person;

use crate::form::{self, Posted};
use crate::parts::{alert, text};
use crate::visit::Visit;

/// The form for a new password, and where else the person signs in.
pub(super) fn password(visit: &Visit, person: &Person, ways: &Ways) -> AnyView {
    let counts = visit.engine.catalogue().sign_in.passwords;
    let has_form = counts && ways.has_password;
    view! {
        {(!has_form || !ways.identities.is_empty()).then(|| elsewhere(ways, counts))}
        {has_form.then(|| form(visit, person))}
    }
    .into_any()
}

fn elsewhere(ways: &Ways, counts: bool) -> AnyView {
    let issuers: Vec<_> = ways.identities.iter().map(|own| text::line(&own.issuer)).collect();
    let said = if !counts {
        "Passwords are switched off at this desk."
    } else if ways.has_password {
        "You have a password too."
    } else {
        "You have no password."
    };
    view! {
        <section class="circle" aria-labelledby="ways-head">
            <h2 id="ways-head">"How you sign in"</h2>
            <ul class="plain">{issuers.into_iter().map(|issuer| view! { <li>"Through " {issuer}</li> }).collect_view()}</ul>
            <p class="hint">{said}</p>
        </section>
    }
    .into_any()
}

fn form(visit: &Visit, person: &Person) -> AnyView {
    let posted = visit.posted(form::PASSWORD);
    view! {
        <section class="circle" aria-labelledby="password-head">
            <h2 id="password-head">"Password"</h2>
            {alert::alert(posted.as_ref())}
            <form class="stack" method="post" action=form::PASSWORD novalidate>
                <input class="unseen" type="text" name="username" autocomplete="username" value=person.email.clone() tabindex="-1" aria-hidden="true" readonly/>
                {field("present", "Present password", "current-password", None, posted.as_ref())}
                {field("password", "New password", "new-password", Some("At least 12 characters. You stay signed in here; every other session ends."), posted.as_ref())}
                <button class="button-strong">"Change the password"</button>
            </form>
        </section>
    }
    .into_any()
}

/// A box for a password. What was typed never comes back.
pub(crate) fn field(
    name: &'static str,
    label: &'static str,
    autocomplete: &'static str,
    hint: Option<&'static str>,
    posted: Option<&Arc<Posted>>,
) -> AnyView {
    let fault = alert::of_field(posted, &format!("/{name}"));
    view! {
        <div class="field">
            <label for=name>{label}</label>
            {hint.map(|hint| view! { <p class="hint" id=format!("{name}-hint")>{hint}</p> })}
            {alert::beside(format!("{name}-wrong"), fault.clone())}
            <input id=name name=name type="password" class="short" autocomplete=autocomplete required autofocus=fault.is_some()
                aria-invalid=fault.is_some().then_some("true") aria-describedby=alert::describing(name, hint.is_some(), fault.is_some())/>
        </div>
    }
    .into_any()
}
