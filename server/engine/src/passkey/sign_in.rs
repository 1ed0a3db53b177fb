//! Signing in with a passkey.
//!
//! Nobody can guess one, so no account is counted against: whoever knows what a passkey is called by could keep its person
//! out. The address is counted, as it is for passwords, and whoever has no account, a disabled one or no such passkey is told
//! the same, after the same work.

use std::net::IpAddr;

use model::{Refusal, Time};
use webauthn_rs::prelude::{AuthenticationResult, DiscoverableAuthentication};

use super::ask::SIGN_IN;
use super::ceremony::{self, Assertion, Kept, Misfit};
use super::{Answered, TO_ANSWER};
use crate::actor::{PersonActor, Via};
use crate::engine::Engine;
use crate::party::Party;
use crate::sign_in::SignedIn;
use crate::store::PasskeyRow;

/// The answer of a passkey that is known here. `None` in it: the count of its signatures went back.
struct Looked {
    row: PasskeyRow,
    challenge: [u8; 32],
    asked_at: Time,
    came: Option<AuthenticationResult>,
}

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
        let row = self.store().passkey_by_credential(&assertion.credential.raw_id).await?;
        let row = row.filter(|row| row.rp == party.id);
        let kept = self.kept(SIGN_IN, &assertion.state);
        let looked = match kept.and_then(|kept| looked_at(&party, row, kept, assertion, self.now())) {
            Ok(looked) => looked,
            Err(misfit) => {
                tracing::info!(%misfit, "a sign-in with a passkey was not taken");
                return Ok(None);
            }
        };
        let proof = self.store().proof_of(looked.row.person).await?;
        let person = self.store().person(looked.row.person).await?;
        let (Some(person), Some(proof)) = (person.filter(|person| person.disabled_at.is_none()), proof)
        else {
            return Ok(None);
        };
        if !self.spend_sign_in(looked).await? {
            return Ok(None);
        }
        self.clear_address(&counted, from).await?;
        self.store().note_sign_in(person.id, self.now()).await?;
        let groups = self.store().groups_of(person.id).await?;
        Ok(Some(SignedIn { person: PersonActor::new(person, groups, Via::Session), epoch: proof.epoch }))
    }

    /// Spends the answer. `false`: it was before. The challenge is spent too where the count of signatures went back, so
    /// that each such answer is told of once.
    async fn spend_sign_in(&self, looked: Looked) -> Result<bool, Refusal> {
        let Looked { row, challenge, asked_at, came } = looked;
        let mut tx = self.store().begin().await?;
        if !tx.use_sign_in_challenge(challenge, asked_at).await? {
            return Ok(false);
        }
        let went_on = match &came {
            Some(came) => {
                let answered = Answered::new(row.clone(), challenge, came);
                tx.use_passkey(answered.used(), self.now()).await?
            }
            None => false,
        };
        tx.commit().await?;
        if went_on { Ok(true) } else { Err(self.went_back(&row).await?) }
    }
}

/// Looks at an answer to a sign-in, of a passkey that may not be there.
fn looked_at(
    party: &Party,
    row: Option<PasskeyRow>,
    kept: Kept<DiscoverableAuthentication>,
    assertion: &Assertion,
    now: Time,
) -> Result<Looked, Misfit> {
    let asked_at = Time::from_micros(kept.asked_at);
    if asked_at > now || asked_at.plus_seconds(TO_ANSWER) < now {
        return Err(Misfit::Late);
    }
    let known = row.as_ref().map(|row| (row.person, &row.passkey));
    let came = match ceremony::signed_in(party, known, &assertion.credential, kept.state) {
        Ok(came) => Some(came),
        Err(Misfit::WentBack) => None,
        Err(misfit) => return Err(misfit),
    };
    let row = row.ok_or(Misfit::OtherPasskey)?;
    Ok(Looked { row, challenge: kept.challenge, asked_at, came })
}
