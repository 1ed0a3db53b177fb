//! Credentials and requests for tests.

use http::{HeaderName, Method};
use url::Url;

use crate::credential::{Credential, HostRule, SecretSource};
use crate::outgoing::Outgoing;
use crate::secret::Secret;

/// A credential for one host, with nothing allowed that is not allowed by default.
pub(in crate::egress) fn credential(host: &str) -> Credential {
    Credential {
        name: "mail".into(),
        hosts: vec![HostRule { host: host.into(), port: None }],
        base_url: None,
        methods: vec![],
        path_prefixes: vec![],
        allow: vec!["*".into()],
        header: HeaderName::from_static("authorization"),
        value: "Bearer {secret}".into(),
        secret: SecretSource::Store,
        requires_approval: false,
        trusted: false,
        allow_http: false,
        allow_private: false,
        in_doubt_on: vec![],
    }
}

/// A request without headers and body.
pub(in crate::egress) fn outgoing(method: &str, url: &str) -> Outgoing {
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    Outgoing {
        method,
        url: Url::parse(url).expect("a URL"),
        values_encoded: false,
        headers: vec![],
        body: None,
    }
}

/// What the credentials of these tests hold.
pub(in crate::egress) const SECRET: &str = "sk-test/0123456789+abc=";

/// The secret of these tests.
pub(in crate::egress) fn secret() -> Secret {
    Secret::new(SECRET.into())
}

/// A credential for an upstream of a test, which has a port of its own on this machine.
pub(in crate::egress) fn local(host: &str, port: u16) -> Credential {
    Credential {
        hosts: vec![HostRule { host: host.into(), port: Some(port) }],
        allow_http: true,
        allow_private: true,
        ..credential(host)
    }
}
