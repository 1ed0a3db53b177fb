//! What goes to a browser and comes back of it. Whether an answer holds (`WebAuthn` Level 3, sections 7.1 and 7.2) is
//! judged by `webauthn-rs`. Nothing here looks anything up.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::PersonId;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use webauthn_rs::prelude::{
    AuthenticationResult, DiscoverableAuthentication, Passkey, PasskeyAuthentication, PasskeyRegistration,
    PublicKeyCredential, RegisterPublicKeyCredential, Webauthn, WebauthnBuilder, WebauthnError,
};

use super::TO_ANSWER;
use crate::party::Party;

/// The longest answer that is read, in bytes: somebody with twenty passkeys brings back twenty.
const LONGEST: usize = 128 * 1024;

/// The longest name of a credential that there can be (`WebAuthn`, section 7.1, step 25).
const LONGEST_CREDENTIAL: usize = 1023;

/// What a passkey answered, as a page brings it.
#[derive(Debug, Clone, Deserialize)]
pub struct Assertion {
    /// What the page was given beside the question ([`super::Asked::state`]), to be brought back.
    #[serde(deserialize_with = "bytes")]
    pub state: Vec<u8>,
    /// The answer (`AuthenticationResponseJSON`).
    pub credential: PublicKeyCredential,
}

/// A new passkey, as a page brings it.
#[derive(Debug, Clone, Deserialize)]
pub struct Attestation {
    /// What the page was given beside the question ([`super::Asked::state`]), to be brought back.
    #[serde(deserialize_with = "bytes")]
    pub state: Vec<u8>,
    /// The answer (`RegistrationResponseJSON`).
    pub credential: RegisterPublicKeyCredential,
}

impl Assertion {
    /// Of the JSON that the desk's script posts; `None`: it is none.
    pub fn read(text: &str) -> Option<Self> {
        (text.len() <= LONGEST).then(|| serde_json::from_str(text).ok()).flatten()
    }
}

impl Attestation {
    /// Of the JSON that the desk's script posts; `None`: it is none.
    pub fn read(text: &str) -> Option<Self> {
        (text.len() <= LONGEST).then(|| serde_json::from_str(text).ok()).flatten()
    }
}

fn bytes<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(text)?;
    URL_SAFE_NO_PAD.decode(text).map_err(serde::de::Error::custom)
}

/// What is needed again when the answer comes. It waits in the page, sealed.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept<S> {
    /// The digest of the challenge.
    pub(super) challenge: [u8; 32],
    /// When it was asked, in microseconds.
    pub(super) asked_at: i64,
    /// What the library wants to see again.
    pub(super) state: S,
}

/// Why an answer does not hold. For the log alone: nobody is told more than that it does not.
#[derive(Debug, thiserror::Error)]
pub(super) enum Misfit {
    #[error("what it answers was not asked here, or for something else")]
    OtherQuestion,
    #[error("it was given inside a page of another origin")]
    Framed,
    #[error("it is of another passkey")]
    OtherPasskey,
    #[error("what it answers was asked too long ago")]
    Late,
    #[error("the count of its signatures went back")]
    WentBack,
    #[error("{0:?}")]
    Unfit(WebauthnError),
}

impl From<WebauthnError> for Misfit {
    fn from(error: WebauthnError) -> Self {
        match error {
            // Looked at last: the signature holds.
            WebauthnError::CredentialPossibleCompromise => Self::WentBack,
            error => Self::Unfit(error),
        }
    }
}

/// The desk as the library knows it, asking for so many seconds.
pub(super) fn desk(party: &Party, lasts: i64) -> Result<Webauthn, WebauthnError> {
    let origin = party.origin.parse().map_err(|_| WebauthnError::Configuration)?;
    let builder = WebauthnBuilder::new(&party.id, &origin)?.rp_name("Countersign");
    builder.timeout(Duration::from_secs(lasts.unsigned_abs())).build()
}

/// A new passkey that can be taken. Who made the authenticator is not asked, so nothing vouches for it but the session that
/// it is added in.
pub(super) fn created(
    party: &Party,
    new: &Attestation,
    state: &PasskeyRegistration,
) -> Result<Passkey, Misfit> {
    unframed(&new.credential.response.client_data_json)?;
    let passkey = desk(party, TO_ANSWER)?.finish_passkey_registration(&new.credential, state)?;
    let id = passkey.cred_id();
    if *id != new.credential.raw_id || id.is_empty() || id.len() > LONGEST_CREDENTIAL {
        return Err(Misfit::OtherPasskey);
    }
    Ok(passkey)
}

/// An answer of one of the passkeys that were asked, all of them this person's.
pub(super) fn proved(
    party: &Party,
    person: PersonId,
    answer: &PublicKeyCredential,
    state: &PasskeyAuthentication,
) -> Result<AuthenticationResult, Misfit> {
    unframed(&answer.response.client_data_json)?;
    if answer.get_user_unique_id().is_some_and(|whose| whose != person.uuid().as_bytes()) {
        return Err(Misfit::OtherPasskey);
    }
    Ok(desk(party, TO_ANSWER)?.finish_passkey_authentication(answer, state)?)
}

/// An answer of this passkey, which says itself whose it is. `None`: it is not known here; as much is done to find out that
/// it does not hold.
pub(super) fn signed_in(
    party: &Party,
    passkey: Option<(PersonId, &Passkey)>,
    answer: &PublicKeyCredential,
    state: DiscoverableAuthentication,
) -> Result<AuthenticationResult, Misfit> {
    unframed(&answer.response.client_data_json)?;
    let desk = desk(party, TO_ANSWER)?;
    let Some((person, passkey)) = passkey else {
        if let Some(nobodys) = nobodys(answer) {
            let _ = desk.finish_discoverable_authentication_v2(answer, state, &nobodys);
        }
        return Err(Misfit::OtherPasskey);
    };
    let came = desk.finish_discoverable_authentication_v2(answer, state, passkey);
    let (whose, _) = desk.identify_discoverable_authentication(answer)?;
    if whose != person.uuid() {
        return Err(Misfit::OtherPasskey);
    }
    Ok(came?)
}

/// What the browser says of the page that asked, where the library does not look at it.
#[derive(Deserialize)]
struct Said {
    #[serde(rename = "crossOrigin", default)]
    cross_origin: bool,
    #[serde(rename = "topOrigin", default)]
    top_origin: Option<String>,
}

/// The desk's pages stand in no frame, so no answer is given in one.
fn unframed(client_data: &[u8]) -> Result<(), Misfit> {
    match serde_json::from_slice(client_data) {
        Ok(Said { cross_origin: false, top_origin: None }) => Ok(()),
        _ => Err(Misfit::Framed),
    }
}

/// A passkey of nobody's that goes by the name in the answer. Its key is the base point of P-256, which everybody knows the
/// other half of: whatever is found, the answer is no.
fn nobodys(answer: &PublicKeyCredential) -> Option<Passkey> {
    const CAN_BE_COPIED: u8 = 0x08;
    let flags = answer.response.authenticator_data.get(32).copied().unwrap_or_default();
    let key = json!({
        "curve": "SECP256R1",
        "x": "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
        "y": "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU",
    });
    let credential = json!({
        "cred_id": URL_SAFE_NO_PAD.encode(answer.get_credential_id()),
        "cred": { "type_": "ES256", "key": { "EC_EC2": key } },
        "counter": 0,
        "transports": null,
        "user_verified": true,
        "backup_eligible": flags & CAN_BE_COPIED != 0,
        "backup_state": false,
        "registration_policy": "required",
        "extensions": {},
        "attestation": { "data": "None", "metadata": "None" },
        "attestation_format": "none",
    });
    serde_json::from_value(json!({ "cred": credential })).ok()
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    /// What names no passkey fails where what names one does: at the signature.
    #[test]
    fn what_is_nobodys_is_looked_at_to_the_last() {
        let party = Party::of(&"http://localhost:8087".parse().expect("an address")).expect("a party");
        let desk = desk(&party, 1).expect("a desk");
        let (asked, state) = desk.start_discoverable_authentication().expect("asked");
        let challenge = URL_SAFE_NO_PAD.encode(&asked.public_key.challenge);
        let client_data =
            json!({ "type": "webauthn.get", "challenge": challenge, "origin": party.origin }).to_string();
        // Somebody was there and was verified; the passkey can be copied or not.
        for flags in [0x05, 0x0d] {
            let mut data = Sha256::digest(&party.id).to_vec();
            data.extend([flags, 0, 0, 0, 1]);
            let response = json!({
                "authenticatorData": URL_SAFE_NO_PAD.encode(data),
                "clientDataJSON": URL_SAFE_NO_PAD.encode(&client_data),
                "signature": URL_SAFE_NO_PAD.encode([0x30, 6, 2, 1, 1, 2, 1, 1]),
            });
            let answer = json!({ "id": "AQ", "rawId": "AQ", "type": "public-key", "response": response });
            let answer: PublicKeyCredential = serde_json::from_value(answer).expect("an answer");
            let nobodys = nobodys(&answer).expect("it can be read");
            let came = desk.finish_discoverable_authentication_v2(&answer, state.clone(), &nobodys);
            assert!(matches!(came, Err(WebauthnError::AuthenticationFailure)), "{came:?}");
        }
    }
}
