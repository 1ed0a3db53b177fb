//! What went wrong with a form that was posted.

use std::sync::Arc;

use leptos::prelude::*;

use super::field::Faults;
use super::text;
use crate::form::Posted;

/// The sentence at the top of a form that says what happened, what was or was not done, and what to do next.
pub(crate) fn alert(posted: Option<&Arc<Posted>>) -> Option<AnyView> {
    let fault = posted?.fault.as_ref()?;
    let sentence = fault.message.clone();
    Some(
        view! { <p class="alert" role="alert" id="fault" tabindex="-1" data-focus="">{sentence}</p> }
            .into_any(),
    )
}

/// The same for a long form, with everything that is wrong and the way there.
pub(crate) fn with_list(posted: Option<&Arc<Posted>>, faults: &Faults) -> Option<AnyView> {
    let all = faults.all();
    if all.is_empty() {
        return alert(posted);
    }
    let sentence = posted?.fault.as_ref()?.message.clone();
    let line = |(place, message): (Option<(String, String)>, String)| {
        let place = place.map(|(name, id)| view! { <a href=format!("#{id}")>{text::line(&name)}</a> ": " });
        view! { <li>{place}{text::line(&message)}</li> }
    };
    let list: Vec<_> = all.into_iter().map(line).collect();
    Some(
        view! { <div class="alert" role="alert" id="fault" tabindex="-1" data-focus=""><p>{sentence}</p><ul>{list}</ul></div> }
            .into_any(),
    )
}

/// What is wrong with one field, by its JSON Pointer.
pub(crate) fn of_field(posted: Option<&Arc<Posted>>, pointer: &str) -> Option<String> {
    let fault = posted?.fault.as_ref()?;
    let messages: Vec<&str> = fault
        .errors
        .iter()
        .filter(|error| error.field == pointer)
        .map(|error| error.message.as_str())
        .collect();
    (!messages.is_empty()).then(|| messages.join(" "))
}

/// The same, as it stands beside the field that names it with `aria-describedby`.
pub(crate) fn beside(id: String, message: Option<String>) -> Option<AnyView> {
    message.map(|message| view! { <p class="wrong" id=id>{message}</p> }.into_any())
}

/// The ids that describe a field that may have a hint and a fault; `None`: it has neither.
pub(crate) fn describing(id: &str, has_hint: bool, is_wrong: bool) -> Option<String> {
    match (has_hint, is_wrong) {
        (false, false) => None,
        (true, is_wrong) => Some(described(id, is_wrong)),
        (false, true) => Some(format!("{id}-wrong")),
    }
}

/// The ids that describe a field: its hint and, when something is wrong with it, what.
pub(crate) fn described(id: &str, is_wrong: bool) -> String {
    if is_wrong { format!("{id}-hint {id}-wrong") } else { format!("{id}-hint") }
}
