//! The catalogue: `countersign.toml`.
#![allow(unused_variables, clippy::todo, clippy::missing_panics_doc, missing_docs)]

/// What the file says.
pub struct Catalogue {
    pub server: ServerSettings,
}

/// `[server]`.
pub struct ServerSettings {
    pub listen: String,
    pub public_url: String,
    pub database_url: String,
}

/// Every mistake of a file.
#[derive(Debug)]
pub struct Mistakes(pub Vec<Mistake>);

/// One mistake.
#[derive(Debug)]
pub struct Mistake {
    pub file: String,
    pub line: Option<usize>,
    pub message: String,
}

impl Catalogue {
    pub fn parse(text: &str, file: &str) -> Result<Self, Mistakes> {
        todo!()
    }
}
