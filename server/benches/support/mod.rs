//! What the benchmarks share: a service, a plain proxy, a desk, and a client that keeps its connection.

mod client;
mod desk;
mod proxy;
mod spread;
mod upstream;

pub(crate) use self::client::Client;
pub(crate) use self::desk::Desk;
pub(crate) use self::proxy::plain_proxy;
pub(crate) use self::spread::{Spread, ratio};
pub(crate) use self::upstream::upstream;
