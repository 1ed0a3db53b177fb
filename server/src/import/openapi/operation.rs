//! One operation of the document, with what its path adds to it.

use serde_json::{Map, Value};

use super::document::{Document, reference};
use super::parameter::{Parameter, Place};

/// The fields of a path that are operations.
const METHODS: &[&str] = &["get", "head", "options", "post", "put", "patch", "delete", "trace"];

/// One operation of the document.
#[derive(Debug, Clone)]
pub(super) struct Operation<'d> {
    /// In upper case.
    pub(super) method: String,
    /// As the document writes it.
    pub(super) path: &'d str,
    /// The operation's own object.
    pub(super) node: &'d Value,
    /// The object of its path.
    item: &'d Value,
}

/// Every operation, in the order of the document. A path that cannot be read is told with its reason.
pub(super) fn all(document: &Document) -> Vec<Result<Operation<'_>, (String, String)>> {
    document
        .entries("/paths")
        .filter(|(path, _)| !path.starts_with("x-"))
        .flat_map(|(path, item)| of_path(document, path, item))
        .collect()
}

fn of_path<'d>(
    document: &'d Document,
    path: &'d str,
    item: &'d Value,
) -> Vec<Result<Operation<'d>, (String, String)>> {
    match document.resolve(item) {
        Err(reason) => vec![Err((path.to_owned(), format!("it is {reason}")))],
        Ok(item) => {
            let written = METHODS
                .iter()
                .filter_map(|method| Some((*method, item.get(method).filter(|node| node.is_object())?)));
            written.map(|(method, node)| one(document, path, item, method, node)).collect()
        }
    }
}

/// One operation; some documents write it as a reference.
fn one<'d>(
    document: &'d Document,
    path: &'d str,
    item: &'d Value,
    method: &str,
    node: &'d Value,
) -> Result<Operation<'d>, (String, String)> {
    let operation = Operation { method: method.to_ascii_uppercase(), path, node, item };
    match document.resolve(node) {
        Ok(node) => Ok(Operation { node, ..operation }),
        Err(reason) => Err((operation.shown(), format!("it is {reason}"))),
    }
}

impl<'d> Operation<'d> {
    /// The path as it is sent. Some documents tell operations of one path apart by a fragment, which never is.
    pub(super) fn sent_path(&self) -> &'d str {
        self.path.split('#').next().unwrap_or_default()
    }

    /// Method and path, for people.
    pub(super) fn shown(&self) -> String {
        let path: String =
            self.path.chars().map(|c| if c.is_control() { '?' } else { c }).take(200).collect();
        format!("{} {path}", self.method)
    }

    /// Its id.
    pub(super) fn id(&self) -> Option<&'d str> {
        self.text("operationId").filter(|id| !id.trim().is_empty())
    }

    /// A field that holds text.
    pub(super) fn text(&self, field: &str) -> Option<&'d str> {
        self.node.get(field).and_then(Value::as_str)
    }

    /// The first of its tags.
    pub(super) fn tag(&self) -> Option<&'d str> {
        self.tags().next()
    }

    /// Its tags.
    pub(super) fn tags(&self) -> impl Iterator<Item = &'d str> {
        self.node.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// Whether the document advises against it.
    pub(super) fn is_deprecated(&self) -> bool {
        self.node.get("deprecated") == Some(&Value::Bool(true))
    }

    /// The servers that count for it alone: its own, or its path's.
    pub(super) fn servers(&self) -> Option<&'d Value> {
        [self.node, self.item]
            .into_iter()
            .filter_map(|node| node.get("servers"))
            .find(|servers| has_entries(servers))
    }

    /// The operation of the same path that reads it.
    pub(super) fn reading(&self) -> Option<Self> {
        let node = self.item.get("get").filter(|node| node.is_object() && reference(node).is_none())?;
        Some(Self { method: "GET".to_owned(), path: self.path, node, item: self.item })
    }

    /// Its parameters and its path's, each once; its own count.
    ///
    /// # Errors
    /// Why one of them cannot be read, as the end of a sentence that begins with “It”.
    pub(super) fn parameters(&self, document: &'d Document) -> Result<Vec<Parameter<'d>>, String> {
        let mut parameters: Vec<Parameter<'d>> = Vec::new();
        let written =
            |node: &'d Value| node.get("parameters").and_then(Value::as_array).into_iter().flatten();
        for node in written(self.item).chain(written(self.node)) {
            let node = document.resolve(node).map_err(|reason| format!("a parameter is {reason}"))?;
            let Some(parameter) = Parameter::read(node) else {
                return Err("a parameter has no name or no known place".to_owned());
            };
            let same = |known: &Parameter<'_>| known.place == parameter.place && known.name == parameter.name;
            match parameters.iter().position(same) {
                Some(at) => parameters[at] = parameter,
                None => parameters.push(parameter),
            }
        }
        parameters.sort_by_key(|parameter| parameter.place);
        Ok(parameters)
    }

    /// The answers that the document tells, by status.
    pub(super) fn responses(&self) -> impl Iterator<Item = (&'d str, &'d Value)> {
        let responses = self.node.get("responses").and_then(Value::as_object);
        responses.into_iter().flat_map(Map::iter).map(|(status, answer)| (status.as_str(), answer))
    }

    /// The names between braces of the path, or why they cannot be told.
    pub(super) fn placeholders(&self) -> Result<Vec<&'d str>, String> {
        let mut names = Vec::new();
        let mut rest = self.sent_path();
        while let Some(at) = rest.find(['{', '}']) {
            let name = rest[at..].strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let Some((name, behind)) = name.filter(|(name, _)| !name.is_empty() && !name.contains('{'))
            else {
                return Err("the braces of its path do not match".to_owned());
            };
            names.push(name);
            rest = behind;
        }
        Ok(names)
    }
}

fn has_entries(list: &Value) -> bool {
    list.as_array().is_some_and(|items| !items.is_empty())
}

/// Whether a parameter stands in the path.
pub(super) fn is_in_path(parameter: &Parameter<'_>) -> bool {
    parameter.place == Place::Path
}
