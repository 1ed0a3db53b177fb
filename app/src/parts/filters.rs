//! The filters of a list: a form whose answer is an address.

use leptos::prelude::*;

/// One filter.
pub(crate) struct Filter {
    name: &'static str,
    label: &'static str,
    kind: Kind,
}

enum Kind {
    Text,
    Day,
    /// The word for none, then value and word of each choice.
    Choice(&'static str, Vec<(String, String)>),
}

impl Filter {
    /// A text that has to be the same.
    pub(crate) const fn text(name: &'static str, label: &'static str) -> Self {
        Self { name, label, kind: Kind::Text }
    }

    /// A day.
    pub(crate) const fn day(name: &'static str, label: &'static str) -> Self {
        Self { name, label, kind: Kind::Day }
    }

    /// One of these, or `any`.
    pub(crate) const fn choice(
        name: &'static str,
        label: &'static str,
        any: &'static str,
        choices: Vec<(String, String)>,
    ) -> Self {
        Self { name, label, kind: Kind::Choice(any, choices) }
    }
}

/// The form. `value`: what stands in the address; `faults`: which of it could not be read, and what would do.
pub(crate) fn filters(
    of: &'static str,
    path: &str,
    all: Vec<Filter>,
    value: impl Fn(&str) -> String,
    faults: &[(&'static str, &'static str)],
    is_filtered: bool,
) -> AnyView {
    let fields: Vec<_> = all
        .into_iter()
        .map(|filter| {
            let fault = faults.iter().find(|(name, _)| *name == filter.name).map(|(_, fault)| *fault);
            let value = value(filter.name);
            field(filter, value, fault)
        })
        .collect();
    let (to, all) = (path.to_owned(), path.to_owned());
    view! {
        <form class="filters" method="get" action=to role="search" aria-label=of>
            {fields}
            <div class="filters-end">
                <button>"Show"</button>
                {is_filtered.then(|| view! { <a class="quiet" href=all>"Show all"</a> })}
            </div>
        </form>
    }
    .into_any()
}

fn field(filter: Filter, value: String, fault: Option<&'static str>) -> AnyView {
    let Filter { name, label, kind } = filter;
    let (invalid, described) = (fault.map(|_| "true"), fault.map(|_| format!("wrong-{name}")));
    let id = described.clone();
    let control = match kind {
        Kind::Text => {
            view! { <input name=name size="12" value=value aria-invalid=invalid aria-describedby=described/> }
                .into_any()
        }
        // What is no day would not be shown in a field for days.
        Kind::Day => {
            let shows = if fault.is_some() { "text" } else { "date" };
            view! { <input name=name type=shows value=value aria-invalid=invalid aria-describedby=described/> }.into_any()
        }
        Kind::Choice(any, choices) => {
            let choices: Vec<_> = choices
                .into_iter()
                .map(|(choice, word)| {
                    let chosen = choice == value;
                    view! { <option value=choice selected=chosen>{word}</option> }
                })
                .collect();
            view! { <select name=name aria-invalid=invalid aria-describedby=described><option value="">{any}</option>{choices}</select> }.into_any()
        }
    };
    view! {
        <div class="filter">
            <label>{label} " " {control}</label>
            {fault.map(|fault| view! { <p class="wrong" id=id>{fault}</p> })}
        </div>
    }
    .into_any()
}
