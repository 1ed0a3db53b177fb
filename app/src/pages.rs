//! The pages, one a file.

pub(crate) mod account;
pub(crate) mod actions;
pub(crate) mod agent;
pub(crate) mod agents;
pub(crate) mod calls;
pub(crate) mod circles;
pub(crate) mod credentials;
pub(crate) mod done;
pub(crate) mod grants;
pub(crate) mod held_of_others;
pub(crate) mod home;
pub(crate) mod inbox;
pub(crate) mod item;
pub(crate) mod join;
pub(crate) mod journal;
pub(crate) mod not_found;
pub(crate) mod notices;
pub(crate) mod overriding;
pub(crate) mod people;
pub(crate) mod person;
pub(crate) mod receipt;
pub(crate) mod receipts_of;
pub(crate) mod run;
pub(crate) mod run_action;
pub(crate) mod selected;
pub(crate) mod sign_in;

use engine::PageAsked;
use leptos_router::params::ParamsMap;

/// Which page of a list the address asks for.
pub(crate) fn page_asked(query: &ParamsMap) -> PageAsked {
    PageAsked { limit: None, cursor: query.get("cursor").filter(|cursor| !cursor.is_empty()) }
}
