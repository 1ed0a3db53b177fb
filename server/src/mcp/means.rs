//! How a client can be told to wait for a person: by what the request itself says, never by an earlier one.

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;

/// How a client can be told to wait. The first that fits the request's capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// It follows a task.
    Task,
    /// It opens an address for its person.
    Url,
    /// It gets a plain answer.
    Plain,
}

/// Whether the request is one of 2026-07-28 or later, in which nothing begins with `initialize`.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let newest = ProtocolVersion::V_2026_07_28;
    context.protocol_version().is_some_and(|version| version.as_str() >= newest.as_str())
}

impl Means {
    /// Of this request.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().filter(|_| is_stateless(context));
        let Some(capabilities) = capabilities else { return Self::Plain };
        if capabilities.supports_tasks() {
            Self::Task
        } else if capabilities.elicitation.is_some_and(|elicitation| elicitation.url.is_some()) {
            Self::Url
        } else {
            Self::Plain
        }
    }
}
