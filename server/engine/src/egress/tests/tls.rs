//! TLS: whom egress trusts, and what a broken handshake means.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use super::credential::{SECRET, local, secret};
use super::upstream::{Fixed, PATIENT, Upstream, answered, egress, named, read_request, whole};
use crate::egress::{BodyRead, Egress, EgressError, Limits, NeverLeft, Sent};

/// An authority of its own, and a server's acceptor with a certificate of it.
fn authority_and_acceptor(name: &str) -> (String, TlsAcceptor) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new([name.to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    let chain = vec![CertificateDer::from(certificate)];
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a certificate and its key");
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    (authority.pem(), TlsAcceptor::from(Arc::new(config)))
}

/// Says this over TLS; closes properly or just drops the connection.
async fn secure_upstream(acceptor: TlsAcceptor, answer: &'static str, properly: bool) -> Upstream {
    Upstream::doing(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let mut stream = acceptor.accept(stream).await.ok()?;
            let request = read_request(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.ok()?;
            stream.flush().await.ok()?;
            if properly {
                stream.shutdown().await.ok()?;
            }
            request
        }
    })
    .await
}

async fn get(upstream: &Upstream, egress: Egress, host: &str) -> Sent {
    let port = upstream.port();
    let egress = egress.with_resolver(Fixed::to(&["127.0.0.1"]));
    let request = named("GET", &format!("https://{host}:{port}/x"));
    let checked = egress.check(Some(&local(host, port)), request).expect("allowed");
    egress.send(checked, Some(&secret()), None).await
}

fn is_tls_failure(sent: &Sent) -> bool {
    matches!(sent, Sent::NeverLeft(NeverLeft::Tls))
}

#[tokio::test]
async fn a_root_of_ones_own_is_trusted_when_it_is_added() {
    let (root, acceptor) = authority_and_acceptor("api.test");
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
    let mut upstream = secure_upstream(acceptor, answer, true).await;
    let trusting = egress().with_roots(root.as_bytes()).expect("a root");
    let response = answered(get(&upstream, trusting, "api.test").await);
    assert_eq!((response.status, whole(response.body).as_ref()), (200, b"hello".as_slice()));
    let request = upstream.request().await;
    assert!(request.starts_with("GET /x HTTP/1.1\r\n") && request.contains(SECRET), "{request}");
    assert_eq!(upstream.connections().await, 1);
}

#[tokio::test]
async fn a_stranger_is_not_trusted() {
    let (_, acceptor) = authority_and_acceptor("api.test");
    let (other_root, _) = authority_and_acceptor("api.test");
    let mut upstream = secure_upstream(acceptor, "", true).await;
    assert!(is_tls_failure(&get(&upstream, egress(), "api.test").await));
    let trusting_another = egress().with_roots(other_root.as_bytes()).expect("a root");
    assert!(is_tls_failure(&get(&upstream, trusting_another, "api.test").await));
    assert_eq!(upstream.connections().await, 2);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_not_trusted() {
    let (root, acceptor) = authority_and_acceptor("api.test");
    let mut upstream = secure_upstream(acceptor, "", true).await;
    let trusting = egress().with_roots(root.as_bytes()).expect("a root");
    assert!(is_tls_failure(&get(&upstream, trusting, "other.test").await));
    assert_eq!(upstream.connections().await, 1);
}

#[tokio::test]
async fn a_host_that_speaks_no_tls_or_hangs_up() {
    for answer in ["HTTP/1.1 400 Speak plainly\r\n\r\n", ""] {
        let upstream = Upstream::doing(move |mut stream| async move {
            stream.peek(&mut [0]).await.ok()?;
            stream.write_all(answer.as_bytes()).await.ok()?;
            None
        })
        .await;
        assert!(is_tls_failure(&get(&upstream, egress(), "api.test").await), "{answer}");
    }
}

#[tokio::test]
async fn a_handshake_that_hangs_is_no_send() {
    let impatient = Egress::new(Limits { connect: Duration::from_millis(300), ..PATIENT }).expect("egress");
    let upstream = Upstream::doing(|stream| async move {
        let _held = stream;
        std::future::pending().await
    })
    .await;
    let sent = get(&upstream, impatient, "api.test").await;
    assert!(matches!(sent, Sent::NeverLeft(NeverLeft::TimedOut)), "{sent:?}");
}

/// Without the closing record nobody can tell a body that ends with the connection from one that was cut.
#[tokio::test]
async fn a_body_that_ends_with_the_connection_needs_its_closing_record() {
    for (properly, body) in [(true, BodyRead::Whole("hello".into())), (false, BodyRead::Cut)] {
        let (root, acceptor) = authority_and_acceptor("api.test");
        let upstream = secure_upstream(acceptor, "HTTP/1.1 200 OK\r\n\r\nhello", properly).await;
        let trusting = egress().with_roots(root.as_bytes()).expect("a root");
        let response = answered(get(&upstream, trusting, "api.test").await);
        assert_eq!((response.status, response.body), (200, body));
    }
}

#[tokio::test]
async fn over_tls_too_a_lost_answer_is_unknown() {
    for answer in ["", "HTTP/1.1 20"] {
        let (root, acceptor) = authority_and_acceptor("api.test");
        let upstream = secure_upstream(acceptor, answer, true).await;
        let trusting = egress().with_roots(root.as_bytes()).expect("a root");
        let sent = get(&upstream, trusting, "api.test").await;
        assert!(matches!(sent, Sent::Unknown(_)), "{sent:?}");
    }
}

#[test]
fn roots_that_are_none() {
    for pem in ["", "no pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert!(matches!(egress().with_roots(pem.as_bytes()), Err(EgressError::Roots)), "{pem}");
    }
}
