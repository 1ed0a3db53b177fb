//! Reading a credential.

use http::{HeaderName, HeaderValue, Method};
use url::{Host, Url};

use super::document::{Node, Section};
use super::mistake::{Notes, Span, Wrong};
use super::request::method;
use crate::credential::{Credential, HostRule, SecretSource};

const KEYS: &[&str] = &[
    "name",
    "hosts",
    "base_url",
    "methods",
    "path_prefixes",
    "allow",
    "header",
    "value",
    "secret",
    "requires_approval",
    "trusted",
    "allow_http",
    "allow_private",
    "in_doubt_on",
];

/// Headers that belong to the connection or to the desk, never to a credential.
const RESERVED: &[&str] = &[
    "host",
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "idempotency-key",
];

/// Reads one `[[credential]]`.
pub(super) fn read(node: &Node, notes: &Notes<'_>) -> Option<Credential> {
    let section = Section::open(node, "a credential", KEYS, notes)?;
    let name = name(&section);
    let hosts = hosts(&section);
    let allow_http = section.boolean("allow_http", false);
    let base_url = base_url(&section, &hosts, allow_http);
    let secret = secret(&section);
    let credential = Credential {
        name: name.unwrap_or_default().to_owned(),
        base_url,
        methods: methods(&section),
        path_prefixes: path_prefixes(&section),
        allow: allow(&section),
        header: header(&section),
        value: value(&section),
        secret: SecretSource::Store,
        requires_approval: section.boolean("requires_approval", false),
        trusted: section.boolean("trusted", false),
        allow_http,
        allow_private: section.boolean("allow_private", false),
        in_doubt_on: in_doubt_on(&section),
        hosts,
    };
    name?;
    Some(Credential { secret: secret?, ..credential })
}

fn name<'n>(section: &Section<'n>) -> Option<&'n str> {
    let name = section.required_text("name")?;
    let fits = name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'));
    if !fits {
        let expected = "1 to 64 of a-z, 0-9, _ and -, beginning with a letter";
        section.wrong("name", Wrong::new("the name of a credential cannot be used").expected(expected));
    }
    Some(name)
}

fn hosts(section: &Section<'_>) -> Vec<HostRule> {
    let Some(node) = section.require("hosts") else { return Vec::new() };
    let Some(texts) = node.texts("“hosts”", section.notes) else { return Vec::new() };
    if texts.is_empty() {
        section.wrong(
            "hosts",
            Wrong::new("“hosts” names no host").expected("at least one, such as \"api.example\""),
        );
    }
    texts.into_iter().filter_map(|(text, span)| host(text, span, section.notes)).collect()
}

fn host(text: &str, span: &Span, notes: &Notes<'_>) -> Option<HostRule> {
    match host_rule(text) {
        Ok(rule) => Some(rule),
        Err(wrong) => {
            notes.add(span, wrong);
            None
        }
    }
}

/// A host, perhaps with a port, in canonical form.
fn host_rule(text: &str) -> Result<HostRule, Wrong> {
    let not_a_host = || {
        Wrong::new("this is no host")
            .expected("a host or host:port such as \"api.example\" or \"[::1]:8443\"")
    };
    let port_at = text.rfind(':').filter(|colon| !text[*colon..].contains(']'));
    let (host, port) = match port_at {
        Some(colon) => (&text[..colon], Some(port(&text[colon + 1..]).ok_or_else(not_a_host)?)),
        None => (text, None),
    };
    if host.contains('*') {
        return Err(Wrong::new("a host cannot be a pattern").expected("each host by its name"));
    }
    let parsed = Host::parse(host).map_err(|_| not_a_host())?.to_string();
    let canonical = parsed.strip_suffix('.').unwrap_or(&parsed);
    if canonical != host {
        return Err(
            Wrong::new("this host is not written in its canonical form").expected(format!("\"{canonical}\""))
        );
    }
    Ok(HostRule { host: host.to_owned(), port })
}

/// A port in plain digits.
fn port(text: &str) -> Option<u16> {
    text.parse::<u16>().ok().filter(|port| *port > 0 && port.to_string() == text)
}

/// Whether a host rule lets this address through.
pub(super) fn host_allowed(hosts: &[HostRule], url: &Url) -> bool {
    let default = if url.scheme() == "http" { 80 } else { 443 };
    hosts.iter().any(|rule| {
        url.host_str() == Some(rule.host.as_str())
            && url.port().unwrap_or(default) == rule.port.unwrap_or(default)
    })
}

fn base_url(section: &Section<'_>, hosts: &[HostRule], allow_http: bool) -> Option<String> {
    let text = section.text("base_url")?;
    let wrong = |message: &str, expected: &str| {
        section.wrong("base_url", Wrong::new(message).expected(expected));
    };
    let Some(url) = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https")) else {
        wrong("“base_url” is no address", "an address such as \"https://api.example\"");
        return None;
    };
    if url.query().is_some()
        || url.fragment().is_some()
        || !url.username().is_empty()
        || url.password().is_some()
    {
        wrong("“base_url” cannot be used", "an address without query, fragment and user");
    }
    if url.scheme() == "http" && !allow_http {
        wrong("“base_url” is plain http", "https, or allow_http = true");
    }
    if !hosts.is_empty() && !host_allowed(hosts, &url) {
        wrong("“base_url” is on a host that “hosts” does not name", "a host of the list");
    }
    let written = text.trim_end_matches('/');
    if written != url.as_str().trim_end_matches('/') {
        wrong(
            "“base_url” is not written in its canonical form",
            &format!("\"{}\"", url.as_str().trim_end_matches('/')),
        );
    }
    Some(written.to_owned())
}

fn methods(section: &Section<'_>) -> Vec<Method> {
    let texts = section.texts("methods");
    texts.into_iter().filter_map(|(text, span)| method(text, span, section.notes)).collect()
}

fn path_prefixes(section: &Section<'_>) -> Vec<String> {
    let mut prefixes = Vec::new();
    for (text, span) in section.texts("path_prefixes") {
        let plain = text.starts_with('/')
            && !text.contains(['?', '#', '\\', '%'])
            && !text.split('/').any(|segment| matches!(segment, "." | ".."))
            && text.chars().all(|c| c.is_ascii_graphic());
        if plain {
            prefixes.push(text.to_owned());
        } else {
            let expected = "a path that begins with / and has no dot segments, queries or encoded characters";
            section.notes.add(span, Wrong::new("this is no path prefix").expected(expected));
        }
    }
    prefixes
}

fn allow(section: &Section<'_>) -> Vec<String> {
    if section.get("allow").is_none() {
        return vec!["*".to_owned()];
    }
    let mut allowed = Vec::new();
    for (text, span) in section.texts("allow") {
        let known = text == "*"
            || ["agent:", "group:", "person:"]
                .iter()
                .any(|kind| text.strip_prefix(kind).is_some_and(|n| !n.is_empty()));
        if !known {
            let expected = "*, agent:NAME, group:NAME or person:EMAIL";
            section.notes.add(span, Wrong::new(format!("“{text}” allows nobody")).expected(expected));
        }
        allowed.push(
            text.strip_prefix("person:")
                .map_or_else(|| text.to_owned(), |e| format!("person:{}", e.to_lowercase())),
        );
    }
    allowed
}

fn header(section: &Section<'_>) -> HeaderName {
    let Some(text) = section.text("header") else { return http::header::AUTHORIZATION };
    let Ok(header) = HeaderName::try_from(text) else {
        section.wrong(
            "header",
            Wrong::new("“header” is no header name").expected("a name such as \"Authorization\""),
        );
        return http::header::AUTHORIZATION;
    };
    if RESERVED.contains(&header.as_str()) {
        section.wrong("header", Wrong::new(format!("the header {header} cannot carry a secret")));
    }
    header
}

fn value(section: &Section<'_>) -> String {
    let Some(text) = section.text("value") else { return "Bearer {secret}".to_owned() };
    if text.matches("{secret}").count() != 1 {
        let expected = "the header's value with {secret} once, such as \"Bearer {secret}\"";
        section.wrong("value", Wrong::new("“value” has no one place for the secret").expected(expected));
    }
    if HeaderValue::from_str(text).is_err() {
        section.wrong("value", Wrong::new("“value” is no header value").expected("visible ASCII characters"));
    }
    text.to_owned()
}

fn secret(section: &Section<'_>) -> Option<SecretSource> {
    let expected = "{ env = \"NAME\" } or { store = true }";
    let node = section.require("secret")?;
    let inner = Section::open(node, "“secret”", &["env", "store"], section.notes)?;
    match (inner.get("env"), inner.get("store")) {
        (Some(_), None) => inner.required_text("env").map(|name| SecretSource::Env(name.to_owned())),
        (None, Some(_)) if inner.boolean("store", true) => Some(SecretSource::Store),
        _ => {
            section
                .wrong("secret", Wrong::new("“secret” does not say where the secret is").expected(expected));
            None
        }
    }
}

fn in_doubt_on(section: &Section<'_>) -> Vec<u16> {
    let Some(items) = section.get("in_doubt_on").and_then(|node| node.array("“in_doubt_on”", section.notes))
    else {
        return Vec::new();
    };
    let statuses =
        items.iter().filter_map(|item| item.whole("an entry of “in_doubt_on”", 500, 599, section.notes));
    statuses.filter_map(|status| u16::try_from(status).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_to_be_canonical() {
        for good in
            ["api.example", "api.example:8443", "127.0.0.1:9", "[::1]", "[::1]:8443", "xn--bcher-kva.example"]
        {
            assert!(host_rule(good).is_ok(), "{good}");
        }
        let wrongs =
            ["API.example", "api.example.", "127.1", "0x7f.0.0.1", "[0:0::1]", "bücher.example", "*.example"];
        for wrong in wrongs.into_iter().chain([
            "",
            "a b",
            "api.example:",
            "api.example:99999",
            "a:+80",
            "a:080",
            "::1",
            "a/b",
            "u@h",
        ]) {
            assert!(host_rule(wrong).is_err(), "{wrong}");
        }
    }
}
