//! What a confirmation is bound to: the rendered request, what the dry run answered, and how the catalogue tells of both.

use model::Effect;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::document::Section;
use super::mistake::Wrong;
use crate::outgoing::Outgoing;

/// Reads the JSON Pointers of `fingerprint`. `has_dry_run`: there is something for them to narrow.
pub(super) fn read(section: &Section<'_>, has_dry_run: bool) -> Vec<String> {
    let texts = section.texts("fingerprint");
    for (text, span) in &texts {
        if !is_pointer(text) {
            let expected = "a JSON Pointer such as \"/name\"";
            section.notes.add(span, Wrong::new(format!("“{text}” is no JSON Pointer")).expected(expected));
        }
    }
    if section.get("fingerprint").is_some() && !has_dry_run {
        let message = "“fingerprint” narrows the answer of a dry run, and the action has none";
        section.wrong("fingerprint", Wrong::absent(message).expected("a “dry_run”"));
    }
    texts.into_iter().map(|(text, _)| text.to_owned()).collect()
}

/// RFC 6901: empty, or steps that each begin with a slash, with `~` only in `~0` and `~1`.
fn is_pointer(text: &str) -> bool {
    let escapes_fit = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escapes_fit
}

/// What the catalogue itself says in a preview. Values are no part of it: those of the input stand in the request, and
/// those of a dry run count as far as they are pointed at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Telling<'a> {
    /// It rules how a person confirms.
    pub(super) effect: Effect,
    /// The templates of the preview and the names in it.
    pub(super) wording: &'a [Option<&'a str>],
}

/// SHA-256 over the request, the dry run's status and body, and what the catalogue says of them. Every part goes in with
/// its length, so that no two different requests read the same.
pub(super) fn of(
    outgoing: &Outgoing,
    telling: Telling<'_>,
    binding: Option<&str>,
    dry_run: Option<(u16, &[u8])>,
    pointers: &[String],
) -> [u8; 32] {
    let mut parts = Parts(Sha256::new());
    parts.add(b"countersign fingerprint 3");
    parts.add(telling.effect.as_str().as_bytes());
    parts.count(telling.wording.len());
    for words in telling.wording {
        parts.maybe(words.map(str::as_bytes));
    }
    parts.add(outgoing.method.as_str().as_bytes());
    parts.add(outgoing.url.as_str().as_bytes());
    parts.count(outgoing.headers.len());
    for (name, value) in &outgoing.headers {
        parts.add(name.as_str().as_bytes());
        parts.add(value.as_bytes());
    }
    parts.maybe(outgoing.body.as_deref());
    // Whose secret goes with it, and where it goes, is a part of what was shown.
    parts.maybe(binding.map(str::as_bytes));
    match dry_run {
        None => parts.count(0),
        Some((status, body)) => {
            parts.count(1);
            parts.add(&status.to_be_bytes());
            parts.answer(body, pointers);
        }
    }
    parts.0.finalize().into()
}

struct Parts(Sha256);

impl Parts {
    fn count(&mut self, count: usize) {
        self.0.update(u64::try_from(count).unwrap_or(u64::MAX).to_be_bytes());
    }

    fn add(&mut self, part: &[u8]) {
        self.count(part.len());
        self.0.update(part);
    }

    /// Absent and empty differ.
    fn maybe(&mut self, part: Option<&[u8]>) {
        self.count(usize::from(part.is_some()));
        if let Some(part) = part {
            self.add(part);
        }
    }

    /// The body, or what the pointers name in it; a body that is not JSON counts whole.
    fn answer(&mut self, body: &[u8], pointers: &[String]) {
        let parsed = if pointers.is_empty() { None } else { serde_json::from_slice::<Value>(body).ok() };
        let Some(answer) = parsed else {
            self.count(0);
            self.add(body);
            return;
        };
        self.count(1);
        for pointer in pointers {
            let value =
                answer.pointer(pointer).and_then(|value| serde_json_canonicalizer::to_vec(value).ok());
            self.add(pointer.as_bytes());
            self.maybe(value.as_deref());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::{HeaderName, HeaderValue, Method};
    use url::Url;

    const PLAIN: Telling<'static> = Telling { effect: Effect::Write, wording: &[] };

    fn outgoing(
        method: Method,
        url: &str,
        headers: &[(&'static str, &'static str)],
        body: Option<&'static str>,
    ) -> Outgoing {
        Outgoing {
            method,
            url: Url::parse(url).expect("a URL"),
            values_encoded: true,
            headers: headers
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect(),
            body: body.map(Bytes::from_static_str),
        }
    }

    trait FromStaticStr {
        fn from_static_str(text: &'static str) -> Self;
    }

    impl FromStaticStr for Bytes {
        fn from_static_str(text: &'static str) -> Self {
            Bytes::from_static(text.as_bytes())
        }
    }

    #[test]
    fn every_part_of_the_request_counts() {
        let url = "https://a.example/x?y=1";
        let variants = [
            outgoing(Method::POST, url, &[("a", "b")], Some("body")),
            outgoing(Method::PUT, url, &[("a", "b")], Some("body")),
            outgoing(Method::POST, "https://a.example/x?y=2", &[("a", "b")], Some("body")),
            outgoing(Method::POST, url, &[("a", "c")], Some("body")),
            outgoing(Method::POST, url, &[("ab", "")], Some("body")),
            outgoing(Method::POST, url, &[], Some("body")),
            outgoing(Method::POST, url, &[("a", "b")], Some("")),
            outgoing(Method::POST, url, &[("a", "b")], None),
        ];
        let prints: std::collections::HashSet<_> =
            variants.iter().map(|variant| of(variant, PLAIN, None, None, &[])).collect();
        assert_eq!(prints.len(), variants.len());
        assert_eq!(
            of(&variants[0], PLAIN, None, None, &[]),
            of(&variants[0].clone(), PLAIN, None, None, &[])
        );
    }

    #[test]
    fn what_the_catalogue_says_counts() {
        let request = outgoing(Method::POST, "https://a.example/", &[], None);
        let print =
            |effect, wording: &[Option<&str>]| of(&request, Telling { effect, wording }, None, None, &[]);
        let prints = [
            print(Effect::Write, &[Some("a"), None]),
            print(Effect::Destructive, &[Some("a"), None]),
            print(Effect::Write, &[None, Some("a")]),
            print(Effect::Write, &[Some("a")]),
            print(Effect::Write, &[Some("b"), None]),
            print(Effect::Write, &[Some("a"), Some("")]),
        ];
        assert_eq!(prints.iter().collect::<std::collections::HashSet<_>>().len(), prints.len());
    }

    #[test]
    fn every_part_of_the_credential_that_a_person_confirms_counts() {
        let text = |more: &str| {
            format!("[[credential]]\nname = \"mail\"\nhosts = [\"a.example\", \"b.example\"]\n{more}")
        };
        let env = "secret = { env = \"A\" }";
        let texts = [
            text(env),
            text(env).replace("\"mail\"", "\"other\""),
            text(env).replace("\"b.example\"", "\"c.example\""),
            text(env).replace("\"b.example\"", "\"b.example:8443\""),
            text("secret = { env = \"B\" }"),
            text("secret = { store = true }"),
            text(&format!("{env}\nheader = \"X-Api-Key\"")),
            text(&format!("{env}\nvalue = \"Basic {{secret}}\"")),
            text(&format!("{env}\nallow_http = true")),
            text(&format!("{env}\nallow_private = true")),
        ];
        let print = |text: &String| {
            let catalogue = crate::catalogue::Catalogue::parse(text, "c.toml").expect("a catalogue");
            let request = outgoing(Method::POST, "https://a.example/", &[], None);
            let binding = catalogue.credentials().next().map(|credential| credential.binding());
            of(&request, PLAIN, binding.as_deref(), None, &[])
        };
        let prints: std::collections::HashSet<_> = texts.iter().map(print).collect();
        assert_eq!(prints.len(), texts.len());
        let turned = text(env).replace("\"a.example\", \"b.example\"", "\"b.example\", \"a.example\"");
        assert_eq!(print(&turned), print(&texts[0]), "the order of hosts means nothing");
    }

    #[test]
    fn the_dry_run_counts_as_far_as_it_is_pointed_at() {
        let request = outgoing(Method::POST, "https://a.example/", &[], None);
        let whole = |status, body: &str| of(&request, PLAIN, None, Some((status, body.as_bytes())), &[]);
        assert_ne!(of(&request, PLAIN, None, None, &[]), whole(200, ""));
        assert_ne!(whole(200, "a"), whole(201, "a"));
        assert_ne!(whole(200, "a"), whole(200, "b"));

        let pointers = vec!["/name".to_owned(), "/at".to_owned()];
        let narrow =
            |status, body: &str| of(&request, PLAIN, None, Some((status, body.as_bytes())), &pointers);
        assert_eq!(narrow(200, r#"{"name":"a","seen":1}"#), narrow(200, r#"{ "seen": 2, "name": "a" }"#));
        assert_ne!(narrow(200, r#"{"name":"a"}"#), narrow(200, r#"{"name":"b"}"#));
        assert_ne!(narrow(200, r#"{"name":null}"#), narrow(200, r"{}"));
        assert_ne!(narrow(200, r#"{"name":"a"}"#), narrow(203, r#"{"name":"a"}"#));
        assert_ne!(narrow(200, "no json"), narrow(200, "not json"));
    }

    #[test]
    fn pointers() {
        for good in ["", "/", "/a", "/a~1b/0", "/~0"] {
            assert!(is_pointer(good), "{good}");
        }
        for wrong in ["a", "a/b", "/~", "/~2"] {
            assert!(!is_pointer(wrong), "{wrong}");
        }
    }
}
