//! The request of an action: where every argument goes.

use std::collections::BTreeSet;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Map, Value, json};
use url::Url;

use super::body;
use super::document::Document;
use super::inputs::{Inputs, as_json, expression, joined};
use super::operation::{Operation, is_in_path};
use super::parameter::{Parameter, Place, Style};
use super::schema::{self, kind};

/// What a path written into an address may not hold as it is.
const IN_PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'^').add(b'`').add(b'|');

/// Headers that an action does not write: the connection's, the desk's, and those that carry secrets.
const NOT_OURS: &[&str] = &[
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "idempotency-key",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// A request and the arguments it is written from.
#[derive(Debug)]
pub(super) struct Request {
    /// As the catalogue writes it.
    pub(super) written: Map<String, Value>,
    pub(super) inputs: Inputs,
    /// What was left out of it.
    pub(super) notes: BTreeSet<String>,
}

/// What a request is made for.
pub(super) struct Wanted<'d> {
    pub(super) document: &'d Document,
    pub(super) operation: &'d Operation<'d>,
    pub(super) base: &'d Url,
    /// The header that the credential puts in.
    pub(super) credential_header: Option<&'d str>,
}

/// A request in the making.
struct Making<'d> {
    document: &'d Document,
    inputs: Inputs,
    query: Map<String, Value>,
    headers: Map<String, Value>,
    notes: BTreeSet<String>,
    credential_header: Option<&'d str>,
}

/// Writes the request of an operation.
///
/// # Errors
/// Why the operation cannot be taken, as the end of a sentence that begins with its name and a colon.
pub(super) fn request(wanted: &Wanted<'_>) -> Result<Request, String> {
    let (document, operation) = (wanted.document, wanted.operation);
    let mut making = Making {
        document,
        inputs: Inputs::default(),
        query: Map::new(),
        headers: Map::new(),
        notes: BTreeSet::new(),
        credential_header: wanted.credential_header,
    };
    let parameters = operation.parameters(document)?;
    let url = making.url(wanted, &parameters)?;
    for parameter in parameters.iter().filter(|parameter| !is_in_path(parameter)) {
        making.parameter(parameter)?;
    }
    let body = body::body(document, operation, &mut making.inputs, &mut making.notes)?;
    let Making { inputs, query, mut headers, notes, .. } = making;
    let mut written = Map::new();
    written.insert("method".to_owned(), json!(operation.method));
    written.insert("url".to_owned(), json!(url));
    if let Some(media_type) = body.as_ref().and_then(|body| body.media_type.clone()) {
        headers.insert("Content-Type".to_owned(), json!(media_type));
    }
    for (key, table) in [("query", query), ("headers", headers)] {
        if !table.is_empty() {
            written.insert(key.to_owned(), Value::Object(table));
        }
    }
    if let Some(body) = body {
        written.insert(body.key.to_owned(), body.template);
    }
    Ok(Request { written, inputs, notes })
}

impl Making<'_> {
    /// The address, with an expression in the place of every placeholder.
    fn url(&mut self, wanted: &Wanted<'_>, parameters: &[Parameter<'_>]) -> Result<String, String> {
        let path = wanted.operation.sent_path();
        let names = wanted.operation.placeholders()?;
        for parameter in parameters.iter().filter(|parameter| is_in_path(parameter)) {
            if !names.contains(&parameter.name) {
                self.note(format!(
                    "the path has no place for its parameter {}",
                    super::quoted(parameter.name)
                ));
            }
        }
        let mut url = wanted.base.as_str().trim_end_matches('/').to_owned();
        if !path.starts_with('/') {
            url.push('/');
        }
        let mut rest = path;
        for name in names {
            let (fixed, behind) = rest.split_once('{').unwrap_or((rest, ""));
            url.push_str(&utf8_percent_encode(fixed, IN_PATH).to_string());
            rest = behind.split_once('}').map_or("", |(_, behind)| behind);
            let declared =
                parameters.iter().find(|parameter| is_in_path(parameter) && parameter.name == name);
            url.push_str(&self.path_value(name, declared)?);
        }
        url.push_str(&utf8_percent_encode(rest, IN_PATH).to_string());
        if path.contains(char::is_control) {
            return Err("its path holds a control character".to_owned());
        }
        check_address(&url, wanted.base)?;
        Ok(url)
    }

    /// The expression for a placeholder of the path.
    fn path_value(&mut self, name: &str, declared: Option<&Parameter<'_>>) -> Result<String, String> {
        if let Some(known) = self.inputs.find(Place::Path, name) {
            return Ok(expression(&known.name));
        }
        let Some(parameter) = declared else {
            self.note(format!(
                "its path has {}, which is no parameter; it was taken as a text",
                super::quoted(name)
            ));
            let schema = json!({ "type": "string", "minLength": 1 });
            return Ok(expression(&self.inputs.add(name, Place::Path, true, schema)));
        };
        let schema = self.parameter_schema(parameter)?;
        match (kind(&schema), parameter.style()) {
            (Some("object"), _) | (_, Style::Unknown) => {
                Err("a parameter of its path is written in a way that a template cannot follow".to_owned())
            }
            (Some("array"), Style::Joined(separator)) => {
                let name = self.inputs.add(name, Place::Path, true, schema);
                Ok(format!("{{{{ input.{name} | join('{separator}') }}}}"))
            }
            _ => Ok(expression(&self.inputs.add(name, Place::Path, true, schema))),
        }
    }

    /// A parameter outside the path.
    fn parameter(&mut self, parameter: &Parameter<'_>) -> Result<(), String> {
        if parameter.name.chars().any(char::is_control) {
            self.note("a parameter whose name holds control characters was left out".to_owned());
            return Ok(());
        }
        match parameter.place {
            Place::Query => self.query_parameter(parameter),
            Place::Header => self.header(parameter),
            _ => {
                self.note(format!(
                    "its {} is left out: the desk sends no cookies",
                    named("cookie", parameter)
                ));
                Ok(())
            }
        }
    }

    fn query_parameter(&mut self, parameter: &Parameter<'_>) -> Result<(), String> {
        let schema = self.parameter_schema(parameter)?;
        let (style, is_list, is_object) =
            (parameter.style(), kind(&schema) == Some("array"), kind(&schema) == Some("object"));
        if style == Style::Unknown || (is_object && matches!(style, Style::Joined(_))) {
            self.note(format!(
                "its {} is left out: a template cannot write its style",
                named("query parameter", parameter)
            ));
            return Ok(());
        }
        let spread = is_object && style != Style::Json;
        let schema =
            if spread { body::writable(&schema, parameter.name, 0, &mut self.notes) } else { Some(schema) };
        let Some(schema) = schema else { return Ok(()) };
        let name = self.inputs.add(parameter.name, Place::Query, parameter.is_required(), schema.clone());
        if spread {
            let brackets = (style == Style::Bracketed).then_some(parameter.name);
            body::flatten(&mut self.query, brackets, &format!("input.{name}"), &schema);
            return Ok(());
        }
        let template = match style {
            Style::Json => as_json(&name),
            Style::Joined(separator) if is_list => joined(&name, separator),
            _ => expression(&name),
        };
        self.query.insert(parameter.name.to_owned(), json!(template));
        Ok(())
    }

    fn header(&mut self, parameter: &Parameter<'_>) -> Result<(), String> {
        let lower = parameter.name.to_ascii_lowercase();
        let fills_itself = NOT_OURS.contains(&lower.as_str())
            || self.credential_header.is_some_and(|header| header.eq_ignore_ascii_case(&lower));
        if fills_itself || self.headers.keys().any(|known| known.eq_ignore_ascii_case(&lower)) {
            return Ok(());
        }
        if http::HeaderName::try_from(parameter.name).is_err() {
            self.note(format!("its {} is left out: that is no header's name", named("header", parameter)));
            return Ok(());
        }
        let schema = self.parameter_schema(parameter)?;
        let is_list = kind(&schema) == Some("array");
        let name = self.inputs.add(parameter.name, Place::Header, parameter.is_required(), schema);
        let template = if is_list { joined(&name, ',') } else { expression(&name) };
        self.headers.insert(parameter.name.to_owned(), json!(template));
        Ok(())
    }

    fn parameter_schema(&mut self, parameter: &Parameter<'_>) -> Result<Value, String> {
        let mut converted = match parameter.schema() {
            Some(node) => schema::convert(self.document, node, &mut self.notes)
                .map_err(|reason| format!("the {} has {reason}", named("parameter", parameter)))?,
            None => json!({ "type": "string" }),
        };
        let described = super::prose::field(parameter.node, "description", 200);
        if let (Some(object), Some(text)) = (converted.as_object_mut(), described) {
            object.insert("description".to_owned(), json!(text));
        }
        Ok(converted)
    }

    fn note(&mut self, words: String) {
        self.notes.insert(words);
    }
}

fn named(what: &str, parameter: &Parameter<'_>) -> String {
    format!("{what} {}", super::quoted(parameter.name))
}

/// Whether every required argument of one operation has its like in another, so that both can be asked of the same input.
pub(super) fn can_be_asked_with(parameters: &[Parameter<'_>], inputs: &Inputs) -> bool {
    parameters
        .iter()
        .filter(|parameter| parameter.is_required())
        .all(|parameter| inputs.find(parameter.place, parameter.name).is_some_and(|input| input.required))
}

/// An address that is sent as it is written, or why it is not one.
fn check_address(url: &str, base: &Url) -> Result<(), String> {
    let mut sample = String::new();
    let mut rest = url;
    while let Some((fixed, behind)) = rest.split_once("{{") {
        sample.push_str(fixed);
        sample.push('x');
        rest = behind.split_once("}}").map_or("", |(_, behind)| behind);
    }
    sample.push_str(rest);
    let strange = sample.contains(['#', '\\', '{', '}']) || !sample.chars().all(|c| c.is_ascii_graphic());
    let kept = Url::parse(&sample).is_ok_and(|parsed| {
        parsed.as_str() == sample || parsed.as_str().strip_suffix('/') == Some(sample.as_str())
    });
    if strange
        || !kept
        || !sample.starts_with(base.as_str().trim_end_matches('/'))
        || !has_whole_escapes(&sample)
    {
        return Err("its path holds a dot segment or a character that an address cannot hold".to_owned());
    }
    Ok(())
}

/// Whether every percent sign begins an escape, and none of a dot, a slash or a backslash.
fn has_whole_escapes(url: &str) -> bool {
    url.split('%').skip(1).all(|after| {
        let escape = after.get(..2).unwrap_or_default().to_ascii_lowercase();
        escape.len() == 2
            && escape.chars().all(|c| c.is_ascii_hexdigit())
            && !matches!(escape.as_str(), "2e" | "2f" | "5c" | "25")
    })
}
