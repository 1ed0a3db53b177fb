//! Sealing: what people wrote never stands in the database in the clear.
//!
//! XChaCha20-Poly1305 under a key derived with HKDF-SHA-256 for one purpose; the associated data binds a blob to its
//! place, so that a blob moved to another row, column or purpose does not open.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::ambient::Ambient;

/// What a sealed blob is for. Each purpose has a key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A call's arguments and rendered request.
    Input,
    /// A call's preview.
    Preview,
    /// The title of a call's preview, for lists.
    Title,
    /// A call's result.
    Result,
    /// An answer stored for replay.
    Answer,
    /// A credential's secret.
    Credential,
    /// A browser session's data.
    Session,
    /// The proof that a page has shown a preview.
    View,
    /// What a client of the Model Context Protocol brings back to go on waiting.
    RequestState,
    /// The cover around a `RequestState`: it opens wherever the key is known, and tells what was made here.
    RequestStateCover,
    /// A browser's endpoint and keys for web push.
    Browser,
    /// The key that push services know this desk by.
    PushKey,
    /// What a passkey is asked to sign at a sign-in.
    Passkey,
    /// What a browser keeps of a sign-in that it has begun at a provider.
    SignIn,
    /// What a standing grant lets through.
    Grant,
    /// What checkpoints of the ledger are signed with.
    LedgerKey,
}

impl Purpose {
    const fn label(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Preview => "preview",
            Self::Title => "preview_title",
            Self::Result => "result",
            Self::Answer => "answer",
            Self::Credential => "credential",
            Self::Session => "session",
            Self::View => "view",
            Self::RequestState => "request_state",
            Self::RequestStateCover => "request_state_cover",
            Self::Browser => "browser",
            Self::PushKey => "push_key",
            Self::Passkey => "passkey",
            Self::SignIn => "sign_in",
            Self::Grant => "grant",
            Self::LedgerKey => "ledger_key",
        }
    }
}

/// The blob does not open: another key, another place, or altered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value does not open: the sealing key is missing, or the value was altered or moved")]
pub struct DoesNotOpen;

/// The text holds no usable sealing keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealing key is base64 of 32 bytes; several are separated by commas")]
pub struct NotKeys;

/// Seals with its first key and opens with all of them. Clones share their keys.
#[derive(Clone)]
pub struct Sealer {
    keys: Arc<ArcSwap<Vec<SealingKey>>>,
    source: Option<Source>,
    ambient: Ambient,
}

/// Where the keys are read again, as the text that `Sealer::parse` reads; `None`: they cannot be read now.
pub type Source = Arc<dyn Fn() -> Option<Zeroizing<String>> + Send + Sync>;

#[derive(Clone)]
struct SealingKey {
    /// Names the key in every blob; tells nothing about it.
    id: KeyName,
    key: Zeroizing<[u8; 32]>,
}

/// The name of a sealing key, as it stands in every blob.
pub type KeyName = [u8; 4];

const VERSION: u8 = 1;
const NONCE: usize = 24;
const HEAD: usize = 1 + 4 + NONCE;

impl Sealer {
    /// From base64 of 32 bytes; several separated by commas: the first seals, all open.
    ///
    /// # Errors
    /// When there is no key or one of them is not base64 of 32 bytes.
    pub fn parse(text: &str, ambient: Ambient) -> Result<Self, NotKeys> {
        Ok(Self { keys: Arc::new(ArcSwap::from_pointee(keys_in(text)?)), source: None, ambient })
    }

    /// Reads its keys again from there when it is told to, or meets a value that a key seals which it does not know: a
    /// rotation takes effect in processes that run.
    #[must_use]
    pub fn read_again_from(self, source: Source) -> Self {
        Self { source: Some(source), ..self }
    }

    /// Reads the keys again. `true`: they are others now. Without a source, or when what is there are no keys, the old
    /// ones stay.
    pub fn refresh(&self) -> bool {
        let Some(text) = self.source.as_ref().and_then(|source| source()) else { return false };
        let Ok(fresh) = keys_in(&text) else { return false };
        let same = self.keys.load().iter().map(|key| key.id).eq(fresh.iter().map(|key| key.id));
        if !same {
            self.keys.store(Arc::new(fresh));
        }
        !same
    }

    /// The names of the keys, the one that seals first.
    pub fn names(&self) -> Vec<KeyName> {
        self.keys.load().iter().map(|key| key.id).collect()
    }

    /// How every blob begins that the first key sealed.
    pub(crate) fn mark(&self) -> Vec<u8> {
        [&[VERSION][..], &self.keys.load()[0].id].concat()
    }

    /// A fresh key in the form that `parse` reads.
    pub fn generate(ambient: &Ambient) -> String {
        STANDARD.encode(ambient.bytes::<32>())
    }

    /// Seals `plain` for one purpose and one place (a row's id).
    pub fn seal(&self, purpose: Purpose, place: &str, plain: &[u8]) -> Vec<u8> {
        let nonce = self.ambient.bytes::<NONCE>();
        let keys = self.keys.load();
        let key = &keys[0];
        let mut blob = Vec::with_capacity(HEAD + plain.len() + 16);
        blob.push(VERSION);
        blob.extend_from_slice(&key.id);
        blob.extend_from_slice(&nonce);
        let aad = associated(&blob[..5], purpose, place);
        let sealed = key
            .cipher(purpose)
            .encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: &aad })
            .unwrap_or_else(|_| unreachable!("a message in memory is below the cipher's limit of 256 GiB"));
        blob.extend_from_slice(&sealed);
        blob
    }

    /// Opens what `seal` made for the same purpose and place.
    ///
    /// # Errors
    /// When no key fits, or the blob was altered or made for another purpose or place.
    pub fn open(&self, purpose: Purpose, place: &str, blob: &[u8]) -> Result<Vec<u8>, DoesNotOpen> {
        let (head, sealed) = blob.split_at_checked(HEAD).ok_or(DoesNotOpen)?;
        if head[0] != VERSION {
            return Err(DoesNotOpen);
        }
        let name: KeyName = head[1..5].try_into().map_err(|_| DoesNotOpen)?;
        let key = self.key(name).ok_or(DoesNotOpen)?;
        let nonce: [u8; NONCE] = head[5..].try_into().map_err(|_| DoesNotOpen)?;
        let aad = associated(&head[..5], purpose, place);
        key.cipher(purpose)
            .decrypt(&XNonce::from(nonce), Payload { msg: sealed, aad: &aad })
            .map_err(|_| DoesNotOpen)
    }

    /// Whether a key of this name is among those that open.
    pub fn knows(&self, name: KeyName) -> bool {
        self.key(name).is_some()
    }

    /// The key of this name; looked for in the source when it is not among those that are known.
    fn key(&self, name: KeyName) -> Option<SealingKey> {
        let known = || self.keys.load().iter().find(|key| key.id == name).cloned();
        known().or_else(|| if self.refresh() { known() } else { None })
    }
}

fn keys_in(text: &str) -> Result<Vec<SealingKey>, NotKeys> {
    text.split(',').map(|one| SealingKey::parse(one.trim())).collect()
}

/// A blob without its version: the name of its key, and the rest. `None`: no blob of this version.
pub(crate) fn take_apart(blob: &[u8]) -> Option<(KeyName, &[u8])> {
    let (name, rest) = blob.strip_prefix(&[VERSION])?.split_at_checked(4)?;
    Some((name.try_into().ok()?, rest))
}

/// The blob that `take_apart` took apart.
pub(crate) fn put_together(name: KeyName, rest: &[u8]) -> Vec<u8> {
    [&[VERSION][..], &name, rest].concat()
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealer({} keys)", self.keys.load().len())
    }
}

impl SealingKey {
    fn parse(text: &str) -> Result<Self, NotKeys> {
        let bytes = Zeroizing::new(STANDARD.decode(text).map_err(|_| NotKeys)?);
        let key: [u8; 32] = bytes.as_slice().try_into().map_err(|_| NotKeys)?;
        let digest = Sha256::new().chain_update(b"countersign key id v1").chain_update(key).finalize();
        Ok(Self { id: [digest[0], digest[1], digest[2], digest[3]], key: Zeroizing::new(key) })
    }

    fn cipher(&self, purpose: Purpose) -> XChaCha20Poly1305 {
        let mut derived = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(Some(b"countersign seal v1"), self.key.as_slice())
            .expand(purpose.label().as_bytes(), derived.as_mut_slice())
            .unwrap_or_else(|_| unreachable!("32 bytes are within what HKDF-SHA-256 can give"));
        XChaCha20Poly1305::new((&*derived).into())
    }
}

/// The associated data: version and key id, purpose and place, each at its own length.
fn associated(head: &[u8], purpose: Purpose, place: &str) -> Vec<u8> {
    let mut aad = head.to_vec();
    aad.extend_from_slice(purpose.label().as_bytes());
    aad.push(0);
    aad.extend_from_slice(place.as_bytes());
    aad
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer(text: &str) -> Sealer {
        Sealer::parse(text, Ambient::system()).expect("keys")
    }

    #[test]
    fn opens_for_its_own_purpose_and_place_only() {
        let sealer = sealer(&Sealer::generate(&Ambient::system()));
        let blob = sealer.seal(Purpose::Input, "call_a", b"hello");
        assert_eq!(sealer.open(Purpose::Input, "call_a", &blob).as_deref(), Ok(&b"hello"[..]));
        assert_eq!(sealer.open(Purpose::Result, "call_a", &blob), Err(DoesNotOpen));
        assert_eq!(sealer.open(Purpose::Input, "call_b", &blob), Err(DoesNotOpen));
    }

    #[test]
    fn any_flipped_byte_is_noticed() {
        let sealer = sealer(&Sealer::generate(&Ambient::system()));
        let blob = sealer.seal(Purpose::Input, "call_a", b"hello");
        for at in 0..blob.len() {
            let mut bad = blob.clone();
            bad[at] ^= 1;
            assert_eq!(sealer.open(Purpose::Input, "call_a", &bad), Err(DoesNotOpen), "byte {at}");
        }
        for len in 0..blob.len() {
            assert_eq!(sealer.open(Purpose::Input, "call_a", &blob[..len]), Err(DoesNotOpen), "cut to {len}");
        }
    }

    #[test]
    fn the_first_key_seals_and_all_open() {
        let (old, new) = (Sealer::generate(&Ambient::system()), Sealer::generate(&Ambient::system()));
        let before = sealer(&old).seal(Purpose::Answer, "x", b"1");
        let both = sealer(&format!("{new}, {old}"));
        assert!(both.open(Purpose::Answer, "x", &before).is_ok());
        let after = both.seal(Purpose::Answer, "x", b"2");
        assert_eq!(sealer(&old).open(Purpose::Answer, "x", &after), Err(DoesNotOpen));
        assert!(sealer(&new).open(Purpose::Answer, "x", &after).is_ok());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "abc", "AAAA", &format!("{},", Sealer::generate(&Ambient::system()))] {
            assert_eq!(Sealer::parse(text, Ambient::system()).err(), Some(NotKeys), "{text}");
        }
    }
}
