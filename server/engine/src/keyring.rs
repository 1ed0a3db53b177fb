//! Where the sealing keys come from, and how they are made.

use std::path::Path;

use crate::ambient::Ambient;
use crate::seal::Sealer;

/// Why there are no sealing keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// Neither the variable nor the file, and none may be made silently.
    #[error(
        "there is no sealing key: set COUNTERSIGN_KEY to base64 of 32 random bytes (openssl rand -base64 32), the same on every node, or put it into {0} with owner-only rights"
    )]
    Missing(String),
    /// The text is no key.
    #[error("{0}: {1}")]
    Unreadable(String, crate::seal::NotKeys),
    /// Others can read the file.
    #[error(
        "{0} can be read by others: give it owner-only rights (chmod 600) and make a new key if somebody may have read it"
    )]
    TooOpen(String),
    /// The file cannot be read or written.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
}

/// From the variable's text when it is given, else from the file; the file is made when it may be.
///
/// # Errors
/// When there is no usable key.
pub fn load(
    variable: Option<&str>,
    file: &Path,
    may_make: bool,
    ambient: &Ambient,
) -> Result<Sealer, KeyringError> {
    let name = file.display().to_string();
    if let Some(text) = variable {
        return Sealer::parse(text, ambient.clone())
            .map_err(|error| KeyringError::Unreadable("COUNTERSIGN_KEY".to_owned(), error));
    }
    if !file.exists() {
        if !may_make {
            return Err(KeyringError::Missing(name));
        }
        make(file, &Sealer::generate(ambient)).map_err(|error| KeyringError::File(name.clone(), error))?;
    }
    if is_open(file).map_err(|error| KeyringError::File(name.clone(), error))? {
        return Err(KeyringError::TooOpen(name));
    }
    let text = std::fs::read_to_string(file).map_err(|error| KeyringError::File(name.clone(), error))?;
    Sealer::parse(text.trim(), ambient.clone()).map_err(|error| KeyringError::Unreadable(name, error))
}

/// Writes the key whole or not at all; a file that another process has just made is left as it is.
fn make(file: &Path, key: &str) -> std::io::Result<()> {
    use std::io::Write;
    let draft = file.with_extension(format!("key.{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut written = options.open(&draft)?;
    writeln!(written, "{key}")?;
    written.sync_all()?;
    let linked = std::fs::hard_link(&draft, file);
    std::fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
fn is_open(file: &Path) -> std::io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(file)?) & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open(_: &Path) -> std::io::Result<bool> {
    Ok(false)
}
