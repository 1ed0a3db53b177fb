//! An authenticator of software: it holds one P-256 key and signs what it is asked to, or what a test makes it say.

use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::passkey::{Asked, Assertion, Attestation};
use model::PersonId;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The origin of the desk's pages in these tests.
pub const ORIGIN: &str = "http://localhost:8087";

/// What the browser and the authenticator say. The default is the truth.
#[derive(Debug, Clone)]
pub struct Claims {
    pub r#type: Option<&'static str>,
    pub origin: String,
    pub cross_origin: bool,
    pub rp: Option<String>,
    pub flags: u8,
    pub counter: Option<u32>,
    pub user_handle: Option<Vec<u8>>,
    /// Of a new one: how it says that it signs (COSE), and by what name it goes.
    pub algorithm: i64,
    pub id: Option<Vec<u8>>,
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
            algorithm: ES256,
            id: None,
        }
    }
}

const ES256: i64 = -7;

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
        data.extend(self.public_key(claims.algorithm));
        let response = json!({
            "clientDataJSON": encoded(&client_data(asked, "webauthn.create", claims)),
            "attestationObject": encoded(&attestation_object(&data)), "transports": ["internal"],
        });
        let text = answer(asked, claims.id.as_ref().unwrap_or(&self.id), &response);
        Attestation::read(&text).expect("it can be read")
    }

    /// The public half in COSE: a map of kind, algorithm, curve and the point's halves.
    fn public_key(&self, algorithm: i64) -> Vec<u8> {
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
        let algorithm = u16::try_from(-1 - algorithm).expect("short").to_be_bytes();
        let head = [&[0xa5, 0x01, 0x02, 0x03, 0x39][..], &algorithm].concat();
        [&head[..], &[0x20, 0x01, 0x21, 0x58, 0x20], x, &[0x22, 0x58, 0x20], y].concat()
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
        let whose = claims.user_handle.clone().unwrap_or_else(|| self.of.uuid().as_bytes().to_vec());
        let response = json!({
            "clientDataJSON": encoded(&client_data), "authenticatorData": encoded(&data),
            "signature": encoded(signature.as_ref()), "userHandle": encoded(&whose),
        });
        Assertion::read(&answer(asked, &self.id, &response)).expect("it can be read")
    }

    fn said(&self, asked: &Asked, claims: &Claims) -> Vec<u8> {
        let counter = claims.counter.unwrap_or_else(|| self.counter.fetch_add(1, Ordering::SeqCst) + 1);
        let options = &asked.options;
        let rp = options["rpId"].as_str().or_else(|| options["rp"]["id"].as_str()).expect("a name");
        let mut data = Sha256::digest(claims.rp.as_deref().unwrap_or(rp)).to_vec();
        data.push(claims.flags);
        data.extend(counter.to_be_bytes());
        data
    }
}

fn client_data(asked: &Asked, r#type: &str, claims: &Claims) -> Vec<u8> {
    let said = json!({
        "type": claims.r#type.unwrap_or(r#type), "challenge": asked.options["challenge"], "origin": claims.origin,
        "crossOrigin": claims.cross_origin,
    });
    said.to_string().into_bytes()
}

/// What is posted: the answer as browsers write it, and what the page was given to bring back.
fn answer(asked: &Asked, id: &[u8], response: &Value) -> String {
    let credential = json!({
        "id": encoded(id), "rawId": encoded(id), "type": "public-key", "response": response,
        "clientExtensionResults": {},
    });
    json!({ "state": asked.state, "credential": credential }).to_string()
}

/// Without attestation, in CBOR: a map of format, statement and what the authenticator said.
fn attestation_object(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("short").to_be_bytes();
    [&b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"[..], &length, data].concat()
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
