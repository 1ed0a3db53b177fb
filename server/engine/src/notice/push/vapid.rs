//! The key that push services know this desk by (RFC 8292). Made once, and kept sealed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{Refusal, Time};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;
use url::Url;

use crate::engine::Engine;
use crate::seal::Purpose;

/// Its name in the database.
const NAME: &str = "vapid";

/// For how many seconds a signature is good; a day is the most that is taken.
const GOOD_FOR: i64 = 43_200;

/// The key that push services know this desk by.
pub(crate) struct PushKey(EcdsaKeyPair);

impl Engine {
    /// The key, made at the first time. All nodes have the one that was kept first.
    pub(crate) async fn push_key(&self) -> Result<PushKey, Refusal> {
        if let Some(key) = self.kept_push_key().await? {
            return Ok(key);
        }
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let made = made.map_err(|_| Refusal::Unavailable)?;
        let sealed = self.sealer().seal(Purpose::PushKey, NAME, made.as_ref());
        self.store().keep_push_key(NAME, &sealed, self.now()).await?;
        self.kept_push_key().await?.ok_or(Refusal::Unavailable)
    }

    async fn kept_push_key(&self) -> Result<Option<PushKey>, Refusal> {
        let Some(blob) = self.store().push_key(NAME).await? else { return Ok(None) };
        let plain = zeroize::Zeroizing::new(self.sealer().open(Purpose::PushKey, NAME, &blob)?);
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &plain, &SystemRandom::new());
        let pair = pair.map_err(|_| {
            tracing::error!("the key for push services cannot be read: it is no key of P-256");
            Refusal::Unavailable
        })?;
        Ok(Some(PushKey(pair)))
    }
}

impl PushKey {
    /// As a browser wants it: base64url of the point.
    pub(crate) fn public(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key())
    }

    /// The header that tells a push service who is asking.
    pub(super) fn authorization(&self, endpoint: &Url, now: Time, contact: Option<&str>) -> Option<String> {
        let expires = now.micros() / 1_000_000 + GOOD_FOR;
        let mut claims = json!({ "aud": endpoint.origin().ascii_serialization(), "exp": expires });
        if let Some(contact) = contact {
            claims["sub"] = contact.into();
        }
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({ "typ": "JWT", "alg": "ES256" })), part(&claims));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        Some(format!("vapid t={signed}.{}, k={}", URL_SAFE_NO_PAD.encode(signature), self.public()))
    }
}
