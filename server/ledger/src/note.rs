//! Signed notes (c2sp.org/signed-note), with Ed25519 alone.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

/// The kind of signature: Ed25519, as the specification numbers it.
const ED25519: u8 = 0x01;

/// The longest note that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// The most signatures of a note that are looked at.
const MOST_SIGNATURES: usize = 100;

/// What a note is signed with.
pub struct Signer {
    name: String,
    key: SigningKey,
}

/// What a signature is checked with. As text: `NAME+KEY ID+BASE64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    key: VerifyingKey,
}

/// The text is no key to check with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a verifier key is a name, eight hexadecimal digits and base64 of an Ed25519 key, with a plus sign between them"
)]
pub struct NoKey;

/// A note cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    /// It is not written as a signed note.
    #[error("it is no signed note")]
    Malformed,
    /// Nobody signed it who is trusted.
    #[error("it is not signed with this key")]
    Unsigned,
    /// There is a signature, and it does not fit.
    #[error("its signature does not fit its text")]
    Unfit,
}

/// Whether this can name a key: not empty, no space and no plus sign in it, and nothing that would end its line.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|c| c.is_whitespace() || c.is_control() || c == '+')
}

fn id(name: &str, key: &VerifyingKey) -> [u8; 4] {
    let digest = Sha256::new()
        .chain_update(name)
        .chain_update([b'\n', ED25519])
        .chain_update(key.as_bytes())
        .finalize();
    [digest[0], digest[1], digest[2], digest[3]]
}

impl Signer {
    /// Of a secret of 32 random bytes. `None`: a key cannot have this name.
    pub fn new(name: &str, secret: &[u8; 32]) -> Option<Self> {
        is_name(name).then(|| Self { name: name.to_owned(), key: SigningKey::from_bytes(secret) })
    }

    /// What its signatures are checked with.
    pub fn verifier(&self) -> VerifierKey {
        VerifierKey { name: self.name.clone(), key: self.key.verifying_key() }
    }

    /// The text as a signed note. It has to end with a newline.
    pub fn sign(&self, text: &str) -> String {
        let id = id(&self.name, &self.key.verifying_key());
        let signature = [&id[..], &self.key.sign(text.as_bytes()).to_bytes()].concat();
        format!("{text}\n— {} {}\n", self.name, STANDARD.encode(signature))
    }
}

impl VerifierKey {
    /// The name of the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of a note, once its signature was found to be this key's.
    ///
    /// # Errors
    /// When it is no note, is not signed with this key, or any signature by this key does not fit.
    pub fn open<'n>(&self, note: &'n str) -> Result<&'n str, Untrusted> {
        let (text, signatures) = parts(note)?;
        let ours = id(&self.name, &self.key);
        let mut is_signed = false;
        for (name, signature) in signatures {
            if name != self.name || signature.first_chunk() != Some(&ours) {
                continue;
            }
            let fits = Signature::from_slice(&signature[4..])
                .is_ok_and(|signature| self.key.verify_strict(text.as_bytes(), &signature).is_ok());
            if !fits {
                return Err(Untrusted::Unfit);
            }
            is_signed = true;
        }
        if is_signed { Ok(text) } else { Err(Untrusted::Unsigned) }
    }
}

/// Who is said to have signed, and the signature with the id of its key.
type Claim<'n> = (&'n str, Vec<u8>);

/// The text of a note, and who is said to have signed it how.
fn parts(note: &str) -> Result<(&str, Vec<Claim<'_>>), Untrusted> {
    let is_plain = !note.chars().any(|c| c < ' ' && c != '\n');
    let split = note.rfind("\n\n").filter(|_| is_plain && note.len() <= LONGEST);
    let (text, signatures) = note.split_at(split.ok_or(Untrusted::Malformed)? + 1);
    let lines = signatures[1..].strip_suffix('\n').ok_or(Untrusted::Malformed)?;
    let claims: Option<Vec<_>> = lines.split('\n').map(claim).collect();
    let claims = claims.filter(|claims| claims.len() <= MOST_SIGNATURES).ok_or(Untrusted::Malformed)?;
    Ok((text, claims))
}

/// What a line below a note claims.
fn claim(line: &str) -> Option<Claim<'_>> {
    let (name, signature) = line.strip_prefix("— ")?.split_once(' ')?;
    let signature = STANDARD.decode(signature).ok().filter(|bytes| bytes.len() > 4)?;
    is_name(name).then_some((name, signature))
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = u32::from_be_bytes(id(&self.name, &self.key));
        let key = STANDARD.encode([&[ED25519][..], self.key.as_bytes()].concat());
        write!(formatter, "{}+{id:08x}+{key}", self.name)
    }
}

impl FromStr for VerifierKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let mut parts = text.trim().splitn(3, '+');
        let (name, hex, key) = (parts.next(), parts.next(), parts.next());
        let (Some(name), Some(hex), Some(key)) = (name, hex, key) else { return Err(NoKey) };
        let bytes = STANDARD.decode(key).map_err(|_| NoKey)?;
        let key = bytes.strip_prefix(&[ED25519]).and_then(|key| key.try_into().ok()).ok_or(NoKey)?;
        let key = VerifyingKey::from_bytes(key).map_err(|_| NoKey)?;
        let written = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 8);
        if !is_name(name) || written != Some(u32::from_be_bytes(id(name, &key))) {
            return Err(NoKey);
        }
        Ok(Self { name: name.to_owned(), key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note and its key as the Go implementation of the format publishes them.
    const KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const NOTE: &str = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\
        — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    #[test]
    fn a_published_note_opens_with_its_published_key() {
        let key: VerifierKey = KEY.parse().expect("a key");
        assert_eq!((key.name(), key.to_string().as_str()), ("PeterNeumann", KEY));
        let text = key.open(NOTE).expect("signed");
        assert!(text.ends_with("what your problem is.\n"), "{text}");
        assert_eq!(key.open(&NOTE.replacen("know", "knew", 1)), Err(Untrusted::Unfit));
    }

    #[test]
    fn what_was_signed_here_opens_here_alone() {
        let signer = Signer::new("desk.example", &[5; 32]).expect("a name");
        let note = signer.sign("desk.example\n1\nx\n");
        let key: VerifierKey = signer.verifier().to_string().parse().expect("a key");
        assert_eq!(key.open(&note), Ok("desk.example\n1\nx\n"));
        for other in [("desk.example", [6; 32]), ("other.example", [5; 32])] {
            let other = Signer::new(other.0, &other.1).expect("a name").verifier();
            assert_eq!(other.open(&note), Err(Untrusted::Unsigned), "{other}");
        }
        assert!(Signer::new("desk example", &[5; 32]).is_none());
    }

    #[test]
    fn signatures_of_others_beside_it_are_left_alone() {
        let ours = Signer::new("desk.example", &[5; 32]).expect("a name");
        let witness = Signer::new("witness.example", &[6; 32]).expect("a name");
        let text = "text\n\nmore\n";
        let line = witness.sign(text).split_once("more\n\n").expect("a line").1.to_owned();
        let both = ours.sign(text) + &line;
        assert_eq!(ours.verifier().open(&both), Ok(text));
        assert_eq!(witness.verifier().open(&both), Ok(text));
        let unknown_kind =
            format!("{}— desk.example {}\n", ours.sign(text), STANDARD.encode([1, 2, 3, 4, 5]));
        assert_eq!(ours.verifier().open(&unknown_kind), Ok(text));
    }

    #[test]
    fn what_is_no_note_is_none() {
        let key: VerifierKey = KEY.parse().expect("a key");
        let bare = NOTE.trim_end();
        for no in [
            "",
            "\n\n",
            "text\n",
            "text\n\n",
            bare,
            &NOTE.replace("— ", "- "),
            &NOTE.replace('\n', "\r\n"),
            &NOTE.replace("PeterNeumann x08go", "PeterNeumann  x08go"),
            &NOTE.replace("RyyBwJnAM=", "RyyBwJnA?="),
            &format!("{NOTE}\n"),
        ] {
            assert_eq!(key.open(no), Err(Untrusted::Malformed), "{no:?}");
        }
        for no in [
            "",
            "a+b",
            &KEY.replace("c74f20a3", "c74f20a4"),
            &KEY.replace("+ARpc", "+AhpC"),
            &KEY[..KEY.len() - 4],
        ] {
            assert_eq!(no.parse::<VerifierKey>(), Err(NoKey), "{no}");
        }
    }
}
