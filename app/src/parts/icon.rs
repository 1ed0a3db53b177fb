//! Drawings: the mark and the signs of the effects.

use leptos::prelude::*;
use model::Effect;

/// The mark: a signature over a double rule, the second line of a ledger.
#[component]
pub(crate) fn Mark() -> impl IntoView {
    view! {
        <svg class="mark-sign" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
            <path stroke-width="2.25" d="M5 20.5c3.4-9.6 7-15 9.3-13.7 2.5 1.4-3 11.6-.7 12.4 1.9.7 3.1-5.1 5.2-4.7 1.6.3-.2 4 1.7 4.2 1.5.2 2.3-1.9 3.6-1.9.9 0 1.2 1 2.9 1"/>
            <path stroke-width="1.5" d="M5 25h22M5 28.5h22"/>
        </svg>
    }
}

/// The sign of an override: a line that goes around what stands in its way.
pub(crate) fn overridden() -> AnyView {
    sign("M2 12.500V9a5.500 5.500 0 0 1 11 0v3.500M10.300 10l2.700 2.700L15.500 10M6.300 12.500h2.400")
}

/// A clock: what somebody allowed for a time.
pub(crate) fn clock() -> AnyView {
    sign("M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM8 4.5V8l2.5 1.5")
}

/// The sign of an effect. Its shape alone tells the effects apart.
pub(crate) fn effect(effect: Effect) -> AnyView {
    let drawing = match effect {
        Effect::Read => {
            "M1.5 8s2.5-4 6.5-4 6.5 4 6.5 4-2.5 4-6.5 4-6.5-4-6.5-4zM8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z"
        }
        Effect::Write => "M3 8a5 5 0 1 0 1.7-3.750M3.2 2.5v2.7h2.7",
        Effect::External => "M7 4H3.5v8.5H12V9M9.5 2.5h4v4M13.2 2.8 7.5 8.5",
        Effect::Destructive => "M8 1.8 14.7 13.5H1.3zM8 6.3v3.2M8 11.4v.1",
    };
    sign(drawing)
}

fn sign(drawing: &'static str) -> AnyView {
    view! {
        <svg class="sign" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
            <path d=drawing/>
        </svg>
    }
    .into_any()
}
