//! A table that becomes a list of cards where there is no room for columns.

use leptos::prelude::*;

/// One cell. The column's name is repeated for narrow places, where the head of the table is not shown.
pub(crate) fn cell(column: &'static str, content: impl IntoAny) -> AnyView {
    view! { <td role="cell" data-column=column>{content.into_any()}</td> }.into_any()
}

/// A whole table. The roles are written out because browsers forget them when a table is set out as cards.
pub(crate) fn table(name: &'static str, columns: &[&'static str], rows: Vec<Vec<AnyView>>) -> AnyView {
    let head: Vec<_> =
        columns.iter().map(|column| view! { <th role="columnheader" scope="col">{*column}</th> }).collect();
    let rows: Vec<_> = rows.into_iter().map(|cells| view! { <tr role="row">{cells}</tr> }).collect();
    view! {
        <div class="table">
            <table role="table" aria-label=name>
                <thead role="rowgroup"><tr role="row">{head}</tr></thead>
                <tbody role="rowgroup">{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
