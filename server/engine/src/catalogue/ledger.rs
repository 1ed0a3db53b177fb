//! What becomes of the ledger's checkpoints.

use std::path::PathBuf;

use super::document::{Node, Section};
use super::mistake::{Notes, Wrong};

/// What becomes of the ledger's checkpoints, `[ledger]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerSettings {
    /// The file that the newest one is written to; a relative path counts from the catalogue's folder.
    pub checkpoint_file: Option<PathBuf>,
}

impl LedgerSettings {
    /// Reads `[ledger]`.
    pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Self> {
        let section = Section::open(node, "[ledger]", &["checkpoint_file"], notes)?;
        let written = section.text("checkpoint_file");
        let file = written.filter(|file| !file.is_empty() && !file.ends_with('/') && !file.contains('\0'));
        if written.is_some() && file.is_none() {
            let wrong = Wrong::new("“checkpoint_file” cannot be written").expected("the path of a file");
            section.wrong("checkpoint_file", wrong);
        }
        Some(Self { checkpoint_file: file.map(PathBuf::from) })
    }
}
