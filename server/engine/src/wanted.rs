//! Signatures the server builds on and that are not written yet; each moves to its own file with its body.
#![allow(unused_variables, clippy::todo, clippy::unused_async, clippy::missing_panics_doc, missing_docs)]

use std::collections::HashMap;
use std::path::PathBuf;

use model::{Ability, AgentId, KeyId, Person, Refusal, Role, Time};

use crate::agent::AgentLine;
use crate::ambient::Ambient;
use crate::engine::Engine;
use crate::seal::Sealer;
use crate::secret::Secret;
use crate::token::PlainToken;

/// What `Engine::open` takes beside the catalogue.
pub struct OpenOptions {
    /// Relative database paths start here: the catalogue's folder.
    pub base_dir: PathBuf,
    /// `sqlite:PATH` or `postgres://…`.
    pub database_url: String,
    /// Seals and opens.
    pub sealer: Sealer,
    /// Time and randomness.
    pub ambient: Ambient,
    /// Where `secret = { env = "NAME" }` is looked up.
    pub environment: HashMap<String, String>,
}

/// An agent to be made.
pub struct NewAgent {
    pub name: String,
    /// The owner's email.
    pub owner: String,
    pub requires_approval: bool,
    /// Empty: `Ability::AGENT_DEFAULT`.
    pub abilities: Vec<Ability>,
    /// `None`: every action.
    pub toolset: Option<Vec<String>>,
    /// The one session its key is bound to.
    pub session: Option<String>,
}

/// A person to be made.
pub struct NewPerson {
    pub email: String,
    pub name: String,
    pub role: Role,
    pub password: Secret,
}

/// The running jobs.
pub struct Jobs(());

impl Jobs {
    /// Ends the jobs and waits until every call that is being sent has ended.
    pub async fn stop(self) {
        todo!()
    }
}

impl Engine {
    /// Opens the database without changing it; a secret that is missing from the environment is a refusal.
    pub async fn open(catalogue: crate::catalogue::Catalogue, options: OpenOptions) -> Result<Self, Refusal> {
        todo!()
    }
    /// How many migrations were applied.
    pub async fn migrate(&self) -> Result<u64, Refusal> {
        todo!()
    }
    pub fn start_jobs(&self) -> Jobs {
        todo!()
    }
    /// From now on no wait lasts: whoever waits is answered at once with what is known.
    pub fn stop_waiting(&self) {
        todo!()
    }
    /// Whether an action of this name may be called without a token. Told from the catalogue alone.
    pub fn is_public(&self, action: &str) -> bool {
        todo!()
    }

    // Sessions, by the SHA-256 of their id
    /// False: taken.
    pub async fn session_create(&self, id_hash: [u8; 32], data: &[u8], expires: Time) -> Result<bool, Refusal> {
        todo!()
    }
    pub async fn session_save(&self, id_hash: [u8; 32], data: &[u8], expires: Time) -> Result<(), Refusal> {
        todo!()
    }
    /// Only one that has not expired.
    pub async fn session_load(&self, id_hash: [u8; 32]) -> Result<Option<Vec<u8>>, Refusal> {
        todo!()
    }
    pub async fn session_delete(&self, id_hash: [u8; 32]) -> Result<(), Refusal> {
        todo!()
    }

    // The command line: whoever holds the machine
    pub async fn person_add(&self, person: NewPerson) -> Result<Person, Refusal> {
        todo!()
    }
    pub async fn person_list(&self) -> Result<Vec<Person>, Refusal> {
        todo!()
    }
    pub async fn agent_add(&self, agent: NewAgent) -> Result<(AgentId, PlainToken), Refusal> {
        todo!()
    }
    pub async fn agent_list(&self) -> Result<Vec<AgentLine>, Refusal> {
        todo!()
    }
    /// By name or id; withdraws its held calls. `NotFound`: there is none.
    pub async fn agent_revoke(&self, agent: &str) -> Result<AgentId, Refusal> {
        todo!()
    }
    /// A person's token; empty abilities: `receipts:read`.
    pub async fn token_add(&self, email: &str, abilities: Vec<Ability>) -> Result<(KeyId, PlainToken), Refusal> {
        todo!()
    }
    /// A person's token or an agent's key.
    pub async fn token_revoke(&self, key: KeyId) -> Result<(), Refusal> {
        todo!()
    }
}
