//! `countersign migrate`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::Output;
use crate::config::Config;
use crate::failure::Failure;

/// Bring the database up to date. `serve` does the same when it starts.
#[derive(Debug, Args)]
pub(super) struct Migrate {
    #[command(flatten)]
    output: Output,
}

impl Migrate {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        super::engine(config).await?.close().await;
        self.output.print(&json!({ "up_to_date": true }), "The database is up to date.")?;
        Ok(ExitCode::SUCCESS)
    }
}
