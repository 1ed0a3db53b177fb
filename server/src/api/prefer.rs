//! The header `Prefer` (RFC 7240): how long the caller would like to wait, and whether the call may be queued.

use std::time::Duration;

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue};

/// `Preference-Applied`.
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// A wait the caller asked for, cut to what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait(u64);

impl Wait {
    /// The first `wait=N` of the request. A preference that cannot be read is none: it never fails a request.
    pub(crate) fn asked(headers: &HeaderMap, most: u64) -> Option<Self> {
        let value = preferences(headers).find_map(wait_of)?;
        // Digits too many for a number mean very long, and very long is cut like long.
        let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = digits.then(|| value.parse().unwrap_or(u64::MAX))?;
        (seconds > 0).then_some(Self(seconds.min(most)))
    }

    /// The same as a length of time.
    pub(crate) const fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }

    /// Says on an answer that the wait was kept.
    pub(crate) fn note(self, headers: &mut HeaderMap) {
        note(headers, false, Some(self));
    }
}

/// Whether the request prefers to be answered before it has been carried out.
pub(crate) fn respond_async(headers: &HeaderMap) -> bool {
    preferences(headers)
        .filter_map(|preference| preference.split([';', '=']).next())
        .any(|name| name.trim().eq_ignore_ascii_case("respond-async"))
}

/// Says on an answer which preferences were kept.
pub(crate) fn note(headers: &mut HeaderMap, respond_async: bool, wait: Option<Wait>) {
    let kept =
        [respond_async.then(|| "respond-async".to_owned()), wait.map(|wait| format!("wait={}", wait.0))];
    let kept: Vec<_> = kept.into_iter().flatten().collect();
    if let Some(value) = HeaderValue::from_str(&kept.join(", ")).ok().filter(|value| !value.is_empty()) {
        headers.insert(PREFERENCE_APPLIED, value);
    }
}

/// Every preference of the request, in order.
fn preferences(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all("prefer").iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','))
}

/// The value of this preference, if it is `wait`; its parameters mean nothing here.
fn wait_of(preference: &str) -> Option<&str> {
    let (name, value) = preference.split(';').next()?.split_once('=')?;
    name.trim().eq_ignore_ascii_case("wait").then(|| value.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&'static str]) -> HeaderMap {
        let header =
            |value: &&'static str| (HeaderName::from_static("prefer"), HeaderValue::from_static(value));
        values.iter().map(header).collect()
    }

    fn asked(values: &[&'static str]) -> Option<u64> {
        Wait::asked(&headers(values), 300).map(|wait| wait.0)
    }

    #[test]
    fn a_call_is_queued_when_that_is_preferred() {
        for values in [&["respond-async"][..], &["wait=10, Respond-Async; x=y"], &["foo", "respond-async"]] {
            assert!(respond_async(&headers(values)), "{values:?}");
        }
        for values in [&[][..], &["respond-asynchronously"], &["x=respond-async"], &["wait=10"]] {
            assert!(!respond_async(&headers(values)), "{values:?}");
        }
    }

    #[test]
    fn what_was_kept_is_told_in_one_header() {
        let noted = |respond_async, wait| {
            let mut headers = HeaderMap::new();
            note(&mut headers, respond_async, wait);
            headers.get(PREFERENCE_APPLIED).map(|value| value.to_str().unwrap_or_default().to_owned())
        };
        assert_eq!(noted(true, Some(Wait(3))).as_deref(), Some("respond-async, wait=3"));
        assert_eq!(noted(true, None).as_deref(), Some("respond-async"));
        assert_eq!(noted(false, Some(Wait(3))).as_deref(), Some("wait=3"));
        assert_eq!(noted(false, None), None);
    }

    #[test]
    fn a_wait_is_found_wherever_it_stands() {
        assert_eq!(asked(&["wait=10"]), Some(10));
        assert_eq!(asked(&["respond-async, wait=10"]), Some(10));
        assert_eq!(asked(&["respond-async", "WAIT = \"10\"; foo=bar"]), Some(10));
        assert_eq!(asked(&["wait=10, wait=20"]), Some(10));
    }

    #[test]
    fn a_long_wait_is_cut() {
        assert_eq!(asked(&["wait=301"]), Some(300));
        assert_eq!(asked(&["wait=99999999999999999999999999"]), Some(300));
    }

    #[test]
    fn what_cannot_be_read_is_no_wait() {
        for value in
            ["", "wait", "wait=", "wait=-1", "wait=+1", "wait=1.5", "wait=ten", "waiting=10", "wait=0"]
        {
            assert_eq!(asked(&[value]), None, "{value}");
        }
        assert_eq!(asked(&[]), None);
    }
}
