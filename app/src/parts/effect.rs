//! An effect as sign and words.

use leptos::prelude::*;
use model::Effect;

use super::icon;
use crate::words;

/// An effect as sign and words.
pub(crate) fn mark(effect: Effect) -> AnyView {
    let class = if effect == Effect::Destructive { "effect effect-final" } else { "effect" };
    view! { <span class=class>{icon::effect(effect)}{words::effect(effect)}</span> }.into_any()
}
