//! The page for an address that leads nowhere. The same for everybody, signed in or not.

use leptos::prelude::*;

use crate::visit::Reply;

/// The page for an address that leads nowhere.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    if let Some(reply) = use_context::<Reply>() {
        reply.set(|parts| {
            parts.status = 404;
            "There is no such page".clone_into(&mut parts.title);
        });
    }
    view! {
        <main id="main" class="alone">
            <h1>"There is no such page"</h1>
            <p class="lead">"It does not exist, or it is not for you."</p>
            <p><a class="button" href="/inbox">"To the inbox"</a></p>
        </main>
    }
}
