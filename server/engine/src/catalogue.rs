//! The catalogue: `countersign.toml`.
#![allow(unused_variables, clippy::todo, clippy::missing_panics_doc, missing_docs)]

/// What the file says.
pub struct Catalogue {
    pub server: ServerSettings,
}

/// `[server]`.
pub struct ServerSettings {
    pub listen: std::net::SocketAddr,
    pub public_url: url::Url,
    pub database_url: String,
}

/// Every mistake of a file.
#[derive(Debug)]
pub struct Mistakes(pub Vec<Mistake>);

/// One mistake.
#[derive(Debug, serde::Serialize)]
pub struct Mistake {
    pub file: String,
    pub line: usize,
    pub message: String,
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl Catalogue {
    pub fn parse(text: &str, file: &str) -> Result<Self, Mistakes> {
        todo!()
    }
}
