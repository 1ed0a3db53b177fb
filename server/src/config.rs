//! Where a command takes its catalogue from, and how the engine is opened over it.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::Engine;
use engine::ambient::Ambient;
use engine::catalogue::{Catalogue, Mistakes};
use engine::wanted::OpenOptions;

use crate::failure::Failure;
use crate::sealing_key;

/// The file that is looked for when none is named.
const DEFAULT_FILE: &str = "countersign.toml";

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

    /// The name of the file for messages.
    pub(crate) fn shown(&self) -> String {
        self.file.as_ref().map_or_else(|| "(built-in defaults)".to_owned(), |file| file.display().to_string())
    }

    /// The catalogue, or everything that is wrong with it.
    pub(crate) fn catalogue(&self) -> Result<Catalogue, Mistakes> {
        Catalogue::parse(&self.text, &self.shown())
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

/// Opens the engine over a catalogue. The database is opened as it is: `serve` and `migrate` bring it up to date.
///
/// # Errors
/// When the key or the database cannot be used.
pub(crate) async fn open(
    config: &Config,
    catalogue: Catalogue,
    environment: HashMap<String, String>,
) -> Result<Engine, Failure> {
    let given = |name: &str| environment.get(name).filter(|value| !value.trim().is_empty()).cloned();
    let database_url = given("DATABASE_URL").unwrap_or_else(|| catalogue.server.database_url.clone());
    let shared = database_url.starts_with("postgres");
    let sealer = sealing_key::read(given(sealing_key::VARIABLE).as_deref(), &config.folder, !shared)?;
    let base_dir = config.folder.clone();
    let options = OpenOptions { base_dir, database_url, sealer, environment, ambient: Ambient::system() };
    Engine::open(catalogue, options).await.map_err(|refusal| Failure::refused(&refusal, UNDONE))
}

/// The process's own environment. Variables that are no text are none.
pub(crate) fn environment() -> HashMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
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
