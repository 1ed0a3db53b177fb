//! A call as a surface hands it to the pipeline.

use model::Surface;
use serde_json::{Map, Value};

use crate::actor::Actor;

/// A call as a surface hands it to the pipeline. Every surface builds one and awaits one answer.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Who is calling.
    pub actor: Actor,
    /// Where the call came in.
    pub surface: Surface,
    /// The action's name as the caller wrote it.
    pub action: String,
    /// The input object, control fields included.
    pub input: Map<String, Value>,
    /// Every value of the header `Idempotency-Key`, in order.
    pub key_header: Vec<String>,
    /// The header `Countersign-Session`.
    pub session: Option<String>,
    /// The header `Countersign-Tenant`.
    pub tenant: Option<String>,
    /// The agent's own reason (`Countersign-Reason`), shown to the person as the agent's words.
    pub reason: Option<String>,
}

impl Arrival {
    /// A call that only asks whether the action is open to the caller.
    pub(crate) fn asking(actor: Actor, surface: Surface, action: &str, tenant: Option<&str>) -> Self {
        Self {
            actor,
            surface,
            action: action.to_owned(),
            input: Map::new(),
            key_header: Vec::new(),
            session: None,
            tenant: tenant.map(str::to_owned),
            reason: None,
        }
    }
}
