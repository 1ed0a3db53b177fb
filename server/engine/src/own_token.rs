//! A person's own tokens, as they make and revoke them on the pages.

use model::{Ability, KeyId, Refusal};

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::store::TokenLine;
use crate::token::PlainToken;

/// The longest that a token with an end lives, in days.
const MOST_DAYS: u32 = 3_650;

impl Engine {
    /// A person's own tokens that were not revoked, the newest first.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn own_tokens(&self, me: &PersonActor) -> Result<Vec<TokenLine>, Refusal> {
        me.in_person()?;
        Ok(self.store().tokens_of(me.id()).await?)
    }

    /// Makes a token for the person, which is shown once. It stops being taken after so many days; `None`: never.
    ///
    /// # Errors
    /// `Invalid` on `/abilities` and `/days`; `Denied` without a live session.
    pub async fn make_own_token(
        &self,
        me: &PersonActor,
        abilities: Vec<Ability>,
        days: Option<u32>,
    ) -> Result<(KeyId, PlainToken), Refusal> {
        me.in_person()?;
        if abilities.is_empty() {
            return Err(Refusal::invalid("/abilities", "Choose at least one thing that it may be used for."));
        }
        if days.is_some_and(|days| !(1..=MOST_DAYS).contains(&days)) {
            return Err(Refusal::invalid("/days", "It has to be 1 to 3,650 days."));
        }
        let expires_at = days.map(|days| self.now().plus_seconds(86_400 * i64::from(days)));
        self.store_token(me.id(), abilities, expires_at).await
    }

    /// Revokes one of the person's own tokens; what it has waiting is withdrawn. `false`: it was revoked before, or is none
    /// of theirs.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn revoke_own_token(&self, me: &PersonActor, id: KeyId) -> Result<bool, Refusal> {
        me.in_person()?;
        let mut tx = self.store().begin().await?;
        let revoked = tx.revoke_token_of(me.id(), id, self.now()).await?;
        tx.commit().await?;
        if revoked {
            self.withdraw_of_key(id).await?;
        }
        Ok(revoked)
    }
}
