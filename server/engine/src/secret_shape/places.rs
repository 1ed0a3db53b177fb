//! The texts of a request, each with where it stands and, where it has one, its name.

use std::borrow::Cow;

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use super::{Place, json};
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
        add_pair(name, value, Place::QueryName, Place::Query, &mut texts);
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

/// A name and its value. What stands alone is a name without a value, so a name is looked at too.
fn add_pair<'r>(
    name: Cow<'r, str>,
    value: Cow<'r, str>,
    in_name: Place,
    in_value: fn(String) -> Place,
    texts: &mut Vec<Text<'r>>,
) {
    let at = in_value(name.to_string());
    texts.push(Text { name: None, value: name.clone(), place: Some(in_name) });
    texts.push(Text { name: Some(name), value, place: Some(at) });
}

/// JSON and forms by their fields, everything else as one text. What says it is one and cannot be read is a text too.
fn add_body<'r>(outgoing: &'r Outgoing, body: &'r [u8], texts: &mut Vec<Text<'r>>) {
    let kind = outgoing.headers.iter().find(|(name, _)| name == CONTENT_TYPE);
    let kind = kind.map_or_else(String::new, |(_, value)| lossy(value).to_ascii_lowercase());
    if let Some(strings) = json::strings(body) {
        texts.extend(strings.into_iter().map(|json::Text { name, value, at }| Text {
            name: name.map(Cow::Owned),
            value: Cow::Owned(value),
            place: Some(Place::Json(at)),
        }));
    } else if kind.starts_with("application/x-www-form-urlencoded") {
        for (name, value) in form_urlencoded::parse(body) {
            add_pair(name, value, Place::FieldName, Place::Field, texts);
        }
    } else {
        texts.push(Text { name: None, value: String::from_utf8_lossy(body), place: None });
    }
}
