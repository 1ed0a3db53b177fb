//! Names and rules of credentials, never their values; for operators and admins.

use engine::credential::{Credential, HostRule, SecretSource};
use engine::credential_secret::{CredentialLine, SecretStanding};
use leptos::prelude::*;
use model::Time;

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::fold::{fact, fold};
use crate::parts::{text, time};

/// Names and rules of credentials.
#[component]
pub(crate) fn Credentials() -> impl IntoView {
    page(Tab::Credentials, |visit, me| async move {
        let lines = visit.engine.credentials(&me).await?;
        let now = visit.engine.now();
        let list = if lines.is_empty() {
            view! { <p class="nothing">"The catalogue has no credential yet. Credentials are written in " <code>"countersign.toml"</code> "."</p> }.into_any()
        } else {
            let folds: Vec<_> = lines.iter().map(|line| section(line, now)).collect();
            view! { <div class="folds">{folds}</div> }.into_any()
        };
        let body = view! {
            <h1>"Credentials"</h1>
            <p class="lead">"Where each may be sent. What it is never leaves the desk, and is never shown."</p>
            {list}
        };
        Ok(Sheet::new("Credentials", Shape::Wide, body))
    })
}

/// One that misses its secret stands open: something has to be done about it.
fn section(line: &CredentialLine, now: Time) -> AnyView {
    let credential = &line.credential;
    let is_usable = line.standing == SecretStanding::Usable;
    let hosts: Vec<String> = credential.hosts.iter().map(HostRule::written).collect();
    let said = view! {
        <code>{text::line(&hosts.join(", "))}</code>
        {(!is_usable).then(|| view! { <strong class="bad">{standing(line.standing)}</strong> })}
    };
    let warning = line.warning().map(|warning| view! { <p class="warning">{text::line(&warning)}</p> });
    let content = view! { {warning} <dl class="facts">{facts(line, &hosts, now)}</dl> };
    fold(format!("credential-{}", credential.name), text::line(&credential.name), said, !is_usable, content)
}

fn facts(line: &CredentialLine, hosts: &[String], now: Time) -> Vec<AnyView> {
    let credential = &line.credential;
    let methods: Vec<&str> = credential.methods.iter().map(http::Method::as_str).collect();
    let code = |text: String| view! { <code>{text::line(&text)}</code> }.into_any();
    let any = |list: &[String], none: &'static str| {
        if list.is_empty() { none.into_any() } else { code(list.join(", ")) }
    };
    let in_doubt: Vec<_> = credential.in_doubt_on.iter().map(ToString::to_string).collect();
    let methods: Vec<String> = methods.into_iter().map(str::to_owned).collect();
    let source = match &credential.secret {
        SecretSource::Env(name) => {
            view! { "in the environment variable " <code>{text::line(name)}</code> }.into_any()
        }
        SecretSource::Store => "in the sealed store".into_any(),
    };
    let set_at = line.set_at.map(|at| view! { ", set " {time::ago(at, now)} });
    vec![
        fact("Secret", view! { {standing(line.standing)} ", " {source} {set_at} }),
        fact("Sent in", code(credential.header.to_string())),
        fact("Hosts", any(hosts, "none")),
        fact("Methods", any(&methods, "every method")),
        fact("Paths", any(&credential.path_prefixes, "every path")),
        fact(
            "Base address of via",
            credential.base_url.clone().map_or_else(|| "none: it cannot be used over via".into_any(), code),
        ),
        fact("Who may use it over fetch and via", who(&credential.allow)),
        fact(
            "Requests over fetch and via",
            if credential.requires_approval {
                "each waits for a person"
            } else {
                "wait for a person only where something else says so"
            },
        ),
        fact(
            "Reads",
            if credential.trusted {
                "leave the session as it is: trusted"
            } else {
                "taint the session: not trusted"
            },
        ),
        fact("Where it may go", reach(credential)),
        fact("Answers that do not tell whether it happened", any(&in_doubt, "none")),
    ]
}

const fn standing(standing: SecretStanding) -> &'static str {
    match standing {
        SecretStanding::Usable => "there",
        SecretStanding::Missing => "missing",
        SecretStanding::Unusable => "not usable",
    }
}

fn who(allow: &[String]) -> AnyView {
    if allow.iter().any(|who| who == "*") { "everybody".into_any() } else { text::line(&allow.join(", ")) }
}

fn reach(credential: &Credential) -> &'static str {
    match (credential.allow_http, credential.allow_private) {
        (true, true) => "plain http, and loopback or private addresses, are allowed",
        (true, false) => "plain http is allowed; no loopback or private address",
        (false, true) => "https alone; loopback or private addresses are allowed",
        (false, false) => "https alone, and no loopback or private address",
    }
}
