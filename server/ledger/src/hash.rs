//! The hashes of the tree: SHA-256, with what stands before a leaf and before a node (RFC 9162, section 2.1.1).

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// A hash of the tree. As text: base64 with padding (RFC 4648, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

/// The text is no base64 of 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a hash is base64 of 32 bytes")]
pub struct NoHash;

impl Hash {
    /// Of the tree without a leaf.
    pub fn of_nothing() -> Self {
        Self(Sha256::digest(b"").into())
    }

    /// Of a leaf whose content stands in these parts, one behind the other.
    pub fn of_leaf(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new_with_prefix([0x00]);
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Of the node above two others.
    pub fn of_node(left: Self, right: Self) -> Self {
        Self(Sha256::new_with_prefix([0x01]).chain_update(left.0).chain_update(right.0).finalize().into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&STANDARD.encode(self.0))
    }
}

impl FromStr for Hash {
    type Err = NoHash;

    fn from_str(text: &str) -> Result<Self, NoHash> {
        let mut bytes = [0; 33];
        if STANDARD.decode_slice(text, &mut bytes) != Ok(32) {
            return Err(NoHash);
        }
        let mut hash = [0; 32];
        hash.copy_from_slice(&bytes[..32]);
        Ok(Self(hash))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
