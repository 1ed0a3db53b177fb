//! What the benchmarks share: a service, a plain proxy, a desk, clients that keep their connection, and a database beside.

mod bearer;
mod client;
pub(crate) mod database;
mod desk;
mod proxy;
mod spread;
mod upstream;
mod yardstick;

pub(crate) use self::bearer::Bearer;
pub(crate) use self::client::Client;
pub(crate) use self::desk::Desk;
pub(crate) use self::proxy::plain_proxy;
pub(crate) use self::spread::{Spread, ratio};
pub(crate) use self::upstream::upstream;
pub(crate) use self::yardstick::Yardstick;
