//! The request as it goes out, with the secret in its place.

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri, Version};
use http_body_util::Full;
use url::{Host, Url};
use zeroize::Zeroizing;

use super::policy::{Checked, Injection, Target};
use super::sent::NeverLeft;
use crate::outgoing::Outgoing;
use crate::secret::Secret;

/// Who is asking, when the caller does not say.
const AGENT: &str = concat!("countersign/", env!("CARGO_PKG_VERSION"));

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Puts the request together, and tells where it goes.
pub(super) fn build(
    checked: Checked,
    secret: Option<&Secret>,
    idempotency_key: Option<&str>,
) -> Result<(Target, Request<Full<Bytes>>), NeverLeft> {
    let (outgoing, target, line, injection) = checked.into_parts();
    let mut headers = caller_headers(&outgoing)?;
    if let Some(key) = idempotency_key {
        let key = HeaderValue::from_str(key).map_err(|_| NeverLeft::IdempotencyKey)?;
        set(&mut headers, IDEMPOTENCY_KEY, key)?;
    }
    if let Some(Injection { header, template }) = injection {
        set(&mut headers, header, secret_value(&template, secret)?)?;
    }
    Ok((target, request(outgoing.method, line, headers, outgoing.body)))
}

/// The headers that every request has, then the caller's.
fn caller_headers(outgoing: &Outgoing) -> Result<HeaderMap, NeverLeft> {
    let mut headers = HeaderMap::new();
    set(&mut headers, HOST, host(&outgoing.url)?)?;
    for (name, value) in &outgoing.headers {
        headers.try_append(name, value.clone()).map_err(|_| NeverLeft::Headers)?;
    }
    if !headers.contains_key(USER_AGENT) {
        set(&mut headers, USER_AGENT, HeaderValue::from_static(AGENT))?;
    }
    // An answer in a coding could not be searched for the secret.
    set(&mut headers, ACCEPT_ENCODING, HeaderValue::from_static("identity"))?;
    if let Some(length) = length(&outgoing.method, outgoing.body.as_ref()) {
        set(&mut headers, CONTENT_LENGTH, length.into())?;
    }
    Ok(headers)
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) -> Result<(), NeverLeft> {
    headers.try_insert(name, value).map(drop).map_err(|_| NeverLeft::Headers)
}

/// The host as the URL has it; the port only where it is not the scheme's own.
fn host(url: &Url) -> Result<HeaderValue, NeverLeft> {
    let host = match (url.host(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(Host::Domain(name)), None) => name.to_owned(),
        (Some(host), None) => host.to_string(),
        (None, _) => return Err(NeverLeft::Connect),
    };
    HeaderValue::try_from(host).map_err(|_| NeverLeft::Connect)
}

/// Methods that expect a body say so even when there is none (RFC 9110, section 8.6).
fn length(method: &Method, body: Option<&Bytes>) -> Option<usize> {
    match body {
        Some(body) => Some(body.len()),
        None if [Method::POST, Method::PUT, Method::PATCH].contains(method) => Some(0),
        None => None,
    }
}

/// The value of the credential's header. Marked so that nothing prints it.
fn secret_value(template: &str, secret: Option<&Secret>) -> Result<HeaderValue, NeverLeft> {
    let secret = secret.map(Secret::expose).filter(|text| !text.is_empty()).ok_or(NeverLeft::Secret)?;
    let text = Zeroizing::new(template.replace("{secret}", secret));
    let mut value = HeaderValue::from_str(&text).map_err(|_| NeverLeft::Secret)?;
    value.set_sensitive(true);
    Ok(value)
}

fn request(method: Method, line: Uri, headers: HeaderMap, body: Option<Bytes>) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body.unwrap_or_default()));
    *request.method_mut() = method;
    *request.uri_mut() = line;
    *request.version_mut() = Version::HTTP_11;
    *request.headers_mut() = headers;
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_is_put_into_its_place_and_never_printed() {
        let secret = Secret::new("s3cr3t".into());
        let value = secret_value("Bearer {secret}", Some(&secret)).expect("a value");
        assert_eq!(value.as_bytes(), b"Bearer s3cr3t");
        assert_eq!(format!("{value:?}"), "Sensitive");
    }

    #[test]
    fn without_a_usable_secret_nothing_is_made() {
        for secret in [None, Some(""), Some("two\nlines"), Some("nul\0")] {
            let secret = secret.map(|text| Secret::new(text.into()));
            assert_eq!(secret_value("{secret}", secret.as_ref()), Err(NeverLeft::Secret));
        }
    }

    #[test]
    fn the_host_header_has_the_port_only_where_it_matters() {
        for (url, expected) in [
            ("https://api.example/", "api.example"),
            ("https://api.example:443/", "api.example"),
            ("http://api.example:443/", "api.example:443"),
            ("https://93.184.216.34:8443/", "93.184.216.34:8443"),
            ("https://[2606:4700::1111]/", "[2606:4700::1111]"),
            ("https://[2606:4700::1111]:1/", "[2606:4700::1111]:1"),
        ] {
            let url = url.parse().expect("a URL");
            assert_eq!(host(&url).expect("a host"), expected);
        }
    }
}
