//! Where a command takes its catalogue from, and how the engine is opened over it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::ambient::Ambient;
use engine::catalogue::{Catalogue, Mistakes};
use engine::secret::Secret;
use engine::store::StoreError;
use engine::{Engine, OpenOptions, credential_secret, keyring, provider};

use crate::failure::Failure;

/// The file that is looked for when none is named.
const DEFAULT_FILE: &str = "countersign.toml";

/// The sealing key's file, beside the catalogue.
const KEY_FILE: &str = "countersign.key";

const UNDONE: &str = "Nothing was opened or changed.";

/// A catalogue's text and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// The file as the person named it; `None`: there is none, the built-in defaults count.
    pub(crate) file: Option<PathBuf>,
    text: String,
    /// Relative paths in the catalogue start here.
    folder: PathBuf,
}

impl Config {
    /// The named file, or `countersign.toml` in the working directory if it is there.
    ///
    /// # Errors
    /// When the file cannot be read, or a named one is not there.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, Failure> {
        let path = named.unwrap_or(Path::new(DEFAULT_FILE));
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Self::new(path, text)),
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {
                Ok(Self { file: None, text: String::new(), folder: PathBuf::from(".") })
            }
            Err(error) => {
                let happened = format!("The catalogue {} cannot be read: {error}.", path.display());
                Err(Failure::new(happened, UNDONE, "Name a file that is there with --config FILE."))
            }
        }
    }

    /// This text as if it stood in that file.
    pub(crate) fn new(path: &Path, text: String) -> Self {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Self { file: Some(path.to_owned()), text, folder: parent.unwrap_or(Path::new(".")).to_owned() }
    }

    /// Where relative paths of the catalogue start.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the sealing keys are, unless the environment has them.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.folder.join(KEY_FILE)
    }

    /// The name of the file for messages.
    pub(crate) fn shown(&self) -> String {
        self.file.as_ref().map_or_else(|| "(built-in defaults)".to_owned(), |file| file.display().to_string())
    }

    /// The catalogue, or everything that is wrong with it.
    pub(crate) fn catalogue(&self) -> Result<Catalogue, Mistakes> {
        Catalogue::parse_with(&self.text, &self.shown(), &crate::handlers::brought_along())
    }

    /// The catalogue of a command that needs one to do something else.
    ///
    /// # Errors
    /// When it has mistakes; they are all told.
    pub(crate) fn usable_catalogue(&self) -> Result<Catalogue, Failure> {
        self.catalogue().map_err(|mistakes| {
            let lines: Vec<_> = mistakes.0.iter().map(ToString::to_string).collect();
            Failure::new(
                lines.join("\n"),
                UNDONE,
                "Mend what is listed; `countersign check` looks at the file alone.",
            )
        })
    }
}

/// What the process's environment says about the engine. Variables that are empty or no text say nothing.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    database_url: Option<String>,
    sealing_key: Option<Secret>,
}

impl Environment {
    /// Of this process.
    pub(crate) fn of_process() -> Self {
        let given = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        Self { database_url: given("DATABASE_URL"), sealing_key: given("COUNTERSIGN_KEY").map(Secret::new) }
    }

    /// Whether the sealing keys stand in the environment, not in the file.
    pub(crate) const fn has_sealing_key(&self) -> bool {
        self.sealing_key.is_some()
    }

    /// The database that counts: the environment's, else the catalogue's.
    pub(crate) fn database(&self, catalogue: &Catalogue) -> String {
        self.database_url.clone().unwrap_or_else(|| catalogue.server.database_url.clone())
    }
}

/// Opens the engine over a catalogue and brings its database up to date.
///
/// # Errors
/// When the key or the database cannot be used.
pub(crate) async fn open(
    config: &Config,
    catalogue: Catalogue,
    environment: Environment,
) -> Result<Engine, Failure> {
    let ambient = Ambient::system();
    let database_url = environment.database(&catalogue);
    // On a database that other machines may share, a key made here would be one that the others do not have.
    let may_make_key = !database_url.starts_with("postgres");
    let key_file = config.key_file();
    let sealer = keyring::load(
        environment.sealing_key.as_ref().map(Secret::expose),
        &key_file,
        may_make_key,
        &ambient,
    )
    .map_err(|error| Failure::new(format!("{error}."), UNDONE, "Then run the command again."))?;
    let options =
        OpenOptions { catalogue, database_url, base: config.folder.clone(), sealer, ambient, roots: None };
    Engine::open(options).await.map_err(|error| {
        let next = "Look at `database_url` in the catalogue, or at DATABASE_URL when it is set.";
        Failure::new(format!("{error}."), "Nothing else was done.", next)
    })
}

/// The names of the secrets in the catalogue's database, which is neither made nor changed.
///
/// # Errors
/// When the database cannot be read.
pub(crate) async fn kept_secrets(
    config: &Config,
    catalogue: &Catalogue,
    environment: &Environment,
) -> Result<Vec<String>, StoreError> {
    credential_secret::kept_in(&environment.database(catalogue), &config.folder).await
}

/// What whoever runs the desk should know when no admin could sign in. The database is neither made nor changed.
pub(crate) async fn locked_out(
    config: &Config,
    catalogue: &Catalogue,
    environment: &Environment,
) -> Option<String> {
    provider::locked_out_of(&catalogue.sign_in, &environment.database(catalogue), &config.folder).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_start_at_the_folder_of_the_file() {
        let config = |path: &str| Config::new(Path::new(path), String::new()).folder;
        assert_eq!(config("/etc/countersign/desk.toml"), Path::new("/etc/countersign"));
        assert_eq!(config("desk.toml"), Path::new("."));
    }

    #[test]
    fn a_named_file_has_to_be_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let failure =
            Config::find(Some(&folder.path().join("none.toml"))).expect_err("not there").to_string();
        assert!(failure.contains("none.toml") && failure.contains("--config"), "{failure}");
    }
}
