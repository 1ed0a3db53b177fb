//! The desk's key in a request of a program that knows another service's way of signing in.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::credential::Credential;
use http::HeaderMap;
use http::header::AUTHORIZATION;

/// How the desk's own keys and tokens begin.
const PREFIXES: [&str; 2] = ["csk_", "csu_"];

/// A key, and where it stood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DeskKey {
    pub(super) text: String,
    /// In the credential's own header: read there only because there is such a credential.
    pub(super) in_own_header: bool,
}

/// The key: from `Authorization: Bearer`, from the user of `Authorization: Basic`, or from the credential's own header.
/// What is no key of the desk's is passed over: some programs send a second thing of their own.
pub(super) fn of(headers: &HeaderMap, credential: Option<&Credential>) -> Option<DeskKey> {
    let is_ours = |key: &String| PREFIXES.iter().any(|prefix| key.starts_with(prefix));
    let usual = [bearer(headers), basic_user(headers)].into_iter().flatten().find(is_ours);
    let in_own_header = usual.is_none();
    let text = usual.or_else(|| own_header(headers, credential).filter(is_ours))?;
    Some(DeskKey { text, in_own_header })
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    authorization(headers, "bearer").map(str::to_owned)
}

fn basic_user(headers: &HeaderMap) -> Option<String> {
    let decoded = BASE64_STANDARD.decode(authorization(headers, "basic")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    Some(text.split_once(':').map_or(text.as_str(), |(user, _)| user).to_owned())
}

/// What stands behind the scheme, where the header comes once.
fn authorization<'h>(headers: &'h HeaderMap, scheme: &str) -> Option<&'h str> {
    let (found, rest) = single(headers, AUTHORIZATION.as_str())?.split_once(' ')?;
    found.eq_ignore_ascii_case(scheme).then(|| rest.trim_matches(' '))
}

/// In the place where the credential has its secret, or alone.
fn own_header(headers: &HeaderMap, credential: Option<&Credential>) -> Option<String> {
    let credential = credential?;
    let value = single(headers, credential.header.as_str())?;
    let (before, after) = credential.value.split_once("{secret}")?;
    let inner = value.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    Some(inner.unwrap_or(value).to_owned())
}

fn single<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::catalogue::Catalogue;
    use http::{HeaderName, HeaderValue};

    fn found(credential: Option<(&str, &str)>, headers: &[(&'static str, &str)]) -> Option<String> {
        let text = credential.map_or_else(String::new, |(header, value)| {
            format!("[[credential]]\nname = \"c\"\nhosts = [\"a.example\"]\nheader = \"{header}\"\nvalue = \"{value}\"\nsecret = {{ store = true }}\n")
        });
        let catalogue = Catalogue::parse(&text, "c.toml").expect("a catalogue");
        let headers = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value"))
        });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        of(&map, catalogue.credential("c").map(AsRef::as_ref)).map(|key| key.text)
    }

    #[test]
    fn a_key_is_found_wherever_a_program_puts_it() {
        let basic = format!("Basic {}", BASE64_STANDARD.encode("csk_a:x"));
        let user_alone = format!("basic {}", BASE64_STANDARD.encode("csk_a"));
        for (credential, headers) in [
            (None, vec![("authorization", "Bearer csk_a")]),
            (None, vec![("authorization", basic.as_str())]),
            (None, vec![("authorization", user_alone.as_str())]),
            (Some(("X-Api-Key", "{secret}")), vec![("x-api-key", "csk_a")]),
            (
                Some(("X-Api-Key", "{secret}")),
                vec![("authorization", "Bearer other"), ("x-api-key", "csk_a")],
            ),
            (
                Some(("Authorization", "Token token={secret}, v=1")),
                vec![("authorization", "Token token=csk_a, v=1")],
            ),
            (Some(("Authorization", "Token {secret}")), vec![("authorization", "csk_a")]),
        ] {
            assert_eq!(found(credential, &headers).as_deref(), Some("csk_a"), "{headers:?}");
        }
    }

    #[test]
    fn what_is_no_key_or_comes_twice_is_none() {
        for headers in [
            vec![],
            vec![("authorization", "Bearer sk-other")],
            vec![("authorization", "Bearer csk_a"), ("authorization", "Bearer csk_a")],
            vec![("x-api-key", "csk_a")],
            vec![("cookie", "csk_a")],
            vec![("authorization", "Basic csk_a")],
        ] {
            assert_eq!(found(None, &headers), None, "{headers:?}");
        }
    }
}
