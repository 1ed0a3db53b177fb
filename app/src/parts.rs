//! What pages are made of.

pub(crate) mod agent_form;
pub(crate) mod alert;
pub(crate) mod browser;
pub(crate) mod decide;
pub(crate) mod effect;
pub(crate) mod field;
pub(crate) mod filters;
pub(crate) mod fold;
pub(crate) mod held_list;
pub(crate) mod icon;
pub(crate) mod inbox_query;
pub(crate) mod link;
pub(crate) mod pager;
pub(crate) mod pause;
pub(crate) mod payload;
pub(crate) mod people_nav;
pub(crate) mod preview;
pub(crate) mod receipt_filters;
pub(crate) mod receipts;
pub(crate) mod roles;
pub(crate) mod settle;
pub(crate) mod standing;
pub(crate) mod story;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod time;
