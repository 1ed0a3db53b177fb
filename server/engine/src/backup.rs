//! A backup of a SQLite database: one file that can take its place.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use model::PauseId;

use crate::ambient::Ambient;
use crate::store::{Copied, Dialect, Schema, Standstill, Store, StoreError};

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Its size in bytes.
    pub bytes: u64,
    /// What it holds.
    pub copied: Copied,
}

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// There is no database yet.
    #[error("there is no database yet at this address")]
    NoDatabase,
    /// It is not the kind of database that this makes backups of.
    #[error("the database is PostgreSQL, which is backed up with its own tools")]
    Postgres,
    /// It has the schema of another version, of which this one does not know what may not begin again.
    #[error("the database does not have this version's schema")]
    Schema,
    /// Something is there already.
    #[error("{0} is there already")]
    Exists(PathBuf),
    /// The database failed, or the copy is not sound.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written.
    #[error("{file}: {error}")]
    File {
        /// Which one.
        file: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Copies a database into a file that is not there yet, beside everybody who uses it, and forces it to the disk. The
/// database is neither made nor brought up to date. The file appears under its name only when it is whole, readable for
/// its owner alone; the sealing key is not in it.
///
/// # Errors
/// Nothing stands under the file's name then.
pub async fn make(
    database_url: &str,
    base: &Path,
    file: &Path,
    ambient: &Ambient,
) -> Result<Backup, BackupError> {
    if file.exists() {
        return Err(BackupError::Exists(file.to_owned()));
    }
    let store = Store::open_existing(database_url, base).await?.ok_or(BackupError::NoDatabase)?;
    let made = match store.dialect() {
        Dialect::Postgres => Err(BackupError::Postgres),
        Dialect::Sqlite if store.schema().await? != Schema::Current => Err(BackupError::Schema),
        Dialect::Sqlite => copy(&store, file, &standstill(ambient)).await,
    };
    store.close().await;
    made
}

/// Nobody who looks at a restored desk knows by it what was sent since.
fn standstill(ambient: &Ambient) -> Standstill {
    let at = ambient.now();
    let reason = format!(
        "This is a backup of {at}. What was sent, decided or revoked since then is not known here: compare what waits with the services, then resume."
    );
    Standstill { id: PauseId::from_uuid(ambient.uuid()), at, reason }
}

async fn copy(store: &Store, file: &Path, pause: &Standstill) -> Result<Backup, BackupError> {
    let part = beside(file);
    let failed = |error| BackupError::File { file: part.clone(), error };
    new_private(&part).map_err(failed)?;
    let copied = match store.copy_into(&part, pause).await {
        Ok(copied) => copied,
        Err(error) => {
            // What was begun is of no use to anybody.
            let _ = std::fs::remove_file(&part);
            return Err(error.into());
        }
    };
    let bytes = keep(&part, file).map_err(|error| {
        let _ = std::fs::remove_file(&part);
        failed(error)
    })?;
    Ok(Backup { bytes, copied })
}

/// The name under which the file is written until it is whole.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// An empty file for its owner alone. One that a broken-off backup left is begun anew.
fn new_private(part: &Path) -> io::Result<()> {
    match std::fs::remove_file(part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = std::fs::OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(part).map(drop)
}

/// Forces the file to the disk and gives it its name, unless somebody else took that meanwhile: how large it is.
fn keep(part: &Path, file: &Path) -> io::Result<u64> {
    let written = File::open(part)?;
    written.sync_all()?;
    // A link does not replace what is there, a rename would.
    std::fs::hard_link(part, file)?;
    std::fs::remove_file(part)?;
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()?;
    Ok(written.metadata()?.len())
}
