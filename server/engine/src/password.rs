//! Passwords: Argon2id with the crate's defaults (RFC 9106's second recommendation, 19 MiB).

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::ambient::Ambient;

/// The shortest password that is taken, in characters.
pub const SHORTEST: usize = 12;

/// The longest, in bytes.
pub const LONGEST: usize = 1_024;

/// Words that passwords of this length are often made of; what is left without them, digits and signs is too little.
const OBVIOUS: [&str; 19] = [
    "countersign",
    "password",
    "passwort",
    "passwd",
    "qwertyuiop",
    "qwertzuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwerty",
    "qwertz",
    "azerty",
    "iloveyou",
    "letmein",
    "welcome",
    "administrator",
    "admin",
    "changeme",
    "secret",
    "abcdefghijklmnopqrstuvwxyz",
];

/// Why a password cannot be kept at all, however weak it may be; `None`: it can.
pub fn unusable(password: &str) -> Option<&'static str> {
    let is_usable = !password.is_empty() && password.len() <= LONGEST && !password.contains('\0');
    (!is_usable).then_some("The password has to be 1 to 1,024 bytes, without NUL.")
}

/// What is wrong with a password that somebody wants; `None`: it is taken. `about` is what others know of them: their
/// address and their name.
pub fn fault(password: &str, about: &[&str]) -> Option<&'static str> {
    if password.chars().count() < SHORTEST {
        return Some("The password has to be at least 12 characters.");
    }
    if password.len() > LONGEST || password.contains('\0') {
        return Some("The password has to be at most 1,024 bytes, without NUL.");
    }
    is_obvious(password, about)
        .then_some("This password is among the first that anybody would try. Choose another one.")
}

/// Whether next to nothing is left of it without what is obvious: common words, what others know, runs and repeats.
fn is_obvious(password: &str, about: &[&str]) -> bool {
    let lower = password.to_lowercase();
    let mut rest = lower.clone();
    let known = about.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    let known: Vec<String> = known.filter(|word| word.chars().count() > 2).map(str::to_lowercase).collect();
    for word in OBVIOUS.iter().copied().chain(known.iter().map(String::as_str)) {
        rest = rest.replace(word, "");
    }
    let letters = rest.chars().filter(|c| c.is_alphabetic()).collect::<Vec<_>>();
    let distinct: std::collections::BTreeSet<char> = lower.chars().collect();
    let steps = lower.chars().zip(lower.chars().skip(1));
    let runs = steps.filter(|(a, b)| (*b as u32).abs_diff(*a as u32) <= 1).count();
    letters.len() < 3 && (rest.len() < lower.len() || is_digits_in_order(&rest))
        || distinct.len() < 5
        || runs + 3 > lower.chars().count()
}

/// Digits alone, in the order of the keys.
fn is_digits_in_order(text: &str) -> bool {
    const ORDER: &str = "012345678901234567890";
    text.chars().all(|c| c.is_ascii_digit())
        && (ORDER.contains(text) || "09876543210987654321".contains(text))
}

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
    fn what_anybody_would_try_is_not_taken() {
        let about = ["ann@house.example", "Ann Ahrens"];
        for obvious in [
            "password1234",
            "Password123!",
            "123456789012",
            "aaaaaaaaaaaa",
            "abcabcabcabc",
            "qwertyuiop12",
            "countersign1",
            "AnnAhrens2026",
            "ann@house.example",
            "abcdefghijkl",
            "Welcome2026!!",
            "09876543210987",
        ] {
            assert!(fault(obvious, &about).is_some(), "{obvious}");
        }
        for taken in [
            "correct horse",
            "fetch-bexar-wantn",
            "pässwörter sind lang",
            "847261059382",
            "password of my cat",
        ] {
            assert_eq!(fault(taken, &about), None, "{taken}");
        }
        assert!(fault("elevenchars", &about).is_some_and(|fault| fault.contains("12")));
        assert!(fault(&"xyz1".repeat(300), &about).is_some() && fault("a\0bcdefghijkl", &about).is_some());
    }

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
