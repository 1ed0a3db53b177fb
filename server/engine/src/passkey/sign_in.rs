//! Signing in with a passkey.
//!
//! Nobody can guess one, so no account is counted against: whoever knows what a passkey is called by could keep its person
//! out. The address is counted, as it is for passwords, and whoever has no account, a disabled one or no such passkey is told
//! the same, after the same work.

use std::net::IpAddr;

use model::{Refusal, Time};

use super::ask::SIGN_IN;
use super::ceremony::{self, Assertion, Kind, Misfit};
use super::{Answered, TO_ANSWER, looked_at, user_handle};
use crate::actor::{PersonActor, Via};
use crate::engine::Engine;
use crate::seal::Purpose;
use crate::sign_in::SignedIn;

impl Engine {
    /// The person whose passkey gave this answer; `None`: nobody's, without telling why. `from` is where it comes from.
    ///
    /// # Errors
    /// `RateLimited` when too many have failed from there; `PasskeyRefused` when the passkey's count of signatures went back.
    pub async fn sign_in_with_passkey(
        &self,
        assertion: &Assertion,
        from: Option<IpAddr>,
    ) -> Result<Option<SignedIn>, Refusal> {
        let counted = self.count_from(from).await?;
        let party = self.party().map_err(|_| Refusal::NotFound)?;
        let row = self.store().passkey_by_credential(&assertion.id).await?.filter(|row| row.rp == party.id);
        let looked =
            looked_at(&party, row, assertion).and_then(|answered| self.of_sign_in(answered, assertion));
        let (answered, made_at) = match looked {
            Ok(found) => found,
            Err(misfit) => {
                tracing::info!(%misfit, "a sign-in with a passkey was not taken");
                return Ok(None);
            }
        };
        let proof = self.store().proof_of(answered.passkey.person).await?;
        let person = self.store().person(answered.passkey.person).await?;
        let (Some(person), Some(proof)) = (person.filter(|person| person.disabled_at.is_none()), proof)
        else {
            return Ok(None);
        };
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !tx.use_sign_in_challenge(answered.challenge, made_at).await? {
            return Ok(None);
        }
        if !tx.use_passkey(answered.passkey.id, person.id, answered.counter, now).await? {
            drop(tx);
            return Err(self.went_back(&answered.passkey).await?);
        }
        tx.commit().await?;
        self.clear_address(&counted, person.id, from).await?;
        self.store().note_sign_in(person.id, now).await?;
        let groups = self.store().groups_of(person.id).await?;
        Ok(Some(SignedIn { person: PersonActor::new(person, groups, Via::Session), epoch: proof.epoch }))
    }

    /// Whether an answer that holds is one to a sign-in of this desk, not long ago, by whom the authenticator names.
    fn of_sign_in(&self, answered: Answered, assertion: &Assertion) -> Result<(Answered, Time), Misfit> {
        let party = self.party().map_err(|_| Misfit::OtherParty)?;
        let challenge = ceremony::challenge(&assertion.client_data, Kind::Get, &party)?;
        let made =
            self.sealer().open(Purpose::Passkey, SIGN_IN, &challenge).map_err(|_| Misfit::OtherKind)?;
        let made = made.try_into().map(i64::from_be_bytes).map_err(|_| Misfit::OtherKind)?;
        let (made, now) = (Time::from_micros(made), self.now());
        if made > now || made.plus_seconds(TO_ANSWER) < now {
            return Err(Misfit::Late);
        }
        if assertion.user_handle != user_handle(answered.passkey.person) {
            return Err(Misfit::OtherPasskey);
        }
        Ok((answered, made))
    }
}
