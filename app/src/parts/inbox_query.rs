//! What an address asks of the inbox: which held calls, in which order, which page of them.

use engine::{InboxFilter, InboxOrder, PageAsked};
use leptos_router::params::ParamsMap;

use super::link::{local_path, with_query};

/// The names of what narrows and orders the list, as they stand in the address.
const KEPT: [&str; 4] = ["agent", "action", "effect", "order"];
/// The names of what says which page of it.
const PAGE: [&str; 2] = ["cursor", "before"];

/// The word for the other order in an address.
pub(crate) const LAPSING: &str = "lapsing";

/// What an address asks of the inbox.
#[derive(Debug, Clone)]
pub(crate) struct InboxQuery {
    params: ParamsMap,
}

impl InboxQuery {
    pub(crate) const fn of(params: ParamsMap) -> Self {
        Self { params }
    }

    /// The value of this name; empty when there is none.
    pub(crate) fn value(&self, name: &str) -> String {
        self.params.get(name).unwrap_or_default().trim().to_owned()
    }

    /// Which calls in which order. A word that says nothing narrows nothing.
    pub(crate) fn filter(&self) -> InboxFilter {
        let named = |name: &str| Some(self.value(name)).filter(|value| !value.is_empty());
        InboxFilter {
            agent: named("agent"),
            action: named("action"),
            effect: self.value("effect").parse().ok(),
            order: if self.value("order") == LAPSING { InboxOrder::Lapsing } else { InboxOrder::Newest },
        }
    }

    pub(crate) fn page(&self) -> PageAsked {
        super::super::pages::page_asked(&self.params)
    }

    pub(crate) const fn params(&self) -> &ParamsMap {
        &self.params
    }

    /// Whether only some of the calls are asked for.
    pub(crate) fn is_narrowed(&self) -> bool {
        ["agent", "action", "effect"].iter().any(|name| !self.value(name).is_empty())
    }

    /// What stays when another page of the list is asked for.
    pub(crate) fn kept(&self) -> Vec<(&'static str, String)> {
        KEPT.map(|name| (name, self.value(name))).into()
    }

    /// A page beside this list: its address keeps the list.
    pub(crate) fn beside(&self, path: &str) -> String {
        let all: Vec<_> = KEPT.into_iter().chain(PAGE).map(|name| (name, self.value(name))).collect();
        with_query(path, all.iter().map(|(name, value)| (*name, value.as_str())))
    }

    /// The query alone, with its question mark; empty when there is nothing to keep. A form carries it along.
    pub(crate) fn text(&self) -> String {
        self.beside("")
    }
}

/// A page beside the list that a form carried along as a query.
pub(crate) fn beside(path: &str, list: &str) -> String {
    let address = format!("{path}{list}");
    let fits = list.starts_with('?') && !list.contains('#') && local_path(&address).is_some();
    if fits { address } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&'static str, &str)]) -> InboxQuery {
        let mut params = ParamsMap::new();
        for (name, value) in pairs {
            params.insert(*name, (*value).to_owned());
        }
        InboxQuery::of(params)
    }

    #[test]
    fn keeps_the_list_and_nothing_else() {
        let asked = query(&[("agent", "a b"), ("order", "lapsing"), ("cursor", "x"), ("ended", "call_1")]);
        assert_eq!(asked.beside("/inbox/1"), "/inbox/1?agent=a%20b&order=lapsing&cursor=x");
        assert_eq!(query(&[]).text(), "");
        assert_eq!(asked.filter().order, InboxOrder::Lapsing);
        assert!(query(&[("effect", "nonsense")]).filter().effect.is_none());
    }

    #[test]
    fn a_form_carries_only_a_query_along() {
        assert_eq!(beside("/inbox", "?agent=a"), "/inbox?agent=a");
        for list in ["", "/evil", "@evil.example", "?a\r\nb", "?a#b", "?\\"] {
            assert_eq!(beside("/inbox", list), "/inbox", "{list}");
        }
    }
}
