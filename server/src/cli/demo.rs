//! `countersign demo`

use std::process::ExitCode;

use clap::Args;

use super::Output;
use crate::demo;
use crate::failure::Failure;

/// Show it all on temporary data: a desk, an upstream with mail, payments and tickets, people, and an agent that calls.
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// The desk's port; 0: any free one [default: 8087, or any free one when that is taken]
    #[arg(long)]
    port: Option<u16>,
    /// The agent makes no calls
    #[arg(long)]
    quiet_agent: bool,
    #[command(flatten)]
    output: Output,
}

impl Demo {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        demo::run(demo::Wishes { port: self.port, json: self.output.json, quiet_agent: self.quiet_agent })
            .await?;
        Ok(ExitCode::SUCCESS)
    }
}
