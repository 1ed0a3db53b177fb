//! The request that an action sends, as a template.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderValue, Method};
use model::FieldError;
use percent_encoding::utf8_percent_encode;
use serde_json::Value;

use super::address::Address;
use super::document::{Entry, Kind, Node, Section};
use super::mistake::{Notes, Span, Wrong, nearest};
use super::template::{RESERVED, Scope, Template, Vocabulary, words};
use crate::credential::Credential;
use crate::outgoing::Outgoing;

const KEYS: &[&str] = &["method", "url", "query", "headers", "json", "form"];

/// Headers that an action may not write itself: the connection's, the desk's, and those that carry secrets.
const FORBIDDEN: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "upgrade",
    "cookie",
    "authorization",
    "idempotency-key",
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
];

/// The request that an action sends, as a template.
#[derive(Debug)]
pub struct RequestTemplate {
    method: Method,
    address: Address,
    query: Vec<(String, Template)>,
    headers: Vec<(HeaderName, Template)>,
    body: BodyTemplate,
}

/// A body, as a template.
#[derive(Debug)]
enum BodyTemplate {
    None,
    Json(JsonTemplate),
    Form(Vec<(String, Template)>),
}

/// A JSON document whose strings are templates and whose keys are fixed.
#[derive(Debug)]
pub(super) enum JsonTemplate {
    Fixed(Value),
    Text(Template),
    Array(Vec<JsonTemplate>),
    Object(Vec<(String, JsonTemplate)>),
}

/// Methods that are in use. Another one is taken too, unless it looks like one of these misspelt.
const METHODS: &[&str] = &[
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "QUERY",
    "CONNECT",
    "TRACE",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "MKCOL",
    "PROPFIND",
    "PROPPATCH",
    "REPORT",
    "SEARCH",
    "PURGE",
    "LINK",
    "UNLINK",
    "BIND",
    "LIST",
    "ACL",
];

/// Reads a method.
pub(super) fn method(text: &str, span: &Span, notes: &Notes<'_>) -> Option<Method> {
    let expected = "an upper-case method such as GET or POST";
    let upper = !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase() || c == '-');
    let method = Method::from_bytes(text.as_bytes()).ok().filter(|_| upper);
    let misspelt = if METHODS.contains(&text) { None } else { nearest(text, METHODS.iter().copied()) };
    match method {
        Some(_) if misspelt.is_some() => {
            notes.add(
                span,
                Wrong::new(format!("“{text}” is no method")).nearest(text, METHODS.iter().copied()),
            );
        }
        None => notes.add(span, Wrong::new(format!("“{text}” is no method")).expected(expected)),
        Some(Method::CONNECT | Method::TRACE) => notes.add(span, Wrong::new(format!("{text} is never sent"))),
        Some(method) => return Some(method),
    }
    None
}

impl RequestTemplate {
    /// Reads a request. `default`: the method when none is written; `None`: it has to be.
    pub(super) fn read(
        node: &Node,
        what: &'static str,
        default: Option<Method>,
        vocabulary: Vocabulary<'_>,
        credential: Option<&Credential>,
        notes: &Notes<'_>,
    ) -> Option<Self> {
        let section = Section::open(node, what, KEYS, notes)?;
        let written = match default {
            Some(_) => section.get("method"),
            None => section.require("method"),
        };
        let read = written.and_then(|node| method(node.text("“method”", notes)?, &node.span, notes));
        let method = read.or(default);
        let address = section.require("url").and_then(|node| Address::read(node, vocabulary, notes));
        let query = pairs(&section, "query", vocabulary);
        let headers = headers(&section, vocabulary, credential);
        let body = body(&section, vocabulary);
        let request = Self { method: method?, address: address?, query, headers, body };
        request.check(&section, credential);
        Some(request)
    }

    /// Method and address as they are written, without a query.
    pub(super) fn written(&self) -> String {
        format!("{} {}", self.method, self.address.written())
    }

    /// Whether the credential may be used for it.
    fn check(&self, section: &Section<'_>, credential: Option<&Credential>) {
        self.address.check(section, credential);
        let methods = credential.map_or(&[][..], |credential| &credential.methods);
        if !methods.is_empty() && !methods.contains(&self.method) {
            let allowed: Vec<&str> = methods.iter().map(Method::as_str).collect();
            let wrong = Wrong::new(format!("the credential may not be used for {}", self.method));
            section.wrong("method", wrong.expected(super::document::list(&allowed)));
        }
        if matches!(self.method, Method::GET | Method::HEAD) && !matches!(self.body, BodyTemplate::None) {
            section.wrong("method", Wrong::new(format!("a {} request carries no body", self.method)));
        }
    }

    /// The request for this input, or every field it cannot be written from.
    pub(super) fn render(&self, scope: &Scope<'_>) -> Result<Outgoing, Vec<FieldError>> {
        let mut faults = Vec::new();
        let query = gather(render_pairs(&self.query, scope), &mut faults).unwrap_or_default();
        let url = gather(self.address.render(scope, &query), &mut faults);
        let mut headers = Vec::new();
        for (name, template) in &self.headers {
            if let Some(Some(value)) = gather(render_header(template, scope), &mut faults) {
                headers.push((name.clone(), value));
            }
        }
        let body = gather(self.body.render(scope), &mut faults).flatten();
        if let Some((kind, _)) =
            body.as_ref().filter(|_| !headers.iter().any(|(name, _)| name == CONTENT_TYPE))
        {
            headers.push((CONTENT_TYPE, HeaderValue::from_static(kind)));
        }
        match url {
            Some(url) if faults.is_empty() => Ok(Outgoing {
                method: self.method.clone(),
                url,
                values_encoded: true,
                headers,
                body: body.map(|(_, bytes)| bytes),
            }),
            _ => Err(without_repeats(faults)),
        }
    }
}

/// Takes the value, or adds the faults to the others.
fn gather<T>(result: Result<T, Vec<FieldError>>, faults: &mut Vec<FieldError>) -> Option<T> {
    result.map_err(|more| faults.extend(more)).ok()
}

fn without_repeats(faults: Vec<FieldError>) -> Vec<FieldError> {
    let mut kept: Vec<FieldError> = Vec::new();
    for fault in faults {
        if !kept.iter().any(|known| known.field == fault.field) {
            kept.push(fault);
        }
    }
    kept
}

/// Compiles a template and notes what is wrong with it.
pub(super) fn template(
    node: &Node,
    what: &str,
    vocabulary: Vocabulary<'_>,
    notes: &Notes<'_>,
) -> Option<Template> {
    let source = match &node.kind {
        Kind::Number(_) | Kind::Boolean(_) | Kind::Datetime(_) => words(&node.to_json()),
        _ => node.text(what, notes)?.to_owned(),
    };
    match Template::compile(&source, vocabulary) {
        Ok(template) => Some(template),
        Err(wrongs) => {
            for wrong in wrongs {
                notes.add(&node.span, wrong);
            }
            None
        }
    }
}

/// A table of names and templates.
fn pairs(section: &Section<'_>, key: &str, vocabulary: Vocabulary<'_>) -> Vec<(String, Template)> {
    let what = format!("“{key}”");
    let entries = section.get(key).and_then(|node| node.table(&what, section.notes)).unwrap_or_default();
    let compile = |entry: &Entry| {
        let what = format!("“{}”", entry.key);
        Some((entry.key.clone(), template(&entry.node, &what, vocabulary, section.notes)?))
    };
    entries.iter().filter_map(compile).collect()
}

/// `a=1&b=2`, percent-encoded; an expression that stands for nothing leaves its pair out, a list repeats it.
fn render_pairs(pairs: &[(String, Template)], scope: &Scope<'_>) -> Result<String, Vec<FieldError>> {
    let mut written = Vec::new();
    let mut faults = Vec::new();
    for (name, template) in pairs {
        let name = utf8_percent_encode(name, RESERVED);
        let mut push = |value: &Value| {
            written.push(format!("{name}={}", utf8_percent_encode(&words(value), RESERVED)));
        };
        match gather(template.value(scope), &mut faults).flatten() {
            None | Some(Value::Null) => {}
            Some(Value::Array(values)) => values.iter().for_each(push),
            Some(value) => push(&value),
        }
    }
    if faults.is_empty() { Ok(written.join("&")) } else { Err(faults) }
}

fn headers(
    section: &Section<'_>,
    vocabulary: Vocabulary<'_>,
    credential: Option<&Credential>,
) -> Vec<(HeaderName, Template)> {
    let entries =
        section.get("headers").and_then(|node| node.table("“headers”", section.notes)).unwrap_or_default();
    let mut headers: Vec<(HeaderName, Template)> = Vec::new();
    for entry in entries {
        let Ok(name) = HeaderName::try_from(entry.key.as_str()) else {
            section.notes.add(&entry.key_span, Wrong::new(format!("“{}” is no header name", entry.key)));
            continue;
        };
        if FORBIDDEN.contains(&name.as_str())
            || credential.is_some_and(|credential| credential.header == name)
        {
            section
                .notes
                .add(&entry.key_span, Wrong::new(format!("an action may not write the header {name}")));
        }
        if headers.iter().any(|(known, _)| *known == name) {
            section.notes.add(&entry.key_span, Wrong::new(format!("the header {name} is written twice")));
        }
        if let Some(template) = template(&entry.node, "a header", vocabulary, section.notes) {
            headers.push((name, template));
        }
    }
    headers
}

/// A header's value; an expression that stands for nothing leaves the header out.
fn render_header(template: &Template, scope: &Scope<'_>) -> Result<Option<HeaderValue>, Vec<FieldError>> {
    let text = match template.value(scope)? {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => words(&value),
    };
    let broken = text.chars().any(|c| c.is_control() && c != '\t');
    HeaderValue::from_bytes(text.as_bytes()).ok().filter(|_| !broken).map(Some).ok_or_else(|| {
        let message = "This may not hold line breaks or control characters: it becomes a header.";
        let at_fault = template.fields().filter(|field| {
            scope
                .input
                .get(*field)
                .is_some_and(|value| words(value).chars().any(|c| c.is_control() && c != '\t'))
        });
        let faults: Vec<FieldError> = at_fault
            .map(|field| FieldError::new(format!("/{}", super::schema::escape(field)), message))
            .collect();
        if faults.is_empty() { vec![FieldError::new("", message)] } else { faults }
    })
}

fn body(section: &Section<'_>, vocabulary: Vocabulary<'_>) -> BodyTemplate {
    if section.get("json").is_some() && section.get("form").is_some() {
        section.wrong("form", Wrong::new("a request has one body").expected("“json” or “form”"));
    }
    if let Some(node) = section.get("json") {
        return JsonTemplate::read(node, vocabulary, section.notes)
            .map_or(BodyTemplate::None, BodyTemplate::Json);
    }
    match section.get("form") {
        Some(_) => BodyTemplate::Form(pairs(section, "form", vocabulary)),
        None => BodyTemplate::None,
    }
}

impl BodyTemplate {
    /// The media type and the bytes.
    fn render(&self, scope: &Scope<'_>) -> Result<Option<(&'static str, Bytes)>, Vec<FieldError>> {
        match self {
            Self::None => Ok(None),
            Self::Json(json) => {
                let value = json.render(scope)?.unwrap_or(Value::Null);
                Ok(Some(("application/json", Bytes::from(value.to_string()))))
            }
            Self::Form(pairs) => {
                Ok(Some(("application/x-www-form-urlencoded", Bytes::from(render_pairs(pairs, scope)?))))
            }
        }
    }
}

impl JsonTemplate {
    pub(super) fn read(node: &Node, vocabulary: Vocabulary<'_>, notes: &Notes<'_>) -> Option<Self> {
        Some(match &node.kind {
            Kind::Text(_) => Self::Text(template(node, "“json”", vocabulary, notes)?),
            Kind::Array(items) => {
                Self::Array(items.iter().filter_map(|item| Self::read(item, vocabulary, notes)).collect())
            }
            Kind::Table(entries) => {
                let read =
                    |entry: &Entry| Some((entry.key.clone(), Self::read(&entry.node, vocabulary, notes)?));
                Self::Object(entries.iter().filter_map(read).collect())
            }
            _ => Self::Fixed(node.to_json()),
        })
    }

    /// The document; `None`: an expression that stands for nothing, whose key is left out.
    pub(super) fn render(&self, scope: &Scope<'_>) -> Result<Option<Value>, Vec<FieldError>> {
        let mut faults = Vec::new();
        let value = match self {
            Self::Fixed(value) => Some(value.clone()),
            Self::Text(template) => return template.value(scope),
            Self::Array(items) => {
                let rendered = items.iter().filter_map(|item| gather(item.render(scope), &mut faults));
                Some(Value::Array(rendered.map(Option::unwrap_or_default).collect()))
            }
            Self::Object(entries) => {
                let rendered = entries.iter().filter_map(|(key, inner)| {
                    gather(inner.render(scope), &mut faults).flatten().map(|value| (key.clone(), value))
                });
                Some(Value::Object(rendered.collect()))
            }
        };
        if faults.is_empty() { Ok(value) } else { Err(faults) }
    }
}
