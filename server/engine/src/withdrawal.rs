//! A call is taken back by its agent or its owner, or because its key may call no more.

use model::{CallId, CallStatus, EventType, KeyId, PersonId, Refusal};

use crate::actor::Actor;
use crate::engine::Engine;
use crate::store::{CallRow, StoreError, Unsent};
use crate::unsent::UnsentEnd;

impl Engine {
    /// Takes a held call back and answers with it.
    ///
    /// # Errors
    /// `NotFound` for everybody but the agent and its owner; `NotHeld` when it is past holding.
    pub async fn withdraw(&self, actor: &Actor, id: CallId) -> Result<model::Call, Refusal> {
        let seen = self.seen_by(actor, id).await?;
        let (row, _) = seen.filter(|(_, standing)| standing.owns).ok_or(Refusal::NotFound)?;
        if !self.take_back(&row, Unsent::Held).await? {
            return Err(Refusal::NotHeld);
        }
        self.told_after(row, CallStatus::Withdrawn).await
    }

    /// Takes back everything that a revoked key has waiting.
    pub(crate) async fn withdraw_of_key(&self, key: KeyId) -> Result<(), StoreError> {
        let calls = self.store().unsent_calls_of_key(key).await?;
        self.withdraw_all(&calls).await
    }

    /// Takes back everything that a disabled person and their agents have waiting.
    pub(crate) async fn withdraw_of_person(&self, person: PersonId) -> Result<(), StoreError> {
        let calls = self.store().unsent_calls_of_person(person).await?;
        self.withdraw_all(&calls).await
    }

    pub(crate) async fn withdraw_all(&self, calls: &[CallId]) -> Result<(), StoreError> {
        for id in calls.iter().copied() {
            if let Some(row) = self.store().call(id).await? {
                self.take_back(&row, Unsent::Any).await?;
            }
        }
        Ok(())
    }

    /// `false`: the call has gone on meanwhile.
    pub(crate) async fn take_back(&self, row: &CallRow, from: Unsent) -> Result<bool, StoreError> {
        self.end_unsent_now(row, UnsentEnd::plain(from, CallStatus::Withdrawn, EventType::Withdrawn)).await
    }
}
