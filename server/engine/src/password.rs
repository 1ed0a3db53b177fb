//! Passwords: Argon2id with the crate's defaults (RFC 9106's second recommendation, 19 MiB).

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::ambient::Ambient;

/// The shortest password that is taken, in characters.
pub const SHORTEST: usize = 8;

/// A hash in the PHC string format. Takes tens of milliseconds of one core: call it on a blocking thread.
pub fn hash(password: &str, ambient: &Ambient) -> String {
    let salt = ambient.bytes::<16>();
    match Argon2::default().hash_password_with_salt(password.as_bytes(), &salt) {
        Ok(hash) => hash.to_string(),
        Err(_) => unreachable!("the default parameters take any password and a 16-byte salt"),
    }
}

/// Whether the password is the one that was hashed. Without a hash the same work is done and the answer is no, so
/// that time does not tell who exists.
pub fn verify(password: &str, hash: Option<&str>) -> bool {
    // The hash of a password nobody knows; its parameters are the defaults.
    const NOBODY: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let known = hash.is_some();
    let parsed = PasswordHash::new(hash.unwrap_or(NOBODY));
    let matches =
        parsed.is_ok_and(|parsed| Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok());
    known && matches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_password_fits() {
        let hashed = hash("correct horse", &Ambient::system());
        assert!(hashed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hashed}");
        assert!(verify("correct horse", Some(&hashed)));
        assert!(!verify("correct horse ", Some(&hashed)));
        assert!(!verify("", None));
        assert!(!verify("x", Some("not a hash")));
    }
}
