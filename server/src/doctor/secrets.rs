//! The sealing keys and the credentials' secrets: whether they are there. None is ever told.

use engine::catalogue::{Catalogue, ProviderSettings};
use engine::credential::Credential;
use engine::credential_secret::{SecretStanding, standing_in_environment, warning};
use engine::keyring::{self, KeyringError};
use engine::reseal::KeyUse;
use engine::{Engine, ambient::Ambient};

use super::Finding;
use crate::config::{self, Config, Environment};

const KEY: &str = "key";

/// The sealing keys first: without them nothing that is sealed can be looked at. With another version's schema the
/// database is left alone.
pub(super) async fn examine(
    config: &Config,
    catalogue: Catalogue,
    environment: Environment,
    is_current: bool,
) -> Vec<Finding> {
    let mut findings = vec![key(config, &environment, is_current)];
    findings.extend(in_environment(&catalogue));
    // Opening a desk without a key would make one.
    if !is_current || !findings[0].is_good() {
        return findings;
    }
    match config::open(config, catalogue, environment).await {
        Ok(engine) => {
            findings.extend(sealed(&engine).await);
            findings.extend(super::pause::examine(&engine).await);
            findings.push(super::ledger::examine(&engine).await);
            engine.close().await;
        }
        Err(failure) => {
            let next = "Look at the key and the database.";
            findings.push(Finding::bad(KEY, failure.to_string(), next));
        }
    }
    findings
}

/// Whether there is a key that nobody else can read. None is made.
fn key(config: &Config, environment: &Environment, is_current: bool) -> Finding {
    if environment.has_sealing_key() {
        return Finding::good(KEY, "it stands in COUNTERSIGN_KEY.");
    }
    let file = config.key_file();
    match (keyring::load(None, &file, false, &Ambient::system()), is_current) {
        (Ok(_), _) => Finding::good(KEY, format!("{} is there, for its owner alone.", file.display())),
        (Err(KeyringError::Missing(_)), false) => {
            let found = format!("{} is not there yet.", file.display());
            Finding::mind(
                KEY,
                found,
                "On SQLite the first start makes it. For PostgreSQL make one: see the README.",
            )
        }
        (Err(KeyringError::Missing(_)), true) => {
            let found = format!("the database is there, and {} is not.", file.display());
            Finding::bad(
                KEY,
                found,
                "Bring it back from where it was kept, or set COUNTERSIGN_KEY: what is held is sealed with it.",
            )
        }
        (Err(error), _) => Finding::bad(
            KEY,
            format!("{error}."),
            "Do what it says; the server does not start without a key.",
        ),
    }
}

fn in_environment(catalogue: &Catalogue) -> Vec<Finding> {
    let standing = |credential: &Credential| warning(credential, standing_in_environment(credential)?);
    let own = catalogue.sign_in.oidc.as_ref().and_then(ProviderSettings::credential);
    let all = catalogue.credentials().map(AsRef::as_ref).chain(own.as_ref());
    all.filter_map(|credential| standing(credential).map(missing)).collect()
}

fn missing(warning: String) -> Finding {
    Finding::bad(
        "credential",
        warning,
        "Set the variable for the server, or run `countersign credential set`.",
    )
}

/// What is in the database: whether every key that seals something is here, and every secret.
async fn sealed(engine: &Engine) -> Vec<Finding> {
    let (uses, lines) = match (engine.key_uses().await, engine.secret_lines().await) {
        (Ok(uses), Ok(lines)) => (uses, lines),
        (Err(refusal), _) | (_, Err(refusal)) => {
            return vec![Finding::bad(KEY, refusal.problem().detail, "Look at the database.")];
        }
    };
    let mut findings: Vec<_> = lost(&uses).into_iter().collect();
    let stored = lines.iter().filter(|line| standing_in_environment(&line.credential).is_none());
    findings.extend(stored.filter_map(engine::credential_secret::CredentialLine::warning).map(missing));
    let usable = lines.iter().filter(|line| line.standing == SecretStanding::Usable).count();
    if usable == lines.len() && usable > 0 {
        findings.push(Finding::good("credential", "every credential has its secret."));
    }
    if let Ok(Some(warning)) = engine.locked_out().await {
        findings.push(Finding::mind("sign_in", warning, "Try it before everybody is signed out."));
    }
    findings
}

fn lost(uses: &[KeyUse]) -> Option<Finding> {
    let values: u64 = uses.iter().filter(|key| !key.known).map(|key| key.seals).sum();
    (values > 0).then(|| {
        let found = format!("{values} sealed values open with none of the keys that are here.");
        Finding::bad(KEY, found, "Bring back the key they were sealed with: put it behind the first one.")
    })
}
