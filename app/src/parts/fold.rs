//! What folds: a line that opens into more, by the browser itself.

use leptos::prelude::*;

/// One of a list of things that fold. `line`: what stands there when it is folded, beside the title.
pub(crate) fn fold(
    id: String,
    title: impl IntoAny,
    line: impl IntoAny,
    is_open: bool,
    content: impl IntoAny,
) -> AnyView {
    view! {
        <details class="fold" id=id open=is_open>
            <summary><h2>{title.into_any()}</h2> {line.into_any()}</summary>
            {content.into_any()}
        </details>
    }
    .into_any()
}

/// Name and value, one of the facts of what folds.
pub(crate) fn fact(name: &'static str, value: impl IntoAny) -> AnyView {
    view! { <dt>{name}</dt><dd>{value.into_any()}</dd> }.into_any()
}
