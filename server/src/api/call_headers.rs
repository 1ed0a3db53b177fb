//! The headers a call may carry beside its input.

use http::HeaderMap;
use model::Refusal;
use percent_encoding::percent_decode;

/// The most characters of an agent's reason.
const REASON_LIMIT: usize = 2_000;

/// What a call's headers say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallHeaders {
    /// Every `Idempotency-Key`; the pipeline judges them.
    pub(crate) keys: Vec<String>,
    /// `Countersign-Session`.
    pub(crate) session: Option<String>,
    /// `Countersign-Tenant`.
    pub(crate) tenant: Option<String>,
    /// `Countersign-Reason`.
    pub(crate) reason: Option<String>,
}

impl CallHeaders {
    /// Reads them.
    ///
    /// # Errors
    /// `Invalid`, when a header stands twice or does not have its form.
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, Refusal> {
        // A key that is no text cannot be valid; it goes on in a form that is not valid either.
        let key = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Ok(Self {
            keys: headers.get_all("idempotency-key").iter().map(key).collect(),
            session: visible(headers, "countersign-session", "Countersign-Session", 1)?,
            tenant: tenant(headers)?,
            reason: reason(headers)?,
        })
    }
}

/// `Countersign-Client`: what a caller without a token names itself with.
pub(crate) fn client(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    visible(headers, "countersign-client", "Countersign-Client", 16)
}

/// `Countersign-Tenant`. Which tenants there are is told to members alone, so only its form is judged here.
pub(crate) fn tenant(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    visible(headers, "countersign-tenant", "Countersign-Tenant", 1)
}

/// The value of a header that is given at most once.
fn single<'a>(headers: &'a HeaderMap, name: &str, shown: &str) -> Result<Option<&'a [u8]>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() {
        return Err(Refusal::invalid("", format!("The header {shown} is given twice. Give it once.")));
    }
    Ok(value.map(http::HeaderValue::as_bytes))
}

/// A header of `least` to 128 visible ASCII characters.
fn visible(headers: &HeaderMap, name: &str, shown: &str, least: usize) -> Result<Option<String>, Refusal> {
    let Some(bytes) = single(headers, name, shown)? else { return Ok(None) };
    match std::str::from_utf8(bytes) {
        Ok(text)
            if (least..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) =>
        {
            Ok(Some(text.to_owned()))
        }
        _ => Err(Refusal::invalid(
            "",
            format!("The header {shown} takes {least} to 128 visible ASCII characters."),
        )),
    }
}

/// `Countersign-Reason`: UTF-8, percent-encoded where a header cannot carry it.
fn reason(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(bytes) = single(headers, "countersign-reason", "Countersign-Reason")? else { return Ok(None) };
    let fault = || {
        let words = "The header Countersign-Reason takes UTF-8 text, percent-encoded where needed, of at most 2000 \
                     characters and without control characters.";
        Refusal::invalid("", words)
    };
    let decoded = percent_decode(bytes).decode_utf8().map_err(|_| fault())?;
    words(&decoded, fault)
}

/// An agent's reason as it is kept, `None` when it says nothing; the fault when it cannot be one.
pub(crate) fn words(text: &str, fault: impl FnOnce() -> Refusal) -> Result<Option<String>, Refusal> {
    let text = text.trim();
    let sound = !text.chars().any(char::is_control) && text.chars().count() <= REASON_LIMIT;
    if sound { Ok((!text.is_empty()).then(|| text.to_owned())) } else { Err(fault()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &[u8])]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &[u8])| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).expect("a header value"))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn headers_are_read() {
        let read = CallHeaders::read(&headers(&[
            ("idempotency-key", b"one"),
            ("idempotency-key", b"\"two\""),
            ("countersign-session", b"run-7"),
            ("countersign-tenant", b"ten_x"),
            ("countersign-reason", b"The customer asked, caf%C3%A9 order"),
        ]));
        let expected = CallHeaders {
            keys: vec!["one".to_owned(), "\"two\"".to_owned()],
            session: Some("run-7".to_owned()),
            tenant: Some("ten_x".to_owned()),
            reason: Some("The customer asked, café order".to_owned()),
        };
        assert_eq!(read, Ok(expected));
        assert_eq!(CallHeaders::read(&HeaderMap::new()), Ok(CallHeaders::default()));
    }

    #[test]
    fn a_session_is_1_to_128_visible_characters_given_once() {
        let read = |value: &[u8]| CallHeaders::read(&headers(&[("countersign-session", value)]));
        assert!(read(&[b'a'; 128]).is_ok());
        for value in [&b""[..], b"two words", &[b'a'; 129], "é".as_bytes()] {
            assert!(matches!(read(value), Err(Refusal::Invalid(_))), "{value:?}");
        }
        let twice = headers(&[("countersign-session", b"a"), ("countersign-session", b"a")]);
        assert!(matches!(CallHeaders::read(&twice), Err(Refusal::Invalid(_))));
    }

    #[test]
    fn a_client_has_at_least_16_characters() {
        assert!(
            client(&headers(&[("countersign-client", b"sixteen-letters!")]))
                .is_ok_and(|client| client.is_some())
        );
        assert!(client(&headers(&[("countersign-client", b"short")])).is_err());
        assert_eq!(client(&HeaderMap::new()), Ok(None));
    }

    #[test]
    fn a_reason_has_no_control_characters_and_an_end() {
        let reason = |value: &[u8]| reason(&headers(&[("countersign-reason", value)]));
        assert_eq!(reason("raw ü".as_bytes()), Ok(Some("raw ü".to_owned())));
        assert_eq!(reason(b"100% sure"), Ok(Some("100% sure".to_owned())));
        assert_eq!(reason(b"%20%20"), Ok(None));
        assert!(reason(b"line%0Abreak").is_err());
        assert!(reason(b"%00").is_err());
        assert!(reason(b"%ff").is_err());
        assert!(reason(&[b'a'; 2_000]).is_ok());
        assert!(reason(&[b'a'; 2_001]).is_err());
    }
}
