//! Where a call came in.

use crate::words::words;

words! {
    /// Where a call came in.
    Surface {
        /// The HTTP API.
        Api = "api",
        /// The Model Context Protocol.
        Mcp = "mcp",
        /// A person's form in the dashboard.
        Form = "form",
        /// The durable queue.
        Queue = "queue",
        /// `POST /v1/fetch`.
        Fetch = "fetch",
        /// `/via/{credential}/{path}`.
        Via = "via",
        /// Rust code in the same process.
        Code = "code",
    }
}

impl Surface {
    /// Whether a caller gives a whole request here, instead of naming an action of the catalogue.
    pub const fn takes_requests(self) -> bool {
        matches!(self, Self::Fetch | Self::Via)
    }
}
