//! Passkeys: who is signed in adds, names and removes them, signs in with one, and proves with one anew who they are.
//!
//! Each answer of an authenticator is to a challenge of the desk's own, which is good for one thing, once, and not for long.
//! What a challenge was made for stands in the database, so that any node can look at the answer, and it is taken away in
//! the same transaction as what it was good for. Of sign-ins, which anybody may ask for, only those that were used stand
//! there. What is needed to judge the answer waits sealed in the page that asked, and comes back with it.

mod ask;
mod ceremony;
mod own;
mod sign_in;
mod step_up;

use model::refusal::PasskeyFault;
use model::{PersonId, Refusal};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use webauthn_rs::prelude::{AuthenticationResult, Passkey, PasskeyAuthentication};

pub use self::ask::{Asked, Wanted};
pub use self::ceremony::{Assertion, Attestation};
use self::ceremony::{Kept, Misfit};
pub use self::own::{MOST, OwnPasskey, RECENT};
pub use self::step_up::StepUp;
pub(crate) use self::step_up::{Spent, Verified};
use crate::account_event::AccountEventType;
use crate::engine::Engine;
use crate::party::{NoParty, Party};
use crate::seal::Purpose;
use crate::store::{ChallengePurpose, PasskeyRow, StoreError, UsedPasskey};

/// How long a challenge is good, in seconds, when it is to confirm a call.
pub const TO_CONFIRM: i64 = 60;

/// How long every other challenge is good, in seconds.
pub const TO_ANSWER: i64 = 300;

/// Challenges that are older than so many seconds are good for nothing, and are forgotten.
const FORGOTTEN: i64 = 3_600;

/// An answer that holds: which passkey gave it, as its how many-th signature, to which challenge.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) passkey: PasskeyRow,
    pub(crate) counter: u32,
    /// What is to be stored of the passkey from now on.
    pub(crate) is_now: Passkey,
    /// The digest of the challenge.
    pub(crate) challenge: [u8; 32],
}

impl Answered {
    fn new(row: PasskeyRow, challenge: [u8; 32], came: &AuthenticationResult) -> Self {
        let mut is_now = row.passkey.clone();
        is_now.update_credential(came);
        Self { passkey: row, counter: came.counter(), is_now, challenge }
    }

    /// What is stored of it.
    pub(crate) fn used(&self) -> UsedPasskey<'_> {
        let (id, person) = (self.passkey.id, self.passkey.person);
        UsedPasskey { id, person, counter: self.counter, passkey: &self.is_now }
    }
}

impl Engine {
    /// As whom the desk asks for passkeys.
    ///
    /// # Errors
    /// Why it cannot have any.
    pub fn party(&self) -> Result<Party, NoParty> {
        Party::of(&self.catalogue().server.public_url)
    }

    /// Whether the person has a passkey that can be used here.
    pub async fn has_passkey(&self, person: PersonId) -> Result<bool, Refusal> {
        let Ok(party) = self.party() else { return Ok(false) };
        Ok(self.store().passkeys_of(person).await?.iter().any(|passkey| passkey.rp == party.id))
    }

    /// Looks at an answer: whether it is a passkey's of this person, to something that a page of this desk asked for this
    /// purpose. What exactly it was asked for is another question, and so is whether the count of its signatures has gone on
    /// since; both are settled where the answer is spent.
    async fn answered(
        &self,
        person: PersonId,
        assertion: &Assertion,
        purpose: ChallengePurpose,
    ) -> Result<Answered, Refusal> {
        let party = self.party().map_err(|_| Refusal::NotFound)?;
        let row = self.store().passkey_by_credential(&assertion.credential.raw_id).await?;
        let row = row.filter(|row| row.person == person && row.rp == party.id).ok_or_else(unfit)?;
        let judged =
            self.kept::<PasskeyAuthentication>(purpose.as_str(), &assertion.state).and_then(|kept| {
                let came = ceremony::proved(&party, person, &assertion.credential, &kept.state)?;
                Ok((kept.challenge, came))
            });
        match judged {
            Ok((challenge, came)) => Ok(Answered::new(row, challenge, &came)),
            Err(Misfit::WentBack) => Err(self.went_back(&row).await?),
            Err(misfit) => {
                tracing::warn!(%person, %misfit, "a passkey's answer was not taken");
                Err(unfit())
            }
        }
    }

    /// What a page was given to bring back with an answer.
    fn kept<S: DeserializeOwned>(&self, place: &str, state: &[u8]) -> Result<Kept<S>, Misfit> {
        let plain = self.sealer().open(Purpose::Passkey, place, state).map_err(|_| Misfit::OtherQuestion)?;
        serde_json::from_slice(&plain).map_err(|_| Misfit::OtherQuestion)
    }

    /// The count of a passkey's signatures went back: the journal is told, whatever became of what it was to be used for.
    async fn went_back(&self, passkey: &PasskeyRow) -> Result<Refusal, Refusal> {
        // It may as well have been removed meanwhile.
        if self.store().passkey_by_credential(&passkey.credential).await?.is_none() {
            return Ok(unfit());
        }
        tracing::warn!(person = %passkey.person, passkey = %passkey.id, "the count of a passkey's signatures went back");
        let now = self.now();
        let mut tx = self.store().begin().await?;
        let (id, what) = (self.event_id(), AccountEventType::PasskeyWentBack);
        tx.insert_account_event(id, now, passkey.person, what, &passkey.name).await?;
        tx.commit().await?;
        Ok(Refusal::PasskeyRefused(PasskeyFault::WentBack))
    }

    /// Forgets challenges that are good for nothing any more, a batch of them: how many.
    pub(crate) async fn forget_old_challenges(&self, limit: i64) -> Result<u64, StoreError> {
        self.store().delete_old_challenges(self.now().plus_seconds(-FORGOTTEN), limit).await
    }
}

const fn unfit() -> Refusal {
    Refusal::PasskeyRefused(PasskeyFault::Unfit)
}

fn digest(challenge: &[u8]) -> [u8; 32] {
    Sha256::digest(challenge).into()
}
