//! Whether a request may leave: the rules that need nothing but the request and its credential.

use http::uri::PathAndQuery;
use http::{HeaderName, Method, Uri};
use url::{Host, Position, Url};

use super::address::{Reach, reach};
use super::blocked::{Blocked, Reason};
use super::{headers, path};
use crate::credential::Credential;
use crate::outgoing::Outgoing;

/// More than any API wants, and less than most servers refuse.
const HEADERS_LIMIT: usize = 64 * 1024;

/// A request that may leave. Made by [`Egress::check`](super::Egress::check) alone.
#[derive(Debug, Clone)]
pub struct Checked {
    outgoing: Outgoing,
    target: Target,
    line: Uri,
    injection: Option<Injection>,
}

/// Where a checked request goes.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) host: Host<String>,
    pub(super) port: u16,
    pub(super) tls: bool,
    pub(super) allow_private: bool,
}

/// Where the secret goes: one header, and a value with `{secret}` in it.
#[derive(Debug, Clone)]
pub(super) struct Injection {
    pub(super) header: HeaderName,
    pub(super) template: String,
}

impl Checked {
    /// The request as it will be sent, without the headers that were dropped and those that egress adds.
    pub const fn outgoing(&self) -> &Outgoing {
        &self.outgoing
    }

    /// The parts: the request, where it goes, its request line's address, and where the secret goes.
    pub(super) fn into_parts(self) -> (Outgoing, Target, Uri, Option<Injection>) {
        (self.outgoing, self.target, self.line, self.injection)
    }
}

/// Every rule, in the order in which a person would want to hear of them.
pub(super) fn check(
    credential: Option<&Credential>,
    mut outgoing: Outgoing,
    body_limit: usize,
) -> Result<Checked, Blocked> {
    check_method(&outgoing.method)?;
    check_scheme(&outgoing.url)?;
    check_url(&outgoing.url, outgoing.values_encoded)?;
    if let Some(credential) = credential {
        check_credential(credential, &outgoing)?;
    }
    let target = target(&outgoing.url, credential)?;
    outgoing.headers = headers::keep_for_request(outgoing.headers, credential.map(|c| &c.header));
    check_sizes(&outgoing, body_limit)?;
    let line = line(&outgoing.url)?;
    let injection = credential.map(|c| Injection { header: c.header.clone(), template: c.value.clone() });
    Ok(Checked { outgoing, target, line, injection })
}

/// https or http; whether http is allowed here is asked later.
pub(super) fn check_scheme(url: &Url) -> Result<(), Reason> {
    if matches!(url.scheme(), "https" | "http") { Ok(()) } else { Err(Reason::Scheme) }
}

/// What no credential could allow.
pub(super) fn check_url(url: &Url, values_encoded: bool) -> Result<(), Reason> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Reason::UserInfo);
    }
    if url.fragment().is_some() {
        return Err(Reason::Fragment);
    }
    if url.port() == Some(0) {
        return Err(Reason::Port);
    }
    match url.host() {
        Some(Host::Domain(name)) if is_canonical(name) => {}
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => {}
        _ => return Err(Reason::Host),
    }
    path::check(url.path(), values_encoded)
}

/// The parser has put the name into lower case and ASCII already. What it lets pass are empty labels (a trailing dot
/// makes a second name for the same host, which no rule would know) and letters that no host name has.
fn is_canonical(name: &str) -> bool {
    name.len() <= 253
        && name.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && label
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
        })
}

/// CONNECT makes a tunnel nobody can check, TRACE sends the secret back. Some servers fold the case of methods.
fn check_method(method: &Method) -> Result<(), Reason> {
    let forbidden = ["CONNECT", "TRACE"].iter().any(|name| method.as_str().eq_ignore_ascii_case(name));
    if forbidden { Err(Reason::Method) } else { Ok(()) }
}

fn check_credential(credential: &Credential, outgoing: &Outgoing) -> Result<(), Reason> {
    let url = &outgoing.url;
    let default_port = if url.scheme() == "https" { 443 } else { 80 };
    let port = url.port().unwrap_or(default_port);
    let host_fits = credential
        .hosts
        .iter()
        .any(|rule| url.host_str() == Some(&rule.host) && port == rule.port.unwrap_or(default_port));
    let method_fits = credential.methods.is_empty() || credential.methods.contains(&outgoing.method);
    let path_fits = credential.path_prefixes.is_empty()
        || credential.path_prefixes.iter().any(|prefix| path::is_under(url.path(), prefix));

    if !host_fits {
        Err(Reason::HostOfCredential)
    } else if !method_fits {
        Err(Reason::MethodOfCredential)
    } else if !path_fits {
        Err(Reason::PathOfCredential)
    } else if headers::frames(&credential.header) {
        Err(Reason::HeaderOfCredential)
    } else {
        Ok(())
    }
}

fn target(url: &Url, credential: Option<&Credential>) -> Result<Target, Reason> {
    let tls = url.scheme() == "https";
    if !tls && !credential.is_some_and(|c| c.allow_http) {
        return Err(Reason::PlainHttp);
    }
    let allow_private = credential.is_some_and(|c| c.allow_private);
    let host = url.host().ok_or(Reason::Host)?.to_owned();
    match &host {
        Host::Ipv4(address) => check_reach(reach((*address).into()), allow_private)?,
        Host::Ipv6(address) => check_reach(reach((*address).into()), allow_private)?,
        Host::Domain(name) if is_localhost(name) => check_reach(Reach::Private, allow_private)?,
        Host::Domain(_) => {}
    }
    let port = url.port_or_known_default().ok_or(Reason::Port)?;
    Ok(Target { host, port, tls, allow_private })
}

/// Whether an address of this reach may be connected to.
pub(super) fn check_reach(reach: Reach, allow_private: bool) -> Result<(), Reason> {
    match reach {
        Reach::Public => Ok(()),
        Reach::Private if allow_private => Ok(()),
        Reach::Private => Err(Reason::PrivateAddress),
        Reach::Forbidden => Err(Reason::ForbiddenAddress),
    }
}

/// The names that always mean this machine (RFC 6761, section 6.3).
fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

fn check_sizes(outgoing: &Outgoing, body_limit: usize) -> Result<(), Reason> {
    if outgoing.body.as_ref().is_some_and(|body| body.len() > body_limit) {
        return Err(Reason::BodyTooLarge(body_limit));
    }
    // Each header costs four more bytes on the wire: a colon, a space and the line's end.
    let size: usize =
        outgoing.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if size > HEADERS_LIMIT { Err(Reason::HeadersTooLarge) } else { Ok(()) }
}

/// The address of the request line, byte for byte the part of the URL that was checked.
fn line(url: &Url) -> Result<Uri, Reason> {
    let written = &url[Position::BeforePath..Position::AfterQuery];
    let line = PathAndQuery::try_from(written).map_err(|_| Reason::Unsendable)?;
    if line.as_str() == written { Ok(Uri::from(line)) } else { Err(Reason::Unsendable) }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderValue;
    use model::Refusal;

    use super::*;
    use crate::egress::tests::credential::{credential, outgoing};

    const LIMIT: usize = 1024;

    fn verdict(credential: Option<&Credential>, method: &str, url: &str) -> Result<(), Reason> {
        check(credential, outgoing(method, url), LIMIT).map(drop).map_err(|blocked| blocked.0)
    }

    #[test]
    fn a_credential_keeps_to_its_hosts_and_ports() {
        let mut mail = credential("api.example");
        mail.hosts.push(crate::credential::HostRule { host: "other.example".into(), port: Some(8443) });
        for (url, fits) in [
            ("https://api.example/", true),
            ("https://api.example:443/", true),
            ("https://api.example:8443/", false),
            ("https://api.example:80/", false),
            ("https://other.example:8443/", true),
            ("https://other.example/", false),
            ("https://sub.api.example/", false),
            ("https://api.example.evil.example/", false),
            ("https://evil.example/api.example", false),
        ] {
            let expected = if fits { Ok(()) } else { Err(Reason::HostOfCredential) };
            assert_eq!(verdict(Some(&mail), "GET", url), expected, "{url}");
        }
        mail.hosts.clear();
        assert_eq!(verdict(Some(&mail), "GET", "https://api.example/"), Err(Reason::HostOfCredential));
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets() {
        let mut lan = credential("[::1]");
        lan.allow_private = true;
        assert_eq!(verdict(Some(&lan), "GET", "https://[::1]/"), Ok(()));
        assert_eq!(verdict(Some(&lan), "GET", "https://[::2]/"), Err(Reason::HostOfCredential));
    }

    #[test]
    fn a_host_without_a_port_means_the_default_of_the_scheme() {
        let mut mail = credential("api.example");
        mail.allow_http = true;
        assert_eq!(verdict(Some(&mail), "GET", "http://api.example/"), Ok(()));
        assert_eq!(verdict(Some(&mail), "GET", "http://api.example:443/"), Err(Reason::HostOfCredential));
        mail.hosts[0].port = Some(443);
        assert_eq!(verdict(Some(&mail), "GET", "https://api.example/"), Ok(()));
        assert_eq!(verdict(Some(&mail), "GET", "http://api.example/"), Err(Reason::HostOfCredential));
    }

    #[test]
    fn a_credential_keeps_to_its_methods_and_paths() {
        let mut mail = credential("api.example");
        mail.methods = vec![Method::GET, Method::POST];
        mail.path_prefixes = vec!["/v1/".into(), "/status".into()];
        for (method, path, expected) in [
            ("GET", "/v1/x", Ok(())),
            ("POST", "/status", Ok(())),
            ("DELETE", "/v1/x", Err(Reason::MethodOfCredential)),
            ("get", "/v1/x", Err(Reason::MethodOfCredential)),
            ("GET", "/statusx", Err(Reason::PathOfCredential)),
            ("GET", "/", Err(Reason::PathOfCredential)),
            ("GET", "/v1/%2e%2e%2fadmin", Err(Reason::HiddenSlash)),
            ("GET", "/v1%2Fx", Err(Reason::HiddenSlash)),
            ("GET", "/v1/..;/admin", Err(Reason::DotSegment)),
        ] {
            assert_eq!(
                verdict(Some(&mail), method, &format!("https://api.example{path}")),
                expected,
                "{method} {path}"
            );
        }
    }

    #[test]
    fn plain_http_and_private_addresses_need_the_credentials_word() {
        let mut lan = credential("127.0.0.1");
        for (allow_http, allow_private, url, expected) in [
            (false, true, "http://127.0.0.1/", Err(Reason::PlainHttp)),
            (true, false, "http://127.0.0.1/", Err(Reason::PrivateAddress)),
            (true, true, "http://127.0.0.1/", Ok(())),
            (false, true, "https://127.0.0.1/", Ok(())),
        ] {
            (lan.allow_http, lan.allow_private) = (allow_http, allow_private);
            assert_eq!(verdict(Some(&lan), "GET", url), expected, "{allow_http} {allow_private} {url}");
        }
        (lan.allow_http, lan.allow_private) = (true, true);
        for host in ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "[::ffff:a9fe:a9fe]"] {
            lan.hosts[0].host = host.into();
            let url = format!("http://{host}/");
            assert_eq!(verdict(Some(&lan), "GET", &url), Err(Reason::ForbiddenAddress), "{host}");
        }
    }

    #[test]
    fn without_a_credential_only_https_to_the_public() {
        for (url, expected) in [
            ("https://api.example/", Ok(())),
            ("https://api.example:8443/x", Ok(())),
            ("https://93.184.216.34/", Ok(())),
            ("http://api.example/", Err(Reason::PlainHttp)),
            ("https://localhost/", Err(Reason::PrivateAddress)),
            ("https://db.localhost/", Err(Reason::PrivateAddress)),
            ("https://10.0.0.1/", Err(Reason::PrivateAddress)),
            ("https://2130706433/", Err(Reason::PrivateAddress)),
            ("https://[::1]/", Err(Reason::PrivateAddress)),
            ("https://[::ffff:7f00:1]/", Err(Reason::PrivateAddress)),
            ("https://169.254.169.254/", Err(Reason::ForbiddenAddress)),
        ] {
            assert_eq!(verdict(None, "GET", url), expected, "{url}");
        }
    }

    #[test]
    fn what_no_credential_could_allow() {
        let mail = credential("api.example");
        for (method, url, expected) in [
            ("CONNECT", "https://api.example/", Reason::Method),
            ("TRACE", "https://api.example/", Reason::Method),
            ("trace", "https://api.example/", Reason::Method),
            ("GET", "ftp://api.example/", Reason::Scheme),
            ("GET", "https://ann@api.example/", Reason::UserInfo),
            ("GET", "https://:pw@api.example/", Reason::UserInfo),
            ("GET", "https://api.example/#x", Reason::Fragment),
            ("GET", "https://api.example:0/", Reason::Port),
            ("GET", "https://api.example./", Reason::Host),
            ("GET", "https://api..example/", Reason::Host),
            ("GET", "https://a!b.example/", Reason::Host),
        ] {
            assert_eq!(verdict(Some(&mail), method, url), Err(expected), "{method} {url}");
        }
    }

    #[test]
    fn a_secret_never_goes_into_a_header_that_frames() {
        let mut mail = credential("api.example");
        mail.header = HeaderName::from_static("content-length");
        assert_eq!(verdict(Some(&mail), "GET", "https://api.example/"), Err(Reason::HeaderOfCredential));
    }

    #[test]
    fn sizes_are_bounded() {
        let mut large = outgoing("POST", "https://api.example/");
        large.body = Some(Bytes::from(vec![0; LIMIT]));
        assert!(check(None, large.clone(), LIMIT).is_ok());
        large.body = Some(Bytes::from(vec![0; LIMIT + 1]));
        let blocked = check(None, large, LIMIT).expect_err("too large");
        assert_eq!(Refusal::from(blocked), Refusal::TooLarge(LIMIT));

        let mut wordy = outgoing("GET", "https://api.example/");
        let value = HeaderValue::from_bytes(&[b'x'; 1000]).expect("a value");
        wordy.headers = vec![(HeaderName::from_static("x-long"), value); 70];
        assert_eq!(
            check(None, wordy, LIMIT).map_err(|blocked| blocked.0).err(),
            Some(Reason::HeadersTooLarge)
        );

        let long = format!("https://api.example/{}", "x".repeat(70_000));
        assert_eq!(verdict(None, "GET", &long), Err(Reason::Unsendable));
    }

    #[test]
    fn the_request_line_is_what_was_checked() {
        for written in ["/", "/?", "/a?b=c&d=%2F", "/a;b/:c/@d/[e]|f^g?h[]={i}", "//x"] {
            let checked = check(None, outgoing("GET", &format!("https://api.example{written}")), LIMIT);
            match checked {
                Ok(checked) => assert_eq!(checked.line.to_string(), written),
                Err(blocked) => assert_eq!(blocked.0, Reason::Unsendable, "{written}"),
            }
        }
    }
}
