//! Pausing: nothing of an agent, or nothing at all, is begun until somebody resumes.
//!
//! A call that comes in is answered `paused` before anything of it is looked at. What is held stays held, what is
//! confirmed or queued waits, and what is being sent comes to its end.

use std::fmt;

use model::{AgentId, PauseId, PersonId, Refusal, Time};

use crate::actor::{Actor, PersonActor};
use crate::decision::checked_reason;
use crate::engine::Engine;
use crate::registry::oversees;
use crate::store::NewPause;

/// What is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseScope {
    /// The calls of one agent.
    Agent(AgentId),
    /// Every call.
    Everything,
}

impl PauseScope {
    /// The agent, if it is one.
    pub const fn agent(self) -> Option<AgentId> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Everything => None,
        }
    }
}

impl fmt::Display for PauseScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(agent) => agent.fmt(f),
            Self::Everything => f.write_str("everything"),
        }
    }
}

/// A pause, in force or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// What is paused.
    pub scope: PauseScope,
    /// The agent's owner paused it, by no other right: then the owner may resume it too.
    pub as_owner: bool,
    /// Who; `None`: the command line.
    pub by: Option<String>,
    /// Their words.
    pub reason: Option<String>,
    /// Since when.
    pub at: Time,
    /// When it ended.
    pub resumed_at: Option<Time>,
    /// Who ended it; `None`: the command line, or nobody yet.
    pub resumed_by: Option<String>,
}

/// Who pauses or resumes, and by which right.
#[derive(Debug, Clone, Copy)]
struct Hand {
    /// `None`: the command line.
    person: Option<PersonId>,
    as_owner: bool,
}

impl Engine {
    /// Pauses one agent, or everything, at once and on every node. An operator who pauses what its owner has paused
    /// takes the pause over. `false`: it was paused before, and nothing was changed.
    ///
    /// # Errors
    /// `NotFound` for whoever may not: one agent is paused by its owner, an operator or an admin, everything by an
    /// operator or an admin. `Denied` for a token without `agents:manage`. `Invalid` on `/reason`, and for an agent
    /// that was revoked.
    pub async fn pause(
        &self,
        person: &PersonActor,
        scope: PauseScope,
        reason: Option<&str>,
    ) -> Result<bool, Refusal> {
        let hand = self.hand_of(person, scope).await?;
        self.pause_by(hand, scope, reason).await
    }

    /// Ends a pause. What waited goes on. `false`: there was none.
    ///
    /// # Errors
    /// As for [`Engine::pause`]; `Denied` for an agent's owner when an operator has paused it.
    pub async fn resume(&self, person: &PersonActor, scope: PauseScope) -> Result<bool, Refusal> {
        let hand = self.hand_of(person, scope).await?;
        self.resume_by(hand, scope).await
    }

    /// The same for whoever runs the desk from its command line.
    pub async fn pause_at_console(&self, scope: PauseScope, reason: Option<&str>) -> Result<bool, Refusal> {
        self.pause_by(Hand { person: None, as_owner: false }, scope, reason).await
    }

    /// The same for whoever runs the desk from its command line.
    pub async fn resume_at_console(&self, scope: PauseScope) -> Result<bool, Refusal> {
        self.resume_by(Hand { person: None, as_owner: false }, scope).await
    }

    /// Says no to a caller who is paused. Every call asks this by itself; it is for what a surface has to say before.
    ///
    /// # Errors
    /// `Paused`.
    pub async fn refuse_paused(&self, actor: &Actor) -> Result<(), Refusal> {
        let agent = actor.agent().map(|agent| agent.agent);
        if self.store().is_paused(agent).await? { Err(Refusal::Paused) } else { Ok(()) }
    }

    /// The pause of everything, when one is in force. Everybody who is signed in may know.
    pub async fn pause_of_everything(&self) -> Result<Option<Pause>, Refusal> {
        Ok(self.store().pause_of(None).await?)
    }

    /// The earlier and present pauses of everything, newest first, for operators and admins.
    pub async fn pauses_of_everything(&self, person: &PersonActor) -> Result<Vec<Pause>, Refusal> {
        oversees(person)?;
        Ok(self.store().pauses_of(PauseScope::Everything, MOST_SHOWN).await?)
    }

    async fn hand_of(&self, person: &PersonActor, scope: PauseScope) -> Result<Hand, Refusal> {
        person.manages_agents()?;
        let own = match scope {
            PauseScope::Everything => None,
            PauseScope::Agent(agent) => Some(self.store().agent(agent).await?.ok_or(Refusal::NotFound)?),
        };
        let as_owner = match (oversees(person), own) {
            (Ok(()), _) => false,
            (Err(_), Some(agent)) if agent.owner_id == person.id() => true,
            (Err(refusal), _) => return Err(refusal),
        };
        Ok(Hand { person: Some(person.id()), as_owner })
    }

    async fn pause_by(&self, hand: Hand, scope: PauseScope, reason: Option<&str>) -> Result<bool, Refusal> {
        let reason = checked_reason(reason)?;
        if let PauseScope::Agent(agent) = scope {
            let agent = self.store().agent(agent).await?.ok_or(Refusal::NotFound)?;
            if agent.is_revoked {
                let message = "This agent is revoked: it can call no more, so there is nothing to pause.";
                return Err(Refusal::invalid("/agent", message));
            }
        }
        let now = self.now();
        let id = PauseId::from_uuid(self.ambient().uuid());
        let mut tx = self.store().begin().await?;
        tx.lock_pauses().await?;
        match tx.pause_in_force(scope).await? {
            // What an operator says is not undone by the owner's earlier word.
            Some(pause) if pause.as_owner && !hand.as_owner => {
                tx.end_pause(scope, hand.person, now).await?;
            }
            Some(_) => return Ok(false),
            None => {}
        }
        let Hand { person, as_owner } = hand;
        tx.insert_pause(&NewPause { id, scope, as_owner, person, reason, at: now }).await?;
        tx.commit().await?;
        tracing::warn!(%scope, by = %said(person), "paused");
        Ok(true)
    }

    async fn resume_by(&self, hand: Hand, scope: PauseScope) -> Result<bool, Refusal> {
        let mut tx = self.store().begin().await?;
        tx.lock_pauses().await?;
        match tx.pause_in_force(scope).await? {
            Some(pause) if hand.as_owner && !pause.as_owner => return Err(Refusal::Denied),
            Some(_) => {}
            None => return Ok(false),
        }
        tx.end_pause(scope, hand.person, self.now()).await?;
        tx.commit().await?;
        tracing::warn!(%scope, by = %said(hand.person), "resumed");
        self.queue().ring();
        Ok(true)
    }
}

/// How many pauses of one scope are told.
pub(crate) const MOST_SHOWN: i64 = 20;

fn said(person: Option<PersonId>) -> String {
    person.map_or_else(|| "the command line".to_owned(), |person| person.to_string())
}
