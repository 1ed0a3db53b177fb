//! A table that becomes a list of cards where there is no room for columns.

use std::fmt::Write as _;

use leptos::prelude::*;
use leptos::tachys::view::{Position, RenderHtml};

/// One cell. The column's name is repeated for narrow places, where the head of the table is not shown.
pub(crate) struct Cell {
    column: &'static str,
    content: AnyView,
}

/// One row.
struct Row {
    /// What a script knows it by.
    name: Option<String>,
    cells: Vec<Cell>,
}

/// A cell of this column.
pub(crate) fn cell(column: &'static str, content: impl IntoAny) -> Cell {
    Cell { column, content: content.into_any() }
}

/// A table whose rows are known by a name each (letters, digits and `_`), so that a script tells which are new.
pub(crate) fn named_rows(
    name: &'static str,
    columns: &[&'static str],
    rows: Vec<(String, Vec<Cell>)>,
) -> AnyView {
    let rows = rows.into_iter().map(|(name, cells)| Row { name: Some(name), cells });
    whole(name, columns, rows)
}

/// A whole table.
pub(crate) fn table(name: &'static str, columns: &[&'static str], rows: Vec<Vec<Cell>>) -> AnyView {
    whole(name, columns, rows.into_iter().map(|cells| Row { name: None, cells }))
}

/// The roles are written out because browsers forget them when a table is set out as cards.
fn whole(name: &'static str, columns: &[&'static str], rows: impl Iterator<Item = Row>) -> AnyView {
    let head: Vec<_> =
        columns.iter().map(|column| view! { <th role="columnheader" scope="col">{*column}</th> }).collect();
    view! {
        <div class="table">
            <table role="table" aria-label=name>
                <thead role="rowgroup"><tr role="row">{head}</tr></thead>
                <tbody role="rowgroup" inner_html=written(rows)></tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The rows as HTML. A page has hundreds of cells: made as views, they and their attributes would be most of its cost.
fn written(rows: impl Iterator<Item = Row>) -> String {
    let mut html = String::with_capacity(32 * 1024);
    for Row { name, cells } in rows {
        html.push_str(r#"<tr role="row""#);
        if let Some(name) = name {
            debug_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{name}");
            let _ = write!(html, r#" data-row="{name}""#);
        }
        html.push('>');
        for Cell { column, content } in cells {
            let _ = write!(html, r#"<td role="cell" data-column="{column}">"#);
            content.to_html_with_buf(&mut html, &mut Position::FirstChild, true, false, vec![]);
            html.push_str("</td>");
        }
        html.push_str("</tr>");
    }
    html
}
