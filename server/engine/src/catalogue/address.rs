//! Where a request goes, as a template that no value can leave its place in.

use http::Uri;
use model::FieldError;
use percent_encoding::utf8_percent_encode;
use url::Url;

use super::credentials::host_allowed;
use super::document::{Node, Section};
use super::mistake::{Notes, Wrong};
use super::request::template;
use super::schema::escape;
use super::template::{CLOSE, OPEN, RESERVED, Scope, Template, Vocabulary, unusable, words};
use crate::credential::Credential;
use crate::egress::is_disguised;

/// Where a request goes: a fixed scheme and host, and a path and query that values may be put into.
#[derive(Debug)]
pub(super) struct Address {
    template: Template,
    /// The address with a placeholder for every expression, as far as it can be read without one.
    sample: Url,
    /// The path up to the first expression.
    fixed_path: String,
    /// The path goes on with an expression.
    goes_on: bool,
}

impl Address {
    /// Reads a URL.
    pub(super) fn read(node: &Node, vocabulary: Vocabulary<'_>, notes: &Notes<'_>) -> Option<Self> {
        let source = node.text("“url”", notes)?;
        let template = template(node, "“url”", vocabulary, notes);
        match parts(source) {
            Ok((sample, fixed_path, goes_on)) => {
                Some(Self { template: template?, sample, fixed_path, goes_on })
            }
            Err(wrong) => {
                notes.add(&node.span, wrong);
                None
            }
        }
    }

    /// As it is written, without a query.
    pub(super) fn written(&self) -> &str {
        self.template.source().split('?').next().unwrap_or_default()
    }

    /// Whether the credential may be sent there.
    pub(super) fn check(&self, section: &Section<'_>, credential: Option<&Credential>) {
        let wrong =
            |message: String, expected: String| section.wrong("url", Wrong::new(message).expected(expected));
        if self.sample.scheme() == "http" && !credential.is_some_and(|credential| credential.allow_http) {
            wrong(
                "the request would go over plain http".into(),
                "https, or a credential with allow_http = true".into(),
            );
        }
        let Some(credential) = credential else { return };
        if !credential.hosts.is_empty() && !host_allowed(&credential.hosts, &self.sample) {
            let written = credential.hosts.iter().map(|rule| match rule.port {
                Some(port) => format!("{}:{port}", rule.host),
                None => rule.host.clone(),
            });
            let written: Vec<String> = written.collect();
            let hosts: Vec<&str> = written.iter().map(String::as_str).collect();
            let message = format!("the credential “{}” may not be sent to this host", credential.name);
            wrong(message, super::document::list(&hosts));
        }
        let prefixes = &credential.path_prefixes;
        if !prefixes.is_empty() && !prefixes.iter().any(|prefix| self.may_be_under(prefix)) {
            let paths: Vec<&str> = prefixes.iter().map(String::as_str).collect();
            let message = format!("the credential “{}” may not be used under this path", credential.name);
            wrong(message, super::document::list(&paths));
        }
    }

    /// Whether the path is, or with the right values would be, under the prefix.
    fn may_be_under(&self, prefix: &str) -> bool {
        let bare = prefix.strip_suffix('/').unwrap_or(prefix);
        let under = self.fixed_path.strip_prefix(bare).is_some_and(|rest| {
            rest.starts_with('/') || (rest.is_empty() && (self.goes_on || !prefix.ends_with('/')))
        });
        under || (self.goes_on && prefix.starts_with(&self.fixed_path))
    }

    /// The address for this input, with more query behind it; its path is refused when a value would make a segment
    /// empty or a dot segment.
    pub(super) fn render(&self, scope: &Scope<'_>, query: &str) -> Result<Url, Vec<FieldError>> {
        let marked = self.template.url(scope)?;
        let path_end = marked.find('?').unwrap_or(marked.len());
        let path = marked[..path_end].splitn(4, '/').nth(3).unwrap_or_default();
        let faults: Vec<FieldError> = path
            .split('/')
            .filter_map(|segment| Some(self.fault(segment, segment_fault(segment)?, scope)))
            .collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut text: String = marked.chars().filter(|c| !matches!(*c, OPEN | CLOSE)).collect();
        if !query.is_empty() {
            text.push(if text.contains('?') { '&' } else { '?' });
            text.push_str(query);
        }
        let url = Url::parse(&text).map_err(|_| vec![unusable()])?;
        let sent_as_written = text.parse::<Uri>().is_ok_and(|uri| uri.path() == url.path());
        if url.origin() != self.sample.origin() || !sent_as_written {
            return Err(vec![unusable()]);
        }
        Ok(url)
    }

    /// The fault on the field whose value made the segment, when it can be told.
    fn fault(&self, segment: &str, message: &str, scope: &Scope<'_>) -> FieldError {
        let values: Vec<&str> =
            segment.split(OPEN).skip(1).filter_map(|rest| rest.split(CLOSE).next()).collect();
        let mut fields: Vec<&str> = self.template.fields().collect();
        fields.dedup();
        let made_it = |field: &&&str| {
            let value = scope.input.get(**field).map(words).unwrap_or_default();
            values.contains(&utf8_percent_encode(&value, RESERVED).to_string().as_str())
        };
        let named = match fields.as_slice() {
            [only] => Some(*only),
            several => several.iter().find(made_it).copied(),
        };
        FieldError::new(named.map(|field| format!("/{}", escape(field))).unwrap_or_default(), message)
    }
}

/// What is wrong with a segment of the path that an expression had a part in.
fn segment_fault(segment: &str) -> Option<&'static str> {
    if !segment.contains(OPEN) {
        return None;
    }
    let bare: String = segment.chars().filter(|c| !matches!(*c, OPEN | CLOSE)).collect();
    match bare.to_ascii_lowercase().replace("%2e", ".").as_str() {
        "" => Some("This may not be empty: it becomes a part of the address."),
        "." | ".." => Some("This may not be a dot segment: it becomes a part of the address."),
        _ if is_disguised(&bare) => Some(
            "This may not hold a dot segment or a backslash, encoded or not: it becomes a part of the address.",
        ),
        _ => None,
    }
}

/// The sample address, its path up to the first expression, and whether the path goes on.
fn parts(source: &str) -> Result<(Url, String, bool), Wrong> {
    let literals = literals(source);
    let first = literals.first().copied().unwrap_or_default();
    let tagged = literals.len() > 1;
    let example = "an address such as \"https://api.example/v1/things/{{ input.id }}\"";
    let authority = first.find("://").map(|at| at + 3).filter(|_| first.starts_with("http"));
    let path_at = authority.and_then(|at| first[at..].find(['/', '?']).map(|end| at + end));
    let (Some(_), true) = (authority, path_at.is_some() || !tagged) else {
        let message = if tagged {
            "the scheme and the host of an address may not come from an expression"
        } else {
            "this is no absolute http or https address"
        };
        return Err(Wrong::new(message).expected(example));
    };
    if literals
        .iter()
        .any(|literal| !literal.chars().all(|c| c.is_ascii_graphic() && !"\\\"<>^`{|}#".contains(c)))
    {
        let message = "the address holds a character that has to be percent-encoded, or a fragment";
        return Err(Wrong::new(message));
    }
    let written = literals.join("x");
    let sample = Url::parse(&written).map_err(|_| Wrong::new("this is no address").expected(example))?;
    if !sample.username().is_empty() || sample.password().is_some() {
        return Err(Wrong::new("an address may not name a user").expected("a credential"));
    }
    let authority = &first[..path_at.unwrap_or(first.len())];
    let canonical = sample.as_str().starts_with(&format!("{authority}/"))
        || sample.as_str().starts_with(&format!("{authority}?"));
    let path_kept = written.parse::<Uri>().is_ok_and(|uri| uri.path() == sample.path());
    if !matches!(sample.scheme(), "http" | "https") || !canonical || !path_kept {
        let message = "the address is not written in its canonical form";
        return Err(Wrong::new(message).expected(format!("one such as \"{}\"", sample.as_str())));
    }
    let fixed = path_at.map_or("/", |at| &first[at..]);
    let path = fixed.split('?').next().filter(|path| !path.is_empty()).unwrap_or("/");
    Ok((sample.clone(), path.to_owned(), tagged && !fixed.contains('?')))
}

/// What stands between the tags of a template.
fn literals(source: &str) -> Vec<&str> {
    let mut literals = Vec::new();
    let mut rest = source;
    loop {
        let tag = ["{{", "{%", "{#"].iter().filter_map(|open| rest.find(open)).min();
        let Some(start) = tag else {
            literals.push(rest);
            return literals;
        };
        literals.push(&rest[..start]);
        let close = match &rest[start..start + 2] {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        rest = rest[start..].find(close).map_or("", |end| &rest[start + end + 2..]);
    }
}
