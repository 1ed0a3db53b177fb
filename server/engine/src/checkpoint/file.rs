//! The newest checkpoint in a file, for whoever takes it away from here.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use ledger::Checkpoint;
use ledger::note::VerifierKey;

use super::Unsigned;
use crate::engine::Engine;

impl Engine {
    /// Where checkpoints are written to; `None`: nowhere.
    pub(super) fn checkpoint_file(&self) -> Option<PathBuf> {
        self.catalogue().ledger.checkpoint_file.as_ref().map(|file| self.base().join(file))
    }
}

/// The checkpoint that was written there last; `None`: there is no file yet.
///
/// # Errors
/// When something else stands there: it is not written over.
pub(super) fn read(path: &Path, key: &VerifierKey) -> Result<Option<Checkpoint>, Unsigned> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Unsigned::Published(format!("{}: {error}", path.display()))),
    };
    let checkpoint = Checkpoint::open(&text, key).map_err(|error| {
        Unsigned::Published(format!("{} holds no checkpoint of this ledger: {error}", path.display()))
    })?;
    Ok(Some(checkpoint))
}

/// Writes it so that nobody ever reads half of it.
pub(super) fn write(path: &Path, note: &str) -> Result<(), Unsigned> {
    let failed = |error: std::io::Error| Unsigned::File(format!("{}: {error}", path.display()));
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = (|| {
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(note.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        // It would only be in the way; what failed is told.
        let _ = std::fs::remove_file(&beside);
    }
    written.map_err(failed)
}
