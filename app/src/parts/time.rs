//! Moments: relative to read, absolute on hover and for screen readers.

use leptos::prelude::*;
use model::Time;

use crate::visit::Zone;
use crate::words;

/// A past moment: “2 min ago”.
pub(crate) fn ago(time: Time, now: Time) -> AnyView {
    stamp(time, words::ago(time, now, Zone::here().0))
}

/// A moment to come: “in 23 h”; a past one: “now”.
pub(crate) fn ahead(time: Time, now: Time) -> AnyView {
    let seconds = time.seconds_since(now);
    stamp(time, if seconds > 0 { format!("in {}", words::ahead(seconds)) } else { "now".to_owned() })
}

/// A moment in full, in the visitor's zone.
pub(crate) fn full(time: Time) -> AnyView {
    view! { <time datetime=time.to_string()>{in_full(time)}</time> }.into_any()
}

/// A moment to the minute, in the visitor's zone.
pub(crate) fn minute(time: Time) -> AnyView {
    let said = words::minute(time, Zone::here().0);
    view! { <time datetime=time.to_string()>{said}</time> }.into_any()
}

/// A moment to the thousandth of a second, in the visitor's zone: a line of time tells what came first.
pub(crate) fn to_the_milli(time: Time) -> AnyView {
    let said = words::moment_to_the_milli(time, Zone::here().0);
    view! { <time datetime=time.to_string()>{said}</time> }.into_any()
}

/// What the visitor's zone is called.
pub(crate) fn zone() -> String {
    Zone::here().0.name().replace('_', " ")
}

fn in_full(time: Time) -> String {
    words::moment(time, Zone::here().0)
}

fn stamp(time: Time, said: String) -> AnyView {
    let full = in_full(time);
    let spoken = full.clone();
    view! {
        <time datetime=time.to_string() title=full>{said}<span class="unseen">", " {spoken}</span></time>
    }
    .into_any()
}
