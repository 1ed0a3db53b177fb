//! The sealing key: from the environment, else from the file beside the catalogue, made there on the first start.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use engine::ambient::Ambient;
use engine::seal::Sealer;

use crate::failure::Failure;

/// The variable that holds the key, or several.
pub(crate) const VARIABLE: &str = "COUNTERSIGN_KEY";

/// The file beside the catalogue.
const FILE: &str = "countersign.key";

const UNDONE: &str = "Nothing was opened or changed.";
const NEXT: &str = "A key is base64 of 32 bytes; make one with: head -c 32 /dev/urandom | base64";

/// Reads the key, and makes it where that is allowed. `may_be_made`: on a database that other machines share a key
/// made here would be a key the others do not have.
///
/// # Errors
/// When there is no key and none may be made, or what is there cannot be read or is no key.
pub(crate) fn read(
    from_environment: Option<&str>,
    folder: &Path,
    may_be_made: bool,
) -> Result<Sealer, Failure> {
    if let Some(text) = from_environment.filter(|text| !text.trim().is_empty()) {
        return parse(text, VARIABLE);
    }
    let path = folder.join(FILE);
    let shown = path.display().to_string();
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            warn_when_open_to_others(&path);
            parse(&text, &shown)
        }
        Err(error) if error.kind() == ErrorKind::NotFound && may_be_made => {
            make(folder, &path).map_err(|error| unusable(&shown, &error))?;
            // Another process may have been first: what stands in the file counts.
            parse(&std::fs::read_to_string(&path).map_err(|error| unusable(&shown, &error))?, &shown)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(missing(&shown)),
        Err(error) => Err(unusable(&shown, &error)),
    }
}

fn parse(text: &str, place: &str) -> Result<Sealer, Failure> {
    Sealer::parse(text.trim(), Ambient::system())
        .map_err(|_| Failure::new(format!("{place} does not hold a sealing key."), UNDONE, NEXT))
}

/// Writes a fresh key whole or not at all, and never over one that is there.
fn make(folder: &Path, path: &Path) -> std::io::Result<()> {
    let ambient = Ambient::system();
    let draft = folder.join(format!(".{FILE}.{}", ambient.uuid()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let text = format!("{}\n", Sealer::generate(&ambient));
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| std::fs::hard_link(&draft, path));
    std::fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        // Without this a power cut could leave sealed rows and no key.
        _ => File::open(folder)?.sync_all(),
    }
}

/// Says so when others than the owner can read the key.
fn warn_when_open_to_others(path: &Path) {
    let open = |permissions: Permissions| permissions.mode() & 0o077 != 0;
    if std::fs::metadata(path).is_ok_and(|metadata| open(metadata.permissions())) {
        tracing::warn!(file = %path.display(), "others than its owner can read the sealing key: chmod 600 it");
    }
}

fn missing(place: &str) -> Failure {
    let happened = format!(
        "There is no sealing key: {VARIABLE} is not set and {place} is not there. On PostgreSQL, which other machines \
         may share, none is made silently."
    );
    let next = format!("{NEXT} — and give the same one to every machine, as {VARIABLE} or as {place}.");
    Failure::new(happened, UNDONE, next)
}

fn unusable(place: &str, error: &std::io::Error) -> Failure {
    let next = format!("Make its folder writable for this user, or set {VARIABLE}. {NEXT}");
    Failure::new(format!("The sealing key {place} cannot be used: {error}."), UNDONE, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_with_owner_only_rights() {
        let folder = tempfile::tempdir().expect("a folder");
        read(None, folder.path(), true).expect("made");
        let path = folder.path().join(FILE);
        let first = std::fs::read_to_string(&path).expect("the key");
        assert_eq!(std::fs::metadata(&path).expect("metadata").permissions().mode() & 0o777, 0o600);
        read(None, folder.path(), true).expect("read");
        make(folder.path(), &path).expect("a second maker loses quietly");
        assert_eq!(std::fs::read_to_string(&path).expect("the key"), first);
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1, "no draft is left");
    }

    #[test]
    fn none_is_made_where_others_share_the_database() {
        let folder = tempfile::tempdir().expect("a folder");
        let failure = read(None, folder.path(), false).expect_err("refused").to_string();
        assert!(failure.contains("/dev/urandom") && failure.contains(VARIABLE), "{failure}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }

    #[test]
    fn the_environment_wins_and_nothing_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = Sealer::generate(&Ambient::system());
        assert!(read(Some(&format!("{key},{key}")), folder.path(), false).is_ok());
        assert!(read(Some("not a key"), folder.path(), true).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }
}
