//! MCP servers whose tools are actions: what they say about their tools, what of it was taken, and one call of a tool.
//!
//! An operator takes a definition by naming the server in the catalogue, or by accepting it later. What was taken is
//! *pinned*: it stands in the database, so that every node knows it and a restart forgets nothing. A definition that
//! changes sets its tool aside: it is offered and called no more, and what waits with it is ended.

mod answer;
mod asking;
mod calling;
mod definition;
mod dialect;
mod listing;
mod message;
mod param_header;
mod pin;
mod question;
mod review;
mod watch;

pub use self::definition::Definition;
pub use self::pin::{Stand, ToolLine};
pub use self::question::Question;
pub use self::review::{UpstreamLine, Upstreams};

pub(crate) use self::calling::{answer, carry_out, read};
pub(crate) use self::dialect::Dialect;
pub(crate) use self::message::call_request;
pub(crate) use self::param_header::ParamHeader;
pub(crate) use self::pin::{Pin, ToolRow};
