//! The countersign binary.

mod api;
mod problem;
mod request_id;
mod session_store;

fn main() {}
