//! The credentials that the taken operations need, with the hosts, methods and paths they need them for.

use http::HeaderName;
use serde_json::{Map, Value, json};
use url::{Host, Url};

use super::security::Scheme;
use super::words;

/// Headers that no credential may use.
const RESERVED: &[&str] = &[
    "connection",
    "content-length",
    "content-type",
    "host",
    "idempotency-key",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The most path prefixes that are written out.
const MOST_PREFIXES: usize = 16;

/// Whether a credential's secret may stand in this header.
pub(super) fn can_carry(header: &str) -> bool {
    HeaderName::try_from(header).is_ok_and(|name| !RESERVED.contains(&name.as_str()))
}

/// A credential and what it is needed for.
#[derive(Debug)]
struct Needed {
    scheme: Scheme,
    bases: Vec<Url>,
    methods: Vec<String>,
    /// `None`: some path has no beginning of its own.
    prefixes: Option<Vec<String>>,
}

/// The credentials of a catalogue.
#[derive(Debug)]
pub(super) struct Credentials {
    /// The name of a single one, and how the names of several begin.
    stem: String,
    needed: Vec<Needed>,
}

impl Credentials {
    /// None yet. `title`: of the document, for their names.
    pub(super) fn new(title: &str) -> Self {
        let mut kept = words::words(title);
        kept.retain(|word| {
            !matches!(word.as_str(), "api" | "the" | "rest" | "openapi" | "specification" | "public")
        });
        kept.truncate(3);
        let stem: String = words::name(&kept).unwrap_or_else(|| "api".to_owned()).chars().take(32).collect();
        Self { stem, needed: Vec::new() }
    }

    /// Notes that a scheme is used for such a request.
    pub(super) fn use_for(&mut self, scheme: &Scheme, base: &Url, method: &str, path: &str) {
        let at = self.needed.iter().position(|known| known.scheme == *scheme).unwrap_or_else(|| {
            let scheme = scheme.clone();
            self.needed.push(Needed {
                scheme,
                bases: Vec::new(),
                methods: Vec::new(),
                prefixes: Some(Vec::new()),
            });
            self.needed.len() - 1
        });
        let needed = &mut self.needed[at];
        add(&mut needed.bases, base.clone());
        add(&mut needed.methods, method.to_owned());
        match (prefix(base, path), &mut needed.prefixes) {
            (Some(prefix), Some(prefixes)) => add(prefixes, prefix),
            (_, prefixes) => *prefixes = None,
        }
    }

    /// The name that a scheme's credential has in the catalogue, once all are known.
    pub(super) fn name(&self, scheme: &str) -> String {
        let Some(at) = self.needed.iter().position(|needed| needed.scheme.name == scheme) else {
            return self.stem.clone();
        };
        if self.needed.len() == 1 {
            return self.stem.clone();
        }
        let names: Vec<String> =
            self.needed.iter().map(|needed| self.long_name(&needed.scheme.name)).collect();
        let repeated = names.iter().filter(|name| **name == names[at]).count() > 1;
        if repeated { format!("{}_{}", names[at], at + 1) } else { names[at].clone() }
    }

    fn long_name(&self, scheme: &str) -> String {
        let own: String = words::words(scheme).join("_").chars().take(24).collect();
        format!("{}_{}", self.stem, if own.is_empty() { "scheme" } else { &own })
    }

    /// Every credential as the catalogue writes it, each with the comments above it.
    pub(super) fn written(&self) -> Vec<(Vec<String>, Map<String, Value>)> {
        self.needed.iter().map(|needed| self.one(needed)).collect()
    }

    fn one(&self, needed: &Needed) -> (Vec<String>, Map<String, Value>) {
        let name = self.name(&needed.scheme.name);
        let variable = format!("{}_{}", name.to_ascii_uppercase(), needed.scheme.suffix);
        let mut comments = vec![format!("{variable} holds {}.", needed.scheme.hint)];
        let mut written = Map::new();
        let mut put = |key: &str, value: Value| drop(written.insert(key.to_owned(), value));
        put("name", json!(name));
        let mut hosts: Vec<String> = Vec::new();
        needed.bases.iter().for_each(|base| add(&mut hosts, host(base)));
        put("hosts", json!(hosts));
        if let [base] = needed.bases.as_slice() {
            put("base_url", json!(base.as_str().trim_end_matches('/')));
        }
        put("methods", json!(needed.methods));
        if let Some(prefixes) = needed.prefixes.as_ref().filter(|prefixes| prefixes.len() <= MOST_PREFIXES) {
            put("path_prefixes", json!(prefixes));
        }
        put("header", json!(needed.scheme.header));
        put("value", json!(needed.scheme.value));
        put("secret", json!({ "env": variable }));
        put("requires_approval", json!(true));
        comments.push(
            "requires_approval: what goes past the actions, through fetch and via, waits for a person."
                .to_owned(),
        );
        if needed.bases.iter().any(|base| base.scheme() == "http") {
            put("allow_http", json!(true));
            comments.push(
                "allow_http: the document's server is plain http, which anybody on the way can read."
                    .to_owned(),
            );
        }
        if needed.bases.iter().any(is_private) {
            comments.push(
                "The host is on a private network: it is only reached with allow_private = true.".to_owned(),
            );
        }
        (comments, written)
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

fn host(base: &Url) -> String {
    let host = base.host_str().unwrap_or_default();
    base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether a host is certainly on a private network.
fn is_private(base: &Url) -> bool {
    match base.host() {
        Some(Host::Domain(name)) => {
            matches!(name.rsplit('.').next(), Some("localhost" | "local"))
        }
        Some(Host::Ipv4(address)) => address.is_private() || address.is_loopback() || address.is_link_local(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unique_local(),
        None => false,
    }
}

/// The beginning of a path that the operation shares with its like: the server's own, or else the first segment.
fn prefix(base: &Url, path: &str) -> Option<String> {
    let own = base.path().trim_end_matches('/');
    if !own.is_empty() {
        return Some(own.to_owned());
    }
    let first = path.trim_start_matches('/').split('/').next().filter(|first| !first.is_empty())?;
    let plain = first.chars().all(|c| c.is_ascii_alphanumeric() || "-._~@:".contains(c));
    (plain && !path.starts_with("//")).then(|| format!("/{first}"))
}
