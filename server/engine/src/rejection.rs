//! A caller rejects the prompt it was given: its token confirms nothing any more.

use model::Refusal;

use crate::actor::Actor;
use crate::engine::Engine;
use crate::pipeline::{caller_name, hash_of};

impl Engine {
    /// Rejects the caller's own prompt.
    ///
    /// # Errors
    /// `NotFound` when the token is unknown, somebody else's, used, rejected or lapsed, all alike.
    pub async fn reject_prompt(&self, actor: &Actor, token: &str) -> Result<(), Refusal> {
        let hash = hash_of(token).ok_or(Refusal::NotFound)?;
        let mut tx = self.store().begin().await?;
        let rejected = tx.reject_prompt(hash, &caller_name(actor), self.now()).await?;
        tx.commit().await?;
        if rejected { Ok(()) } else { Err(Refusal::NotFound) }
    }
}
