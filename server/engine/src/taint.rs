//! Sessions that have read what nobody vouches for. There is no way back within a session.

use model::{AgentId, Refusal};

use crate::actor::Actor;
use crate::credential::Credential;
use crate::engine::Engine;
use crate::store::StoreError;

impl Engine {
    /// Marks a session of the calling agent, for good.
    ///
    /// # Errors
    /// `Denied` for whoever is no agent; `NotFound` for a session that a bound key is not bound to, and for a name that
    /// no session can have.
    pub async fn taint_session(&self, actor: &Actor, session: &str) -> Result<(), Refusal> {
        let agent = actor.agent().ok_or(Refusal::Denied)?;
        let bound_elsewhere = agent.bound_session.as_deref().is_some_and(|bound| bound != session);
        if bound_elsewhere || !is_name(session) {
            return Err(Refusal::NotFound);
        }
        Ok(self.store().taint_session(agent.agent, session, self.now()).await?)
    }

    /// Whether this session of this agent is marked. Whoever has no session reads for nobody but themselves.
    pub(crate) async fn is_tainted(
        &self,
        agent: Option<AgentId>,
        session: Option<&str>,
    ) -> Result<bool, StoreError> {
        match agent.zip(session) {
            Some((agent, session)) => self.store().is_tainted(agent, session).await,
            None => Ok(false),
        }
    }

    /// Marks the session before a read through a credential that is not trusted is sent: what comes back must not be
    /// known to an agent whose session is not marked, whatever breaks meanwhile.
    pub(crate) async fn taint_by_read(
        &self,
        credential: Option<&Credential>,
        agent: Option<AgentId>,
        session: Option<&str>,
    ) -> Result<(), StoreError> {
        let untrusted = credential.is_some_and(|credential| !credential.trusted);
        if !untrusted || self.is_tainted(agent, session).await? {
            return Ok(());
        }
        match agent.zip(session) {
            Some((agent, session)) => self.store().taint_session(agent, session, self.now()).await,
            None => Ok(()),
        }
    }
}

/// Whether a session can have this name: 1 to 128 visible characters.
fn is_name(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
