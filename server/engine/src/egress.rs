//! The one door out of the house: checks a request against its credential, and sends it exactly once.
//!
//! `check` is pure and gives a [`Checked`]; `send` takes nothing else. One send is one connection of its own: one
//! resolution, no pool, no redirect, no retry. How it ended is told truthfully, because a write that may have happened
//! must never be taken for one that has not: see [`Sent`].

mod address;
mod blocked;
mod connection;
mod exchange;
#[cfg(feature = "fail-points")]
mod halting;
mod headers;
mod path;
mod policy;
mod request;
mod resolver;
mod rest;
mod scrub;
mod sent;
mod status_line;
mod tls;
mod trace;
mod url;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

pub use self::blocked::Blocked;
pub(crate) use self::path::is_disguised;
pub use self::policy::Checked;
pub use self::resolver::{Resolver, SystemResolver};
pub use self::rest::{AnswerBody, BrokenOff};
pub use self::sent::{BodyRead, NeverLeft, Response, Sent, Unknown};
pub use self::tls::EgressError;
pub use self::url::parse_url;

use self::connection::Link;
use self::scrub::Scrubber;
use self::tls::Tls;
use crate::credential::Credential;
use crate::outgoing::Outgoing;
use crate::secret::Secret;

/// What bounds every send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest request body, in bytes.
    pub request_body: usize,
    /// The largest response body, in bytes.
    pub response_body: usize,
    /// Resolving, connecting and the TLS handshake together.
    pub connect: Duration,
    /// From the first byte of the request to the last byte of the answer.
    pub answer: Duration,
}

impl Default for Limits {
    /// 1 MiB out, 10 MiB back, 10 s to connect, 60 s to answer.
    fn default() -> Self {
        Self {
            request_body: 1024 * 1024,
            response_body: 10 * 1024 * 1024,
            connect: Duration::from_secs(10),
            answer: Duration::from_mins(1),
        }
    }
}

/// Checks and sends requests. Cheap to clone.
#[derive(Clone)]
pub struct Egress {
    limits: Limits,
    tls: Tls,
    resolver: Arc<dyn Resolver>,
}

impl Egress {
    /// Trusts the system's root certificates and asks the system's resolver.
    pub fn new(limits: Limits) -> Result<Self, EgressError> {
        Ok(Self { limits, tls: Tls::system()?, resolver: Arc::new(SystemResolver) })
    }

    /// Trusts the root certificates of this PEM text as well.
    pub fn with_roots(self, pem: &[u8]) -> Result<Self, EgressError> {
        Ok(Self { tls: self.tls.with_roots(pem)?, ..self })
    }

    /// Asks another resolver.
    #[must_use]
    pub fn with_resolver(self, resolver: impl Resolver) -> Self {
        Self { resolver: Arc::new(resolver), ..self }
    }

    /// Bounded otherwise.
    #[must_use]
    pub fn within(&self, limits: Limits) -> Self {
        Self { limits, ..self.clone() }
    }

    /// What bounds every send.
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether this request may leave with this credential (or with none). No I/O: a host that is a name is
    /// judged again in [`Egress::send`], by the addresses it resolves to.
    pub fn check(&self, credential: Option<&Credential>, outgoing: Outgoing) -> Result<Checked, Blocked> {
        policy::check(credential, outgoing, self.limits.request_body)
    }

    /// Sends the request once. The secret goes into the credential's header and into nothing else; where the request
    /// was checked without a credential it is not sent at all.
    ///
    /// Dropping the future closes the connection; what had left by then is not told, so a caller that needs the truth
    /// awaits the end.
    pub async fn send(
        &self,
        checked: Checked,
        secret: Option<&Secret>,
        idempotency_key: Option<&str>,
    ) -> Sent {
        let scrubber = secret.map(|secret| Scrubber::new(secret.expose()));
        match self.connect(checked, secret, idempotency_key).await {
            Ok((link, request)) => exchange::run(link, request, &self.limits, scrubber.as_ref()).await,
            Err(why) => Sent::NeverLeft(why),
        }
    }

    /// Sends the request once, and gives the answer as soon as its head has come: its body is passed on from there, as
    /// it arrives. The head must come within the time to answer, and none of the body's pauses may be longer.
    ///
    /// # Errors
    /// How the send ended, when no head came.
    pub async fn open(
        &self,
        checked: Checked,
        secret: Option<&Secret>,
        idempotency_key: Option<&str>,
    ) -> Result<(Response, AnswerBody), Sent> {
        let scrubber = secret.map(|secret| Arc::new(Scrubber::new(secret.expose())));
        let connected = self.connect(checked, secret, idempotency_key).await;
        let (link, request) = connected.map_err(Sent::NeverLeft)?;
        exchange::open(link, request, &self.limits, scrubber).await
    }

    /// A connection, and the request that goes over it.
    async fn connect(
        &self,
        checked: Checked,
        secret: Option<&Secret>,
        idempotency_key: Option<&str>,
    ) -> Result<(Link, Request<Full<Bytes>>), NeverLeft> {
        let (target, request) = request::build(checked, secret, idempotency_key)?;
        let (resolver, within) = (self.resolver.as_ref(), self.limits.connect);
        Ok((connection::open(&target, resolver, &self.tls, within).await?, request))
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("limits", &self.limits).finish_non_exhaustive()
    }
}
