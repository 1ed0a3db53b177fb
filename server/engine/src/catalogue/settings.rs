//! The server's own settings.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use url::Url;

use super::document::{Node, Section};
use super::mistake::{Notes, Wrong};
use super::network::Network;

const DAY: Duration = Duration::from_hours(24);

/// The server's own settings, `[server]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// How people and agents reach it; by default the address it listens on, over http.
    pub public_url: Url,
    /// The database as written; a relative `SQLite` path counts from the catalogue's folder.
    pub database_url: String,
    /// Days after which a receipt is forgotten; 0: never.
    pub receipt_retention_days: u32,
    /// How long a result can be read after its first delivery.
    pub result_ttl: Duration,
    /// How long an answer is kept for replay.
    pub answer_ttl: Duration,
    /// The largest answer that is kept for replay, in bytes.
    pub store_limit: usize,
    /// How long `/via` waits for a person.
    pub via_wait: Duration,
    /// How long a confirm token is good.
    pub confirm_ttl: Duration,
    /// The oldest `requestState` that is taken.
    pub request_state_max_age: Duration,
    /// How many calls an agent may have open.
    pub max_held: u32,
    /// How long a claim lives without a sign of life.
    pub lease: Duration,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// How long an upstream's answer may take.
    pub timeout: Duration,
    /// The largest request body, in bytes.
    pub request_limit: usize,
    /// The largest answer of an upstream, in bytes.
    pub response_limit: usize,
    /// Whose word for where a request comes from is taken (`X-Forwarded-For`).
    pub trusted_proxies: Vec<Network>,
}

const KEYS: &[&str] = &[
    "listen",
    "public_url",
    "database_url",
    "receipt_retention_days",
    "result_ttl",
    "answer_ttl",
    "store_limit",
    "via_wait",
    "confirm_ttl",
    "request_state_max_age",
    "max_held",
    "lease",
    "connect_timeout",
    "timeout",
    "request_limit",
    "response_limit",
    "trusted_proxies",
];

impl Default for ServerSettings {
    fn default() -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 8087));
        Self {
            listen,
            public_url: reached_at(listen),
            database_url: "sqlite:countersign.db".to_owned(),
            receipt_retention_days: 0,
            result_ttl: Duration::from_mins(10),
            answer_ttl: DAY,
            store_limit: 64 << 10,
            via_wait: Duration::from_mins(1),
            confirm_ttl: Duration::from_mins(10),
            request_state_max_age: DAY,
            max_held: 1_000,
            lease: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_mins(1),
            request_limit: 1 << 20,
            response_limit: 10 << 20,
            trusted_proxies: Vec::new(),
        }
    }
}

/// The address a server is reached at when nothing is said. An address without a zone is always an authority.
fn reached_at(listen: SocketAddr) -> Url {
    let written = format!("http://{}/", SocketAddr::new(listen.ip(), listen.port()));
    #[expect(clippy::expect_used, reason = "an address and a port always are an authority")]
    Url::parse(&written).expect("an address and a port are an authority")
}

impl ServerSettings {
    /// Reads `[server]`.
    pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Self> {
        let section = Section::open(node, "[server]", KEYS, notes)?;
        let plain = Self::default();
        let listen = listen(&section).unwrap_or(plain.listen);
        Some(Self {
            listen,
            public_url: public_url(&section).unwrap_or_else(|| reached_at(listen)),
            database_url: database_url(&section).unwrap_or(plain.database_url),
            receipt_retention_days: small(section.whole("receipt_retention_days", 0, 36_500, 0)),
            result_ttl: within(&section, "result_ttl", plain.result_ttl, 0, Some(DAY)),
            answer_ttl: section.duration("answer_ttl", plain.answer_ttl),
            store_limit: section.size("store_limit", plain.store_limit),
            via_wait: section.duration("via_wait", plain.via_wait),
            confirm_ttl: within(&section, "confirm_ttl", plain.confirm_ttl, 1, None),
            request_state_max_age: within(
                &section,
                "request_state_max_age",
                plain.request_state_max_age,
                1,
                None,
            ),
            max_held: small(section.whole("max_held", 1, 1_000_000, 1_000)),
            lease: within(&section, "lease", plain.lease, 1, None),
            connect_timeout: within(&section, "connect_timeout", plain.connect_timeout, 1, None),
            timeout: within(&section, "timeout", plain.timeout, 1, None),
            request_limit: section.size("request_limit", plain.request_limit),
            response_limit: section.size("response_limit", plain.response_limit),
            trusted_proxies: trusted_proxies(&section),
        })
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A length of time between two ends.
fn within(
    section: &Section<'_>,
    key: &str,
    default: Duration,
    least: u64,
    most: Option<Duration>,
) -> Duration {
    let length = section.duration(key, default);
    if length < Duration::from_secs(least) {
        section
            .wrong(key, Wrong::new(format!("“{key}” is too short")).expected(format!("at least {least}s")));
    }
    if let Some(most) = most.filter(|most| length > *most) {
        let expected = format!("at most {}h", most.as_secs() / 3_600);
        section.wrong(key, Wrong::new(format!("“{key}” is too long")).expected(expected));
    }
    length
}

fn listen(section: &Section<'_>) -> Option<SocketAddr> {
    let parsed = section.text("listen")?.parse().ok();
    if parsed.is_none() {
        let expected = "an address and a port such as \"127.0.0.1:8087\" or \"[::1]:8087\"";
        section.wrong("listen", Wrong::new("“listen” is no address").expected(expected));
    }
    parsed
}

fn trusted_proxies(section: &Section<'_>) -> Vec<Network> {
    let read = |(text, at): (&str, &_)| {
        let network = text.parse().ok();
        if network.is_none() {
            let expected = "an address or a network such as \"127.0.0.1\" or \"10.0.0.0/8\"";
            section.notes.add(at, Wrong::new("“trusted_proxies” has what is no address").expected(expected));
        }
        network
    };
    section.texts("trusted_proxies").into_iter().filter_map(read).collect()
}

fn public_url(section: &Section<'_>) -> Option<Url> {
    let parsed = Url::parse(section.text("public_url")?).ok().filter(|url| {
        let web = matches!(url.scheme(), "http" | "https") && url.host().is_some();
        web && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    });
    if parsed.is_none() {
        let expected = "an http or https address without query, fragment and user";
        section.wrong("public_url", Wrong::new("“public_url” cannot be used").expected(expected));
    }
    parsed
}

fn database_url(section: &Section<'_>) -> Option<String> {
    let written = section.text("database_url")?;
    let known = ["sqlite:", "postgres://", "postgresql://"].iter().any(|start| written.starts_with(start));
    if !known {
        let expected = "an address that begins with sqlite:, postgres:// or postgresql://";
        section.wrong(
            "database_url",
            Wrong::new("“database_url” is no database that can be used").expected(expected),
        );
    }
    known.then(|| written.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_can_be_reached() {
        for (listen, reached) in [
            ("127.0.0.1:80", "http://127.0.0.1/"),
            ("[::1]:8087", "http://[::1]:8087/"),
            ("[fe80::1%3]:8087", "http://[fe80::1]:8087/"),
            ("0.0.0.0:0", "http://0.0.0.0:0/"),
        ] {
            assert_eq!(listen.parse().map(reached_at).map(String::from).as_deref(), Ok(reached), "{listen}");
        }
    }
}
