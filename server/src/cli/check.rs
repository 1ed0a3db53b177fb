//! `countersign check`

use std::process::ExitCode;

use clap::Args;
use engine::catalogue::{Catalogue, ProviderSettings};
use engine::credential_secret::{SecretStanding, standing_in_environment, warning};
use serde_json::json;

use super::Output;
use super::output::print_line;
use crate::config::{self, Config, Environment};
use crate::failure::Failure;

/// Look for mistakes in the catalogue. All of them are told at once, and which credentials have no secret; nothing is
/// changed.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    output: Output,
}

impl Check {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let file = config.shown();
        match config.catalogue() {
            Ok(catalogue) => {
                let mut warnings = without_secret(config, &catalogue).await;
                warnings.extend(engine::notice::warnings(&catalogue));
                warnings.extend(config::locked_out(config, &catalogue, &Environment::of_process()).await);
                let json = json!({ "file": file, "valid": true, "mistakes": [], "warnings": warnings });
                let lines: Vec<_> = warnings.iter().map(|warning| format!("\nWarning: {warning}")).collect();
                self.output.print(&json, &format!("{file}: no mistakes{}", lines.concat()))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(mistakes) => {
                let json = json!({ "file": file, "valid": false, "mistakes": mistakes.0, "warnings": [] });
                if self.output.json {
                    print_line(&json.to_string())?;
                }
                let lines: Vec<_> = mistakes.0.iter().map(ToString::to_string).collect();
                let happened = format!("{}\nMistakes: {}.", lines.join("\n"), lines.len());
                Err(Failure::new(
                    happened,
                    "A server would not start with this file.",
                    "Mend what is listed.",
                ))
            }
        }
    }
}

/// Which credentials have no secret. A server starts all the same.
async fn without_secret(config: &Config, catalogue: &Catalogue) -> Vec<String> {
    let mut told = Vec::new();
    let mut in_store = Vec::new();
    let own = catalogue.sign_in.oidc.as_ref().and_then(ProviderSettings::credential);
    for credential in catalogue.credentials().map(AsRef::as_ref).chain(own.as_ref()) {
        match standing_in_environment(credential) {
            Some(standing) => told.extend(warning(credential, standing)),
            None => in_store.push(credential),
        }
    }
    if in_store.is_empty() {
        return told;
    }
    match config::kept_secrets(config, catalogue, &Environment::of_process()).await {
        Ok(kept) => {
            let missing = in_store.into_iter().filter(|credential| !kept.contains(&credential.name));
            told.extend(missing.filter_map(|credential| warning(credential, SecretStanding::Missing)));
        }
        Err(error) => {
            told.push(format!("whether the sealed store has every secret could not be seen: {error}."));
        }
    }
    told
}
