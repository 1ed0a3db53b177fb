//! The texts of a request, each with where it stands and, where it has one, its name.

use std::borrow::Cow;

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::form_urlencoded;

use super::Place;
use crate::outgoing::Outgoing;

/// One text of a request.
pub(super) struct Text<'r> {
    /// The name it is given to.
    pub(super) name: Option<Cow<'r, str>>,
    /// The text, decoded.
    pub(super) value: Cow<'r, str>,
    /// `None`: a body of plain text, where the line tells the place.
    place: Option<Place>,
}

impl Text<'_> {
    /// Where the byte at this offset stands.
    pub(super) fn place_of(&self, at: usize) -> Place {
        let line = || 1 + self.value.bytes().take(at).filter(|byte| *byte == b'\n').count();
        self.place.clone().unwrap_or_else(|| Place::Line(line()))
    }
}

/// Every text of a request: the path, the query, the headers, the body.
pub(super) fn of(outgoing: &Outgoing) -> Vec<Text<'_>> {
    let path = percent_decode_str(outgoing.url.path()).decode_utf8_lossy();
    let mut texts = vec![Text { name: None, value: path, place: Some(Place::Path) }];
    for (name, value) in outgoing.url.query_pairs() {
        let place = Some(Place::Query(name.to_string()));
        texts.push(Text { name: Some(name), value, place });
    }
    for (name, value) in &outgoing.headers {
        let place = Some(Place::Header(name.to_string()));
        texts.push(Text { name: Some(Cow::Borrowed(name.as_str())), value: lossy(value), place });
    }
    if let Some(body) = &outgoing.body {
        add_body(outgoing, body, &mut texts);
    }
    texts
}

fn lossy(value: &HeaderValue) -> Cow<'_, str> {
    String::from_utf8_lossy(value.as_bytes())
}

/// JSON and forms by their fields, everything else as one text. What says it is one and cannot be read is a text too.
fn add_body<'r>(outgoing: &'r Outgoing, body: &'r [u8], texts: &mut Vec<Text<'r>>) {
    let kind = outgoing.headers.iter().find(|(name, _)| name == CONTENT_TYPE);
    let kind = kind.map_or_else(String::new, |(_, value)| lossy(value).to_ascii_lowercase());
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_slice(body) {
        add_json(None, value, String::new(), texts);
    } else if kind.starts_with("application/x-www-form-urlencoded") {
        for (name, value) in form_urlencoded::parse(body) {
            let place = Some(Place::Field(name.to_string()));
            texts.push(Text { name: Some(name), value, place });
        }
    } else {
        texts.push(Text { name: None, value: String::from_utf8_lossy(body), place: None });
    }
}

/// Every string of a JSON document, names included.
fn add_json(name: Option<&str>, value: Value, at: String, texts: &mut Vec<Text<'_>>) {
    match value {
        Value::String(text) => texts.push(Text {
            name: name.map(|name| Cow::Owned(name.to_owned())),
            value: Cow::Owned(text),
            place: Some(Place::Json(at)),
        }),
        Value::Array(items) => {
            for (index, item) in items.into_iter().enumerate() {
                add_json(name, item, format!("{at}/{index}"), texts);
            }
        }
        Value::Object(entries) => {
            for (name, value) in entries {
                let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                let place = Some(Place::Json(at.clone()));
                texts.push(Text { name: None, value: Cow::Owned(name.clone()), place });
                add_json(Some(&name), value, at, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
