//! A mistake in the catalogue: where it is, what is wrong, what was expected, and the nearest right name.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// One mistake of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The file as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The right name nearest to what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if let Some(expected) = &self.expected {
            write!(f, "; expected {expected}")?;
        }
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean “{nearest}”?"),
            None => Ok(()),
        }
    }
}

/// Every mistake of the file, in its order. Displayed one a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// A stretch of the file, in bytes.
pub(super) type Span = Range<usize>;

/// What is wrong, before it has a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    message: String,
    expected: Option<String>,
    nearest: Option<String>,
    /// Something is not there.
    absent: bool,
}

impl Wrong {
    /// Says what is wrong.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), expected: None, nearest: None, absent: false }
    }

    /// Says that something is not there. It may stand where the syntax is broken, and is not told then.
    pub(super) fn absent(message: impl Into<String>) -> Self {
        Self { absent: true, ..Self::new(message) }
    }

    /// Adds what would be right.
    pub(super) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    /// Whether a near name was found.
    pub(super) const fn has_nearest(&self) -> bool {
        self.nearest.is_some()
    }

    /// Adds the nearest right name, when one is near.
    pub(super) fn nearest<'n>(mut self, word: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.nearest = nearest(word, names).map(str::to_owned);
        self
    }
}

/// The name nearest to a word, when one is near enough to be meant.
pub(super) fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let longest = word.chars().count().max(3);
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(word, name), name))
        .filter(|(distance, name)| *distance > 0 && *distance <= (longest.max(name.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Collects the mistakes of one file.
pub(super) struct Notes<'t> {
    text: &'t str,
    file: &'t str,
    found: RefCell<Vec<(Span, Wrong)>>,
    /// Where the syntax is broken.
    broken: RefCell<Vec<(Span, Wrong)>>,
}

impl<'t> Notes<'t> {
    /// For this text, named so.
    pub(super) fn new(text: &'t str, file: &'t str) -> Self {
        Self { text, file, found: RefCell::default(), broken: RefCell::default() }
    }

    /// Notes a mistake at this place.
    pub(super) fn add(&self, at: &Span, wrong: Wrong) {
        self.found.borrow_mut().push((at.clone(), wrong));
    }

    /// Notes a place where the syntax is broken.
    pub(super) fn add_broken(&self, at: &Span, wrong: Wrong) {
        self.broken.borrow_mut().push((at.clone(), wrong));
    }

    /// Line and column, from 1.
    fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// All that was noted, in the order of the file. Where the syntax is broken, what follows from that is left out:
    /// what else is wrong with the broken lines, and what seems to be missing.
    pub(super) fn into_mistakes(self) -> Mistakes {
        let mut found = self.found.take();
        let broken = self.broken.take();
        if !broken.is_empty() {
            let lines: Vec<usize> = broken.iter().map(|(span, _)| self.place(span.start).0).collect();
            found.retain(|(span, wrong)| {
                !wrong.absent && !span.is_empty() && !lines.contains(&self.place(span.start).0)
            });
            found.extend(broken);
        }
        found.sort_by_key(|(span, _)| span.start);
        found.dedup();
        Mistakes(found.into_iter().map(|(span, wrong)| self.mistake(span.start, wrong)).collect())
    }

    /// The mistake with its line and column.
    fn mistake(&self, offset: usize, wrong: Wrong) -> Mistake {
        let (line, column) = self.place(offset);
        let file = self.file.to_owned();
        Mistake {
            file,
            line,
            column,
            message: wrong.message,
            expected: wrong.expected,
            nearest: wrong.nearest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["summary", "title", "to"];
        assert_eq!(nearest("sumary", names), Some("summary"));
        assert_eq!(nearest("tilte", names), Some("title"));
        assert_eq!(nearest("quota", names), None);
        assert_eq!(nearest("title", names), None);
    }

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let notes = Notes::new("a = 1\nü = 2 x", "f");
        notes.add(&(13..14), Wrong::new("second"));
        notes.add(&(0..1), Wrong::new("first"));
        assert_eq!(notes.into_mistakes().to_string(), "f:1:1: first\nf:2:7: second");
    }
}
