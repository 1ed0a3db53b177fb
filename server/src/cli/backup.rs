//! `countersign backup`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use engine::ambient::Ambient;
use engine::backup::{self, BackupError};
use serde_json::json;

use super::Output;
use crate::config::{Config, Environment};
use crate::failure::Failure;

/// Copy the SQLite database into a new file, while the server runs. The sealing key is not in it: keep `countersign.key`
/// apart. Writes that were confirmed or on their way are in doubt in the copy, and everything is paused in it, so that
/// nothing is sent a second time. Of
/// PostgreSQL, back up with its own tools.
#[derive(Debug, Args)]
pub(super) struct Backup {
    /// The file to write, which must not be there yet
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

impl Backup {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let database = Environment::of_process().database(&config.usable_catalogue()?);
        let made = backup::make(&database, config.folder(), &self.file, &Ambient::system()).await;
        let made = made.map_err(|error| failure(&error))?;
        let copied = made.copied;
        let json = json!({
            "file": self.file,
            "bytes": made.bytes,
            "receipts": copied.receipts,
            "held": copied.held,
            "in_doubt": copied.in_doubt,
        });
        let text = format!(
            "{} holds everything until now, in {} bytes: {} receipts, {} held calls, {} in doubt.\n\
             The sealing key is not in it. Keep it too, in another place.",
            self.file.display(),
            made.bytes,
            copied.receipts,
            copied.held,
            copied.in_doubt,
        );
        self.output.print(&json, &text)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn failure(error: &BackupError) -> Failure {
    let next = match error {
        BackupError::NoDatabase => "Name the catalogue of the server with --config, or DATABASE_URL.",
        BackupError::Postgres => "Use `pg_dump`, or a base backup; docs/OPERATING.md says what to mind.",
        BackupError::Schema => {
            "Use the version that runs on it, or bring it up to date: `countersign migrate`."
        }
        BackupError::Exists(_) => "Name a file that is not there yet.",
        BackupError::Store(_) | BackupError::File { .. } => {
            "Look at the disk and the rights of the folder, then run it again."
        }
    };
    Failure::new(format!("{error}."), "No backup was made; the database was not changed.", next)
}
