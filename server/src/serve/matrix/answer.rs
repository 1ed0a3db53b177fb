//! What came back, as the table writes it and as two answers are compared.

use http::HeaderMap;

use crate::demo::testing::Told;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The status; with `-` for a list of nothing, or of calls that are not theirs, and with `in` for a redirect to the
    /// sign-in.
    pub(super) cell: String,
    headers: Vec<(String, String)>,
    text: String,
}

impl Answer {
    pub(super) fn of(told: &Told) -> Self {
        let is_empty = told.body["items"].as_array().is_some_and(Vec::is_empty);
        let to = told.headers.get("location").and_then(|to| to.to_str().ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&told.bytes);
        let mark = if is_empty || text.contains("not yours to decide") {
            "-"
        } else if to.starts_with("/sign-in?next=") {
            "in"
        } else {
            ""
        };
        Self {
            cell: format!("{}{mark}", told.status),
            headers: compared(&told.headers),
            text: compared_text(&text),
        }
    }

    /// Whether it says that there is nothing here.
    pub(super) fn hides(&self) -> bool {
        self.cell == "404"
    }
}

/// Every header but those that differ between any two answers.
fn compared(headers: &HeaderMap) -> Vec<(String, String)> {
    let mut compared: Vec<_> = headers
        .iter()
        .filter(|(name, _)| *name != "x-request-id" && *name != "set-cookie")
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    compared.sort();
    compared
}

/// A page without the last event that it was made after: others go on meanwhile.
fn compared_text(text: &str) -> String {
    match text.split_once(" data-after=\"") {
        Some((before, after)) => format!("{before}{}", after.split_once('"').map_or("", |(_, rest)| rest)),
        None => text.to_owned(),
    }
}
