//! The table as text: a line `kind: callers` opens a part, and each row is a method, a path, words that tell rows of one
//! route apart, and a cell for every caller. Lines that begin with `#` are for people.

use std::fmt;

use super::callers::Kind;
use super::routes::Route;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) route: Route,
    /// What is asked for there, where a route has several rows.
    pub(super) what: String,
    /// What each caller is answered, in the order of the kind's callers.
    pub(super) cells: Vec<String>,
}

/// Every row. A part whose callers are not those of its kind is a mistake in the table.
pub(super) fn rows(text: &str) -> Vec<Row> {
    let mut kind = None;
    let mut rows = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (head, cells) = line.split_once('|').unwrap_or_else(|| panic!("no | in: {line}"));
        let cells: Vec<String> = cells.split_whitespace().map(str::to_owned).collect();
        let mut words = head.split_whitespace();
        let first = words.next().unwrap_or_default();
        if let Some(named) = first.strip_suffix(':') {
            let opened = Kind::named(named).unwrap_or_else(|| panic!("no kind of route: {named}"));
            assert_eq!(cells, opened.names(), "the callers of {named}");
            kind = Some(opened);
            continue;
        }
        let kind = kind.unwrap_or_else(|| panic!("no part before: {line}"));
        let path = words.next().unwrap_or_else(|| panic!("no path in: {line}")).to_owned();
        assert_eq!(cells.len(), kind.names().len(), "a cell for each caller: {line}");
        let what = words.collect::<Vec<_>>().join(" ");
        rows.push(Row { kind, route: Route { path, method: first.to_owned() }, what, cells });
    }
    rows
}

impl Row {
    /// A row for a route that is in no table.
    pub(super) fn untold(route: Route) -> Self {
        Self { kind: Kind::of(&route.path), route, what: String::new(), cells: Vec::new() }
    }

    /// The same row with these cells.
    pub(super) fn with(&self, cells: Vec<String>) -> Self {
        Self { cells, ..self.clone() }
    }

    /// Whether it stands for all that no route fits.
    pub(super) fn is_fallback(&self) -> bool {
        self.what == "(none such)"
    }

    /// Whether its method changes nothing.
    pub(super) fn is_safe(&self) -> bool {
        self.route.method == "GET"
    }

    /// Whether it leads to a sign-in provider, or back from one: HEAD begins none and finishes none.
    pub(super) fn leads_away(&self) -> bool {
        self.route.path.starts_with("/sign-in/oidc")
    }

    /// Whether its answer goes on.
    pub(super) fn streams(&self) -> bool {
        self.route.path == "/live"
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = format!("{:<6} {} {}", self.route.method, self.route.path, self.what);
        write!(f, "{:<54}|", head.trim_end())?;
        for (cell, name) in self.cells.iter().zip(self.kind.names()) {
            write!(f, " {cell:<width$}", width = name.len().max(5))?;
        }
        writeln!(f)
    }
}
