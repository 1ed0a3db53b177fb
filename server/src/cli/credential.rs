//! `countersign credential …`

use std::process::ExitCode;

use clap::{Args, Subcommand};
use engine::credential::{Credential, HostRule, SecretSource};
use engine::credential_secret::{CredentialLine, LONGEST, SecretStanding};
use serde_json::{Value, json};

use super::Output;
use super::output::table;
use super::piped;
use crate::config::Config;
use crate::failure::Failure;

const UNDONE: &str = "No secret was kept.";

#[derive(Debug, Subcommand)]
pub(super) enum CredentialCommand {
    /// Keep a credential's secret in the sealed store; the secret comes on standard input
    Set(Set),
    /// List the credentials and whether each has its secret
    List(List),
}

/// Keep the secret of a credential with `secret = { store = true }`, in the place of an earlier one. It is read from the
/// standard input; one trailing newline is dropped. A running server uses it from the next request on.
#[derive(Debug, Args)]
pub(super) struct Set {
    /// The credential's name in the catalogue; its secret comes on standard input: `countersign credential set mail < FILE`
    name: String,
    #[command(flatten)]
    output: Output,
}

/// List the credentials: names and rules, and whether a secret is there, never the secret. What the environment has is
/// that of this command.
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    output: Output,
}

impl CredentialCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::Set(set) => set.run(config).await,
            Self::List(list) => list.run(config).await,
        }
    }
}

impl Set {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let secret = piped::secret(std::io::stdin().lock(), "secret", LONGEST, UNDONE)?;
        let kept = super::engine(config).await?.set_secret(&self.name, secret.expose()).await;
        kept.map_err(|refusal| Failure::refused(&refusal, UNDONE))?;
        let text = format!("The secret of {} is kept. It counts from the next request on.", self.name);
        self.output.print(&json!({ "name": self.name, "set": true }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl List {
    async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let lines = super::engine(config).await?.credential_lines().await;
        let lines = lines.map_err(|refusal| Failure::refused(&refusal, "Nothing was changed."))?;
        let rows: Vec<_> = lines.iter().map(row).collect();
        let items: Vec<_> = lines.iter().map(item).collect();
        let text = table(&["Name", "Hosts", "Header", "Rules", "Secret from", "Secret", "Set"], &rows);
        self.output.print(&json!({ "items": items }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn row(line: &CredentialLine) -> Vec<String> {
    let credential = &line.credential;
    vec![
        credential.name.clone(),
        hosts(credential).join(", "),
        credential.header.to_string(),
        rules(credential).join("; "),
        match &credential.secret {
            SecretSource::Env(variable) => format!("environment, {variable}"),
            SecretSource::Store => "sealed store".to_owned(),
        },
        line.standing.as_str().to_owned(),
        line.set_at.map(|at| at.to_string()).unwrap_or_default(),
    ]
}

fn item(line: &CredentialLine) -> Value {
    let credential = &line.credential;
    let methods: Vec<_> = credential.methods.iter().map(http::Method::as_str).collect();
    json!({
        "name": credential.name,
        "hosts": hosts(credential),
        "base_url": credential.base_url,
        "methods": methods,
        "path_prefixes": credential.path_prefixes,
        "allow": credential.allow,
        "header": credential.header.as_str(),
        "requires_approval": credential.requires_approval,
        "trusted": credential.trusted,
        "allow_http": credential.allow_http,
        "allow_private": credential.allow_private,
        "in_doubt_on": credential.in_doubt_on,
        "secret_from": match &credential.secret {
            SecretSource::Env(variable) => json!({ "env": variable }),
            SecretSource::Store => json!({ "store": true }),
        },
        "has_secret": line.standing == SecretStanding::Usable,
        "secret": line.standing.as_str(),
        "set_at": line.set_at,
    })
}

fn hosts(credential: &Credential) -> Vec<String> {
    let host = |rule: &HostRule| match rule.port {
        Some(port) => format!("{}:{port}", rule.host),
        None => rule.host.clone(),
    };
    credential.hosts.iter().map(host).collect()
}

fn rules(credential: &Credential) -> Vec<String> {
    let list =
        |items: Vec<String>, all: &str| if items.is_empty() { all.to_owned() } else { items.join(" ") };
    let mut rules = vec![
        list(credential.methods.iter().map(ToString::to_string).collect(), "any method"),
        list(credential.path_prefixes.clone(), "every path"),
        format!("for {}", list(credential.allow.clone(), "nobody")),
    ];
    let switches = [
        (credential.requires_approval, "requires approval"),
        (credential.trusted, "trusted"),
        (credential.allow_http, "plain http"),
        (credential.allow_private, "private addresses"),
    ];
    rules.extend(switches.into_iter().filter(|(on, _)| *on).map(|(_, rule)| rule.to_owned()));
    rules
}
