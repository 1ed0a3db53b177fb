//! Receipts as a file: every one that a filter shows, page after page, so that memory does not grow with them.

use std::fmt::Write as _;
use std::future::Future;

use axum::body::Bytes;
use clap::ValueEnum;
use engine::{Leaf, PageAsked};
use futures::{Stream, stream};
use model::{Listing, ReceiptFacts, Refusal};

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated values (RFC 4180), with a line of names
    Csv,
    /// One JSON object a line
    Jsonl,
}

/// The columns of a CSV file.
const COLUMNS: [&str; 23] = [
    "id",
    "at",
    "outcome",
    "upstream_status",
    "method",
    "url",
    "action",
    "surface",
    "person",
    "person_id",
    "agent",
    "agent_id",
    "session",
    "credential",
    "body_size",
    "approval_kind",
    "approved_by",
    "approved_by_ids",
    "approved_at",
    "approval_id",
    "approved_for",
    "approved_for_ids",
    "approval_reason",
];

impl Format {
    /// What a file begins with.
    pub(crate) fn head(self) -> String {
        match self {
            Self::Csv => format!("{}\r\n", COLUMNS.join(",")),
            Self::Jsonl => String::new(),
        }
    }

    /// One receipt, with the end of its line.
    pub(crate) fn line(self, facts: &ReceiptFacts) -> String {
        match self {
            Self::Csv => {
                let cells: Vec<_> = cells(facts).iter().map(|cell| quoted(cell)).collect();
                format!("{}\r\n", cells.join(","))
            }
            Self::Jsonl => {
                let mut line = serde_json::to_string(facts).unwrap_or_default();
                line.push('\n');
                line
            }
        }
    }

    /// Many of them.
    pub(crate) fn lines(self, facts: &[ReceiptFacts]) -> String {
        facts.iter().fold(String::new(), |mut text, facts| {
            // Writing into a text cannot fail.
            let _ = text.write_str(&self.line(facts));
            text
        })
    }

    /// What it is on the wire.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Jsonl => "application/jsonl; charset=utf-8",
        }
    }

    /// The name that a file is saved under.
    pub(crate) const fn file_name(self) -> &'static str {
        match self {
            Self::Csv => "receipts.csv",
            Self::Jsonl => "receipts.jsonl",
        }
    }
}

/// The whole file: what it begins with and this page, then every page that follows, each asked for when the one before has been
/// taken. Fails in the middle when the desk cannot go on: a file that was cut short never ends like a whole one.
pub(crate) fn pages<F, A>(
    format: Format,
    first: Leaf<ReceiptFacts>,
    next: F,
) -> impl Stream<Item = Result<Bytes, Refusal>> + Send
where
    F: Fn(PageAsked) -> A + Send,
    A: Future<Output = Result<Leaf<ReceiptFacts>, Refusal>> + Send,
{
    let begin = format.head() + &format.lines(&first.items);
    let state = (Some(begin), first.older, next);
    stream::try_unfold(state, move |(begin, older, next)| async move {
        if let Some(text) = begin.filter(|text| !text.is_empty()) {
            return Ok(Some((Bytes::from(text), (None, older, next))));
        }
        let Some(cursor) = older else { return Ok(None) };
        let leaf = next(page(Some(cursor))).await?;
        Ok(Some((Bytes::from(format.lines(&leaf.items)), (None, leaf.older, next))))
    })
}

/// The page of an export that begins there.
pub(crate) const fn page(cursor: Option<String>) -> PageAsked {
    PageAsked { limit: Some(Listing::<()>::MAX_LIMIT), cursor }
}

fn cells(facts: &ReceiptFacts) -> [String; COLUMNS.len()] {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let voices: Vec<String> =
        facts.approval.r#for.iter().map(|id| id.map(|id| id.to_string()).unwrap_or_default()).collect();
    let ids: Vec<_> = facts.approval.by.iter().map(ToString::to_string).collect();
    [
        facts.id.to_string(),
        facts.at.to_string(),
        facts.outcome.as_str().to_owned(),
        facts.upstream_status.map(|status| status.to_string()).unwrap_or_default(),
        facts.method.clone(),
        facts.url.clone(),
        facts.action.clone(),
        facts.surface.as_str().to_owned(),
        text(&facts.person),
        facts.person_id.map(|id| id.to_string()).unwrap_or_default(),
        text(&facts.agent),
        facts.agent_id.map(|id| id.to_string()).unwrap_or_default(),
        text(&facts.session),
        text(&facts.credential),
        facts.body_size.to_string(),
        facts.approval.kind.as_str().to_owned(),
        facts.approved_by.join("; "),
        ids.join(" "),
        facts.approval.at.map(|at| at.to_string()).unwrap_or_default(),
        facts.approval.id.map(|id| id.to_string()).unwrap_or_default(),
        beside(&facts.approved_for.iter().map(text).collect::<Vec<_>>()),
        beside(&voices),
        text(&facts.approval.reason),
    ]
}

/// What stands beside each of those who approved, in their order; nothing at all when there is none.
fn beside(all: &[String]) -> String {
    if all.iter().all(String::is_empty) { String::new() } else { all.join("; ") }
}

/// A cell that no spreadsheet takes for a formula, quoted where it has to be.
fn quoted(cell: &str) -> String {
    let guarded = guarded(cell);
    if guarded.contains(['"', ',', ';', '\t', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

/// An apostrophe before whatever begins a formula: at the beginning, and behind each character at which a spreadsheet may
/// begin a cell that is set to another separator than the comma.
fn guarded(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len() + 1);
    let mut begins = true;
    for character in cell.chars() {
        if begins && matches!(character, '=' | '+' | '-' | '@' | '\t' | '\r') {
            text.push('\'');
        }
        text.push(character);
        begins = matches!(character, ';' | '\t' | '\n' | '\r' | '"') || begins && character == ' ';
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_none_ends_before_its_end() {
        for (cell, written) in [
            ("plain", "plain"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@sum", "'@sum"),
            ("\tx", "\"'\tx\""),
            ("a;=1+1", "\"a;'=1+1\""),
            ("a\t @b", "\"a\t '@b\""),
            ("a;b", "\"a;b\""),
            ("a-b=c", "a-b=c"),
            ("\rx", "\"'\rx\""),
            ("a,b", "\"a,b\""),
            ("=\"a\",b", "\"'=\"\"a\"\",b\""),
            ("two\nlines", "\"two\nlines\""),
            ("", ""),
        ] {
            assert_eq!(quoted(cell), written);
        }
    }
}
