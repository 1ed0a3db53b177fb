//! A statement that is put together of the conditions that are there, each value bound in its place. `$1 IS NULL OR …`
//! would keep a database from the index that fits the conditions.
//!
//! Everywhere in the store a limit that is bound is written `LIMIT $n + 0`: of a bare `LIMIT $n` SQLite (3.51) looks at the
//! value while it plans, and so plans the statement anew whenever it is bound.

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe};

use super::list::IdRange;
use super::{Store, StoreError};

/// What is bound.
#[derive(Debug, Clone)]
enum Bound {
    Text(String),
    Number(i64),
}

/// The values of a statement, in their order.
#[derive(Debug, Default)]
pub(super) struct Values(Vec<Bound>);

impl Values {
    /// The place of a text.
    pub(super) fn text(&mut self, text: impl Into<String>) -> String {
        self.place(Bound::Text(text.into()))
    }

    /// The place of a number.
    pub(super) fn number(&mut self, number: i64) -> String {
        self.place(Bound::Number(number))
    }

    fn place(&mut self, bound: Bound) -> String {
        self.0.push(bound);
        format!("${}", self.0.len())
    }

    /// `column` is one of these.
    pub(super) fn one_of(&mut self, column: &str, values: &[String]) -> String {
        let places: Vec<_> = values.iter().map(|value| self.text(value.clone())).collect();
        match places.as_slice() {
            [one] => format!("{column} = {one}"),
            _ => format!("{column} IN ({})", places.join(", ")),
        }
    }

    /// `column` is an id in this range, as the rest of a `WHERE` that has begun.
    pub(super) fn within(&mut self, column: &str, range: &IdRange) -> String {
        let bounds = [(&range.above, ">"), (&range.below, "<")];
        bounds.into_iter().fold(String::new(), |sql, (bound, sign)| match bound {
            Some((id, inclusive)) => {
                let equal = if *inclusive { "=" } else { "" };
                format!("{sql} AND {column} {sign}{equal} {}", self.text(id.clone()))
            }
            None => sql,
        })
    }
}

impl Store {
    /// The rows of a statement that was put together of this crate's own texts, with its values.
    pub(super) async fn rows_of(&self, sql: String, values: Values) -> Result<Vec<AnyRow>, StoreError> {
        let mut query: Query<'_, Any, AnyArguments> = sqlx::query(AssertSqlSafe(sql));
        for value in values.0 {
            query = match value {
                Bound::Text(text) => query.bind(text),
                Bound::Number(number) => query.bind(number),
            };
        }
        Ok(query.fetch_all(&self.read).await?)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Not written in one piece, or this file would be found.
    const BARE: &str = concat!("LIMIT ", "$");

    #[test]
    fn no_limit_is_bound_bare() {
        let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store");
        let files: Vec<_> =
            std::fs::read_dir(store).expect("a folder").map(|file| file.expect("a file").path()).collect();
        let mut seen = 0;
        for file in files.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs")) {
            let source = std::fs::read_to_string(&file).expect("a text");
            for rest in source
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .flat_map(|line| line.split(BARE).skip(1))
            {
                assert!(
                    rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" + 0"),
                    "{}: bare: {rest}",
                    file.display()
                );
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    }
}
