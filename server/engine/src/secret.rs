//! A value that cannot be printed or serialized by accident.

use std::fmt;

use zeroize::Zeroize;

/// A secret text: no `Display`, no `Serialize`, and `Debug` tells nothing. Wiped when dropped.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes the text in.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The same of bytes; `None`, and the bytes are wiped, when they are no text.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        match String::from_utf8(bytes) {
            Ok(text) => Some(Self(text)),
            Err(error) => {
                error.into_bytes().zeroize();
                None
            }
        }
    }

    /// The text itself. Called by egress alone, where it is put into one header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}
