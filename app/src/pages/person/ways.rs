//! Whom a person is at sign-in providers, and what signing in there changed of the account.

use engine::account::Ways;
use engine::store::{IdentityChange, IdentityEvent};
use leptos::prelude::*;
use model::Time;

use crate::parts::{text, time};

/// Nothing, for somebody whom no provider knows.
pub(super) fn ways(ways: &Ways, now: Time) -> Option<AnyView> {
    if ways.identities.is_empty() && ways.changes.is_empty() {
        return None;
    }
    let issuers = ways.identities.iter().map(|own| {
        view! { <dt>"Signs in through"</dt><dd>{text::line(&own.issuer)} ", since " {time::ago(own.linked_at, now)}</dd> }
    });
    let changes = ways.changes.iter().map(|event| {
        view! { <li>{said(event)} ", " {time::ago(event.at, now)}</li> }
    });
    Some(
        view! {
            <section class="circle" aria-labelledby="ways-head">
                <h2 id="ways-head">"Sign-in"</h2>
                <dl class="facts sheet">{issuers.collect_view()}</dl>
                <ul class="plain">{changes.collect_view()}</ul>
            </section>
        }
        .into_any(),
    )
}

fn said(event: &IdentityEvent) -> AnyView {
    let what = match event.change {
        IdentityChange::Linked => "Linked to the provider",
        IdentityChange::Joined => "Joined by their invitation",
        IdentityChange::Provisioned => "Account made at their first sign-in",
        IdentityChange::Unlinked => "Link taken away",
        IdentityChange::Groups => return groups(event),
    };
    what.into_any()
}

fn groups(event: &IdentityEvent) -> AnyView {
    let part = |what: &str, groups: &[String]| {
        (!groups.is_empty()).then(|| view! { {what.to_owned()} {text::line(&groups.join(", "))} })
    };
    let between = (!event.joined.is_empty() && !event.parted.is_empty()).then_some("; ");
    view! {
        {part("Put into ", &event.joined)}
        {between}
        {part("Taken out of ", &event.parted)}
        " by the provider"
    }
    .into_any()
}
