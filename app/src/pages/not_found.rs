//! The page for an address that leads nowhere.

use leptos::prelude::*;
use model::Refusal;

use crate::frame::{page, refused};
use crate::visit::{Reply, Visit};

/// The page for an address that leads nowhere: as any page that says no, and bare for somebody who is signed out.
#[component]
pub(crate) fn NotFound() -> impl IntoView {
    let is_signed_in = Visit::here().is_some_and(|visit| visit.visitor.is_some());
    if is_signed_in {
        return page(None, |_, _| async { Err(Refusal::NotFound) });
    }
    let Some(reply) = use_context::<Reply>() else { return ().into_any() };
    let sheet = refused(&Refusal::NotFound, &reply);
    reply.set(|parts| parts.title = sheet.title);
    view! { <main id="main" class="alone">{sheet.body}</main> }.into_any()
}
