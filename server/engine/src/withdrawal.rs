//! A call is taken back by its agent or its owner, or because its key may call no more.

use model::{CallId, CallStatus, EventType, KeyId, PersonId, Refusal};

use crate::actor::Actor;
use crate::engine::Engine;
use crate::store::{CallRow, StoreError};

impl Engine {
    /// Takes a held call back and answers with it.
    ///
    /// # Errors
    /// `NotFound` for everybody but the agent and its owner; `NotHeld` when it is past holding.
    pub async fn withdraw(&self, actor: &Actor, id: CallId) -> Result<model::Call, Refusal> {
        let seen = self.seen_by(actor, id).await?;
        let (row, _) = seen.filter(|(_, standing)| standing.owns).ok_or(Refusal::NotFound)?;
        if !self.take_back(&row, CallStatus::Held).await? {
            return Err(Refusal::NotHeld);
        }
        let row = self.store().call(id).await?.ok_or(Refusal::NotFound)?;
        self.call_of(&row, true)
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

    async fn withdraw_all(&self, calls: &[CallId]) -> Result<(), StoreError> {
        for id in calls.iter().copied() {
            if let Some(row) = self.store().call(id).await? {
                self.take_back(&row, row.state.status()).await?;
            }
        }
        Ok(())
    }

    /// `false`: the call is no longer in the state it was seen in.
    async fn take_back(&self, row: &CallRow, from: CallStatus) -> Result<bool, StoreError> {
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !tx.end_unsent(row.id, from, CallStatus::Withdrawn, now, None, None).await? {
            return Ok(false);
        }
        if let Some(slot) = row.claim_slot {
            tx.free_claim(slot, row.id).await?;
        }
        tx.insert_event(&row.event(self.event_id(), now, EventType::Withdrawn, CallStatus::Withdrawn))
            .await?;
        tx.commit().await?;
        self.nudges().tell(row.id);
        Ok(true)
    }
}
