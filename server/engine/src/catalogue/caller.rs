//! What a rule may know about a caller.

use model::{Ability, Role, Surface};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What kind of caller it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallerKind {
    /// Somebody with an account.
    Person,
    /// A program that acts for a person.
    Agent,
    /// Anybody.
    Public,
    /// The desk itself.
    System,
}

/// The facts about a caller that a rule may ask for, as `caller`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// What kind of caller it is.
    pub kind: CallerKind,
    /// The person's address, or the address of the agent's owner.
    pub person: Option<String>,
    /// The person's roles.
    pub roles: Vec<Role>,
    /// The names of the person's groups.
    pub groups: Vec<String>,
    /// The agent's name.
    pub agent: Option<String>,
    /// What the token may be used for.
    pub abilities: Vec<Ability>,
    /// The tenant that the call names.
    pub tenant: Option<String>,
    /// Where the call came in.
    pub surface: Surface,
}

impl Caller {
    /// The names of the facts, as rules spell them.
    pub(super) const FACTS: &'static [&'static str] =
        &["kind", "person", "role", "roles", "groups", "agent", "abilities", "tenant", "surface"];

    /// The facts as rules see them. `role` is the highest of the roles; what is missing is an empty text, so that a
    /// comparison with it is false and not an error.
    pub(super) fn facts(&self) -> Value {
        let role = self.roles.iter().max().map_or("", |role| role.as_str());
        let mut facts = Map::new();
        facts.insert("kind".to_owned(), json!(self.kind));
        facts.insert("person".to_owned(), json!(self.person.as_deref().unwrap_or("")));
        facts.insert("role".to_owned(), json!(role));
        facts.insert("roles".to_owned(), json!(self.roles));
        facts.insert("groups".to_owned(), json!(self.groups));
        facts.insert("agent".to_owned(), json!(self.agent.as_deref().unwrap_or("")));
        facts.insert("abilities".to_owned(), json!(self.abilities));
        facts.insert("tenant".to_owned(), json!(self.tenant.as_deref().unwrap_or("")));
        facts.insert("surface".to_owned(), json!(self.surface));
        Value::Object(facts)
    }
}
