//! The pages that a link leads to: an invitation, and the first admin's. To open one changes nothing.

use std::future::Future;
use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use model::Refusal;

use super::account::password_field;
use super::people::field;
use crate::form::{self, Posted};
use crate::parts::icon::Mark;
use crate::parts::{alert, text};
use crate::visit::{Reply, Visit};

const PASSWORD_HINT: Option<&str> = Some("At least 12 characters.");

/// What an invitation's person fills in.
#[component]
pub(crate) fn Join() -> impl IntoView {
    by_link(form::JOIN, |visit, link, posted| async move {
        let offered = visit.engine.invitation(&link).await?;
        let settings = visit.engine.catalogue().sign_in.clone();
        if let Some(oidc) = settings.oidc.filter(|_| !settings.passwords) {
            return Ok(by_provider(&offered.name, &offered.email, &oidc.label));
        }
        Ok(view! {
            <h1>"Welcome, " {text::line(&offered.name)}</h1>
            <p class="lead">"You are invited to this desk as " {text::line(&offered.email)} ". Choose a password, and you are in."</p>
            {alert::alert(posted.as_ref())}
            {alert::beside("email-wrong".to_owned(), alert::of_field(posted.as_ref(), "/email"))}
            <form method="post" action=form::JOIN class="stack" novalidate>
                <input type="hidden" name="link" value=link/>
                <input class="unseen" type="text" name="username" autocomplete="username" value=offered.email.clone() tabindex="-1" aria-hidden="true" readonly/>
                {password_field("password", "Password", "new-password", PASSWORD_HINT, posted.as_ref())}
                <button class="button-strong">"Make my account"</button>
            </form>
        }
        .into_any())
    })
}

/// How an invitation's person gets in where passwords are switched off: the account is made when they sign in.
fn by_provider(name: &str, email: &str, label: &str) -> AnyView {
    view! {
        <h1>"Welcome, " {text::line(name)}</h1>
        <p class="lead">"You are invited to this desk as " {text::line(email)} ". Passwords are switched off here: sign in, with this address, and you are in."</p>
        <p><a class="button button-strong" href=form::way_to_provider("") rel="external">{text::line(label)}</a></p>
    }
    .into_any()
}

/// What the first admin fills in.
#[component]
pub(crate) fn SetUp() -> impl IntoView {
    by_link(form::SET_UP, |visit, link, posted| async move {
        visit.engine.may_set_up(&link).await?;
        let has_passwords = visit.engine.catalogue().sign_in.passwords;
        let password = has_passwords
            .then(|| password_field("password", "Password", "new-password", PASSWORD_HINT, posted.as_ref()));
        let password = password.unwrap_or_else(|| {
            let said = "Passwords are switched off here. You are signed in now, and later through the sign-in provider, which has to know and to have verified this address.";
            view! { <p class="hint">{said}</p><input type="hidden" name="password" value=""/> }.into_any()
        });
        let typed = |name: &str| posted.as_ref().map(|posted| posted.typed(name)).unwrap_or_default();
        Ok(view! {
            <h1>"Set up this desk"</h1>
            <p class="lead">"Nobody has an account yet. You become the first admin, and can invite the others."</p>
            {alert::alert(posted.as_ref())}
            <form method="post" action=form::SET_UP class="stack" novalidate>
                <input type="hidden" name="link" value=link/>
                {field("name", "Name", "text", typed("name"), posted.as_ref())}
                {field("email", "Email", "email", typed("email"), posted.as_ref())}
                {password}
                <button class="button-strong">"Make my account"</button>
            </form>
        }
        .into_any())
    })
}

/// The page at a link; one that is not good is told so, and no more.
fn by_link<F, Fut>(form: &'static str, build: F) -> AnyView
where
    F: FnOnce(Visit, String, Option<Arc<Posted>>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<AnyView, Refusal>> + Send + 'static,
{
    let link = use_params_map().read_untracked().get("link").unwrap_or_default();
    let (Some(visit), Some(reply)) = (Visit::here(), use_context::<Reply>()) else {
        return ().into_any();
    };
    let posted = visit.posted(form);
    let status = posted.as_ref().and_then(|posted| posted.fault.as_ref()).map_or(200, |fault| fault.status);
    reply.set(|parts| {
        "Your account".clone_into(&mut parts.title);
        parts.status = status;
    });
    Suspend::new(async move {
        let body = match build(visit, link, posted).await {
            Ok(body) => body,
            Err(refusal) => not_good(&refusal, &reply),
        };
        view! {
            <main id="main" class="alone">
                <p class="mark mark-large"><Mark/><span>"Countersign"</span></p>
                {body}
            </main>
        }
        .into_any()
    })
    .into_any()
}

fn not_good(refusal: &Refusal, reply: &Reply) -> AnyView {
    let problem = refusal.problem();
    reply.set(|parts| parts.status = problem.status);
    let (title, detail) = match refusal {
        Refusal::NotFound => (
            "This link is not good any more",
            "It was used, it lapsed, or it is not whole. Nothing was changed. If you have no account, ask whoever gave it to you for a new one.".to_owned(),
        ),
        _ => ("That did not work", problem.detail),
    };
    view! {
        <h1>{title}</h1>
        <p class="lead">{detail}</p>
        <p><a class="button" href="/sign-in">"To the sign-in"</a></p>
    }
    .into_any()
}
