//! Who is calling. Only authentication can make one.

use model::{Ability, AgentId, KeyId, Person, PersonId, Refusal};

use crate::registry::oversees;

/// Who is calling.
#[derive(Debug, Clone)]
pub enum Actor {
    /// A person, through a live session or a token.
    Person(PersonActor),
    /// An agent, through its key.
    Agent(AgentActor),
    /// Nobody in particular, for actions that are public.
    Public {
        /// What the caller names itself with (`Countersign-Client`): the scope of its idempotency keys.
        client: Option<String>,
    },
    /// Code in the same process.
    System,
}

/// A person who has proved who they are.
#[derive(Debug, Clone)]
pub struct PersonActor {
    person: Person,
    groups: Vec<String>,
    via: Via,
}

/// How a person proved who they are.
#[derive(Debug, Clone)]
pub enum Via {
    /// A live session in a browser.
    Session,
    /// A token (`csu_…`).
    Token {
        /// The token's id.
        key: KeyId,
        /// What it may be used for.
        abilities: Vec<Ability>,
    },
}

/// An agent that has shown its key.
#[derive(Debug, Clone)]
pub struct AgentActor {
    /// The agent.
    pub(crate) agent: AgentId,
    /// Its name.
    pub(crate) name: String,
    /// Whom it acts for.
    pub(crate) owner: Person,
    /// The groups the owner is in.
    pub(crate) groups: Vec<String>,
    /// The key it showed.
    pub(crate) key: KeyId,
    /// What the key may be used for.
    pub(crate) abilities: Vec<Ability>,
    /// Every write goes to the approval queue.
    pub(crate) requires_approval: bool,
    /// The actions it may see; `None`: all.
    pub(crate) toolset: Option<Vec<String>>,
    /// The one session this key is bound to.
    pub(crate) bound_session: Option<String>,
}

impl PersonActor {
    pub(crate) const fn new(person: Person, groups: Vec<String>, via: Via) -> Self {
        Self { person, groups, via }
    }

    /// The account.
    pub const fn person(&self) -> &Person {
        &self.person
    }

    /// The account's id.
    pub const fn id(&self) -> PersonId {
        self.person.id
    }

    /// How the person proved who they are.
    pub const fn via(&self) -> &Via {
        &self.via
    }

    /// Whether the person may do this here: a live session may do everything the person may, a token what it lists.
    pub fn has(&self, ability: Ability) -> bool {
        match &self.via {
            Via::Session => true,
            Via::Token { abilities, .. } => abilities.contains(&ability),
        }
    }

    /// What concerns the account itself is done in a live session alone: no token makes another, or a new password.
    ///
    /// # Errors
    /// `Denied` for the bearer of a token.
    pub(crate) const fn in_person(&self) -> Result<(), Refusal> {
        match self.via {
            Via::Session => Ok(()),
            Via::Token { .. } => Err(Refusal::Denied),
        }
    }

    /// Whether this one may change agents: somebody in a live session, or a token that was made for it. Which agents is
    /// another question.
    ///
    /// # Errors
    /// `Denied` for a token without `agents:manage`.
    pub(crate) fn manages_agents(&self) -> Result<(), Refusal> {
        if self.has(Ability::AgentsManage) { Ok(()) } else { Err(Refusal::Denied) }
    }

    /// The same person as one who decides.
    ///
    /// # Errors
    /// `Denied` when the token does not have `approvals:decide`.
    pub fn decider(&self) -> Result<Decider, Refusal> {
        if self.has(Ability::ApprovalsDecide) {
            Ok(Decider { person: self.clone(), overrides: false })
        } else {
            Err(Refusal::Denied)
        }
    }

    /// The same person as one who overrides those who decide: an operator or admin in a live session.
    ///
    /// # Errors
    /// `Denied` for the bearer of a token, `NotFound` for everybody else.
    pub(crate) fn overrider(&self) -> Result<Decider, Refusal> {
        oversees(self)?;
        self.in_person()?;
        Ok(Decider { person: self.clone(), overrides: true })
    }
}

/// A person who may say yes or no. An agent can never become one.
#[derive(Debug, Clone)]
pub struct Decider {
    person: PersonActor,
    /// They are none of those who decide, and override them: on the page for it alone.
    overrides: bool,
}

impl Decider {
    /// The person.
    pub const fn actor(&self) -> &PersonActor {
        &self.person
    }

    /// The person's id.
    pub const fn id(&self) -> PersonId {
        self.person.id()
    }

    /// Whether they override those who decide.
    pub(crate) const fn overrides(&self) -> bool {
        self.overrides
    }
}

impl Actor {
    /// The person the call is for: the person itself or the agent's owner.
    pub const fn person(&self) -> Option<&Person> {
        match self {
            Self::Person(actor) => Some(actor.person()),
            Self::Agent(agent) => Some(&agent.owner),
            Self::Public { .. } | Self::System => None,
        }
    }

    /// The groups the person is in.
    pub fn groups(&self) -> &[String] {
        match self {
            Self::Person(actor) => &actor.groups,
            Self::Agent(agent) => &agent.groups,
            Self::Public { .. } | Self::System => &[],
        }
    }

    /// What the caller may do, for rules.
    pub fn abilities(&self) -> Vec<Ability> {
        Ability::ALL.iter().copied().filter(|ability| self.has(*ability)).collect()
    }

    /// The key or token that was shown, if one was.
    pub const fn key(&self) -> Option<KeyId> {
        match self {
            Self::Agent(agent) => Some(agent.key),
            Self::Person(PersonActor { via: Via::Token { key, .. }, .. }) => Some(*key),
            Self::Person(_) | Self::Public { .. } | Self::System => None,
        }
    }

    /// The agent, if one is calling.
    pub const fn agent(&self) -> Option<&AgentActor> {
        match self {
            Self::Agent(agent) => Some(agent),
            _ => None,
        }
    }

    /// What a public caller named itself with.
    pub fn client(&self) -> Option<&str> {
        match self {
            Self::Public { client } => client.as_deref(),
            _ => None,
        }
    }

    /// Whether the caller may do this. Nobody in particular and code in the same process carry no abilities of their
    /// own: what they may do is decided by the action.
    pub fn has(&self, ability: Ability) -> bool {
        match self {
            Self::Person(actor) => actor.has(ability),
            Self::Agent(agent) => agent.abilities.contains(&ability),
            Self::Public { .. } | Self::System => ability != Ability::ApprovalsDecide,
        }
    }
}
