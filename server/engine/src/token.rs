//! Tokens: `csk_…` for agents, `csu_…` for people, `cft_…` to confirm a prompt, `cin_…` in links. Shown once; only a hash is stored.

use std::fmt;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::ambient::Ambient;

/// Whose token it is, as its prefix tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// An agent's key.
    Agent,
    /// A person's token.
    Person,
    /// A caller's own confirmation.
    Confirm,
    /// What stands in a link that makes an account.
    Invitation,
}

/// A token as it is shown once, and as a caller sends it. Wiped when dropped.
pub struct PlainToken(Zeroizing<String>);

/// The SHA-256 of a token: what storage takes. A token has 178 random bits, so a plain hash cannot be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashedToken(pub(crate) [u8; 32]);

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM: usize = 30;
const CHECK: usize = 6;
const PREFIX: usize = 4;

impl TokenKind {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Agent => "csk_",
            Self::Person => "csu_",
            Self::Confirm => "cft_",
            Self::Invitation => "cin_",
        }
    }
}

impl PlainToken {
    /// A fresh token.
    pub fn generate(kind: TokenKind, ambient: &Ambient) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(PREFIX + RANDOM + CHECK));
        text.push_str(kind.prefix());
        while text.len() < PREFIX + RANDOM {
            // 248 is the largest multiple of 62 in a byte: the rest would make some letters likelier than others.
            let fresh = ambient.bytes::<32>();
            let usable = fresh.iter().filter(|byte| **byte < 248);
            for byte in usable.take(PREFIX + RANDOM - text.len()) {
                text.push(char::from(ALPHABET[usize::from(byte % 62)]));
            }
        }
        let check = checksum(&text);
        text.push_str(&check);
        Self(text)
    }

    /// Reads a token; a mistyped or truncated one is refused without a query.
    pub fn parse(text: &str) -> Option<(TokenKind, Self)> {
        let kind = [TokenKind::Agent, TokenKind::Person, TokenKind::Confirm, TokenKind::Invitation]
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        if text.len() != PREFIX + RANDOM + CHECK || !text[PREFIX..].bytes().all(|b| b.is_ascii_alphanumeric())
        {
            return None;
        }
        let (body, check) = text.split_at(PREFIX + RANDOM);
        (checksum(body) == check).then(|| (kind, Self(Zeroizing::new(text.to_owned()))))
    }

    /// What is stored.
    pub fn hashed(&self) -> HashedToken {
        HashedToken(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The token itself, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PlainToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlainToken(…)")
    }
}

/// CRC-32 of the text in six letters of the alphabet.
fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes()) as usize;
    let mut digits = [b'0'; CHECK];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[rest % 62];
        rest /= 62;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_and_tells_whose_it_is() {
        for kind in [TokenKind::Agent, TokenKind::Person, TokenKind::Confirm, TokenKind::Invitation] {
            let token = PlainToken::generate(kind, &Ambient::system());
            let (read, same) = PlainToken::parse(token.reveal()).expect("a token");
            assert_eq!(read, kind);
            assert_eq!(same.hashed(), token.hashed());
        }
    }

    #[test]
    fn a_mistyped_or_truncated_token_is_refused() {
        let token = PlainToken::generate(TokenKind::Agent, &Ambient::system());
        let text = token.reveal();
        for len in 0..text.len() {
            assert!(PlainToken::parse(&text[..len]).is_none(), "cut to {len}");
        }
        for at in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            let wrong = String::from_utf8(bytes).expect("ASCII");
            assert!(PlainToken::parse(&wrong).is_none(), "changed at {at}");
        }
        assert!(PlainToken::parse(&format!("{text}0")).is_none());
        assert!(PlainToken::parse("csk_ääääääääääääääääää").is_none());
        assert!(PlainToken::parse(&text.replace("csk_", "csu_")).is_none());
    }
}
