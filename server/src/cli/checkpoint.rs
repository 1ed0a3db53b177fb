//! `countersign checkpoint`

use std::process::ExitCode;

use clap::Args;
use engine::checkpoint::Unsigned;
use serde_json::json;

use super::output::{Output, print_line};
use crate::config::Config;
use crate::failure::Failure;

/// Sign the head of the ledger now, when it is another than before, and print it: a signed note that tells how many receipts and
/// amendments there are and what their tree comes to. The whole tree is built again first, and has to go on from what was
/// signed before. The server does the same every minute. Keep what this prints where nobody who runs the desk can change it.
#[derive(Debug, Args)]
pub(super) struct CheckpointCommand {
    /// Sign nothing; print what checkpoints are checked with
    #[arg(long)]
    key: bool,
    #[command(flatten)]
    output: Output,
}

impl CheckpointCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let engine = super::engine(config).await?;
        let key = engine.ledger_key().await.map_err(|error| failure(&error))?;
        if self.key {
            self.output.print(&json!({ "key": key }), &key)?;
            return Ok(ExitCode::SUCCESS);
        }
        let signed = engine.checkpoint(true).await.map_err(|error| failure(&error))?;
        if self.output.json {
            let json =
                json!({ "checkpoint": signed.note, "size": signed.size, "signed_at": signed.at, "key": key });
            print_line(&json.to_string())?;
        } else {
            print_line(signed.note.trim_end_matches('\n'))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What happened, and what to do about it.
pub(super) fn failure(error: &Unsigned) -> Failure {
    let (undone, next) = match error {
        Unsigned::Store(_) => {
            ("No checkpoint was signed.", "Look at the database, then run the command again.")
        }
        Unsigned::Key(_) => (
            "No checkpoint was signed.",
            "Bring back the sealing key that it was sealed with: put it behind the first one.",
        ),
        Unsigned::Forked(_) => (
            "No checkpoint was signed.",
            "Find out what changed the database before anything else: see docs/SECURITY.md, and keep a copy of it.",
        ),
        Unsigned::Published(_) => (
            "No checkpoint was signed.",
            "Look at the file of [ledger]; move it away when it is of no use, and run the command again.",
        ),
        Unsigned::File(_) => (
            "It is in the database and under /checkpoint.",
            "Mend the file of [ledger], then run the command again.",
        ),
    };
    Failure::new(format!("{error}."), undone, next)
}
