//! Where the desk listens, and whether it is found under its public address.

use engine::catalogue::Catalogue;
use engine::credential::{Credential, HostRule, SecretSource};
use engine::egress::{BodyRead, Egress, Response, Sent};
use engine::outgoing::Outgoing;
use engine::party::Party;
use engine::secret::Secret;
use http::{HeaderName, Method};
use url::{Host, Url};

use super::Finding;

const SUBJECT: &str = "public_url";

/// Whether the address is one that cookies and keys may travel to.
pub(super) fn bound(catalogue: &Catalogue) -> Finding {
    let (listen, url) = (&catalogue.server.listen, &catalogue.server.public_url);
    if url.scheme() == "https" {
        if catalogue.server.trusted_proxies.is_empty() {
            let found = "it is https, which something in front of the desk speaks, and `trusted_proxies` names nobody: \
                all who sign in seem to come from one address, and wait for each other's failures.";
            return Finding::mind(SUBJECT, found, "Name the proxy's address in `trusted_proxies`.");
        }
        return Finding::good(SUBJECT, "it is https: cookies are sent over TLS alone.");
    }
    if !is_loopback(url) {
        let found = format!("{url} is plain http: passwords, keys and previews can be read on their way.");
        let next = "Put TLS in front (nginx, Caddy) and write the https address into `public_url`.";
        return Finding::bad(SUBJECT, found, next);
    }
    if !listen.ip().is_loopback() {
        let found = format!("the server listens on {listen} for everybody, and `public_url` says {url}.");
        let next = "Listen on 127.0.0.1 behind something that speaks TLS, and write its https address into `public_url`.";
        return Finding::bad(SUBJECT, found, next);
    }
    let found = format!("{url} can be reached from this machine alone.");
    Finding::mind(SUBJECT, found, "Nothing, if that is meant.")
}

/// Whether people can have passkeys here.
pub(super) fn passkeys(catalogue: &Catalogue) -> Finding {
    match Party::of(&catalogue.server.public_url) {
        Ok(party) => {
            let found =
                format!("people can have passkeys, for “{}” on the pages of {}.", party.id, party.origin);
            Finding::good("passkeys", found)
        }
        Err(why) => Finding::mind(
            "passkeys",
            format!("nobody can have a passkey here: they take {}.", why.needs()),
            "Nothing, if passwords are enough.",
        ),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether a desk answers under the public address.
pub(super) async fn answers(egress: &Egress, catalogue: &Catalogue) -> Finding {
    let url = &catalogue.server.public_url;
    let next = "Start the server; look at the proxy, the certificate and the name's address.";
    let probe = url.join("/healthz").ok().and_then(|probe| Some((reaching(&probe)?, probe)));
    let Some((credential, probe)) = probe else {
        return Finding::bad("reach", format!("{url} is no address that can be asked."), next);
    };
    let outgoing =
        Outgoing { method: Method::GET, url: probe, values_encoded: false, headers: Vec::new(), body: None };
    let checked = match egress.check(Some(&credential), outgoing) {
        Ok(checked) => checked,
        Err(blocked) => return Finding::mind("reach", format!("{url} cannot be asked: {blocked}"), next),
    };
    match egress.send(checked, Some(&Secret::new("doctor".to_owned())), None).await {
        Sent::Answered(response) if response.status == 200 && is_ours(&response) => {
            Finding::good("reach", format!("a desk answers at {url}."))
        }
        Sent::Answered(response) => Finding::bad(
            "reach",
            format!("something else answers at {url}, with status {}.", response.status),
            next,
        ),
        Sent::NeverLeft(why) => Finding::mind("reach", format!("nothing answers at {url}: {why}"), next),
        Sent::Unknown(_) => Finding::mind("reach", format!("{url} was reached and gave no answer."), next),
    }
}

/// What only says that the desk's own address may be asked, wherever it is. A request needs something to carry.
fn reaching(url: &Url) -> Option<Credential> {
    Some(Credential {
        name: "doctor".to_owned(),
        hosts: vec![HostRule { host: url.host_str()?.to_owned(), port: url.port() }],
        base_url: None,
        methods: vec![Method::GET],
        path_prefixes: Vec::new(),
        allow: Vec::new(),
        header: HeaderName::from_static("x-looked-at-by"),
        value: "countersign {secret}".to_owned(),
        secret: SecretSource::Store,
        requires_approval: false,
        trusted: false,
        allow_http: true,
        allow_private: true,
        in_doubt_on: Vec::new(),
    })
}

/// A desk names every request, and says that it is well in a word.
fn is_ours(response: &Response) -> bool {
    let is_well = |body: &[u8]| {
        serde_json::from_slice::<serde_json::Value>(body).is_ok_and(|body| body["status"] == "ok")
    };
    response.headers.contains_key("x-request-id")
        && matches!(&response.body, BodyRead::Whole(body) if is_well(body))
}
