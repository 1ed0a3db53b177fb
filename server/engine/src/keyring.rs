//! Where the sealing keys come from, and how they are made.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use zeroize::Zeroizing;

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
    let text = read(file)?;
    let sealer =
        Sealer::parse(&text, ambient.clone()).map_err(|error| KeyringError::Unreadable(name, error))?;
    let file = file.to_owned();
    Ok(sealer.read_again_from(Arc::new(move || read(&file).ok())))
}

/// What the key file holds, if nobody else can read it.
fn read(file: &Path) -> Result<Zeroizing<String>, KeyringError> {
    let failed = |error| KeyringError::File(file.display().to_string(), error);
    if is_open(file).map_err(failed)? {
        return Err(KeyringError::TooOpen(file.display().to_string()));
    }
    let text = Zeroizing::new(std::fs::read_to_string(file).map_err(failed)?);
    Ok(Zeroizing::new(text.trim().to_owned()))
}

/// Puts a fresh key before those of the file: whole or not at all, and readable by its owner alone. The keys that were
/// there stay behind it. Processes that read the file take the fresh key on by themselves.
///
/// # Errors
/// When the file is not there, holds no keys, can be read by others, or cannot be replaced; then it is as it was.
pub fn put_first(file: &Path, ambient: &Ambient) -> Result<(), KeyringError> {
    let name = file.display().to_string();
    let failed = |error| KeyringError::File(name.clone(), error);
    let folder = std::fs::File::open(folder_of(file)).map_err(failed)?;
    // Two at once would each replace what the other wrote.
    folder.lock().map_err(failed)?;
    let known = read(file)?;
    Sealer::parse(&known, ambient.clone()).map_err(|error| KeyringError::Unreadable(name.clone(), error))?;
    let fresh = Zeroizing::new(format!("{},{}", *Zeroizing::new(Sealer::generate(ambient)), *known));
    let draft = write_draft(file, &fresh).map_err(failed)?;
    std::fs::rename(&draft, file).and_then(|()| folder.sync_all()).map_err(failed)
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file beside the key file that its owner alone can read, with these keys in it, on the disk.
fn write_draft(file: &Path, keys: &str) -> std::io::Result<PathBuf> {
    use std::io::Write;
    let draft = file.with_extension(format!("key.{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut written = options.open(&draft)?;
    writeln!(written, "{keys}")?;
    written.sync_all()?;
    Ok(draft)
}

/// Writes the key whole or not at all; a file that another process has just made is left as it is.
fn make(file: &Path, key: &str) -> std::io::Result<()> {
    let draft = write_draft(file, key)?;
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

#[cfg(all(test, unix))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::seal::Purpose;

    fn loaded(file: &Path) -> Result<Sealer, KeyringError> {
        load(None, file, true, &Ambient::system())
    }

    #[test]
    fn a_fresh_key_goes_first_and_a_process_that_runs_takes_it_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("countersign.key");
        let running = loaded(&file).expect("made");
        let before = running.seal(Purpose::Input, "x", b"1");
        put_first(&file, &Ambient::system()).expect("rotated");
        let started = loaded(&file).expect("read");
        assert_eq!((running.names().len(), started.names().len()), (1, 2));
        assert_eq!(started.names()[1], running.names()[0], "the old key stays behind it");
        let after = started.seal(Purpose::Input, "x", b"2");
        assert!(started.open(Purpose::Input, "x", &before).is_ok());
        assert!(running.open(Purpose::Input, "x", &after).is_ok(), "an unknown key is looked for");
        assert_eq!(running.names(), started.names());
        assert_eq!(std::fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "no draft is left");
    }

    #[test]
    fn a_file_that_others_can_read_or_that_holds_no_key_is_refused_and_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("countersign.key");
        drop(loaded(&file).expect("made"));
        let text = std::fs::read_to_string(&file).expect("read");
        for mode in [0o640, 0o604, 0o644, 0o660] {
            std::fs::set_permissions(&file, Permissions::from_mode(mode)).expect("set");
            let told = loaded(&file).expect_err("refused").to_string();
            assert!(told.contains("chmod 600"), "{told}");
            assert!(matches!(put_first(&file, &Ambient::system()), Err(KeyringError::TooOpen(_))));
        }
        assert_eq!(std::fs::read_to_string(&file).expect("read"), text);
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("set");
        std::fs::write(&file, "no key").expect("written");
        assert!(matches!(put_first(&file, &Ambient::system()), Err(KeyringError::Unreadable(..))));
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "no key");
        assert!(matches!(
            put_first(&folder.path().join("none"), &Ambient::system()),
            Err(KeyringError::File(..))
        ));
    }

    #[test]
    fn many_at_once_lose_no_key() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("countersign.key");
        drop(loaded(&file).expect("made"));
        // Each in a handle of its own, as processes have.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| put_first(&file, &Ambient::system()).expect("rotated"));
            }
        });
        assert_eq!(loaded(&file).expect("read").names().len(), 5);
    }
}
