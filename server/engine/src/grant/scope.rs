//! What a call has to be like to be let through, and what it is like. Pure.
//!
//! Both are lists of parts: arguments, or headers, query and body of a request that is passed on, and in any case every
//! segment of the path. A part is the same when its bytes are; a part that may vary is one that the person freed. What is
//! there in the one and not in the other does not fit.

use http::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use url::Url;

use crate::catalogue::{Action, input};
use crate::outgoing::Outgoing;

/// The most characters of a value that is kept to be shown. What counts is its digest.
const SHOWN: usize = 300;

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// An argument of this name.
    Argument(String),
    /// A segment of the path, counted from 0: what stands between two slashes.
    Segment(usize),
    /// The query.
    Query,
    /// A header of this name, all its values.
    Header(String),
    /// The body.
    Body,
}

/// How far a part may vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Varies {
    /// It is as in the call.
    Not,
    /// It is anything that looks like an id.
    AsId,
    /// It is anything.
    Freely,
}

/// A part of a call with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) place: Place,
    digest: [u8; 32],
    /// The value in words, shortened.
    pub(crate) shown: String,
}

/// What a call is like.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    method: String,
    origin: String,
    tenant: Option<String>,
    pub(crate) parts: Vec<Part>,
    segments: Vec<String>,
}

/// What a call has to be like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scope {
    method: String,
    origin: String,
    tenant: Option<String>,
    parts: Vec<Bound>,
}

/// A part of what a call has to be like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Bound {
    place: Place,
    digest: [u8; 32],
    shown: String,
    varies: Varies,
}

/// What a call has to be like, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The method.
    pub method: String,
    /// Scheme, host and port; of a handler its scheme.
    pub origin: String,
    /// The tenant that the call names.
    pub tenant: Option<String>,
    /// The segments of the path and how far each may vary.
    pub path: Vec<(String, Varies)>,
    /// Everything else, with its value, shortened.
    pub parts: Vec<(Place, String, Varies)>,
}

impl Facts {
    /// What this call is like.
    pub(crate) fn of(
        action: &Action,
        tenant: Option<&str>,
        arguments: &Map<String, Value>,
        outgoing: &Outgoing,
    ) -> Self {
        let segments: Vec<String> = outgoing.url.path().split('/').map(str::to_owned).collect();
        let mut parts = if action.passes_on() { of_request(outgoing) } else { of_arguments(arguments) };
        let numbered = segments.iter().enumerate();
        parts.extend(numbered.map(|(at, text)| Part::of(Place::Segment(at), text.as_bytes(), text.clone())));
        Self {
            method: outgoing.method.to_string(),
            origin: origin(&outgoing.url),
            tenant: tenant.map(str::to_owned),
            parts,
            segments,
        }
    }

    /// What a call has to be like that is as this one, but for the parts that may vary.
    pub(crate) fn bound(self, varies: impl Fn(&Place) -> Varies) -> Scope {
        let bound = |Part { place, digest, shown }| {
            let varies = varies(&place);
            // What may be anything is not kept.
            let shown = if varies == Varies::Freely { String::new() } else { shown };
            Bound { place, digest, shown, varies }
        };
        Scope {
            method: self.method,
            origin: self.origin,
            tenant: self.tenant,
            parts: self.parts.into_iter().map(bound).collect(),
        }
    }

    /// The segments of the path that look like ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.segments.iter().enumerate();
        numbered.filter(|(_, text)| looks_like_id(text)).map(|(at, text)| (at, text.as_str()))
    }

    /// The segment of this number.
    pub(crate) fn segment(&self, at: usize) -> &str {
        self.segments.get(at).map_or("", String::as_str)
    }
}

impl Part {
    fn of(place: Place, bytes: &[u8], shown: String) -> Self {
        Self { place, digest: Sha256::digest(bytes).into(), shown: shortened(shown) }
    }
}

impl Scope {
    /// Whether a call is as it has to be.
    pub(crate) fn fits(&self, call: &Facts) -> bool {
        let same = (&self.method, &self.origin, &self.tenant) == (&call.method, &call.origin, &call.tenant);
        same && call.parts.iter().all(|part| self.lets(part, call))
            && self.parts.iter().all(|bound| bound.is_met_by(call))
    }

    /// Whether this part of a call is one that the scope knows, and as it has to be.
    fn lets(&self, part: &Part, call: &Facts) -> bool {
        let Some(bound) = self.parts.iter().find(|bound| bound.place == part.place) else { return false };
        match (bound.varies, &part.place) {
            (Varies::Not, _) => bound.digest == part.digest,
            (Varies::AsId, Place::Segment(at)) => looks_like_id(call.segment(*at)),
            (Varies::AsId, _) => false,
            (Varies::Freely, Place::Segment(at)) => !call.segment(*at).is_empty(),
            (Varies::Freely, _) => true,
        }
    }

    /// The same, to be shown.
    pub(crate) fn allowed(&self) -> Allowed {
        let mut allowed = Allowed {
            method: self.method.clone(),
            origin: self.origin.clone(),
            tenant: self.tenant.clone(),
            path: Vec::new(),
            parts: Vec::new(),
        };
        for Bound { place, shown, varies, .. } in &self.parts {
            match place {
                Place::Segment(_) => allowed.path.push((shown.clone(), *varies)),
                place => allowed.parts.push((place.clone(), shown.clone(), *varies)),
            }
        }
        allowed
    }
}

impl Bound {
    /// A part that may vary freely may be left out, but for a segment of the path.
    fn is_met_by(&self, call: &Facts) -> bool {
        let may_be_left_out = self.varies == Varies::Freely && !matches!(self.place, Place::Segment(_));
        may_be_left_out || call.parts.iter().any(|part| part.place == self.place)
    }
}

/// The arguments, each by its JSON: `1` and `1.0` are two values, as are two orders of the same members.
fn of_arguments(arguments: &Map<String, Value>) -> Vec<Part> {
    let part = |(name, value): (&String, &Value)| {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Part::of(Place::Argument(name.clone()), value.to_string().as_bytes(), shown)
    };
    arguments.iter().map(part).collect()
}

/// Query, headers and body of a request that is passed on.
fn of_request(outgoing: &Outgoing) -> Vec<Part> {
    let query = outgoing.url.query();
    // None and an empty one are two queries.
    let bytes = query.map_or_else(String::new, |query| format!("?{query}"));
    let mut parts = vec![Part::of(Place::Query, bytes.as_bytes(), query.unwrap_or_default().to_owned())];
    let mut names: Vec<&str> = outgoing.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let values = outgoing.headers.iter().filter(|(one, _)| one == name).map(|(_, value)| value);
        parts.push(header(name, values));
    }
    let body = outgoing.body.as_deref().unwrap_or_default();
    let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(body));
    let shown = match body.len() {
        0 => String::new(),
        1 => format!("1 byte, SHA-256 {digest}"),
        size => format!("{size} bytes, SHA-256 {digest}"),
    };
    parts.push(Part::of(Place::Body, body, shown));
    parts
}

fn header<'a>(name: &str, values: impl Iterator<Item = &'a HeaderValue>) -> Part {
    let (mut bytes, mut shown) = (Vec::new(), Vec::new());
    for value in values {
        // Each with its length: two values are not one that holds both.
        bytes.extend((value.len() as u64).to_be_bytes());
        bytes.extend(value.as_bytes());
        shown.push(String::from_utf8_lossy(value.as_bytes()).into_owned());
    }
    Part::of(Place::Header(name.to_owned()), &bytes, shown.join(", "))
}

/// The segments of the path that an argument fills, found by trying: the request is written with another value in its
/// place. Empty where that cannot be told.
pub(crate) fn filled_by(
    action: &Action,
    arguments: &Map<String, Value>,
    outgoing: &Outgoing,
    name: &str,
) -> Vec<usize> {
    let path: Vec<&str> = outgoing.url.path().split('/').collect();
    let others = arguments.get(name).map(others).unwrap_or_default();
    let paths = others.into_iter().filter_map(|other| {
        let mut arguments = arguments.clone();
        arguments.insert(name.to_owned(), other);
        let prepared = input::prepare(action, arguments);
        let rendered =
            action.render(&Value::Object(prepared.input)).ok().filter(|_| prepared.faults.is_empty())?;
        let other: Vec<String> = rendered.url.path().split('/').map(str::to_owned).collect();
        (other.len() == path.len()).then_some(other)
    });
    let differing = |other: Vec<String>| -> Vec<usize> {
        path.iter().zip(&other).enumerate().filter(|(_, (a, b))| *a != b).map(|(at, _)| at).collect()
    };
    paths.map(differing).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Other values of the same kind.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => vec![format!("{text}x").into(), format!("{text}1").into()],
        Value::Number(number) => {
            number.as_i64().map(|number| number.wrapping_add(1).into()).into_iter().collect()
        }
        Value::Bool(yes) => vec![(!yes).into()],
        _ => Vec::new(),
    }
}

/// Whether a segment of a path reads like the name of one thing among many: it has a digit, is no version such as `v1`,
/// and holds nothing but letters, digits, `-`, `_`, `.` and `~`.
fn looks_like_id(segment: &str) -> bool {
    let is_version = segment.strip_prefix('v').is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    });
    let plain =
        segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~'));
    plain && !is_version && segment.bytes().any(|byte| byte.is_ascii_digit())
}

/// Scheme, host and port, as they are sent to.
fn origin(url: &Url) -> String {
    match url.host_str() {
        Some(host) => {
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            format!("{}://{host}{port}", url.scheme())
        }
        None => format!("{}:", url.scheme()),
    }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use serde_json::json;

    const CATALOGUE: &str = r#"
        [[credential]]
        name = "shop"
        hosts = ["a.example"]
        secret = { env = "S" }

        [[action]]
        name = "price"
        title = "Set a price"
        description = "Sets a price."
        effect = "write"
        credential = "shop"
        input = { type = "object", properties = { shelf = { type = "string" }, item = { type = "integer" }, price = { type = "number" } } }
        request = { method = "PUT", url = "https://a.example/v1/{{ input.shelf }}/items/{{ input.item }}", json = "{{ input }}" }
        preview = { title = "Price" }
    "#;

    fn action() -> std::sync::Arc<Action> {
        let catalogue = Catalogue::parse(CATALOGUE, "c.toml").expect("a catalogue");
        catalogue.action("price").expect("an action").clone()
    }

    fn facts(arguments: &Value) -> Facts {
        let action = action();
        let outgoing = action.render(arguments).expect("a request");
        Facts::of(&action, None, arguments.as_object().expect("an object"), &outgoing)
    }

    fn call() -> Value {
        json!({ "shelf": "a", "item": 7, "price": 1.5 })
    }

    /// The same call with another value there.
    fn but(name: &str, value: Value) -> Facts {
        let mut call = call();
        call[name] = value;
        facts(&call)
    }

    #[test]
    fn as_it_is_nothing_else_fits() {
        let scope = facts(&call()).bound(|_| Varies::Not);
        assert!(scope.fits(&facts(&call())));
        for other in [
            but("shelf", json!("b")),
            but("item", json!(8)),
            but("price", json!(1.50001)),
            but("price", json!("1.5")),
            but("more", json!(null)),
            facts(&json!({ "shelf": "a", "item": 7 })),
        ] {
            assert!(!scope.fits(&other), "{other:?}");
        }
        let elsewhere = Facts { tenant: Some("acme".to_owned()), ..facts(&call()) };
        assert!(!scope.fits(&elsewhere));
    }

    #[test]
    fn what_is_freed_varies_and_nothing_beside_it() {
        let scope = facts(&call()).bound(|place| match place {
            Place::Argument(name) if name == "price" => Varies::Freely,
            _ => Varies::Not,
        });
        assert!(scope.fits(&but("price", json!(99))));
        assert!(scope.fits(&facts(&json!({ "shelf": "a", "item": 7 }))), "it may be left out");
        assert!(!scope.fits(&but("item", json!(8))));
        assert!(!scope.fits(&but("other", json!(8))), "a further argument is none of it");
    }

    #[test]
    fn the_part_of_the_path_that_an_argument_fills_is_found() {
        let (action, call) = (action(), call());
        let outgoing = action.render(&call).expect("a request");
        let filled = |name| filled_by(&action, call.as_object().expect("an object"), &outgoing, name);
        assert_eq!(filled("shelf"), [2]);
        assert_eq!(filled("item"), [4]);
        assert_eq!(filled("price"), [0; 0]);
        assert_eq!(filled("nothing"), [0; 0]);
    }

    #[test]
    fn a_freed_segment_is_one_segment_and_never_none() {
        let scope = facts(&call()).bound(|place| match place {
            Place::Argument(name) if name == "shelf" => Varies::Freely,
            Place::Segment(2) => Varies::Freely,
            _ => Varies::Not,
        });
        assert!(scope.fits(&but("shelf", json!("other"))));
        assert!(scope.fits(&but("shelf", json!("a/b"))), "a slash in a value is encoded");
        let longer = Outgoing {
            url: Url::parse("https://a.example/v1/a/b/items/7").expect("a URL"),
            ..action().render(&call()).expect("a request")
        };
        let arguments = call();
        let longer = Facts::of(&action(), None, arguments.as_object().expect("an object"), &longer);
        assert!(!scope.fits(&longer));
    }

    #[test]
    fn what_looks_like_an_id() {
        for id in ["42", "T-101", "0190c3a0-7b1e-7c3d-8f2a-1b2c3d4e5f60", "usr_1a", "2026-11-30"] {
            assert!(looks_like_id(id), "{id}");
        }
        for none in ["", "state", "v1", "v2.1", "me", "all", "..", "a%2F1", "1;x", "é1"] {
            assert!(!looks_like_id(none), "{none}");
        }
    }
}
