//! What a command prints when it is done.

use std::io::Write;

use clap::Args;
use model::visible::{Place, visible_text};
use serde_json::Value;

use crate::failure::Failure;

/// How a command prints.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Output {
    /// Print one line of JSON on the standard output
    #[arg(long)]
    pub(super) json: bool,
}

impl Output {
    /// Prints the one or the other.
    ///
    /// # Errors
    /// When the standard output is closed.
    pub(super) fn print(self, json: &Value, text: &str) -> Result<(), Failure> {
        if self.json { print_line(&json.to_string()) } else { print_line(text) }
    }
}

/// Prints a line and makes sure that it left.
///
/// # Errors
/// When the standard output is closed.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| Failure::unprintable(&error))
}

/// A table with aligned columns. What hides or deceives in a cell is shown as what it is: a name must
/// not drive a terminal, nor look like another.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(&head)
        .chain(rows)
        .map(|row| row.iter().map(|c| visible_text(c, Place::Line)).collect())
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_line_and_terminals_are_left_alone() {
        let rows = [
            vec!["ann@demo.test".to_owned(), "Ann".to_owned()],
            vec!["m".to_owned(), "\u{1b}[2J".to_owned()],
            vec!["n".to_owned(), "a\u{202e}b".to_owned()],
        ];
        let expected = "Email          Name\nann@demo.test  Ann\nm              ⟦U+001B terminal escape⟧[2J\n\
                        n              a⟦U+202E right-to-left override⟧b";
        assert_eq!(table(&["Email", "Name"], &rows), expected);
    }
}
