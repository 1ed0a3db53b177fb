//! Takes the secret out of an answer, in whatever spelling it comes back.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderName};
use zeroize::Zeroizing;

/// What stands where the secret stood.
pub(super) const REDACTED: &[u8] = b"[redacted]";

/// A shorter piece of base64 would be found in every second text.
const SHORTEST_PIECE: usize = 8;

/// What an escape begins with.
const MARKS: [u8; 4] = *b"%+\\&";

/// Knows a secret by its spellings.
///
/// Found are: the text itself; its base64, also from within a longer text (`Basic` of `user:secret`), in both
/// alphabets; its hexadecimal digits; what it says when it is itself base64 of text (the secret of `Basic {secret}`);
/// and each of these percent-encoded, or escaped as in JSON or HTML, wholly or in part. Not found is a secret that was
/// compressed, encrypted, cut in pieces or turned around: whoever has it can always tell it.
pub(super) struct Scrubber {
    spellings: Vec<Zeroizing<Vec<u8>>>,
    starts: Box<[bool; 256]>,
}

impl Scrubber {
    pub(super) fn new(secret: &str) -> Self {
        let mut spellings = spellings(secret.as_bytes());
        if let Some(said) = said_in_base64(secret) {
            let password = said.iter().position(|byte| *byte == b':').map(|colon| said[colon + 1..].to_vec());
            spellings.extend(password.filter(|text| text.len() >= SHORTEST_PIECE).map(Zeroizing::new));
            spellings.push(said);
        }
        spellings.retain(|spelling| !spelling.is_empty());
        // Of two that begin alike the longer is taken.
        spellings.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        spellings.dedup();
        let mut starts = Box::new([false; 256]);
        for byte in spellings.iter().filter_map(|spelling| spelling.first()).chain(&MARKS) {
            starts[usize::from(*byte)] = true;
        }
        Self { spellings, starts }
    }

    /// The headers without those that hold the secret, in name or value.
    pub(super) fn headers(&self, mut headers: HeaderMap) -> HeaderMap {
        let holding: Vec<HeaderName> = headers
            .iter()
            .filter(|(name, value)| self.is_in(value.as_bytes()) || self.is_in_name(name))
            .map(|(name, _)| name.clone())
            .collect();
        for name in holding {
            headers.remove(name);
        }
        headers
    }

    /// The body with the secret replaced. One that nobody can look into is replaced whole, and no longer encoded.
    pub(super) fn body(&self, body: Bytes, opaque: bool, headers: &mut HeaderMap) -> Bytes {
        if opaque && !body.is_empty() {
            headers.remove(CONTENT_ENCODING);
            return Bytes::from_static(REDACTED);
        }
        match self.scrub(&body) {
            Some(scrubbed) => Bytes::from(scrubbed),
            None => body,
        }
    }

    /// The text with every spelling replaced; `None` when there is nothing to replace.
    fn scrub(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut scrubbed = Vec::new();
        let mut kept = 0;
        let mut at = 0;
        while at < text.len() {
            let Some(length) = self.found_at(&text[at..]) else {
                at += 1;
                continue;
            };
            scrubbed.extend_from_slice(&text[kept..at]);
            scrubbed.extend_from_slice(REDACTED);
            at += length;
            kept = at;
        }
        if kept == 0 {
            return None;
        }
        scrubbed.extend_from_slice(&text[kept..]);
        Some(scrubbed)
    }

    /// Whether more text could make a spelling of what begins here and is not whole yet.
    fn may_begin_at(&self, text: &[u8]) -> bool {
        let could = |first: &u8| self.starts[usize::from(*first)];
        text.first().is_some_and(could) && self.spellings.iter().any(|spelling| may_go_on(text, spelling))
    }

    fn is_in(&self, text: &[u8]) -> bool {
        (0..text.len()).any(|at| self.found_at(&text[at..]).is_some())
    }

    /// Header names come in lower case, whatever they were.
    fn is_in_name(&self, name: &HeaderName) -> bool {
        let name = name.as_str().as_bytes();
        self.spellings
            .iter()
            .any(|spelling| name.windows(spelling.len()).any(|window| window.eq_ignore_ascii_case(spelling)))
    }

    /// How many bytes a spelling takes at the start of the text.
    fn found_at(&self, text: &[u8]) -> Option<usize> {
        let first = *text.first()?;
        if !self.starts[usize::from(first)] {
            return None;
        }
        self.spellings.iter().find_map(|spelling| spelled(text, spelling))
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrubber(…)")
    }
}

/// Scrubs a body that comes piece by piece, wherever it is cut. Only what could be the beginning of a spelling is kept
/// back until more has come, so a line that ends in something else goes on at once.
pub(super) struct Running {
    scrubber: Arc<Scrubber>,
    kept: Zeroizing<Vec<u8>>,
}

impl Running {
    pub(super) fn new(scrubber: Arc<Scrubber>) -> Self {
        Self { scrubber, kept: Zeroizing::default() }
    }

    /// What can go on of all that has come.
    pub(super) fn push(&mut self, piece: &[u8]) -> Bytes {
        self.kept.extend_from_slice(piece);
        self.pass(false)
    }

    /// The rest: nothing more comes.
    pub(super) fn finish(&mut self) -> Bytes {
        self.pass(true)
    }

    fn pass(&mut self, is_last: bool) -> Bytes {
        let text = std::mem::take(&mut self.kept);
        let mut passed = Vec::with_capacity(text.len());
        let mut at = 0;
        while let Some(first) = text.get(at) {
            let rest = &text[at..];
            if !is_last && self.scrubber.may_begin_at(rest) {
                self.kept.extend_from_slice(rest);
                break;
            }
            if let Some(length) = self.scrubber.found_at(rest) {
                passed.extend_from_slice(REDACTED);
                at += length;
            } else {
                passed.push(*first);
                at += 1;
            }
        }
        Bytes::from(passed)
    }
}

/// The secret, and how it looks in other alphabets.
fn spellings(secret: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let hex = data_encoding::HEXLOWER.encode(secret);
    let mut spellings = vec![secret.to_vec(), hex.to_ascii_uppercase().into_bytes(), hex.into_bytes()];
    spellings.extend(without_padding(secret));
    for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        spellings.extend((0..3).filter_map(|shift| base64_within(alphabet, secret, shift)));
    }
    spellings.into_iter().map(Zeroizing::new).collect()
}

/// The letters that only the secret decides when `shift` bytes (modulo three) stand before it in the same base64.
fn base64_within(alphabet: &impl Engine, secret: &[u8], shift: usize) -> Option<Vec<u8>> {
    let mut text = Zeroizing::new(vec![0; shift]);
    text.extend_from_slice(secret);
    let letters = Zeroizing::new(alphabet.encode(&*text).into_bytes());
    let first = (shift * 8).div_ceil(6);
    let last = text.len() * 8 / 6;
    let piece = letters.get(first..last)?;
    (piece.len() >= SHORTEST_PIECE).then(|| piece.to_vec())
}

/// A secret that is base64 may come back without its padding.
fn without_padding(secret: &[u8]) -> Option<Vec<u8>> {
    let bare = secret.strip_suffix(b"==").or_else(|| secret.strip_suffix(b"="))?;
    (bare.len() >= SHORTEST_PIECE).then(|| bare.to_vec())
}

/// What the secret says when it is the base64 of a text.
fn said_in_base64(secret: &str) -> Option<Zeroizing<Vec<u8>>> {
    let said = Zeroizing::new(STANDARD.decode(secret).ok()?);
    let is_text = said.len() >= SHORTEST_PIECE && said.iter().all(|byte| matches!(byte, b' '..=b'~'));
    is_text.then_some(said)
}

/// How many bytes the spelling takes at the start of the text, whether or not some of its letters are escaped.
fn spelled(text: &[u8], spelling: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (index, wanted) in spelling.iter().enumerate() {
        at += match steps(&text[at..], *wanted) {
            (None, None) => return None,
            (Some(step), None) | (None, Some(step)) => step,
            (Some(_), Some(_)) => {
                return spelled_ambiguously(&text[at..], &spelling[index..]).map(|rest| at + rest);
            }
        };
    }
    Some(at)
}

/// The same where a mark like `%` may stand for itself or begin an escape: every place where the next letter could
/// begin is followed.
fn spelled_ambiguously(text: &[u8], spelling: &[u8]) -> Option<usize> {
    let mut places = BTreeSet::from([0]);
    for wanted in spelling {
        let after = |at: &usize| {
            let (itself, escape) = steps(&text[*at..], *wanted);
            [itself, escape].map(|step| step.map(|step| at + step))
        };
        places = places.iter().flat_map(after).flatten().collect();
    }
    places.pop_last()
}

/// Whether the text ends before it is decided that the spelling stands, or does not stand, at its start.
fn may_go_on(text: &[u8], spelling: &[u8]) -> bool {
    let mut places = BTreeSet::from([0]);
    for wanted in spelling {
        if places.iter().any(|at| is_undecided(&text[*at..])) {
            return true;
        }
        let after = |at: &usize| {
            let (itself, escape) = steps(&text[*at..], *wanted);
            [itself, escape].map(|step| step.map(|step| at + step))
        };
        places = places.iter().flat_map(after).flatten().collect();
    }
    false
}

/// Whether there is no letter here yet, or an escape that is not whole.
fn is_undecided(text: &[u8]) -> bool {
    let digits = |rest: &[u8], wanted: usize| rest.len() < wanted && rest.iter().all(u8::is_ascii_hexdigit);
    match text {
        [] | [b'\\'] | [b'\\', b'u'] | [b'\\', b'u', b'0'] => true,
        [b'%', rest @ ..] | [b'\\', b'x', rest @ ..] | [b'\\', b'u', b'0', b'0', rest @ ..] => {
            digits(rest, 2)
        }
        [b'&', rest @ ..] => {
            rest.len() < 8 && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
        }
        _ => false,
    }
}

/// How many bytes the letter takes at the start of the text as itself, and as an escape.
fn steps(text: &[u8], wanted: u8) -> (Option<usize>, Option<usize>) {
    let Some(first) = text.first() else { return (None, None) };
    let itself = (*first == wanted).then_some(1);
    if !MARKS.contains(first) {
        return (itself, None);
    }
    let escape = unescape(text).filter(|(byte, _)| *byte == wanted).map(|(_, length)| length);
    (itself, escape)
}

/// The letter that an escape at the start of the text stands for, and the escape's length.
fn unescape(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        [b'+', ..] => Some((b' ', 1)),
        [b'%', high, low, ..] => Some((hex(&[*high, *low])?, 3)),
        [b'\\', b'u', b'0', b'0', high, low, ..] => Some((hex(&[*high, *low])?, 6)),
        [b'\\', b'x', high, low, ..] => Some((hex(&[*high, *low])?, 4)),
        [b'\\', mark @ (b'"' | b'\'' | b'/' | b'\\'), ..] => Some((*mark, 2)),
        [b'&', rest @ ..] => entity(rest),
        _ => None,
    }
}

/// An HTML entity, behind its ampersand.
fn entity(rest: &[u8]) -> Option<(u8, usize)> {
    let end = rest.iter().take(8).position(|byte| *byte == b';')?;
    let byte = match &rest[..end] {
        b"amp" => b'&',
        b"lt" => b'<',
        b"gt" => b'>',
        b"quot" => b'"',
        b"apos" => b'\'',
        [b'#', b'x' | b'X', digits @ ..] => hex(digits)?,
        [b'#', digits @ ..] => std::str::from_utf8(digits).ok()?.parse().ok()?,
        _ => return None,
    };
    Some((byte, end + 2))
}

fn hex(digits: &[u8]) -> Option<u8> {
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = "sk-live/4+e=A\"b&c d%2f\\x";

    fn scrubbed(text: &str) -> String {
        let text = text.as_bytes();
        let scrubbed = Scrubber::new(SECRET).scrub(text).unwrap_or_else(|| text.to_vec());
        String::from_utf8(scrubbed).expect("text")
    }

    #[test]
    fn every_spelling_is_found() {
        let percent = utf8_percent_encode(SECRET, NON_ALPHANUMERIC).to_string();
        let every_letter: String =
            SECRET.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02x}"));
        for spelling in [
            SECRET.to_owned(),
            percent.clone(),
            percent.replace("%20", "+"),
            every_letter.to_ascii_uppercase(),
            every_letter,
            SECRET.replace('\\', "\\\\").replace('"', "\\\""),
            SECRET.replace('\\', "\\\\").replace('"', "\\\"").replace('/', "\\/"),
            SECRET.replace('\\', "\\u005c").replace('"', "\\u0022").replace('&', "\\u0026"),
            SECRET.replace('&', "&amp;").replace('"', "&quot;").replace('/', "&#x2F;"),
            SECRET.replace('&', "&#38;").replace('"', "&#34;"),
            data_encoding::HEXLOWER.encode(SECRET.as_bytes()),
            data_encoding::HEXUPPER.encode(SECRET.as_bytes()),
        ] {
            assert_eq!(
                scrubbed(&format!("<{spelling}><{spelling}>")),
                "<[redacted]><[redacted]>",
                "{spelling}"
            );
        }
    }

    #[test]
    fn base64_is_found_wherever_the_secret_stands_in_it() {
        for before in ["", "u", "us", "use", "user:"] {
            for after in ["", "x", "xy", "xyz"] {
                let text = format!("{before}{SECRET}{after}");
                for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                    let percent = utf8_percent_encode(&encoded, NON_ALPHANUMERIC).to_string();
                    for text in [encoded, percent] {
                        assert!(scrubbed(&text).contains("[redacted]"), "{before:?} {after:?}: {text}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_pair_behind_basic_is_found() {
        let scrubber = Scrubber::new(&STANDARD.encode("ann:correct horse"));
        for text in ["ann:correct horse", "correct%20horse", "correct+horse", "YW5uOmNvcnJlY3QgaG9yc2U"] {
            assert_eq!(scrubber.scrub(text.as_bytes()).as_deref(), Some(REDACTED), "{text}");
        }
        assert_eq!(scrubber.scrub(b"ann:incorrect pony"), None);
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in [
            "",
            "%",
            "%s",
            "\\",
            "\\u00",
            "&",
            "&amp;",
            "&#x;",
            "&#;",
            "&#999;",
            "sk-live",
            "100% + &c",
            SECRET.trim_end_matches('x'),
        ] {
            assert_eq!(scrubbed(text), text);
        }
        assert_eq!(Scrubber::new("").scrub(b"anything"), None);
    }

    #[test]
    fn headers_that_hold_the_secret_go() {
        let mut headers = HeaderMap::new();
        headers.insert("x-echo", HeaderValue::from_static("key=topsecret1"));
        headers.append("x-twice", HeaderValue::from_static("clean"));
        headers.append("x-twice", HeaderValue::from_static("dG9wc2VjcmV0MQ=="));
        headers.insert("x-topsecret1", HeaderValue::from_static("1"));
        headers.insert("x-clean", HeaderValue::from_static("1"));
        let left = Scrubber::new("TopSecret1").headers(headers.clone());
        assert_eq!(left.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-echo", "x-twice", "x-clean"]);
        let left = Scrubber::new("topsecret1").headers(headers);
        assert_eq!(left.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-clean"]);
    }

    #[test]
    fn a_body_nobody_can_look_into_is_withheld() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        let body = Scrubber::new(SECRET).body(Bytes::from_static(&[0x1f, 0x8b, 8]), true, &mut headers);
        assert_eq!((body.as_ref(), headers.len()), (REDACTED, 0));
    }

    #[test]
    fn what_cannot_be_the_secret_goes_on_at_once() {
        let mut running = Running::new(Arc::new(Scrubber::new("topsecret1")));
        for line in ["data: {\"a\":\"b\\n\"}\n\n", "data: tops\n\n", ": 100% & more\n\n"] {
            assert_eq!(running.push(line.as_bytes()), line);
        }
        assert_eq!(running.push(b"key=topse"), "key=");
        assert_eq!(running.push(b"cret1\n"), "[redacted]\n");
        assert_eq!(running.push(b"tops"), "");
        assert_eq!(running.finish(), "tops");
    }

    #[test]
    fn nothing_is_printed() {
        assert_eq!(format!("{:?}", Scrubber::new(SECRET)), "Scrubber(…)");
    }

    proptest! {
        #[test]
        fn the_secret_never_survives(
            secret in "[!-~]{8,40}",
            before in "[ -~]{0,20}",
            after in "[ -~]{0,20}",
        ) {
            let scrubber = Scrubber::new(&secret);
            let text = format!("{before}{secret}{after}");
            let scrubbed = String::from_utf8(scrubber.scrub(text.as_bytes()).unwrap()).unwrap();
            prop_assert!(!scrubbed.contains(&secret));
            let percent = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
            prop_assert!(scrubber.scrub(percent.as_bytes()).is_some());
            prop_assert!(scrubber.scrub(serde_json::to_string(&text).unwrap().as_bytes()).is_some());
            prop_assert!(scrubber.scrub(STANDARD.encode(&text).as_bytes()).is_some());
        }

        #[test]
        fn however_a_body_is_cut_it_is_scrubbed_the_same(
            secret in "[a-c&%+=\\\\]{1,12}",
            texts in prop::collection::vec("[a-c&%+=;\\\\x0-9]{0,6}", 0..8),
            kinds in prop::collection::vec(0..6_u8, 0..8),
            cuts in prop::collection::vec(1..5_usize, 1..40),
        ) {
            let forms = |kind: u8| match kind {
                0 => secret.clone(),
                1 => utf8_percent_encode(&secret, NON_ALPHANUMERIC).to_string(),
                2 => serde_json::to_string(&secret).unwrap(),
                3 => STANDARD.encode(&secret),
                4 => secret.replace('&', "&amp;"),
                _ => secret.chars().take(secret.len() / 2).collect(),
            };
            let pieces = texts.iter().zip(kinds.iter().chain(std::iter::repeat(&0)));
            let text: Vec<u8> = pieces.flat_map(|(text, kind)| format!("{text}{}", forms(*kind)).into_bytes()).collect();
            let scrubber = Arc::new(Scrubber::new(&secret));
            let whole = scrubber.scrub(&text).unwrap_or_else(|| text.clone());
            let mut running = Running::new(scrubber);
            let (mut left, mut passed) = (text.as_slice(), Vec::new());
            for cut in cuts.iter().cycle().take(text.len()) {
                let (piece, rest) = left.split_at((*cut).min(left.len()));
                passed.extend_from_slice(&running.push(piece));
                left = rest;
            }
            passed.extend_from_slice(&running.push(left));
            passed.extend_from_slice(&running.finish());
            prop_assert_eq!(String::from_utf8_lossy(&passed), String::from_utf8_lossy(&whole));
        }

        #[test]
        fn any_bytes_can_be_searched(secret: String, text: Vec<u8>) {
            Scrubber::new(&secret).scrub(&text);
        }
    }
}
