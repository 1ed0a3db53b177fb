//! Paths: what may hide in one, and whether it lies under a prefix.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::blocked::Reason;

/// How often a percent-encoding may itself be encoded. More is no value that anybody means, and each round reads the
/// whole path again.
const ROUNDS: usize = 5;

/// Refuses a path that a server could take for another one: a dot segment, a backslash or a slash in disguise.
///
/// The disguises are percent-encoding, also of a percent-encoding (servers behind a proxy decode twice), path
/// parameters behind the dots (`/..;x/` is a dot segment to a servlet container), and overlong UTF-8.
///
/// With `values_encoded` an encoded slash is a part of a value; dot segments and backslashes are refused all the same,
/// for a server that decodes before it splits.
pub(super) fn check(path: &str, values_encoded: bool) -> Result<(), Reason> {
    if !escapes_are_whole(path.as_bytes()) {
        return Err(Reason::Encoding);
    }
    let slashes = (!values_encoded).then(|| slashes(path.as_bytes()));
    let mut form = Cow::Borrowed(path.as_bytes());
    for _ in 0..ROUNDS {
        check_form(&form, slashes)?;
        match Cow::from(percent_decode(&form)) {
            decoded if decoded == form => return Ok(()),
            decoded => form = Cow::Owned(decoded.into_owned()),
        }
    }
    Err(Reason::Encoding)
}

/// Whether a segment made of a caller's value would be refused by `check`: its sender can still be told which field.
pub(crate) fn is_disguised(segment: &str) -> bool {
    check(&format!("/{segment}"), true).is_err()
}

/// Whether the path is the prefix or lies below it: `/v1` holds `/v1` and `/v1/x`, not `/v10`.
/// A prefix without a leading slash holds nothing.
pub(super) fn is_under(path: &str, prefix: &str) -> bool {
    prefix.starts_with('/')
        && path
            .strip_prefix(prefix)
            .is_some_and(|rest| prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
}

/// One stage of decoding: it may hold no slash that was not there from the start, where that is asked.
fn check_form(form: &[u8], slashes_written: Option<usize>) -> Result<(), Reason> {
    if form.contains(&b'\\') || slashes_written.is_some_and(|written| slashes(form) != written) {
        return Err(Reason::HiddenSlash);
    }
    if form.split(|byte| *byte == b'/').any(is_dot_segment) {
        return Err(Reason::DotSegment);
    }
    if form.windows(2).any(|two| is_overlong(two[0], two[1])) {
        return Err(Reason::Encoding);
    }
    Ok(())
}

fn slashes(path: &[u8]) -> usize {
    path.split(|byte| *byte == b'/').count() - 1
}

fn is_dot_segment(segment: &[u8]) -> bool {
    let name = segment.split(|byte| *byte == b';').next().unwrap_or_default();
    name == b"." || name == b".."
}

/// The start of a character written with more bytes than it needs, which no valid UTF-8 has (RFC 3629, section 3).
const fn is_overlong(first: u8, second: u8) -> bool {
    matches!((first, second), (0xc0 | 0xc1, 0x80..=0xbf) | (0xe0, 0x80..=0x9f) | (0xf0, 0x80..=0x8f))
}

fn escapes_are_whole(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'%')
        .skip(1)
        .all(|after| after.len() >= 2 && after[0].is_ascii_hexdigit() && after[1].is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_paths_pass() {
        for path in [
            "/",
            "/v1/messages",
            "/v1//x/",
            "/a.b/..c/d../...",
            "/.well-known/x",
            "/a%20b/%C3%A9/100%25",
            "/v1;x=1/y",
            "/%E0%A4%A8",
            "/caf%E9",
            "/x%3B..%3By",
        ] {
            assert_eq!(check(path, false), Ok(()), "{path}");
            assert_eq!(check(path, true), Ok(()), "{path}");
        }
    }

    #[test]
    fn disguises_are_seen_through() {
        for path in [
            "/v1/..",
            "/v1/../x",
            "/./x",
            "/v1/%2e%2e/x",
            "/v1/%2E./x",
            "/v1/.%2e",
            "/v1/..%2fx",
            "/v1%2Fx",
            "/v1%5cx",
            "/v1\\x",
            "/v1/%252e%252e/x",
            "/v1%252fx",
            "/v1%25252Fx",
            "/v1%255cx",
            "/v1/..;/x",
            "/v1/.;a=b/x",
            "/v1/%2e%2e%3b/x",
            "/v1/%c0%ae%c0%ae/x",
            "/v1%c0%afx",
            "/v1%e0%80%afx",
            "/v1%f0%80%80%afx",
            "/v1/%%32%65%%32%65/x",
            "/v1/%u002e%u002e/x",
            "/v1/%",
            "/v1/%2",
            "/v1/%zz",
        ] {
            assert!(check(path, false).is_err(), "{path} passed");
        }
    }

    #[test]
    fn an_encoded_value_may_hold_a_slash_and_no_way_up() {
        for path in ["/v1/a%2Fb", "/v1/a%252fb", "/v1/https%3A%2F%2Fx.example%2F"] {
            assert_eq!(check(path, true), Ok(()), "{path}");
        }
        for path in [
            "/v1/..%2Fx",
            "/v1/a%2F..%2Fb",
            "/v1/%2e%2e",
            "/v1/a%2F%252e.%2Fb",
            "/v1/a%5cb",
            "/v1/..;%2Fx",
            "/v1/%c0%af",
        ] {
            assert!(check(path, true).is_err(), "{path} passed");
        }
    }

    #[test]
    fn an_encoding_that_has_no_end_is_refused() {
        assert_eq!(check("/100%252525", false), Ok(()));
        let endless = format!("/%{}", "25".repeat(1_000_000));
        assert_eq!(check(&endless, false), Err(Reason::Encoding));
    }

    #[test]
    fn prefixes_end_at_segment_borders() {
        for (path, prefix, held) in [
            ("/v1", "/v1", true),
            ("/v1/", "/v1", true),
            ("/v1/x", "/v1", true),
            ("/v1/x", "/v1/", true),
            ("/v1/", "/v1/", true),
            ("/v1", "/v1/", false),
            ("/v10", "/v1", false),
            ("/v1.1/x", "/v1", false),
            ("/V1/x", "/v1", false),
            ("/%761/x", "/v1", false),
            ("//v1/x", "/v1", false),
            ("/anything", "/", true),
            ("/v1/x", "", false),
            ("/v1/x", "v1", false),
        ] {
            assert_eq!(is_under(path, prefix), held, "{path} under {prefix}");
        }
    }

    proptest! {
        /// However often it is decoded, a path that passed has the segments it was checked with.
        #[test]
        fn decoding_never_moves_a_passed_path(path in "(/|%2[0-9a-fA-F]|%5[cC]|%25|\\.|[a-z25ef;%]){0,12}") {
            let path = format!("/{path}");
            if check(&path, false).is_ok() {
                let mut form = path.clone().into_bytes();
                for _ in 0..path.len() {
                    form = percent_decode(&form).collect();
                    prop_assert_eq!(slashes(&form), slashes(path.as_bytes()));
                    prop_assert!(!form.split(|b| *b == b'/').any(|s| s == b"." || s == b".."));
                }
            }
        }
    }
}
