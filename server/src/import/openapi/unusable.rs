//! Why a document as a whole cannot be made into a catalogue.

use thiserror::Error;

/// Why a document as a whole cannot be made into a catalogue.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// Neither JSON nor YAML.
    #[error("The file is neither JSON nor YAML: {0}.")]
    Unreadable(String),
    /// Something else than an OpenAPI document.
    #[error("The file is no OpenAPI document: it has no field “openapi”.")]
    NotOpenApi,
    /// The predecessor.
    #[error("This is a Swagger {0} document. Convert it to OpenAPI 3.0 or 3.1 first.")]
    Swagger(String),
    /// A version that is not known here.
    #[error("This is OpenAPI {0}. Only 3.0 and 3.1 are understood.")]
    Version(String),
    /// There is nothing in it.
    #[error("The document describes no operations.")]
    NoOperations,
    /// There is nothing in it under the tags that were asked for.
    #[error("No operation has the tag {0}.")]
    NoSuchTag(String),
    /// The address of `--server`.
    #[error("The address {0} cannot be used: it has to be http or https, without user, query and fragment.")]
    Server(String),
    /// The text that was made has mistakes.
    #[error("The catalogue that was made has mistakes, which is a fault of this command:\n{0}")]
    OwnFault(String),
}
