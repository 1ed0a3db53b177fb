//! Why a request may not leave the desk.

use model::Refusal;

/// Why a request may not leave the desk: one plain sentence, never with a value of the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Blocked(#[from] pub(super) Reason);

/// The reasons there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Reason {
    #[error("The URL cannot be read.")]
    NotAUrl,
    #[error(
        "The URL is not in its canonical form: write it exactly as it would be sent, percent-encoded, with a lower-case host."
    )]
    NotCanonical,
    #[error("The URL has a scheme other than https and http.")]
    Scheme,
    #[error("The URL is plain http, and only https is allowed here.")]
    PlainHttp,
    #[error("The URL carries a user name or a password.")]
    UserInfo,
    #[error("The URL has a fragment, which is never sent.")]
    Fragment,
    #[error("The host is not in its canonical form.")]
    Host,
    #[error("The URL names the port zero.")]
    Port,
    #[error("The path has a dot segment.")]
    DotSegment,
    #[error("The path has a backslash or an encoded slash.")]
    HiddenSlash,
    #[error("The path has a percent-encoding that is broken, or encoded too often.")]
    Encoding,
    #[error("The path or the query holds a character that cannot be sent, or is too long.")]
    Unsendable,
    #[error("The method is never allowed.")]
    Method,
    #[error("The credential may not be used with this method.")]
    MethodOfCredential,
    #[error("The credential may not be used with this host and port.")]
    HostOfCredential,
    #[error("The credential may not be used under this path.")]
    PathOfCredential,
    #[error("The credential's own header is one that frames the request, so it cannot carry a secret.")]
    HeaderOfCredential,
    #[error("The host is, or resolves to, an address that is not on the public internet.")]
    PrivateAddress,
    #[error("The host is, or resolves to, a link-local or metadata address.")]
    ForbiddenAddress,
    #[error("The headers are too large.")]
    HeadersTooLarge,
    #[error("The body is larger than {0} bytes.")]
    BodyTooLarge(usize),
}

impl From<Blocked> for Refusal {
    /// `egress_blocked`, and for a body that is too large `too_large`.
    fn from(blocked: Blocked) -> Self {
        match blocked.0 {
            Reason::BodyTooLarge(limit) => Self::TooLarge(limit),
            reason => Self::EgressBlocked(reason.to_string()),
        }
    }
}
