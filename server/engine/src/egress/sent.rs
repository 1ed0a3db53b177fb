//! How a send ended.

use std::fmt;

use bytes::Bytes;
use http::HeaderMap;
use model::Refusal;

use super::blocked::Blocked;

/// How a send ended. Nothing else can have happened, and nothing was sent twice.
#[derive(Debug)]
pub enum Sent {
    /// The upstream answered: a final status line was seen.
    Answered(Response),
    /// Not one byte of the request can have left.
    NeverLeft(NeverLeft),
    /// A byte may have left, and no final status line was seen.
    Unknown(Unknown),
}

/// What the upstream answered, fit to be passed on: without cookies, and without the secret in any spelling.
#[derive(Debug)]
pub struct Response {
    /// The final status, 200 to 599.
    pub status: u16,
    /// The headers that may come back; empty when the connection broke within them.
    pub headers: HeaderMap,
    /// The body.
    pub body: BodyRead,
}

/// How much of a body was read. The status counts in every case.
#[derive(PartialEq, Eq)]
pub enum BodyRead {
    /// All of it.
    Whole(Bytes),
    /// It is larger than is taken, and was thrown away.
    TooLarge {
        /// In bytes.
        limit: usize,
    },
    /// The connection broke, or the time was up, before its end; what had come was thrown away.
    Cut,
    /// It goes on elsewhere as it arrives, and is not kept.
    Streamed,
}

impl fmt::Debug for BodyRead {
    /// Its size alone: bodies do not belong in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "Whole({} bytes)", bytes.len()),
            Self::TooLarge { limit } => write!(f, "TooLarge(limit {limit})"),
            Self::Cut => f.write_str("Cut"),
            Self::Streamed => f.write_str("Streamed"),
        }
    }
}

/// Why not one byte of the request left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NeverLeft {
    /// The host resolves to an address that may not be connected to.
    #[error(transparent)]
    Blocked(#[from] Blocked),
    /// The credential has no secret, or one that no header can carry.
    #[error("The credential has no usable secret.")]
    Secret,
    /// The catalogue's credential is not the one that this was confirmed with.
    #[error("The credential was changed in the catalogue after this was confirmed. Nothing was sent.")]
    CredentialChanged,
    /// The tool is not the one any more that this was shown with.
    #[error("The tool's definition was changed after this was shown. Nothing was sent.")]
    ToolChanged,
    /// The session could not be marked as one that reads what nobody vouches for.
    #[error("The session could not be marked.")]
    Unmarked,
    /// The idempotency key is none that a header can carry.
    #[error("The idempotency key cannot be sent.")]
    IdempotencyKey,
    /// There are more headers than a request can have.
    #[error("The request has too many headers.")]
    Headers,
    /// The host has no address, or the resolver did not answer.
    #[error("The host could not be resolved.")]
    Resolve,
    /// No connection came about.
    #[error("The host could not be connected to.")]
    Connect,
    /// The TLS handshake failed; most often the certificate is not trusted.
    #[error("The host could not be trusted: the TLS handshake failed.")]
    Tls,
    /// The time was up before anything was sent.
    #[error("The host could not be reached in time.")]
    TimedOut,
    /// The connection was closed before the request began.
    #[error("The host closed the connection before anything was sent.")]
    Closed,
}

impl From<NeverLeft> for Refusal {
    fn from(why: NeverLeft) -> Self {
        match why {
            NeverLeft::Blocked(blocked) => blocked.into(),
            NeverLeft::Secret | NeverLeft::Unmarked => Self::Unavailable,
            NeverLeft::IdempotencyKey => Self::IdempotencyKeyInvalid,
            NeverLeft::Headers | NeverLeft::CredentialChanged | NeverLeft::ToolChanged => {
                Self::EgressBlocked(why.to_string())
            }
            NeverLeft::Resolve
            | NeverLeft::Connect
            | NeverLeft::Tls
            | NeverLeft::TimedOut
            | NeverLeft::Closed => Self::UpstreamUnreachable,
        }
    }
}

/// Why it is not known whether the request was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// The connection ended, or broke, without a final status line.
    #[error("The connection was lost before an answer came.")]
    Cut,
    /// The time to answer was up.
    #[error("No answer came in time.")]
    TimedOut,
    /// What came back is not HTTP/1.1.
    #[error("What came back is no answer.")]
    Unreadable,
}
