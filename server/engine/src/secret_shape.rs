//! Things in a request that are shaped like secrets: well-known forms of tokens, and random values that are assigned
//! to a name such as `password`. Pure: it reads a request and tells what it found and where, never the value.
//!
//! It is a net, not a wall: who means to hide a secret can encode it.

mod assignment;
mod json;
mod places;
mod rules;

use std::fmt;

use crate::outgoing::Outgoing;

/// The most that is told of one request; a person has understood by then.
const MOST: usize = 10;

/// Something shaped like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it looks like.
    pub rule: &'static str,
    /// Where it is.
    pub place: Place,
}

/// Where in a request something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this header.
    Header(String),
    /// In this parameter of the query.
    Query(String),
    /// In the name of a parameter of the query; the name is not told.
    QueryName,
    /// In the path.
    Path,
    /// In the body: in JSON, at this pointer (RFC 6901).
    Json(String),
    /// In the body: in this field of a form.
    Field(String),
    /// In the body: in the name of a field of a form; the name is not told.
    FieldName,
    /// In the body: in this line of a text, counted from 1.
    Line(usize),
}

impl fmt::Display for Finding {
    /// A sentence for the person who looks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The request may carry a secret: {} in {}.", self.rule, self.place)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "the header {name}"),
            Self::Query(name) => write!(f, "the query, parameter “{name}”"),
            Self::QueryName => f.write_str("the query, in the name of a parameter"),
            Self::Path => f.write_str("the path"),
            Self::Json(pointer) => write!(f, "the body, at {pointer}"),
            Self::Field(name) => write!(f, "the body, field “{name}”"),
            Self::FieldName => f.write_str("the body, in the name of a field"),
            Self::Line(number) => write!(f, "the body, line {number}"),
        }
    }
}

/// Everything in a request that is shaped like a secret, in the order in which it is written.
pub fn found_in(outgoing: &Outgoing) -> Vec<Finding> {
    let mut found = Vec::new();
    for text in places::of(outgoing) {
        for rule in shapes_of(&text) {
            let place = text.place_of(rule.at);
            let finding = Finding { rule: rule.name, place };
            if !found.contains(&finding) {
                found.push(finding);
            }
        }
        if found.len() >= MOST {
            found.truncate(MOST);
            break;
        }
    }
    found
}

/// A rule that fits, and at which byte of the text.
struct Fit {
    name: &'static str,
    at: usize,
}

fn shapes_of(text: &places::Text<'_>) -> Vec<Fit> {
    let mut fits = rules::fits(&text.value);
    // One thing is told once, by the rule that knows it best.
    if fits.is_empty() {
        fits.extend(assignment::fits(text.name.as_deref(), &text.value));
    }
    fits
}

#[cfg(test)]
mod tests;
