//! `countersign serve`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::Output;
use crate::config::Config;
use crate::failure::Failure;
use crate::{log, serve};

/// Bring the database up to date and serve until told to stop (SIGTERM or SIGINT).
#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    output: Output,
}

impl Serve {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        log::start("info");
        let listen = config.usable_catalogue()?.server.listen;
        // The address first: a second server on it must not touch the database.
        let listener = serve::listen(listen).await?;
        let engine = super::engine(config).await?;
        let url = engine.public_url();
        let text = format!("Countersign listens on {listen}; people open {url}");
        self.output.print(&json!({ "url": url, "listen": listen.to_string() }), &text)?;
        serve::serve(engine, listener).await?;
        Ok(ExitCode::SUCCESS)
    }
}
