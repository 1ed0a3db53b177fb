//! Where a request comes from.

use std::net::IpAddr;

use axum::http::{Extensions, HeaderMap, HeaderName};
use engine::catalogue::network::Network;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address at the other end of the connection. A request that did not come over one has none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Where a request comes from: the peer, or what a trusted proxy says of its own peer. `X-Forwarded-For` grows at its end,
/// so it is read from there, and no further than the first address that is not a trusted proxy's: what stands before that
/// one anybody can have written.
pub(crate) fn address(extensions: &Extensions, headers: &HeaderMap, trusted: &[Network]) -> Option<IpAddr> {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.has(address));
    let mut address = extensions.get::<Peer>()?.0;
    let said: Vec<&str> = headers
        .get_all(FORWARDED_FOR)
        .iter()
        .map(|value| value.to_str().unwrap_or_default())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    for hop in said.into_iter().rev() {
        if !is_trusted(address) {
            break;
        }
        let Some(before) = read(hop) else { break };
        address = before;
    }
    Some(address.to_canonical())
}

/// An address as proxies write it, some with a port.
fn read(hop: &str) -> Option<IpAddr> {
    let bare = hop.parse().ok();
    bare.or_else(|| hop.parse::<std::net::SocketAddr>().ok().map(|with_port| with_port.ip()))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn told(peer: &str, said: &[&'static str], trusted: &[&str]) -> String {
        let mut extensions = Extensions::new();
        extensions.insert(Peer(peer.parse().expect("an address")));
        let mut headers = HeaderMap::new();
        for value in said {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
        }
        let trusted: Vec<_> = trusted.iter().map(|text| text.parse().expect("a network")).collect();
        address(&extensions, &headers, &trusted).expect("an address").to_string()
    }

    #[test]
    fn nobody_is_believed_unless_they_are_trusted() {
        assert_eq!(told("203.0.113.9", &["198.51.100.1"], &[]), "203.0.113.9");
        assert_eq!(told("203.0.113.9", &["198.51.100.1"], &["127.0.0.1"]), "203.0.113.9");
        assert!(address(&Extensions::new(), &HeaderMap::new(), &[]).is_none());
    }

    #[test]
    fn a_proxy_is_believed_for_its_own_peer_and_no_further() {
        let trusted = ["127.0.0.1", "10.0.0.0/8"];
        assert_eq!(told("127.0.0.1", &["198.51.100.1"], &trusted), "198.51.100.1");
        assert_eq!(told("127.0.0.1", &["192.0.2.7, 198.51.100.1"], &trusted), "198.51.100.1");
        assert_eq!(told("127.0.0.1", &["192.0.2.7", "198.51.100.1, 10.1.1.1"], &trusted), "198.51.100.1");
        assert_eq!(told("127.0.0.1", &["198.51.100.1:4711"], &trusted), "198.51.100.1");
        assert_eq!(told("::ffff:127.0.0.1", &["2001:db8::1"], &trusted), "2001:db8::1");
        assert_eq!(told("127.0.0.1", &["198.51.100.1, nonsense"], &trusted), "127.0.0.1");
        assert_eq!(told("127.0.0.1", &[], &trusted), "127.0.0.1");
    }
}
