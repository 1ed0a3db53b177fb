//! A parameter: where it stands, and how its value is written there.

use serde_json::Value;

/// Where a value stands in a request. The order is the one in which names are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Path,
    Query,
    Header,
    Body,
    Cookie,
}

impl Place {
    /// The word that tells apart two inputs of one name.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Body => "body",
            Self::Cookie => "cookie",
        }
    }
}

/// A parameter of an operation.
#[derive(Debug, Clone)]
pub(super) struct Parameter<'d> {
    pub(super) name: &'d str,
    pub(super) place: Place,
    pub(super) node: &'d Value,
}

/// How a value that is no scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A list by repeating the name, an object's fields under their own names.
    Repeated,
    /// A list between separators, which stand in for this character.
    Joined(char),
    /// An object's fields as `name[field]`.
    Bracketed,
    /// As JSON.
    Json,
    /// None of these.
    Unknown,
}

impl<'d> Parameter<'d> {
    /// Reads a parameter; `None`: it has no name or no known place.
    pub(super) fn read(node: &'d Value) -> Option<Self> {
        let name = node.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())?;
        let place = match node.get("in").and_then(Value::as_str)? {
            "path" => Place::Path,
            "query" => Place::Query,
            "header" => Place::Header,
            "cookie" => Place::Cookie,
            _ => return None,
        };
        Some(Self { name, place, node })
    }

    /// Whether it has to be given.
    pub(super) fn is_required(&self) -> bool {
        self.place == Place::Path || self.node.get("required") == Some(&Value::Bool(true))
    }

    /// The schema of its value.
    pub(super) fn schema(&self) -> Option<&'d Value> {
        self.node.get("schema").or_else(|| self.content()?.get("schema"))
    }

    /// How its value is written.
    pub(super) fn style(&self) -> Style {
        if self.node.get("schema").is_none() && self.content().is_some() {
            return Style::Json;
        }
        let plain = if self.place == Place::Query { "form" } else { "simple" };
        let style = self.node.get("style").and_then(Value::as_str).unwrap_or(plain);
        let explode = self.node.get("explode").and_then(Value::as_bool).unwrap_or(style == "form");
        match (style, explode) {
            ("form" | "spaceDelimited" | "pipeDelimited", true) => Style::Repeated,
            ("form" | "simple", _) => Style::Joined(','),
            ("spaceDelimited", false) => Style::Joined(' '),
            ("pipeDelimited", false) => Style::Joined('|'),
            ("deepObject", _) => Style::Bracketed,
            _ => Style::Unknown,
        }
    }

    fn content(&self) -> Option<&'d Value> {
        self.node.get("content")?.as_object()?.values().next()
    }
}
