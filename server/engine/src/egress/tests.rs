//! Sends over real connections, to upstreams that do everything an upstream can do wrong.

pub(super) mod credential;

mod answered;
mod limits;
mod never_left;
mod once;
mod secrets;
mod tls;
mod unknown;
mod upstream;
mod wire;
