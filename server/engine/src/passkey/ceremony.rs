//! What a browser and an authenticator say, and whether it holds: `WebAuthn` Level 3, sections 7.1 and 7.2, for passkeys
//! without attestation. Nothing here looks anything up.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::pki_types::{SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};
use webpki::{RawPublicKeyEntity, ring as algorithms};

use crate::party::Party;

/// The longest that anything in an answer may be, in bytes.
const LONGEST: usize = 16 * 1024;

/// The longest name of a credential that there can be (`WebAuthn`, section 7.1, step 25).
const LONGEST_CREDENTIAL: usize = 1023;

/// How passkeys may sign, by their COSE numbers, the ones we like best first: ES256, `EdDSA` (Ed25519), RS256.
pub(super) const ALGORITHMS: [i64; 3] = [-7, -8, -257];

/// An authenticator's answer when it is asked to sign.
#[derive(Debug, Clone, Deserialize)]
pub struct Assertion {
    /// What it knows the passkey by.
    #[serde(deserialize_with = "bytes")]
    pub id: Vec<u8>,
    /// What the browser says that it was asked (`clientDataJSON`).
    #[serde(deserialize_with = "bytes")]
    pub client_data: Vec<u8>,
    /// What it says of itself.
    #[serde(deserialize_with = "bytes")]
    pub authenticator_data: Vec<u8>,
    /// Its signature over both.
    #[serde(deserialize_with = "bytes")]
    pub signature: Vec<u8>,
    /// Whose it says the passkey is; empty: it does not say.
    #[serde(deserialize_with = "bytes", default)]
    pub user_handle: Vec<u8>,
}

/// A new passkey, as the browser hands it over.
#[derive(Debug, Clone, Deserialize)]
pub struct Attestation {
    /// What the authenticator knows it by.
    #[serde(deserialize_with = "bytes")]
    pub id: Vec<u8>,
    /// What the browser says that it was asked (`clientDataJSON`).
    #[serde(deserialize_with = "bytes")]
    pub client_data: Vec<u8>,
    /// What the authenticator says of itself and of the passkey.
    #[serde(deserialize_with = "bytes")]
    pub authenticator_data: Vec<u8>,
    /// The passkey's public half (`SubjectPublicKeyInfo`, DER).
    #[serde(deserialize_with = "bytes")]
    pub public_key: Vec<u8>,
    /// How it signs: a COSE algorithm.
    pub algorithm: i64,
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

/// Why an answer does not hold. For the log alone: nobody is told more than that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misfit {
    #[error("it cannot be read")]
    Unreadable,
    #[error("it is an answer to another kind of question")]
    OtherKind,
    #[error("it was given to another origin")]
    OtherOrigin,
    #[error("it was given inside a page of another origin")]
    Framed,
    #[error("it is for another relying party")]
    OtherParty,
    #[error("nobody was there, or was not verified")]
    Unverified,
    #[error("it is of another passkey")]
    OtherPasskey,
    #[error("what it answers was asked too long ago")]
    Late,
    #[error("its signature does not hold")]
    Signature,
    #[error("it signs in a way that is not taken")]
    Algorithm,
}

/// What is asked of a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Create,
    Get,
}

/// What the browser says that it was asked.
#[derive(Deserialize)]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(rename = "crossOrigin", default)]
    cross_origin: bool,
    #[serde(rename = "topOrigin", default)]
    top_origin: Option<String>,
}

/// The challenge that the browser says it was given, when it was asked for this by a page of the desk itself.
pub(super) fn challenge(client_data: &[u8], kind: Kind, party: &Party) -> Result<Vec<u8>, Misfit> {
    let said: ClientData = serde_json::from_slice(client_data).map_err(|_| Misfit::Unreadable)?;
    let wanted = match kind {
        Kind::Create => "webauthn.create",
        Kind::Get => "webauthn.get",
    };
    if said.r#type != wanted {
        return Err(Misfit::OtherKind);
    }
    if said.origin != party.origin {
        return Err(Misfit::OtherOrigin);
    }
    if said.cross_origin || said.top_origin.is_some() {
        return Err(Misfit::Framed);
    }
    URL_SAFE_NO_PAD.decode(said.challenge).map_err(|_| Misfit::Unreadable)
}

/// What an authenticator says of itself (`WebAuthn`, section 6.1): a digest, flags, a count, and of a new passkey its model and
/// name.
struct Said<'a> {
    counter: u32,
    rest: &'a [u8],
}

const IS_PRESENT: u8 = 0x01;
const IS_VERIFIED: u8 = 0x04;
const CAN_BE_BACKED_UP: u8 = 0x08;
const IS_BACKED_UP: u8 = 0x10;
const HAS_CREDENTIAL: u8 = 0x40;

fn said<'a>(data: &'a [u8], party: &Party, must: u8) -> Result<Said<'a>, Misfit> {
    let (rp, rest) = data.split_at_checked(32).ok_or(Misfit::Unreadable)?;
    let (&flags, rest) = rest.split_first().ok_or(Misfit::Unreadable)?;
    let (counter, rest) = rest.split_first_chunk::<4>().ok_or(Misfit::Unreadable)?;
    if rp != Sha256::digest(&party.id).as_slice() {
        return Err(Misfit::OtherParty);
    }
    if flags & (IS_PRESENT | IS_VERIFIED) != IS_PRESENT | IS_VERIFIED {
        return Err(Misfit::Unverified);
    }
    if flags & must != must || flags & (CAN_BE_BACKED_UP | IS_BACKED_UP) == IS_BACKED_UP {
        return Err(Misfit::Unreadable);
    }
    Ok(Said { counter: u32::from_be_bytes(*counter), rest })
}

/// Whether a new passkey can be taken; its count of signatures. Who made it is not asked, so nothing vouches for it but the
/// session that it is added in; the key is the one that the browser read out of the same answer.
pub(super) fn created(new: &Attestation, party: &Party) -> Result<u32, Misfit> {
    let said = said(&new.authenticator_data, party, HAS_CREDENTIAL)?;
    let (_model, rest) = said.rest.split_first_chunk::<16>().ok_or(Misfit::Unreadable)?;
    let (length, rest) = rest.split_first_chunk::<2>().ok_or(Misfit::Unreadable)?;
    let id = rest.get(..usize::from(u16::from_be_bytes(*length))).ok_or(Misfit::Unreadable)?;
    if id != new.id || id.is_empty() || id.len() > LONGEST_CREDENTIAL {
        return Err(Misfit::OtherPasskey);
    }
    // No signature is empty: the only thing wrong has to be that one.
    match verify(&new.public_key, new.algorithm, b"", b"") {
        Err(Some(webpki::Error::InvalidSignatureForPublicKey)) => Ok(said.counter),
        _ => Err(Misfit::Algorithm),
    }
}

/// Whether the answer is signed by this key; the passkey's count of signatures.
pub(super) fn asserted(
    assertion: &Assertion,
    party: &Party,
    public_key: &[u8],
    algorithm: i64,
) -> Result<u32, Misfit> {
    let mut signed = assertion.authenticator_data.clone();
    signed.extend_from_slice(&Sha256::digest(&assertion.client_data));
    // Before anything else is looked at: whether the passkey is known or not, the same work is done.
    verify(public_key, algorithm, &signed, &assertion.signature).map_err(|_| Misfit::Signature)?;
    Ok(said(&assertion.authenticator_data, party, 0)?.counter)
}

/// `None` in the error: the algorithm is none that is taken.
fn verify(
    public_key: &[u8],
    algorithm: i64,
    signed: &[u8],
    signature: &[u8],
) -> Result<(), Option<webpki::Error>> {
    let algorithm: &dyn SignatureVerificationAlgorithm = match algorithm {
        -7 => algorithms::ECDSA_P256_SHA256,
        -8 => algorithms::ED25519,
        -257 => algorithms::RSA_PKCS1_2048_8192_SHA256,
        _ => return Err(None),
    };
    let key = SubjectPublicKeyInfoDer::from(public_key);
    let key = RawPublicKeyEntity::try_from(&key).map_err(Some)?;
    key.verify_signature(algorithm, signed, signature).map_err(Some)
}

/// A key of no passkey: the base point of P-256 itself. What names no passkey is checked against it, so that it takes as long
/// as what does; what holds under it is refused all the same.
pub(super) const NOBODYS_KEY: [u8; 91] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42,
    0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0,
    0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e,
    0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6,
    0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
];
