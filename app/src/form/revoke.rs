//! Revoking an agent, or one of its keys.

use leptos::prelude::*;
use model::{AgentId, KeyId, Refusal};

use super::{Fault, Form, Next, Posted, visit};

/// Revokes an agent, or with a key just that.
#[server(name = Revoke, prefix = "/do", endpoint = "revoke")]
pub(crate) async fn revoke(agent: String, key: Option<String>) -> Result<Next, Fault> {
    let visit = visit()?;
    let me = visit.visitor.ok_or_else(Fault::signed_out)?;
    let id: AgentId = agent.parse().map_err(|_| Refusal::NotFound)?;
    // Who presses what somebody else has pressed already finds it as it was wanted.
    match key {
        Some(key) => {
            let key: KeyId = key.parse().map_err(|_| Refusal::NotFound)?;
            visit.engine.revoke_key_as(&me, id, key).await?;
        }
        None => {
            visit.engine.revoke_agent_as(&me, id).await?;
        }
    }
    Ok(Next::Go(format!("/agents/{id}")))
}

impl Form for Revoke {
    fn page(posted: &Posted) -> String {
        super::agent::page_of(posted)
    }
}
