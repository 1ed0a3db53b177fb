//! Whom a TLS connection trusts.

use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

/// Egress cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// The root certificates to add are not PEM, or hold no usable certificate.
    #[error("the additional root certificates are not usable PEM certificates")]
    Roots,
    /// The TLS library has no protocol version in common with itself.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// The trusted roots, and a connector made from them. Cheap to clone.
#[derive(Clone)]
pub(super) struct Tls {
    roots: Arc<RootCertStore>,
    connector: TlsConnector,
}

impl Tls {
    /// Of the system's roots. A machine without any still works for plain http to its own network.
    pub(super) fn system() -> Result<Self, EgressError> {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "a root certificate of the system cannot be read");
        }
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            tracing::warn!("the system has no root certificates: no https host will be trusted");
        }
        Self::of(roots)
    }

    /// Of these roots and those of the PEM text.
    pub(super) fn with_roots(self, pem: &[u8]) -> Result<Self, EgressError> {
        let mut roots = Arc::unwrap_or_clone(self.roots);
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|_| EgressError::Roots)?;
            roots.add(certificate).map_err(|_| EgressError::Roots)?;
        }
        if roots.len() == before { Err(EgressError::Roots) } else { Self::of(roots) }
    }

    fn of(roots: RootCertStore) -> Result<Self, EgressError> {
        let roots = Arc::new(roots);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(Arc::clone(&roots))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // Early data can be replayed by anybody on the way, and is then a second send.
        config.enable_early_data = false;
        config.resumption = Resumption::disabled();
        Ok(Self { roots, connector: TlsConnector::from(Arc::new(config)) })
    }

    /// Shakes hands with the host.
    pub(super) async fn connect<S>(&self, host: &Host<String>, stream: S) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = match host {
            Host::Domain(name) => ServerName::try_from(name.clone()).map_err(io::Error::other)?,
            Host::Ipv4(address) => ServerName::from(std::net::IpAddr::from(*address)),
            Host::Ipv6(address) => ServerName::from(std::net::IpAddr::from(*address)),
        };
        self.connector.connect(name, stream).await
    }
}
