//! The way between the pages about people.

use leptos::prelude::*;
use model::{Person, Role};

/// The pages about people: for admins alone, because nobody else has more than one.
pub(crate) fn people_nav(me: &Person, current: &str) -> Option<AnyView> {
    const PAGES: [(&str, &str); 3] =
        [("Everybody", "/people"), ("Tenants", "/people/tenants"), ("Groups", "/people/groups")];
    let entry = |(name, path): (&'static str, &'static str)| {
        view! { <li><a href=path aria-current=(path == current).then_some("page")>{name}</a></li> }
    };
    me.roles.contains(&Role::Admin).then(|| {
        view! { <nav class="tabs" aria-label="People"><ul>{PAGES.into_iter().map(entry).collect_view()}</ul></nav> }
            .into_any()
    })
}
