//! A credential: a secret, and the hosts, methods and path prefixes it may be used for.

use http::{HeaderName, Method};
use sha2::{Digest, Sha256};

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

impl Credential {
    /// What of it a confirmation is bound to: whose secret it is, where that goes, and how it is sent. SHA-256 in
    /// hexadecimal digits; it tells nothing about the secret.
    pub(crate) fn binding(&self) -> String {
        let mut hosts: Vec<_> = self.hosts.iter().map(HostRule::written).collect();
        hosts.sort();
        let secret = match &self.secret {
            SecretSource::Env(variable) => format!("env {variable}"),
            SecretSource::Store => "store".to_owned(),
        };
        let switches = format!("{} {}", self.allow_http, self.allow_private);
        let parts = [self.name.as_str(), self.header.as_str(), &self.value, &secret, &switches];
        let mut digest = Sha256::new();
        for part in parts.into_iter().chain(hosts.iter().map(String::as_str)) {
            // Each part with its length, so that no two different credentials read the same.
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part.as_bytes());
        }
        data_encoding::HEXLOWER.encode(&digest.finalize())
    }
}

impl HostRule {
    /// As it stands in the catalogue.
    pub fn written(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }
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
