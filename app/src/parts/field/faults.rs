//! Where on a form each fault stands: beside the very field, or beside what holds it.

use std::collections::{BTreeMap, BTreeSet};

use model::FieldError;

use super::draft::{Draft, step};
use super::shape::{Field, Shape};

/// The faults of a form by the JSON Pointers of what the form shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults(BTreeMap<String, Vec<String>>);

impl Faults {
    /// Places every fault.
    pub(crate) fn of(errors: &[FieldError], input: &Field, draft: &Draft) -> Self {
        let mut shown = BTreeSet::new();
        gather(input, String::new(), draft, &mut shown);
        let mut faults = Self::default();
        for error in errors {
            let place = nearest(&error.field, &shown);
            let rest = error.field[place.len()..].trim_start_matches('/');
            let message = match rest {
                "" => error.message.clone(),
                rest => format!("At {rest}: {}", error.message),
            };
            faults.0.entry(place.to_owned()).or_default().push(message);
        }
        faults
    }

    /// What is wrong at this pointer.
    pub(super) fn at(&self, pointer: &str) -> Option<String> {
        self.0.get(pointer).map(|messages| messages.join(" "))
    }

    /// What is wrong with the input as a whole, or with something that the form does not show.
    pub(crate) fn of_whole(&self) -> &[String] {
        self.0.get("").map(Vec::as_slice).unwrap_or_default()
    }
}

/// The pointers of everything that the form shows.
fn gather(field: &Field, at: String, draft: &Draft, shown: &mut BTreeSet<String>) {
    match &field.shape {
        Shape::Group(fields) => fields.iter().for_each(|one| gather(one, step(&at, &one.name), draft, shown)),
        Shape::List { entry, .. } => {
            (0..draft.rows(&at)).for_each(|row| gather(entry, step(&at, &row.to_string()), draft, shown));
        }
        _ => {}
    }
    shown.insert(at);
}

/// The longest beginning of the pointer that the form shows; empty for the whole.
fn nearest<'a>(pointer: &'a str, shown: &BTreeSet<String>) -> &'a str {
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
        let errors: Vec<_> = ["/note", "/lines/1/what", "/lines/0/other", "/lines/7/what", "/lines", "/raw/a/b", "/else", "", "é"]
            .map(|field| FieldError::new(field, "Wrong."))
            .to_vec();
        let faults = Faults::of(&errors, &Field::of_input(&schema), &draft);
        let said = |pointer| faults.at(pointer).unwrap_or_default();
        assert_eq!(said("/note"), "Wrong.");
        assert_eq!(said("/lines/1/what"), "Wrong.");
        assert_eq!(said("/lines/0"), "At other: Wrong.");
        assert_eq!(said("/lines"), "At 7/what: Wrong. Wrong.");
        assert_eq!(said("/raw"), "At a/b: Wrong.");
        assert_eq!(faults.of_whole(), ["At else: Wrong.", "Wrong.", "At é: Wrong."]);
    }
}
