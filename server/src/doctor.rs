//! A look at a deployment: what would keep it from working, or from being trusted. Nothing is changed by it.

mod address;
mod database;
mod finding;
mod ledger;
mod pause;
mod secrets;

use engine::ambient::Ambient;
use engine::catalogue::Catalogue;
use engine::egress::{Egress, Limits};
use engine::provider::look_at;

pub(crate) use self::finding::{Finding, Verdict};
use crate::config::{Config, Environment};

/// Everything that was looked at, in the order in which a person would mend it.
pub(crate) async fn examine(config: &Config, environment: Environment) -> Vec<Finding> {
    let catalogue = match config.catalogue() {
        Ok(catalogue) => catalogue,
        Err(mistakes) => {
            return mistakes
                .0
                .iter()
                .map(|mistake| {
                    Finding::bad(
                        "catalogue",
                        mistake.to_string(),
                        "Mend it; the server does not start with it.",
                    )
                })
                .collect();
        }
    };
    let mut findings = vec![described(config, &catalogue)];
    let (mut of_database, is_current) = database::examine(config, &catalogue, &environment).await;
    findings.append(&mut of_database);
    findings.push(address::bound(&catalogue));
    findings.push(address::passkeys(&catalogue));
    findings.extend(egress(&catalogue).await);
    findings.extend(secrets::examine(config, catalogue, environment, is_current).await);
    findings
}

fn described(config: &Config, catalogue: &Catalogue) -> Finding {
    let (actions, credentials) = (catalogue.actions().count(), catalogue.credentials().count());
    if config.file.is_none() {
        let next = "Write countersign.toml, or name one with --config.";
        return Finding::mind(
            "catalogue",
            "there is no file: the built-in defaults count, without any action.",
            next,
        );
    }
    let counted =
        format!("{}: {actions} actions and {credentials} credentials, no mistakes.", config.shown());
    Finding::good("catalogue", counted)
}

/// Whether TLS has roots, and whether people and agents find the desk where they are told.
async fn egress(catalogue: &Catalogue) -> Vec<Finding> {
    match Egress::new(Limits::default()) {
        Ok(egress) => {
            let mut findings = vec![
                Finding::good("tls", "the system's root certificates are there."),
                address::answers(&egress, catalogue).await,
            ];
            findings.extend(provider(&egress, catalogue).await);
            findings
        }
        Err(error) => vec![Finding::bad(
            "tls",
            format!("connections to the world cannot be made: {error}."),
            "Install the system's root certificates (package ca-certificates).",
        )],
    }
}

/// Whether the sign-in provider says what it is, and with which keys.
async fn provider(egress: &Egress, catalogue: &Catalogue) -> Option<Finding> {
    let settings = catalogue.sign_in.oidc.as_ref()?;
    Some(match look_at(settings, egress, &Ambient::system()).await {
        Ok(found) => Finding::good("sign_in", found),
        Err(found) => {
            Finding::bad("sign_in", found, "Look at `issuer` in [sign_in.oidc], and at the provider.")
        }
    })
}
