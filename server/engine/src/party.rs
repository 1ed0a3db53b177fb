//! As whom the desk asks for passkeys (`WebAuthn`, section 4, "relying party"): the name in its public address.

use url::{Host, Url};

/// The desk as authenticators know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    /// The name that passkeys are made for.
    pub id: String,
    /// The origin of the pages that may ask for them, as a browser writes it.
    pub origin: String,
}

/// A desk at this address cannot have passkeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoParty {
    /// It is reached over plain http.
    PlainHttp,
    /// It is reached at an address without a name.
    NoName,
}

impl NoParty {
    /// What it would have to be reached over instead.
    pub const fn needs(self) -> &'static str {
        match self {
            Self::PlainHttp => "a “public_url” over https",
            Self::NoName => "a “public_url” with a host name in the place of the IP address",
        }
    }
}

impl Party {
    /// Of the desk's public address. A desk at a loopback address is `localhost`, the one name that passkeys take without
    /// TLS.
    ///
    /// # Errors
    /// Why it cannot have passkeys.
    pub fn of(public_url: &Url) -> Result<Self, NoParty> {
        let is_plain = public_url.scheme() != "https";
        let id = match public_url.host() {
            Some(Host::Domain(name)) if !is_plain || is_local(name) => name.to_owned(),
            Some(Host::Ipv4(address)) if is_plain && address.is_loopback() => LOCAL.to_owned(),
            Some(Host::Ipv6(address)) if is_plain && address.is_loopback() => LOCAL.to_owned(),
            _ if is_plain => return Err(NoParty::PlainHttp),
            _ => return Err(NoParty::NoName),
        };
        let port = public_url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self { origin: format!("{}://{id}{port}", public_url.scheme()), id })
    }
}

const LOCAL: &str = "localhost";

fn is_local(name: &str) -> bool {
    name == LOCAL || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_passkeys_and_who_cannot() {
        let of = |url: &str| {
            Party::of(&Url::parse(url).expect("an address")).map(|party| (party.id, party.origin))
        };
        let party = |id: &str, origin: &str| Ok((id.to_owned(), origin.to_owned()));
        assert_eq!(of("https://Desk.example/"), party("desk.example", "https://desk.example"));
        assert_eq!(of("https://desk.example:8443/x"), party("desk.example", "https://desk.example:8443"));
        assert_eq!(of("https://desk.example:443"), party("desk.example", "https://desk.example"));
        assert_eq!(of("http://localhost:8087"), party("localhost", "http://localhost:8087"));
        assert_eq!(of("http://127.0.0.1:8087"), party("localhost", "http://localhost:8087"));
        assert_eq!(of("http://[::1]:8087"), party("localhost", "http://localhost:8087"));
        assert_eq!(of("http://desk.example"), Err(NoParty::PlainHttp));
        assert_eq!(of("http://192.0.2.7"), Err(NoParty::PlainHttp));
        assert_eq!(of("https://192.0.2.7"), Err(NoParty::NoName));
        assert_eq!(of("https://[2001:db8::1]"), Err(NoParty::NoName));
    }
}
