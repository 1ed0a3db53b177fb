//! What the desk asks an authenticator for: the options that the browser is given.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{CallId, FieldError, Refusal};
use serde::Serialize;
use serde_json::Value;
use webauthn_rs::prelude::WebauthnError;

use super::ceremony::{Kept, desk};
use super::{TO_ANSWER, TO_CONFIRM, digest, unfit};
use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::party::Party;
use crate::seal::Purpose;
use crate::store::{Bound, ChallengePurpose, PasskeyRow};

/// What a passkey is wanted for by somebody who is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// To add another one.
    Add,
    /// To prove anew who they are.
    Prove,
    /// To confirm this call as it is shown, or to override those who do.
    Confirm {
        /// The call.
        call: CallId,
        /// The version of the preview that is shown.
        version: String,
        /// The proof that it is, and for how long ([`crate::view_token`]).
        view_token: String,
    },
}

/// What the browser is to ask of an authenticator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The question, as browsers read it: `PublicKeyCredentialCreationOptionsJSON` of a new passkey, else
    /// `PublicKeyCredentialRequestOptionsJSON`. Everything binary is base64url without padding.
    #[serde(rename = "publicKey")]
    pub options: Value,
    /// What is to be brought back with the answer, sealed; base64url without padding.
    pub state: String,
}

/// A question before it is put: its options, the digest of its challenge, and its sealed state.
struct Question {
    asked: Asked,
    challenge: [u8; 32],
}

/// How often somebody may ask for a challenge in a minute: each leaves a row for a while.
const MOST_ASKED: i64 = 60;

const IN_JSON: &str = "what the library makes can be written as JSON";

/// Where what belongs to a sign-in is sealed.
pub(super) const SIGN_IN: &str = "sign in";

impl Engine {
    /// What to ask of the passkey of somebody who wants to sign in. Nothing is stored for it.
    ///
    /// # Errors
    /// `NotFound` when this desk cannot have passkeys.
    pub fn ask_to_sign_in(&self) -> Result<Asked, Refusal> {
        let party = self.party().map_err(|_| Refusal::NotFound)?;
        let started = desk(&party, TO_ANSWER).and_then(|desk| desk.start_discoverable_authentication());
        let (asked, state) = started.map_err(|error| not_asked(&error))?;
        let challenge = &asked.public_key.challenge;
        Ok(self.question(SIGN_IN, challenge, &asked.public_key, state).asked)
    }

    /// What to ask of a passkey of somebody who is signed in with this session.
    ///
    /// # Errors
    /// `NotFound` when this desk cannot have passkeys, or for a call that is not theirs to decide; `Denied` without a live
    /// session; `RateLimited` when a page asks again and again; `Invalid` on `/proof` when one is to be added and the last proof is not recent, and on `/view` for a page that
    /// appeared within half a second.
    pub async fn ask_passkey(
        &self,
        me: &PersonActor,
        session: [u8; 32],
        wanted: &Wanted,
    ) -> Result<Asked, Refusal> {
        me.in_person()?;
        let party = self.party().map_err(|_| Refusal::NotFound)?;
        let (purpose, lasts, shown) = match wanted {
            Wanted::Add => {
                self.proved_recently(me, session).await?;
                (ChallengePurpose::Add, TO_ANSWER, None)
            }
            Wanted::Prove => (ChallengePurpose::Prove, TO_ANSWER, None),
            Wanted::Confirm { call, version, view_token } => {
                self.may_be_asked(me, *call, version, view_token).await?;
                (ChallengePurpose::Confirm, TO_CONFIRM, Some((*call, version.as_str())))
            }
        };
        let bound = Bound { purpose, person: me.id(), session, shown };
        let mut rows = self.store().passkeys_of(me.id()).await?;
        rows.retain(|row| row.rp == party.id);
        let question = if purpose == ChallengePurpose::Add {
            self.for_a_new_one(&party, me, &rows)?
        } else {
            self.for_one_of(&party, purpose, lasts, rows)?
        };
        let now = self.now();
        let limit = (MOST_ASKED, now.plus_seconds(-TO_CONFIRM));
        if !self.store().insert_challenge(question.challenge, &bound, now, limit).await? {
            return Err(Refusal::RateLimited { retry_after: 60 });
        }
        Ok(question.asked)
    }

    /// For another passkey, beside those that are there.
    fn for_a_new_one(
        &self,
        party: &Party,
        me: &PersonActor,
        rows: &[PasskeyRow],
    ) -> Result<Question, Refusal> {
        let there = rows.iter().map(|row| row.credential.clone()).collect();
        let (person, id) = (me.person(), me.id().uuid());
        let started = desk(party, TO_ANSWER)
            .and_then(|desk| desk.start_passkey_registration(id, &person.email, &person.name, Some(there)));
        let (mut asked, state) = started.map_err(|error| not_asked(&error))?;
        // One that is not found without being named signs nobody in; the library would rather have none that is.
        if let Some(selection) = &mut asked.public_key.authenticator_selection {
            (selection.require_resident_key, selection.resident_key) = (true, None);
        }
        let challenge = &asked.public_key.challenge;
        Ok(self.question(ChallengePurpose::Add.as_str(), challenge, &asked.public_key, state))
    }

    /// For one of these passkeys.
    fn for_one_of(
        &self,
        party: &Party,
        purpose: ChallengePurpose,
        lasts: i64,
        rows: Vec<PasskeyRow>,
    ) -> Result<Question, Refusal> {
        if rows.is_empty() {
            let message = "You have no passkey. Add one under Account.";
            return Err(Refusal::Invalid(vec![FieldError::new("/passkey", message)]));
        }
        let passkeys: Vec<_> = rows.into_iter().map(|row| row.passkey).collect();
        let started = desk(party, lasts).and_then(|desk| desk.start_passkey_authentication(&passkeys));
        let (asked, state) = started.map_err(|error| not_asked(&error))?;
        let challenge = &asked.public_key.challenge;
        Ok(self.question(purpose.as_str(), challenge, &asked.public_key, state))
    }

    /// A question with its state sealed for this place.
    fn question(
        &self,
        place: &str,
        challenge: &[u8],
        options: impl Serialize,
        state: impl Serialize,
    ) -> Question {
        let challenge = digest(challenge);
        let kept = Kept { challenge, asked_at: self.now().micros(), state };
        let plain = serde_json::to_vec(&kept).unwrap_or_else(|_| unreachable!("{IN_JSON}"));
        let state = URL_SAFE_NO_PAD.encode(self.sealer().seal(Purpose::Passkey, place, &plain));
        let options = serde_json::to_value(options).unwrap_or_else(|_| unreachable!("{IN_JSON}"));
        Question { asked: Asked { options, state }, challenge }
    }

    /// Whether this person decides the call or may override those who do, and its preview has been shown to them for long
    /// enough.
    async fn may_be_asked(
        &self,
        me: &PersonActor,
        call: CallId,
        version: &str,
        view_token: &str,
    ) -> Result<(), Refusal> {
        match self.decides(&me.decider()?, call).await {
            Err(Refusal::NotFound) => self.decides(&me.overrider()?, call).await?,
            decides => decides?,
        }
        Ok(self.view_token_fits(view_token, me, call, version)?)
    }
}

/// The library does not ask for this: it is a mistake of the desk's own.
fn not_asked(error: &WebauthnError) -> Refusal {
    tracing::error!(?error, "a passkey could not be asked for");
    unfit()
}
