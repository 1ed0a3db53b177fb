//! The pages of Countersign: Leptos components and server functions, rendered on the server. Knows no axum.
//!
//! Two doors: [`page::render`] makes a page of an address, [`form::post`] takes a form in. Both are given a
//! [`visit::Visit`]: the engine, who is visiting, and where.
#![allow(
    unreachable_pub,
    reason = "the macros of Leptos make public types for private components and server functions"
)]

pub mod form;
pub mod page;
pub mod receipt_filter;
pub mod visit;

mod document;
mod frame;
mod pages;
mod parts;
mod routes;
mod words;
