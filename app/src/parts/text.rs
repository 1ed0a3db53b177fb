//! Text that others wrote: agents, upstreams, people. Shown so that nothing in it hides or deceives.

use leptos::prelude::*;
use model::visible::{Chip, Piece, Place, visible, visible_text};

/// A text of one line: a title, a value, a header.
pub(crate) fn line(text: &str) -> AnyView {
    shown(text, Place::Line)
}

/// A text of many lines.
pub(crate) fn body(text: &str) -> AnyView {
    shown(text, Place::Body)
}

/// A text of one line where only plain text can stand: a page's title, an attribute.
pub(crate) fn plain(text: &str) -> String {
    visible_text(text, Place::Line)
}

/// What was typed, as the `inner_html` of a text area: the framework would not escape a child there. A browser drops the
/// line break after the tag (HTML, section 13.2.6.4.7), so one is given for it to drop.
pub(crate) fn content(typed: &str) -> String {
    format!("\n{}", typed.replace('&', "&amp;").replace('<', "&lt;"))
}

fn shown(text: &str, place: Place) -> AnyView {
    let mut pieces = visible(text, place);
    // Nearly every text is plain, and a page holds hundreds.
    if let [Piece::Plain(_)] = pieces.as_slice()
        && let Some(Piece::Plain(plain)) = pieces.pop()
    {
        return view! { <bdi>{plain.to_owned()}</bdi> }.into_any();
    }
    view! { <bdi>{pieces.into_iter().map(piece).collect_view()}</bdi> }.into_any()
}

fn piece(piece: Piece<'_>) -> AnyView {
    match piece {
        Piece::Plain(plain) => plain.to_owned().into_any(),
        Piece::Chip(Chip { shown: None, label }) => view! { <mark class="chip">{label}</mark> }.into_any(),
        Piece::Chip(Chip { shown: Some(letter), label }) => {
            let letter = letter.to_owned();
            view! { <mark class="chip"><span class="chip-letter">{letter}</span>{label}</mark> }.into_any()
        }
    }
}
