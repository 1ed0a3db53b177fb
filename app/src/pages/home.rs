//! The front door: on to the inbox.

use leptos::prelude::*;

use crate::visit::Reply;

/// The front door: on to the inbox.
#[component]
pub(crate) fn Home() -> impl IntoView {
    if let Some(reply) = use_context::<Reply>() {
        reply.set(|parts| parts.redirect = Some("/inbox".to_owned()));
    }
}
