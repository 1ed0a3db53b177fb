//! Who is calling: the only way to make an `Actor`.

use model::{PersonId, Refusal};

use crate::actor::{Actor, AgentActor, PersonActor, Via};
use crate::engine::Engine;
use crate::store::KeyRow;
use crate::token::{PlainToken, TokenKind};

impl Engine {
    /// The bearer of a token (`csk_…`, `csu_…`).
    ///
    /// # Errors
    /// `Unauthenticated` for a token that is malformed, unknown, expired or revoked, all alike.
    pub async fn authenticate(&self, token: &str) -> Result<Actor, Refusal> {
        let (kind, token) = PlainToken::parse(token).ok_or(Refusal::Unauthenticated)?;
        let row =
            self.store().key_by_hash(token.hashed(), self.now()).await?.ok_or(Refusal::Unauthenticated)?;
        if row.agent.is_some() != (kind == TokenKind::Agent) {
            return Err(Refusal::Unauthenticated);
        }
        self.note_use(&row);
        self.actor_of(row).await?.ok_or(Refusal::Unauthenticated)
    }

    /// The person of a live session; `None` when the account is gone or disabled.
    pub async fn visitor(&self, person: PersonId) -> Result<Option<PersonActor>, Refusal> {
        let Some(person) = self.store().person(person).await?.filter(|person| person.disabled_at.is_none())
        else {
            return Ok(None);
        };
        let groups = self.store().groups_of(person.id).await?;
        Ok(Some(PersonActor::new(person, groups, Via::Session)))
    }

    /// The bearer of a key that is in force.
    pub(crate) async fn actor_of(&self, row: KeyRow) -> Result<Option<Actor>, Refusal> {
        let store = self.store();
        let (person, groups) = tokio::try_join!(store.person(row.person), store.groups_of(row.person))?;
        let Some(person) = person else { return Ok(None) };
        Ok(Some(match row.agent {
            Some((agent, name)) => Actor::Agent(AgentActor {
                agent,
                name,
                owner: person,
                groups,
                key: row.id,
                abilities: row.abilities,
                requires_approval: row.requires_approval,
                toolset: row.toolset,
                bound_session: row.session,
            }),
            None => Actor::Person(PersonActor::new(
                person,
                groups,
                Via::Token { key: row.id, abilities: row.abilities },
            )),
        }))
    }

    /// Notes beside the request that the key was used; a note that is lost does no harm.
    fn note_use(&self, row: &KeyRow) {
        let (engine, id) = (self.clone(), row.id);
        if row.last_used_at.is_some_and(|last| self.now().seconds_since(last) < 60) {
            return;
        }
        tokio::spawn(async move {
            if let Err(error) = engine.store().touch_key(id, engine.now()).await {
                tracing::warn!(%error, "the use of a key could not be noted");
            }
        });
    }
}
