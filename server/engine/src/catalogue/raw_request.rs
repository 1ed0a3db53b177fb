//! A request as its caller wrote it, that the desk passes on (fetch and via): how it stands in a call's arguments, and
//! what is read out of them.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use model::preview::PreviewField;
use model::{FieldError, Refusal};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::preview::Written;
use super::schema::{InputSchema, escape};
use crate::egress;
use crate::input_hash::InputHash;
use crate::outgoing::Outgoing;

/// What the arguments of such a call look like.
static SCHEMA: LazyLock<Arc<InputSchema>> = LazyLock::new(|| {
    let text = json!({ "type": "string" });
    let schema = json!({
        "type": "object",
        "required": ["credential", "method", "url"],
        "additionalProperties": false,
        "properties": {
            "credential": text, "method": text, "url": text, "body": text, "body_base64": text,
            "headers": { "type": ["object", "array"] },
        },
    });
    #[expect(clippy::expect_used, reason = "the schema is fixed, and every test of this file compiles it")]
    Arc::new(InputSchema::compile(schema).expect("a fixed schema compiles"))
});

/// The schema of the arguments of such a call.
pub(super) fn schema() -> Arc<InputSchema> {
    SCHEMA.clone()
}

/// The arguments of a call that passes on this request. Bytes that are not text are spelt in base64.
pub fn arguments(
    credential: &str,
    method: &Method,
    url: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Map<String, Value> {
    let header = |(name, value): (&HeaderName, &HeaderValue)| match as_text(value.as_bytes()) {
        Some(text) => json!({ "name": name.as_str(), "value": text }),
        None => json!({ "name": name.as_str(), "value_base64": STANDARD.encode(value.as_bytes()) }),
    };
    let mut arguments = Map::new();
    arguments.insert("credential".to_owned(), credential.into());
    arguments.insert("method".to_owned(), method.as_str().into());
    arguments.insert("url".to_owned(), url.into());
    arguments.insert("headers".to_owned(), headers.iter().map(header).collect());
    match as_text(body) {
        Some("") => {}
        Some(text) => drop(arguments.insert("body".to_owned(), text.into())),
        None => drop(arguments.insert("body_base64".to_owned(), STANDARD.encode(body).into())),
    }
    arguments
}

/// The bytes as a text that an argument may hold.
fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// The credential that the arguments name.
pub(super) fn credential(arguments: &Map<String, Value>) -> Option<&str> {
    arguments.get("credential")?.as_str()
}

/// The method that the arguments name.
pub(super) fn method(arguments: &Map<String, Value>) -> Option<Method> {
    Method::from_bytes(arguments.get("method")?.as_str()?.as_bytes()).ok()
}

/// Every fault that the schema does not know of.
pub(super) fn faults(input: &Value) -> Vec<FieldError> {
    let Some(entries) = input.as_object() else { return Vec::new() };
    let mut faults = Vec::new();
    if method(entries).is_none() {
        faults.push(FieldError::new("/method", "This has to be a method such as GET or POST."));
    }
    if let Err(fault) = body(entries) {
        faults.push(fault);
    }
    faults.extend(headers(entries).err().unwrap_or_default());
    faults
}

/// The request. The address has to be written as it is sent.
pub(super) fn render(input: &Value) -> Result<Outgoing, Refusal> {
    let unreadable = |field: &str| Refusal::invalid(field, "This cannot be read.");
    let entries = input.as_object().ok_or_else(|| unreadable(""))?;
    let url = entries.get("url").and_then(Value::as_str).ok_or_else(|| unreadable("/url"))?;
    Ok(Outgoing {
        method: method(entries).ok_or_else(|| unreadable("/method"))?,
        url: egress::parse_url(url)?,
        values_encoded: false,
        headers: headers(entries).map_err(Refusal::Invalid)?,
        body: body(entries).map_err(|fault| Refusal::Invalid(vec![fault]))?,
    })
}

/// The hash of the request; `None` when it cannot be read.
pub(super) fn hash(arguments: &Map<String, Value>) -> Option<InputHash> {
    let method = method(arguments)?;
    let url = arguments.get("url")?.as_str()?;
    // Two spellings of one address are one request.
    let parsed = egress::parse_url(url).ok();
    let url = parsed.as_ref().map_or(url, |url| url.as_str());
    let body = body(arguments).ok()?.unwrap_or_default();
    Some(InputHash::of_request(method.as_str(), url, &body))
}

/// The body; an empty one is none.
fn body(entries: &Map<String, Value>) -> Result<Option<Bytes>, FieldError> {
    let text = |name: &str| entries.get(name).and_then(Value::as_str);
    let bytes = match (text("body"), text("body_base64")) {
        (Some(_), Some(_)) => {
            return Err(FieldError::new("/body_base64", "Give the body once: as text or in base64."));
        }
        (Some(text), None) => Bytes::copy_from_slice(text.as_bytes()),
        (None, Some(coded)) => STANDARD
            .decode(coded)
            .map(Bytes::from)
            .map_err(|_| FieldError::new("/body_base64", "This has to be base64, with its padding."))?,
        (None, None) => return Ok(None),
    };
    Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
}

/// The headers, in order: an object of names and values, or a list where the order counts.
fn headers(entries: &Map<String, Value>) -> Result<Vec<(HeaderName, HeaderValue)>, Vec<FieldError>> {
    let mut read = Headers::default();
    match entries.get("headers") {
        Some(Value::Object(headers)) => {
            for (name, value) in headers {
                read.named(&format!("/headers/{}", escape(name)), name, value);
            }
        }
        Some(Value::Array(headers)) => {
            for (index, header) in headers.iter().enumerate() {
                read.listed(&format!("/headers/{index}"), header);
            }
        }
        _ => {}
    }
    if read.faults.is_empty() { Ok(read.headers) } else { Err(read.faults) }
}

/// Headers as they are read, and what is wrong with them.
#[derive(Default)]
struct Headers {
    headers: Vec<(HeaderName, HeaderValue)>,
    faults: Vec<FieldError>,
}

impl Headers {
    /// `"name": "value"`, or a list of values.
    fn named(&mut self, at: &str, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.add(at, name, text.as_bytes()),
            Value::Array(values) if values.iter().all(Value::is_string) => {
                values.iter().filter_map(Value::as_str).for_each(|text| self.add(at, name, text.as_bytes()));
            }
            _ => self.faults.push(FieldError::new(at, "This has to be a text or a list of texts.")),
        }
    }

    /// `{"name": …, "value": …}`, or `value_base64` for bytes that are not text.
    fn listed(&mut self, at: &str, header: &Value) {
        let text = |key: &str| header.get(key).and_then(Value::as_str);
        let value = match (text("value"), text("value_base64")) {
            (Some(value), None) => Some(value.as_bytes().to_vec()),
            (None, Some(coded)) => STANDARD.decode(coded).ok(),
            _ => None,
        };
        match (text("name"), value) {
            (Some(name), Some(value)) => self.add(at, name, &value),
            _ => {
                self.faults.push(FieldError::new(at, "This has to have a “name” and a “value”, both texts."));
            }
        }
    }

    fn add(&mut self, at: &str, name: &str, value: &[u8]) {
        match (HeaderName::try_from(name), HeaderValue::from_bytes(value)) {
            (Err(_), _) => self.faults.push(FieldError::new(at, "No header can have this name.")),
            (_, Err(_)) => self.faults.push(FieldError::new(
                at,
                "A header's value may hold no line break, no NUL and no other control character.",
            )),
            (Ok(name), Ok(value)) => self.headers.push((name, value)),
        }
    }
}

/// The written part of the preview: the request itself is shown whole beside it.
pub(super) fn written(outgoing: &Outgoing) -> Written {
    let url = &outgoing.url;
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Written {
        title: Some(format!("{} {host}{}", outgoing.method, url.path())),
        summary: String::new(),
        fields: unreadable_body(outgoing).into_iter().collect(),
        target: None,
    }
}

/// What a person is told of a body that cannot be shown as text.
fn unreadable_body(outgoing: &Outgoing) -> Option<PreviewField> {
    let body = outgoing.body.as_ref().filter(|body| std::str::from_utf8(body).is_err())?;
    if let Some(text) = nearly_text(body) {
        let label = format!("Body ({} bytes; \\xNN is a byte that is not text)", body.len());
        return Some(PreviewField { label, value: text, before: None });
    }
    let kind = outgoing.headers.iter().find(|(name, _)| name == CONTENT_TYPE);
    let kind =
        kind.map_or_else(String::new, |(_, kind)| format!(" ({})", String::from_utf8_lossy(kind.as_bytes())));
    let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(body));
    let value = format!("{} bytes that are not text{kind}, SHA-256 {digest}", body.len());
    Some(PreviewField { label: "Body".to_owned(), value, before: None })
}

/// A body that is text but for some bytes, whole: one byte that does not fit hides nothing else. `None`: most is no text.
fn nearly_text(body: &[u8]) -> Option<String> {
    let strange: usize = body.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    let controls = body.iter().filter(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()).count();
    if (strange + controls) * 8 > body.len() {
        return None;
    }
    let mut text = String::with_capacity(body.len());
    for chunk in body.utf8_chunks() {
        // What is written as an escape is one.
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(input: &Value) -> Result<Outgoing, Refusal> {
        let mut told = schema().faults(input);
        if told.is_empty() {
            told = faults(input);
        }
        if told.is_empty() { render(input) } else { Err(Refusal::Invalid(told)) }
    }

    fn fields(input: &Value) -> Vec<String> {
        match rendered(input) {
            Err(Refusal::Invalid(faults)) => faults.into_iter().map(|fault| fault.field).collect(),
            other => panic!("not invalid: {other:?}"),
        }
    }

    fn request(more: &Value) -> Value {
        let mut all = json!({ "credential": "c", "method": "POST", "url": "https://a.example/x?y=1" });
        if let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        all
    }

    #[test]
    fn one_byte_that_is_no_text_hides_nothing() {
        let body = STANDARD.encode(b"charge=ch_1&amount=99999900&note=\\x41\xff");
        let outgoing = rendered(&request(&json!({ "body_base64": body }))).expect("a request");
        let shown = written(&outgoing).fields.remove(0);
        assert_eq!(shown.label, "Body (38 bytes; \\xNN is a byte that is not text)");
        assert_eq!(shown.value, "charge=ch_1&amount=99999900&note=\\\\x41\\xff");
    }

    #[test]
    fn what_a_surface_writes_down_is_read_as_it_was() {
        let mut headers = HeaderMap::new();
        headers.append("x-twice", HeaderValue::from_static("1"));
        headers.append("x-twice", HeaderValue::from_static("2"));
        headers.append("x-bytes", HeaderValue::from_bytes(b"\xe9").expect("a value"));
        for body in [&b"text"[..], b"", b"\xff\xfe", b"nul\0"] {
            let written = arguments("c", &Method::PATCH, "https://a.example/x?y=%20", &headers, body);
            let outgoing = rendered(&Value::Object(written)).expect("a request");
            assert_eq!(outgoing.url.as_str(), "https://a.example/x?y=%20");
            assert_eq!(outgoing.headers.iter().cloned().collect::<HeaderMap>(), headers);
            assert_eq!(outgoing.body.unwrap_or_default(), body);
        }
    }

    #[test]
    fn headers_can_be_given_as_an_object_or_a_list() {
        let object = json!({ "headers": { "X-A": "1", "X-B": ["2", "3"] } });
        let list = json!({ "headers": [{ "name": "X-A", "value": "1" }, { "name": "x-b", "value": "2" }, { "name": "x-b", "value_base64": "Mw==" }] });
        let read = |more| rendered(&request(&more)).expect("a request").headers;
        assert_eq!(read(object), read(list));
    }

    #[test]
    fn every_fault_is_told_at_its_field() {
        assert_eq!(
            fields(&json!({ "headers": 1, "x": 1 })),
            ["/credential", "/method", "/url", "/headers", "/x"]
        );
        let more = json!({
            "method": "NO METHOD",
            "body": "a",
            "body_base64": "YQ==",
            "headers": { "a b": "x", "x-line": "a\r\nb", "x-number": 1, "x-list": ["a", "b\0"] },
        });
        let told = [
            "/method",
            "/body_base64",
            "/headers/a b",
            "/headers/x-line",
            "/headers/x-number",
            "/headers/x-list",
        ];
        assert_eq!(fields(&request(&more)), told);
        assert_eq!(fields(&request(&json!({ "body_base64": "?" }))), ["/body_base64"]);
        assert_eq!(
            fields(&request(&json!({ "headers": [{ "name": "x" }, "x: y"] }))),
            ["/headers/0", "/headers/1"]
        );
    }

    #[test]
    fn an_address_that_would_be_sent_as_another_is_blocked() {
        for url in [
            "https://A.example/",
            "https://a.example/a/../b",
            "https://u@a.example/",
            "ftp://a.example/",
            "x",
        ] {
            let refused = rendered(&request(&json!({ "url": url })));
            assert!(matches!(refused, Err(Refusal::EgressBlocked(_))), "{url}: {refused:?}");
        }
    }

    #[test]
    fn the_hash_is_of_method_address_and_body() {
        let of = |more: Value| match request(&more) {
            Value::Object(arguments) => hash(&arguments).expect("a hash"),
            _ => panic!("no object"),
        };
        let plain = of(json!({ "body": "hi" }));
        assert_eq!(plain, of(json!({ "body_base64": "aGk=", "headers": { "x": "y" }, "credential": "d" })));
        assert_eq!(plain, of(json!({ "body": "hi", "url": "https://a.example:443/x?y=1" })));
        assert_ne!(plain, of(json!({ "body": "ho" })));
        assert_ne!(plain, of(json!({ "body": "hi", "method": "PUT" })));
        assert_ne!(plain, of(json!({ "body": "hi", "url": "https://a.example/x?y=2" })));
    }

    #[test]
    fn a_body_that_is_not_text_is_described() {
        let more = json!({ "body_base64": "//79", "headers": { "content-type": "image/png" } });
        let written = written(&rendered(&request(&more)).expect("a request"));
        assert_eq!(written.title.as_deref(), Some("POST a.example/x"));
        assert!(written.fields[0].value.starts_with("3 bytes that are not text (image/png), SHA-256 "));
    }
}
