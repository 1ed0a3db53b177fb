//! Where the operations are: the servers of the document, with their variables filled in.

use serde_json::Value;
use url::Url;

use super::document::Document;
use super::operation::Operation;

/// What comes before every path: the address that was asked for, or the document's first server.
#[derive(Debug)]
pub(super) struct Servers {
    /// Of the document as a whole; the error says why there is none.
    whole: Result<Url, String>,
    /// It was asked for, so what is written in the document does not count.
    given: bool,
}

impl Servers {
    /// Of a document. `given`: the address that takes the place of the document's own.
    pub(super) fn of(document: &Document, given: Option<&Url>) -> Self {
        let whole = match given {
            Some(url) => usable(url.clone()).ok_or_else(|| "the server given cannot be used".to_owned()),
            None => first(document.get("servers"), None),
        };
        Self { whole, given: given.is_some() }
    }

    /// The address that an operation's path is put behind.
    ///
    /// # Errors
    /// Why there is none, as the end of a sentence.
    pub(super) fn base(&self, operation: &Operation<'_>) -> Result<Url, String> {
        match operation.servers() {
            Some(own) => first(Some(own), self.whole.as_ref().ok())
                .or_else(|reason| if self.given { self.whole.clone() } else { Err(reason) }),
            None => self.whole.clone(),
        }
    }
}

fn first(servers: Option<&Value>, beside: Option<&Url>) -> Result<Url, String> {
    let missing = || "the document names no server; name one with --server URL".to_owned();
    let server = servers.and_then(Value::as_array).and_then(|list| list.first()).ok_or_else(missing)?;
    let written = server.get("url").and_then(Value::as_str).ok_or_else(missing)?;
    let filled = fill_in(written, server)?;
    let relative =
        || "its server is relative to where the document was; name one with --server URL".to_owned();
    let parsed = match Url::parse(&filled) {
        Ok(url) => url,
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            beside.and_then(|base| base.join(&filled).ok()).ok_or_else(relative)?
        }
        Err(_) => return Err("its server's address cannot be read".to_owned()),
    };
    usable(parsed)
        .ok_or_else(|| "its server's address cannot be used: it has to be http or https alone".to_owned())
}

/// An address without user, query and fragment that can stand before a path.
pub(super) fn usable(url: Url) -> Option<Url> {
    let plain = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some_and(|host| !host.ends_with('.'))
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
        && url.port() != Some(0)
        && url.path().chars().all(|c| c.is_ascii_graphic() && !"{}%\\".contains(c));
    plain.then_some(url)
}

/// The address with every variable's default in its place.
fn fill_in(written: &str, server: &Value) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, behind) =
            behind.split_once('}').ok_or("the braces of its server's address do not match")?;
        let variable = server.get("variables").and_then(|variables| variables.get(name));
        let value = variable.and_then(|variable| {
            variable.get("default").or_else(|| variable.get("enum")?.get(0)).and_then(scalar)
        });
        let value = value.ok_or_else(|| {
            format!(
                "its server's address has {} and no value for it; name one with --server URL",
                super::quoted(name)
            )
        })?;
        filled.push_str(before);
        filled.push_str(&value);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
