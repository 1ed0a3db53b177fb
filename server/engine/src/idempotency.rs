//! Idempotency keys: what is one, and what it stands for.

use model::PersonId;
use sha2::{Digest, Sha256};

use crate::input_hash::InputHash;

/// A valid key: 1 to 128 characters of `%x21-7E`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// Whose keys are told apart from whose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// A person's keys, whatever agent, key or session carried them.
    Person(PersonId),
    /// A public caller's, by the name it gives itself.
    Client(String),
}

/// What a key is used with: the credential, or the action when it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// A credential by name.
    Credential(&'a str),
    /// An action by name.
    Action(&'a str),
}

impl IdempotencyKey {
    /// From the argument `idempotency_key`, which holds the bare key.
    pub fn bare(text: &str) -> Option<Self> {
        let valid = (1..=128).contains(&text.len()) && text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
        valid.then(|| Self(text.to_owned()))
    }

    /// From the header `Idempotency-Key`: bare, or a structured-field string (RFC 9651, section 3.3.3).
    pub fn header(text: &str) -> Option<Self> {
        let Some(quoted) = text.strip_prefix('"') else { return Self::bare(text) };
        let quoted = quoted.strip_suffix('"')?;
        let mut key = String::with_capacity(quoted.len());
        let mut letters = quoted.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => key.push(letters.next().filter(|escaped| matches!(escaped, '"' | '\\'))?),
                '"' => return None,
                plain => key.push(plain),
            }
        }
        Self::bare(&key)
    }

    /// The key as it is forwarded upstream.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the key is remembered: a hash of scope, target and key, each at its own length.
    pub fn slot(&self, scope: &Scope, target: Target<'_>) -> [u8; 32] {
        let (kind, who) = match scope {
            Scope::Person(id) => ("person", id.to_string()),
            Scope::Client(name) => ("client", name.clone()),
        };
        let (what, name) = match target {
            Target::Credential(name) => ("credential", name),
            Target::Action(name) => ("action", name),
        };
        digest(&[kind, &who, what, name, &self.0])
    }
}

/// A bare key as a structured-field string, so that no key that begins with a quote is taken for one.
pub fn quoted(bare: &str) -> String {
    format!("\"{}\"", bare.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What a key stands for when an action is called: the action and its arguments.
pub fn request_hash(action: &str, input: InputHash) -> [u8; 32] {
    Sha256::new().chain_update(digest(&["action", action])).chain_update(input.bytes()).finalize().into()
}

/// What a key stands for when a request is passed on as it is: the request.
pub fn passed_on_hash(request: InputHash) -> [u8; 32] {
    Sha256::new().chain_update(digest(&["request"])).chain_update(request.bytes()).finalize().into()
}

/// SHA-256 over texts, each preceded by its length, so that no two lists of texts collide.
fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_and_quoted_are_the_same_key() {
        assert_eq!(IdempotencyKey::header("abc"), IdempotencyKey::header("\"abc\""));
        assert_eq!(IdempotencyKey::header(r#""a\"b\\c""#), IdempotencyKey::bare(r#"a"b\c"#));
    }

    #[test]
    fn every_key_comes_back_from_its_quotes() {
        for key in ["abc", "\"a", r#"a"b\c"#, "\"\"", r"\"] {
            assert_eq!(IdempotencyKey::header(&quoted(key)), IdempotencyKey::bare(key), "{key}");
        }
    }

    #[test]
    fn a_key_is_forwarded_bare() {
        assert_eq!(IdempotencyKey::header("\"abc\"").expect("a key").as_str(), "abc");
    }

    #[test]
    fn a_key_stands_for_one_request() {
        let input = |n: i32| InputHash::of_request("POST", "/", n.to_string().as_bytes());
        assert_eq!(request_hash("mail", input(1)), request_hash("mail", input(1)));
        assert_ne!(request_hash("mail", input(1)), request_hash("mail", input(2)));
        assert_ne!(request_hash("mail", input(1)), request_hash("pay", input(1)));
        assert_ne!(passed_on_hash(input(1)), passed_on_hash(input(2)));
        assert_ne!(
            passed_on_hash(input(1)),
            request_hash("", input(1)),
            "an action's key is not a request's"
        );
    }

    #[test]
    fn what_is_no_key() {
        let long = "x".repeat(129);
        for text in ["", "\"\"", "a b", "ä", "\"a", "a\u{7f}", "\"a\"b\"", r#""a\n""#, long.as_str()] {
            assert_eq!(IdempotencyKey::header(text), None, "{text:?}");
        }
        assert!(IdempotencyKey::header(&"x".repeat(128)).is_some());
    }

    #[test]
    fn slots_differ_by_person_and_target_and_key() {
        let person = |n| Scope::Person(PersonId::from_uuid(uuid::Uuid::from_u128(n)));
        let key = IdempotencyKey::bare("k").expect("a key");
        let slot = key.slot(&person(1), Target::Credential("mail"));
        assert_eq!(slot, key.slot(&person(1), Target::Credential("mail")));
        assert_ne!(slot, key.slot(&person(2), Target::Credential("mail")));
        assert_ne!(slot, key.slot(&person(1), Target::Action("mail")));
        assert_ne!(slot, key.slot(&person(1), Target::Credential("pay")));
        assert_ne!(
            slot,
            IdempotencyKey::bare("K").expect("a key").slot(&person(1), Target::Credential("mail"))
        );
    }
}
