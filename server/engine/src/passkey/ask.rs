//! What the desk asks an authenticator for: the options that the browser is given.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{CallId, FieldError, PersonId, Refusal};
use serde::Serialize;

use super::ceremony::ALGORITHMS;
use super::{TO_ANSWER, TO_CONFIRM, digest, user_handle};
use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::party::Party;
use crate::seal::Purpose;
use crate::store::{Bound, ChallengePurpose};

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

/// What the browser is to ask of an authenticator. Everything binary is base64url without padding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// What is to be signed.
    pub challenge: String,
    /// As whom the desk asks.
    pub rp_id: String,
    /// For how long, in milliseconds.
    pub timeout: i64,
    /// The passkeys that are wanted; of a new one, those that are there already. Empty: any.
    pub credentials: Vec<String>,
    /// Of a new one: whose it is to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<AskedUser>,
    /// Of a new one: how it may sign (COSE), the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<i64>,
}

/// Whose a new passkey is to be, as the authenticator shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskedUser {
    /// What the authenticator gives back when it is asked who signs in.
    pub id: String,
    /// Their address.
    pub name: String,
    /// Their name.
    pub display_name: String,
}

/// How often somebody may ask for a challenge in a minute: each leaves a row for a while.
const MOST_ASKED: i64 = 60;

/// Where the challenge of a sign-in is sealed.
pub(super) const SIGN_IN: &str = "sign in";

impl Engine {
    /// What to ask of the passkey of somebody who wants to sign in. Nothing is stored for it.
    ///
    /// # Errors
    /// `NotFound` when this desk cannot have passkeys.
    pub fn ask_to_sign_in(&self) -> Result<Asked, Refusal> {
        let party = self.party().map_err(|_| Refusal::NotFound)?;
        let now = self.now().micros().to_be_bytes();
        let challenge = self.sealer().seal(Purpose::Passkey, SIGN_IN, &now);
        Ok(asked(&party, &challenge, TO_ANSWER, Vec::new()))
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
        let challenge = self.ambient().bytes::<32>();
        let bound = Bound { purpose, person: me.id(), session, shown };
        let credentials = self.credentials_of(me.id(), &party).await?;
        if credentials.is_empty() && purpose != ChallengePurpose::Add {
            return Err(Refusal::Invalid(vec![FieldError::new(
                "/passkey",
                "You have no passkey. Add one under Account.",
            )]));
        }
        let now = self.now();
        let limit = (MOST_ASKED, now.plus_seconds(-TO_CONFIRM));
        if !self.store().insert_challenge(digest(&challenge), &bound, now, limit).await? {
            return Err(Refusal::RateLimited { retry_after: 60 });
        }
        let asked = asked(&party, &challenge, lasts, credentials);
        Ok(if purpose == ChallengePurpose::Add { of_a_new_one(asked, me) } else { asked })
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

    async fn credentials_of(&self, person: PersonId, party: &Party) -> Result<Vec<String>, Refusal> {
        let rows = self.store().passkeys_of(person).await?;
        let here = rows.iter().filter(|row| row.rp == party.id);
        Ok(here.map(|row| URL_SAFE_NO_PAD.encode(&row.credential)).collect())
    }
}

fn asked(party: &Party, challenge: &[u8], lasts: i64, credentials: Vec<String>) -> Asked {
    Asked {
        challenge: URL_SAFE_NO_PAD.encode(challenge),
        rp_id: party.id.clone(),
        timeout: lasts * 1_000,
        credentials,
        user: None,
        algorithms: Vec::new(),
    }
}

fn of_a_new_one(asked: Asked, me: &PersonActor) -> Asked {
    let user = AskedUser {
        id: URL_SAFE_NO_PAD.encode(user_handle(me.id())),
        name: me.person().email.clone(),
        display_name: me.person().name.clone(),
    };
    Asked { user: Some(user), algorithms: ALGORITHMS.to_vec(), ..asked }
}
