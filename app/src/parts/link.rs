//! Addresses with a query.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a value in a query keeps as it is.
const KEPT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/').remove(b'@');

/// One value, fit for a query.
pub(crate) fn encode(value: &str) -> String {
    utf8_percent_encode(value, KEPT).to_string()
}

/// A path with the pairs that have a value.
pub(crate) fn with_query<'a>(path: &str, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let pairs: Vec<String> = pairs
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", encode(value)))
        .collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// A place on this desk to go to after signing in, if it is one: a path that no browser takes for another host.
pub fn local_path(path: &str) -> Option<&str> {
    let is_local = path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|byte| matches!(byte, b'!'..=b'~') && byte != b'\\');
    is_local.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_on_this_desk() {
        for path in ["/inbox", "/inbox/call_01h?x=1&y=%2F", "/"] {
            assert_eq!(local_path(path), Some(path));
        }
        for path in [
            "",
            "inbox",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nb",
            "/\t/evil",
            "/é",
        ] {
            assert_eq!(local_path(path), None, "{path}");
        }
    }

    #[test]
    fn values_stay_in_their_place() {
        assert_eq!(with_query("/done", [("agent", "a&b=c#d"), ("host", "")]), "/done?agent=a%26b%3Dc%23d");
        assert_eq!(with_query("/done", [("host", "")]), "/done");
    }
}
