//! One function for each thing that reads what somebody outside has written. They take any bytes, and panic where the desk
//! breaks a promise. cargo-fuzz calls them, and so does a test of the engine, over the kept corpora.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str;
use std::sync::LazyLock;

use engine::catalogue::{Action, Catalogue};
use engine::egress::{Egress, Limits, parse_url};
use engine::outgoing::Outgoing;
use engine::token::PlainToken;
use model::Surface;
use model::visible::{Place, hides, visible_text};
use serde_json::{Map, Value};
use url::{Host, Url};

/// A catalogue with an action whose templates put an agent's words into a path, a query, a body and a preview.
const CATALOGUE: &str = include_str!("catalogue.toml");

static SHOP: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::parse(CATALOGUE, "catalogue.toml").unwrap_or_else(|faults| panic!("{faults:?}"))
});

static EGRESS: LazyLock<Egress> =
    LazyLock::new(|| Egress::new(Limits::default()).unwrap_or_else(|fault| panic!("{fault}")));

/// The address filter: text, or the 4 or 16 bytes of an address. What passes without a credential is https to the public.
pub fn address(data: &[u8]) {
    if let Some(host) = bare(data) {
        ask(&format!("https://{host}/"));
    }
    if let Ok(text) = str::from_utf8(data) {
        ask(text);
    }
}

/// Bytes as the host of a URL.
fn bare(data: &[u8]) -> Option<String> {
    if let Ok(bytes) = <[u8; 4]>::try_from(data) {
        return Some(Ipv4Addr::from(bytes).to_string());
    }
    <[u8; 16]>::try_from(data).ok().map(|bytes| format!("[{}]", Ipv6Addr::from(bytes)))
}

fn ask(text: &str) {
    let Ok(url) = parse_url(text) else { return };
    assert_eq!(
        Url::parse(url.as_str()).as_ref(),
        Ok(&url),
        "{text:?} is read as something else the second time"
    );
    let Ok(checked) = EGRESS.check(None, get(url.clone())) else { return };
    assert_eq!(checked.outgoing().url, url, "{text:?} was checked as something else");
    assert_eq!(url.scheme(), "https", "{text:?} would leave in the clear");
    assert!(url.username().is_empty() && url.password().is_none(), "{text:?} carries a user");
    assert!(!url.path().split('/').any(|part| part == ".." || part == "."), "{text:?} climbs");
    match url.host() {
        Some(Host::Ipv4(one)) => assert!(is_public(one.into()), "{text:?} reaches {one}"),
        Some(Host::Ipv6(one)) => assert!(is_public(one.into()), "{text:?} reaches {one}"),
        Some(Host::Domain(name)) => assert!(!is_this_machine(name), "{text:?} reaches this machine"),
        None => panic!("{text:?} has no host"),
    }
}

fn get(url: Url) -> Outgoing {
    Outgoing {
        method: "GET".parse().expect("a method"),
        url,
        values_encoded: false,
        headers: Vec::new(),
        body: None,
    }
}

fn is_this_machine(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// As the standard library sees it: another table than the desk's own.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(one) => {
            !(one.is_loopback()
                || one.is_private()
                || one.is_link_local()
                || one.is_multicast()
                || one.is_broadcast()
                || one.is_documentation()
                || one.octets()[0] == 0
                || (one.octets()[0] == 100 && one.octets()[1] & 0xc0 == 64))
        }
        IpAddr::V6(one) => {
            let is_own = one.is_loopback()
                || one.is_unspecified()
                || one.is_multicast()
                || one.is_unique_local()
                || one.is_unicast_link_local();
            !is_own && one.to_ipv4().is_none_or(|inner| is_public(inner.into()))
        }
    }
}

/// The key parser. What it takes is taken whole, and not with one letter changed, added or missing.
pub fn key(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let Some((_, token)) = PlainToken::parse(text) else { return };
    assert_eq!(token.reveal(), text);
    assert!(text.is_ascii() && !text.contains(char::is_whitespace));
    assert!(PlainToken::parse(&text[1..]).is_none() && PlainToken::parse(&text[..text.len() - 1]).is_none());
    assert!(
        PlainToken::parse(&format!("{text}0")).is_none() && PlainToken::parse(&format!(" {text}")).is_none()
    );
    for (at, letter) in text.char_indices().skip(4) {
        let other = if letter == 'a' { 'b' } else { 'a' };
        let mistyped = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        assert!(PlainToken::parse(&mistyped).is_none(), "{mistyped} was taken for {text}");
    }
}

/// The catalogue. A mistake is told with its line, and a catalogue without one can be used.
pub fn catalogue(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    match Catalogue::parse(text, "fuzz.toml") {
        Ok(catalogue) => catalogue.actions().for_each(|action| usable(action)),
        Err(mistakes) => {
            assert!(!mistakes.0.is_empty(), "refused without a word");
            let lines = text.split('\n').count();
            for mistake in &mistakes.0 {
                assert!((1..=lines.max(1)).contains(&mistake.line), "{mistake} is on no line of {lines}");
                assert!(mistake.to_string().starts_with("fuzz.toml:"), "{mistake}");
            }
        }
    }
}

fn usable(action: &Action) {
    drop(action.offered());
    let empty = Value::Object(Map::new());
    if action.validate(&empty).is_empty()
        && let Ok(outgoing) = action.render(&empty)
    {
        shown(action, &empty, &outgoing);
    }
}

/// The renderer of previews, of an action's input and of a request that an agent has written itself.
pub fn preview(data: &[u8]) {
    let Ok(input) = serde_json::from_slice::<Value>(data) else { return };
    let Some(arguments) = input.as_object() else { return };
    let own = SHOP.action_for(Surface::Fetch, "fetch", arguments);
    for action in SHOP.actions().cloned().chain(own) {
        if action.validate(&input).is_empty()
            && let Ok(outgoing) = action.render(&input)
        {
            shown(&action, &input, &outgoing);
        }
    }
}

/// What is shown is what is sent, whole, and nothing in it hides.
fn shown(action: &Action, input: &Value, outgoing: &Outgoing) {
    let preview = action.preview(input, outgoing, None, None, Vec::new());
    let request = &preview.request;
    if outgoing.handler().is_none() {
        let query =
            if outgoing.url.query().is_some() { format!("?{}", request.query) } else { String::new() };
        let told = format!("{}://{}{}{query}", outgoing.url.scheme(), request.host, request.path);
        assert_eq!(told, outgoing.url.as_str(), "another address is shown than is sent");
        assert_eq!(request.method, outgoing.method.as_str());
        assert_eq!(request.headers.len(), outgoing.headers.len(), "a header is not shown");
    }
    if let Some(text) = outgoing.body.as_deref().and_then(|body| str::from_utf8(body).ok()) {
        assert_eq!(request.body.as_deref(), Some(text), "another body is shown than is sent");
    }
    for text in
        [&preview.title, &preview.summary].into_iter().chain(preview.fields.iter().map(|field| &field.value))
    {
        let plain = visible_text(text, Place::Body);
        assert!(!hides(&plain, Place::Body), "{plain:?} still hides something");
    }
    if action.name == "write_note" {
        placed(input, outgoing, &preview.fields.iter().map(|field| field.value.as_str()).collect::<Vec<_>>());
    }
}

/// An input stays in its place: the path has as many parts as its template, and every field is shown whole.
fn placed(input: &Value, outgoing: &Outgoing, fields: &[&str]) {
    assert_eq!(outgoing.url.host_str(), Some("notes.example"));
    assert_eq!(outgoing.url.path().split('/').count(), 4, "{} has another number of parts", outgoing.url);
    assert_eq!(outgoing.url.query_pairs().count(), 1, "{} has another number of parameters", outgoing.url);
    for (name, at) in [("to", 0), ("text", 1)] {
        assert_eq!(input[name].as_str(), Some(fields[at]), "{name} is not shown whole");
    }
    let body: Value = serde_json::from_slice(outgoing.body.as_deref().unwrap_or_default()).expect("JSON");
    assert_eq!(body["text"], input["text"], "templates made structure");
}
