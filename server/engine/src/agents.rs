//! Agents as people on the desk look after them: operators and admins see all, owners their own; admins add agents and
//! keys, operators and admins revoke.

use model::{Ability, AgentId, FieldError, KeyId, Refusal};

use crate::actor::PersonActor;
use crate::agent::{AgentLine, KeyLine};
use crate::circles::administers;
use crate::engine::Engine;
use crate::pause::{MOST_SHOWN, Pause, PauseScope};
use crate::registry::{AgentWanted, is_session, oversees};
use crate::store::{KeyRow, NewKey};
use crate::token::{PlainToken, TokenKind};

/// A further key of an agent.
#[derive(Debug, Clone, Default)]
pub struct KeyWanted {
    /// Every write of it goes to the approval queue.
    pub requires_approval: bool,
    /// What it may be used for; empty: the four `actions:` abilities.
    pub abilities: Vec<Ability>,
    /// The actions it may see.
    pub toolset: Option<Vec<String>>,
    /// The one session it is bound to.
    pub session: Option<String>,
}

/// An agent with everything that its page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPage {
    /// The agent.
    pub agent: AgentLine,
    /// Its keys, newest first.
    pub keys: Vec<KeyLine>,
    /// Its own pauses, newest first.
    pub pauses: Vec<Pause>,
}

impl Engine {
    /// Every agent, for operators and admins.
    pub async fn agents(&self, person: &PersonActor) -> Result<Vec<AgentLine>, Refusal> {
        oversees(person)?;
        Ok(self.store().agents(None).await?)
    }

    /// The person's own agents.
    pub async fn own_agents(&self, person: &PersonActor) -> Result<Vec<AgentLine>, Refusal> {
        Ok(self.store().agents(Some(person.id())).await?)
    }

    /// One agent with its keys, for operators and admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else, and when there is none.
    pub async fn agent(&self, person: &PersonActor, id: AgentId) -> Result<AgentPage, Refusal> {
        oversees(person)?;
        let store = self.store();
        let agent = store.agent(id).await?.ok_or(Refusal::NotFound)?;
        let (keys, pauses) =
            tokio::try_join!(store.key_lines(id), store.pauses_of(PauseScope::Agent(id), MOST_SHOWN))?;
        Ok(AgentPage { agent, keys, pauses })
    }

    /// Adds an agent with its first key, which is shown once, for admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else; `Denied` for a token without `agents:manage`; `Invalid` with every field at fault.
    pub async fn add_agent_as(
        &self,
        person: &PersonActor,
        wanted: AgentWanted,
    ) -> Result<(AgentId, PlainToken), Refusal> {
        administers(person)?;
        person.manages_agents()?;
        self.add_agent(wanted).await
    }

    /// Makes a further key of an agent, which is shown once, for admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else, and when there is no such agent or it was revoked; `Invalid` with every field at
    /// fault.
    pub async fn add_key(
        &self,
        person: &PersonActor,
        id: AgentId,
        wanted: KeyWanted,
    ) -> Result<(KeyId, PlainToken), Refusal> {
        administers(person)?;
        person.manages_agents()?;
        let agent = self.store().agent(id).await?.filter(|agent| !agent.is_revoked);
        let agent = agent.ok_or(Refusal::NotFound)?;
        let faults = self.faults_of_key(&wanted);
        if !faults.is_empty() {
            return Err(Refusal::Invalid(faults));
        }
        let (key, token) = self.new_key(&agent.name, id, agent.owner_id, wanted);
        let mut tx = self.store().begin().await?;
        tx.insert_key(&key).await?;
        tx.commit().await?;
        Ok((key.row.id, token))
    }

    /// Revokes an agent, for admins: its keys are taken no more and what it has waiting is withdrawn.
    /// `false`: it was revoked before.
    ///
    /// # Errors
    /// `NotFound` for everybody else, and when there is none.
    pub async fn revoke_agent_as(&self, person: &PersonActor, id: AgentId) -> Result<bool, Refusal> {
        administers(person)?;
        person.manages_agents()?;
        self.store().agent(id).await?.ok_or(Refusal::NotFound)?;
        self.revoke(id).await
    }

    /// Revokes one key of an agent, for admins; what was called with it and waits is withdrawn. `false`:
    /// it was revoked before.
    ///
    /// # Errors
    /// `NotFound` for everybody else, and when the agent has no such key.
    pub async fn revoke_key_as(
        &self,
        person: &PersonActor,
        agent: AgentId,
        key: KeyId,
    ) -> Result<bool, Refusal> {
        administers(person)?;
        person.manages_agents()?;
        let keys = self.store().keys_of_agent(agent).await?;
        if !keys.contains(&key) {
            return Err(Refusal::NotFound);
        }
        self.revoke_token(key).await
    }

    /// The agent of this id, else of this name; `None`: there is none.
    pub async fn find_agent(&self, name_or_id: &str) -> Result<Option<AgentLine>, Refusal> {
        let agents = self.store().agents(None).await?;
        let by_id = agents.iter().position(|agent| agent.id.to_string() == name_or_id);
        let found = by_id.or_else(|| agents.iter().position(|agent| agent.name == name_or_id));
        Ok(found.and_then(|place| agents.into_iter().nth(place)))
    }

    /// What is wrong with a key that is wanted.
    pub(crate) fn faults_of_key(&self, wanted: &KeyWanted) -> Vec<FieldError> {
        let mut faults = Vec::new();
        if wanted
            .abilities
            .iter()
            .any(|ability| !Ability::AGENT_DEFAULT.contains(ability) && *ability != Ability::ReceiptsRead)
        {
            faults.push(FieldError::new(
                "/abilities",
                "An agent's key carries the abilities actions:… and receipts:read alone.",
            ));
        }
        if wanted.session.as_ref().is_some_and(|session| !is_session(session)) {
            faults.push(FieldError::new(
                "/session",
                "The session has to be 1 to 128 visible ASCII characters.",
            ));
        }
        let catalogue = self.catalogue();
        let unknown = wanted.toolset.iter().flatten().filter_map(|name| catalogue.fault_of_tool(name));
        faults.extend(unknown.map(|fault| FieldError::new("/toolset", fault)));
        faults
    }

    /// A key that is sound, to be stored, and its token.
    pub(crate) fn new_key(
        &self,
        name: &str,
        agent: AgentId,
        owner: model::PersonId,
        wanted: KeyWanted,
    ) -> (NewKey, PlainToken) {
        let token = PlainToken::generate(TokenKind::Agent, self.ambient());
        let abilities =
            if wanted.abilities.is_empty() { Ability::AGENT_DEFAULT.to_vec() } else { wanted.abilities };
        let row = KeyRow {
            id: KeyId::from_uuid(self.ambient().uuid()),
            agent: Some((agent, name.to_owned())),
            person: owner,
            abilities,
            requires_approval: wanted.requires_approval,
            toolset: wanted.toolset,
            session: wanted.session,
            last_used_at: None,
        };
        (NewKey { row, hash: token.hashed(), created_at: self.now(), expires_at: None }, token)
    }
}
