//! Where on a form each fault stands: beside the very field, or beside what holds it.

use std::collections::{BTreeMap, BTreeSet};

use model::FieldError;

use super::control::label;
use super::draft::{Draft, step};
use super::shape::{Field, Shape};
use super::{id, row_name};

/// The faults of a form by the JSON Pointers of what the form shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    at: BTreeMap<String, Vec<String>>,
    /// What the form shows, in its order: pointers and names.
    shown: Vec<(String, String)>,
}

impl Faults {
    /// Places every fault.
    pub(crate) fn of(errors: &[FieldError], input: &Field, draft: &Draft) -> Self {
        let mut faults = Self::default();
        faults.gather(input, "", "", draft);
        let shown: BTreeSet<&str> = faults.shown.iter().map(|(pointer, _)| pointer.as_str()).collect();
        for error in errors {
            let place = nearest(&error.field, &shown);
            let rest = error.field[place.len()..].trim_start_matches('/');
            let message = match rest {
                "" => error.message.clone(),
                rest => format!("At {rest}: {}", error.message),
            };
            faults.at.entry(place.to_owned()).or_default().push(message);
        }
        faults
    }

    /// What is wrong at this pointer.
    pub(super) fn at(&self, pointer: &str) -> Option<String> {
        self.at.get(pointer).map(|messages| messages.join(" "))
    }

    /// Everything that is wrong, in the form's order: what people call the field, its id, and the fault; no id for what
    /// stands beside no field.
    pub(crate) fn all(&self) -> Vec<(Option<(String, String)>, String)> {
        let whole = self.at("").map(|message| (None, message));
        let others = self.shown.iter().filter(|(pointer, _)| !pointer.is_empty());
        let placed =
            others.filter_map(|(pointer, name)| Some((Some((name.clone(), id(pointer))), self.at(pointer)?)));
        whole.into_iter().chain(placed).collect()
    }

    /// Notes everything that the form shows. `name`: what it is called where it stands alone.
    fn gather(&mut self, field: &Field, at: &str, name: &str, draft: &Draft) {
        let within = |inner: String| if name.is_empty() { inner } else { format!("{name}, {inner}") };
        self.shown.push((at.to_owned(), name.to_owned()));
        match &field.shape {
            Shape::Group(fields) => {
                for field in fields {
                    self.gather(field, &step(at, &field.name), &within(label(field)), draft);
                }
            }
            Shape::List { entry, .. } => {
                for index in 0..draft.rows(at) {
                    let name = row_name(entry, name, index);
                    self.gather(entry, &step(at, &index.to_string()), &name, draft);
                }
            }
            _ => {}
        }
    }
}

/// The longest beginning of the pointer that the form shows; empty for the whole.
fn nearest<'a>(pointer: &'a str, shown: &BTreeSet<&str>) -> &'a str {
    let mut here = pointer;
    while !shown.contains(here) {
        match here.rsplit_once('/') {
            Some((above, _)) => here = above,
            None => return "",
        }
    }
    here
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn beside_the_field_or_beside_what_holds_it() {
        let schema = json!({ "type": "object", "properties": { "note": { "type": "string" }, "raw": { "type": "object" },
            "lines": { "type": "array", "items": { "type": "object", "properties": { "what": { "type": "string" } } } } } });
        let draft = Draft::of(&vec![("rows/lines".to_owned(), "2".to_owned())]);
        let errors: Vec<_> = [
            "/note",
            "/lines/1/what",
            "/lines/0/other",
            "/lines/7/what",
            "/lines",
            "/raw/a/b",
            "/else",
            "",
            "é",
        ]
        .map(|field| FieldError::new(field, "Wrong."))
        .to_vec();
        let faults = Faults::of(&errors, &Field::of_input(&schema), &draft);
        let said = |pointer| faults.at(pointer).unwrap_or_default();
        assert_eq!(said("/note"), "Wrong.");
        assert_eq!(said("/lines/1/what"), "Wrong.");
        assert_eq!(said("/lines/0"), "At other: Wrong.");
        assert_eq!(said("/lines"), "At 7/what: Wrong. Wrong.");
        assert_eq!(said("/raw"), "At a/b: Wrong.");
        let all: Vec<_> =
            faults.all().into_iter().map(|(place, message)| (place.unwrap_or_default(), message)).collect();
        let place = |name: &str, id: &str| (name.to_owned(), id.to_owned());
        assert_eq!(all[0], (place("", ""), "At else: Wrong. Wrong. At é: Wrong.".to_owned()));
        let places: Vec<_> = all[1..].iter().map(|(place, _)| place.clone()).collect();
        assert_eq!(
            places,
            [
                place("Note", "field-note"),
                place("Raw", "field-raw"),
                place("Lines", "field-lines"),
                place("Lines 1", "field-lines-0"),
                place("Lines 2, What", "field-lines-1-what")
            ]
        );
    }
}
