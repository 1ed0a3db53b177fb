//! Names and rules of credentials, never their values; for operators and admins.

use engine::credential::{Credential, HostRule, SecretSource};
use leptos::prelude::*;

use crate::frame::{Shape, Sheet, Tab, page};
use crate::parts::table::{cell, table};
use crate::parts::text;

/// Names and rules of credentials.
#[component]
pub(crate) fn Credentials() -> impl IntoView {
    page(Tab::Credentials, |visit, me| async move {
        let credentials = visit.engine.credentials(&me)?;
        let list = if credentials.is_empty() {
            view! { <p class="nothing">"The catalogue has no credential yet."</p> }.into_any()
        } else {
            let columns = ["Name", "Hosts", "Methods and paths", "Who may use it", "Rules", "Secret"];
            table("Credentials", &columns, credentials.iter().map(line).collect())
        };
        let body = view! {
            <h1>"Credentials"</h1>
            <p class="lead">"Where each may be sent. What it is never leaves the desk, and is never shown."</p>
            {list}
        };
        Ok(Sheet::new("Credentials", Shape::Wide, body))
    })
}

fn line(credential: &Credential) -> Vec<AnyView> {
    let hosts: Vec<String> = credential.hosts.iter().map(host).collect();
    let methods: Vec<&str> = credential.methods.iter().map(http::Method::as_str).collect();
    let methods = if methods.is_empty() { "any method".to_owned() } else { methods.join(", ") };
    let paths = if credential.path_prefixes.is_empty() {
        "every path".to_owned()
    } else {
        credential.path_prefixes.join(", ")
    };
    let secret = match &credential.secret {
        SecretSource::Env(name) => view! { "environment, " <code>{text::line(name)}</code> }.into_any(),
        SecretSource::Store => "sealed store".into_any(),
    };
    vec![
        cell("Name", text::line(&credential.name)),
        cell("Hosts", view! { <code>{text::line(&hosts.join(", "))}</code> }),
        cell("Methods and paths", text::line(&format!("{methods}; {paths}"))),
        cell("Who may use it", text::line(&who(&credential.allow))),
        cell("Rules", rules(credential)),
        cell("Secret", secret),
    ]
}

fn host(rule: &HostRule) -> String {
    rule.port.map_or_else(|| rule.host.clone(), |port| format!("{}:{port}", rule.host))
}

fn who(allow: &[String]) -> String {
    if allow.iter().any(|who| who == "*") { "everybody".to_owned() } else { allow.join(", ") }
}

fn rules(credential: &Credential) -> String {
    let rules: Vec<&str> = [
        (credential.requires_approval, "every request waits for a person"),
        (!credential.trusted, "reads taint the session"),
        (credential.allow_http, "plain http allowed"),
        (credential.allow_private, "private addresses allowed"),
    ]
    .into_iter()
    .filter_map(|(holds, rule)| holds.then_some(rule))
    .collect();
    if rules.is_empty() { "none".to_owned() } else { rules.join("; ") }
}
