//! A credential: a secret, and the hosts, methods and path prefixes it may be used for.

use http::{HeaderName, Method};

/// A credential of the catalogue: its rules, and where its secret is. The secret itself is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the catalogue")]
pub struct Credential {
    /// Its name in the catalogue.
    pub name: String,
    /// Where it may be sent.
    pub hosts: Vec<HostRule>,
    /// What `/via/{name}/…` stands for, without a trailing slash.
    pub base_url: Option<String>,
    /// The methods it may be used with; empty: every method.
    pub methods: Vec<Method>,
    /// The path prefixes it may be used under, each with a leading slash; empty: every path.
    pub path_prefixes: Vec<String>,
    /// Who may use it through fetch and via: `*`, `agent:NAME`, `group:NAME`, `person:EMAIL`.
    pub allow: Vec<String>,
    /// The one header the secret is put into.
    pub header: HeaderName,
    /// The header's value, with `{secret}` where the secret goes.
    pub value: String,
    /// Where the secret is.
    pub secret: SecretSource,
    /// Every request with it is held (fetch and via).
    pub requires_approval: bool,
    /// Reads through it do not taint the session.
    pub trusted: bool,
    /// Plain http to its hosts is allowed.
    pub allow_http: bool,
    /// Its hosts may be, or resolve to, loopback or private addresses.
    pub allow_private: bool,
    /// Upstream statuses that do not tell whether the write happened.
    pub in_doubt_on: Vec<u16>,
}

/// A host a credential may be sent to, in canonical form: lower case, no trailing dot, an IPv6 address in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    /// The host.
    pub host: String,
    /// The port; `None`: the scheme's default.
    pub port: Option<u16>,
}

/// Where a credential's secret is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In this environment variable.
    Env(String),
    /// In the sealed store: `countersign credential set NAME`.
    Store,
}
