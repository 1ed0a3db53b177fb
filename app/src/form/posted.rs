//! A form that was posted and is shown again.

use model::Answer;

use super::{Fault, Fields, MadeKey, ShownOnce, Told};

/// A form that was posted and is shown again.
#[derive(Debug, Clone, PartialEq)]
pub struct Posted {
    /// The path it was posted to.
    pub form: String,
    /// What was typed.
    pub fields: Fields,
    /// What was wrong with it.
    pub fault: Option<Fault>,
    /// What it was answered with, when that is shown on the same page.
    pub answer: Option<Box<Answer>>,
    /// The key that it made, shown this once.
    pub made: Option<Box<MadeKey>>,
    /// A secret that was made and is shown this once.
    pub once: Option<ShownOnce>,
    /// What came of each call, when it was about several.
    pub told: Vec<Told>,
}

impl Posted {
    /// What was typed into this field; empty when nothing was.
    pub fn typed(&self, name: &str) -> String {
        self.has(name).unwrap_or_default().to_owned()
    }

    /// What was typed into this field, if it came at all.
    pub fn has(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}
