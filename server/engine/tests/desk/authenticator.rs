//! An authenticator of software: it holds one P-256 key and signs what it is asked to, or what a test makes it say.

use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::passkey::{Asked, Assertion, Attestation};
use model::PersonId;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;
use sha2::{Digest, Sha256};

/// The origin of the desk's pages in these tests.
pub const ORIGIN: &str = "http://localhost:8087";

/// What stands before the point of a P-256 key in its `SubjectPublicKeyInfo`.
const SPKI: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// What the browser and the authenticator say. The default is the truth.
#[derive(Debug, Clone)]
pub struct Claims {
    pub r#type: Option<&'static str>,
    pub origin: String,
    pub cross_origin: bool,
    pub rp: Option<String>,
    pub flags: u8,
    pub counter: Option<u32>,
    pub user_handle: Option<String>,
}

impl Default for Claims {
    fn default() -> Self {
        // Somebody was there, and was verified.
        let flags = 0x05;
        Self {
            r#type: None,
            origin: ORIGIN.to_owned(),
            cross_origin: false,
            rp: None,
            flags,
            counter: None,
            user_handle: None,
        }
    }
}

pub struct SoftKey {
    pair: EcdsaKeyPair,
    id: Vec<u8>,
    of: PersonId,
    counter: AtomicU32,
}

impl SoftKey {
    pub fn new(of: PersonId) -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8.as_ref(), &random)
            .expect("a key");
        let id = Sha256::digest(pair.public_key().as_ref()).to_vec();
        Self { pair, id, of, counter: AtomicU32::new(0) }
    }

    /// The next count of its signatures; a copy that was made before says the same.
    pub fn count(&self) -> u32 {
        self.counter.load(Ordering::SeqCst)
    }

    pub fn create(&self, asked: &Asked) -> Attestation {
        self.create_with(asked, &Claims { flags: 0x45, ..Claims::default() })
    }

    pub fn create_with(&self, asked: &Asked, claims: &Claims) -> Attestation {
        let mut data = self.said(asked, claims);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).expect("short").to_be_bytes());
        data.extend(&self.id);
        let mut key = SPKI.to_vec();
        key.extend(self.pair.public_key().as_ref());
        let text = json!({
            "id": encoded(&self.id), "client_data": encoded(&client_data(asked, "webauthn.create", claims)),
            "authenticator_data": encoded(&data), "public_key": encoded(&key), "algorithm": -7,
        });
        Attestation::read(&text.to_string()).expect("it can be read")
    }

    pub fn sign(&self, asked: &Asked) -> Assertion {
        self.sign_with(asked, &Claims::default())
    }

    pub fn sign_with(&self, asked: &Asked, claims: &Claims) -> Assertion {
        let client_data = client_data(asked, "webauthn.get", claims);
        let data = self.said(asked, claims);
        let mut signed = data.clone();
        signed.extend(Sha256::digest(&client_data));
        let signature = self.pair.sign(&SystemRandom::new(), &signed).expect("signed");
        let whose = claims.user_handle.clone().unwrap_or_else(|| self.of.to_string());
        let text = json!({
            "id": encoded(&self.id), "client_data": encoded(&client_data), "authenticator_data": encoded(&data),
            "signature": encoded(signature.as_ref()), "user_handle": encoded(whose.as_bytes()),
        });
        Assertion::read(&text.to_string()).expect("it can be read")
    }

    fn said(&self, asked: &Asked, claims: &Claims) -> Vec<u8> {
        let counter = claims.counter.unwrap_or_else(|| self.counter.fetch_add(1, Ordering::SeqCst) + 1);
        let mut data = Sha256::digest(claims.rp.as_ref().unwrap_or(&asked.rp_id)).to_vec();
        data.push(claims.flags);
        data.extend(counter.to_be_bytes());
        data
    }
}

fn client_data(asked: &Asked, r#type: &str, claims: &Claims) -> Vec<u8> {
    let said = json!({
        "type": claims.r#type.unwrap_or(r#type), "challenge": asked.challenge, "origin": claims.origin,
        "crossOrigin": claims.cross_origin,
    });
    said.to_string().into_bytes()
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
