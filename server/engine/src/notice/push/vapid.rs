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
    /// Makes the key when there is none yet. One that no sealing key opens any more is replaced: every browser that was
    /// told with it is forgotten, as its push service takes no other key. Done once, as a process starts its jobs.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn prepare_push(&self) -> Result<(), Refusal> {
        let Some(kept) = self.store().push_key(NAME).await? else {
            return self.push_key().await.map(drop);
        };
        if self.opened_push_key(&kept).is_ok() {
            return Ok(());
        }
        let sealed = self.made_push_key()?;
        let mut tx = self.store().begin().await?;
        // Another node may have replaced it just now.
        if let Some(browsers) = tx.replace_push_key(NAME, &kept, &sealed, self.now()).await? {
            tx.commit().await?;
            tracing::error!(
                browsers,
                "the key for push services could not be opened with any sealing key, so there is a new one; browsers \
                 that were told with the old one are told no more until they are turned on again"
            );
        }
        Ok(())
    }

    /// The key, made when there is none. All nodes have the one that was kept first.
    pub(crate) async fn push_key(&self) -> Result<PushKey, Refusal> {
        if let Some(key) = self.kept_push_key().await? {
            return Ok(key);
        }
        let sealed = self.made_push_key()?;
        self.store().keep_push_key(NAME, &sealed, self.now()).await?;
        self.kept_push_key().await?.ok_or(Refusal::Unavailable)
    }

    /// The key, if one was made.
    pub(crate) async fn kept_push_key(&self) -> Result<Option<PushKey>, Refusal> {
        let Some(blob) = self.store().push_key(NAME).await? else { return Ok(None) };
        self.opened_push_key(&blob).map(Some)
    }

    fn opened_push_key(&self, blob: &[u8]) -> Result<PushKey, Refusal> {
        let plain = zeroize::Zeroizing::new(self.sealer().open(Purpose::PushKey, NAME, blob)?);
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &plain, &SystemRandom::new());
        pair.map(PushKey).map_err(|_| {
            tracing::error!("the key for push services cannot be read: it is no key of P-256");
            Refusal::Unavailable
        })
    }

    /// A new key, sealed.
    fn made_push_key(&self) -> Result<Vec<u8>, Refusal> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let made = made.map_err(|_| Refusal::Unavailable)?;
        Ok(self.sealer().seal(Purpose::PushKey, NAME, made.as_ref()))
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
