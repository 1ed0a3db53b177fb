//! Sends of which not one byte left.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use model::Refusal;
use tokio::net::TcpSocket;

use super::credential::{credential, local, outgoing, secret};
use super::upstream::{Fixed, PATIENT, Upstream, egress, named};
use crate::credential::Credential;
use crate::egress::blocked::Reason;
use crate::egress::{Blocked, Egress, Limits, NeverLeft, Resolver, Sent};
use crate::outgoing::Outgoing;

async fn never_left(egress: &Egress, credential: Option<&Credential>, outgoing: Outgoing) -> NeverLeft {
    let checked = egress.check(credential, outgoing).expect("allowed");
    match egress.send(checked, credential.map(|_| secret()).as_ref(), None).await {
        Sent::NeverLeft(why) => why,
        other => panic!("it left: {other:?}"),
    }
}

#[tokio::test]
async fn nothing_listens_there() {
    // Bound, so that nobody else gets the port, and never listening.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let port = socket.local_addr().expect("an address").port();
    let request = outgoing("POST", &format!("http://127.0.0.1:{port}/"));
    assert_eq!(never_left(&egress(), Some(&local("127.0.0.1", port)), request).await, NeverLeft::Connect);
}

/// One bad address among good ones condemns the host, wherever it stands, and nothing is connected to.
#[tokio::test]
async fn a_name_with_a_bad_address_among_good_ones() {
    let private = NeverLeft::Blocked(Blocked(Reason::PrivateAddress));
    let forbidden = NeverLeft::Blocked(Blocked(Reason::ForbiddenAddress));
    for (addresses, why) in [
        (&["127.0.0.1"][..], private),
        (&["10.0.0.1"], private),
        (&["93.184.216.34", "127.0.0.1"], private),
        (&["127.0.0.1", "93.184.216.34"], private),
        (&["2606:4700::1111", "::ffff:127.0.0.1"], private),
        (&["93.184.216.34", "169.254.169.254", "10.0.0.1"], forbidden),
    ] {
        let mut upstream = Upstream::saying("").await;
        let port = upstream.port();
        let egress = egress().with_resolver(Fixed::to(addresses));
        let mut mail = local("api.test", port);
        mail.allow_private = false;
        let url = format!("https://api.test:{port}/");
        assert_eq!(never_left(&egress, Some(&mail), named("POST", &url)).await, why, "{addresses:?}");
        assert_eq!(never_left(&egress, None, named("POST", &url)).await, why, "{addresses:?}");
        assert_eq!(upstream.connections().await, 0);
    }
}

#[tokio::test]
async fn link_local_and_metadata_are_refused_even_where_private_is_allowed() {
    for bad in ["169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200", "::ffff:169.254.169.254"] {
        let mut upstream = Upstream::saying("").await;
        let port = upstream.port();
        let egress = egress().with_resolver(Fixed::to(&["127.0.0.1", bad]));
        let request = named("GET", &format!("http://api.test:{port}/"));
        let why = never_left(&egress, Some(&local("api.test", port)), request).await;
        assert_eq!(why, NeverLeft::Blocked(Blocked(Reason::ForbiddenAddress)), "{bad}");
        assert_eq!(upstream.connections().await, 0);
    }
}

#[tokio::test]
async fn a_name_nobody_knows() {
    struct Lost;
    #[async_trait]
    impl Resolver for Lost {
        async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            Err(io::ErrorKind::NotFound.into())
        }
    }
    let request = named("GET", "https://api.test/");
    for egress in [egress().with_resolver(Lost), egress().with_resolver(Fixed::to(&[]))] {
        assert_eq!(never_left(&egress, None, request.clone()).await, NeverLeft::Resolve);
    }
}

#[tokio::test]
async fn a_resolver_that_does_not_answer() {
    struct Silent;
    #[async_trait]
    impl Resolver for Silent {
        async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            std::future::pending().await
        }
    }
    let egress = Egress::new(Limits { connect: Duration::from_millis(100), ..PATIENT }).expect("egress");
    let why = never_left(&egress.with_resolver(Silent), None, named("GET", "https://api.test/")).await;
    assert_eq!(why, NeverLeft::TimedOut);
}

#[tokio::test]
async fn no_usable_secret() {
    let mut upstream = Upstream::saying("").await;
    for secret in [None, Some(""), Some("a\nb")] {
        let secret = secret.map(|text| crate::secret::Secret::new(text.into()));
        let checked =
            egress().check(Some(&upstream.credential()), upstream.outgoing("GET", "/")).expect("allowed");
        let sent = egress().send(checked, secret.as_ref(), None).await;
        assert!(matches!(sent, Sent::NeverLeft(NeverLeft::Secret)), "{sent:?}");
    }
    let checked =
        egress().check(Some(&upstream.credential()), upstream.outgoing("GET", "/")).expect("allowed");
    let sent = egress().send(checked, Some(&secret()), Some("a\r\nb: c")).await;
    assert!(matches!(sent, Sent::NeverLeft(NeverLeft::IdempotencyKey)), "{sent:?}");
    assert_eq!(upstream.connections().await, 0);
}

#[test]
fn each_becomes_a_refusal() {
    let blocked = egress().check(None, outgoing("GET", "http://api.example/")).expect_err("plain http");
    assert!(matches!(Refusal::from(blocked), Refusal::EgressBlocked(_)));
    assert!(matches!(Refusal::from(NeverLeft::Blocked(blocked)), Refusal::EgressBlocked(_)));
    assert_eq!(Refusal::from(NeverLeft::Tls), Refusal::UpstreamUnreachable);
    let other = credential("api.example");
    let blocked = egress().check(Some(&other), outgoing("GET", "https://other.example/")).expect_err("other");
    assert_eq!(blocked.to_string(), "The credential may not be used with this host and port.");
}
