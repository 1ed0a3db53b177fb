//! `countersign check`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::Output;
use super::output::print_line;
use crate::config::Config;
use crate::failure::Failure;

/// Look for mistakes in the catalogue. All of them are told at once; nothing is opened or changed.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    output: Output,
}

impl Check {
    pub(super) fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let file = config.shown();
        match config.catalogue() {
            Ok(_) => {
                let json = json!({ "file": file, "valid": true, "mistakes": [] });
                self.output.print(&json, &format!("{file}: no mistakes"))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(mistakes) => {
                let json = json!({ "file": file, "valid": false, "mistakes": mistakes.0 });
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
