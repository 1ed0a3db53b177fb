//! `countersign migrate`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::Output;
use crate::config::{self, Config};
use crate::failure::Failure;

/// Bring the database up to date. `serve` does the same when it starts.
#[derive(Debug, Args)]
pub(super) struct Migrate {
    #[command(flatten)]
    output: Output,
}

impl Migrate {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let engine = config::open(config, config.usable_catalogue()?, config::environment()).await?;
        let undone = "What had been applied before stands; the rest was not.";
        let applied = engine.migrate().await.map_err(|refusal| Failure::refused(&refusal, undone))?;
        let text = match applied {
            0 => "The database was up to date.".to_owned(),
            n => format!("The database is up to date; {n} migrations were applied."),
        };
        self.output.print(&json!({ "applied": applied }), &text)?;
        Ok(ExitCode::SUCCESS)
    }
}
