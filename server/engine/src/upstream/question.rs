//! What may be asked of an MCP server beside its tools: its prompts and its resources. Every question only reads.

use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::Url;

use super::dialect::Dialect;
use super::message;
use super::param_header::header_value;
use crate::outgoing::Outgoing;

/// What may be asked of an MCP server beside its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Which prompts it has.
    Prompts,
    /// One prompt.
    Prompt,
    /// Which resources it has.
    Resources,
    /// Which kinds of resources.
    Templates,
    /// One resource.
    Resource,
    /// How an argument of a prompt or of a kind of resource could go on.
    Completion,
}

impl Question {
    /// Every one.
    pub const ALL: [Self; 6] =
        [Self::Prompts, Self::Prompt, Self::Resources, Self::Templates, Self::Resource, Self::Completion];

    /// Its method on the wire.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Prompts => "prompts/list",
            Self::Prompt => "prompts/get",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Resource => "resources/read",
            Self::Completion => "completion/complete",
        }
    }

    /// The question with this method.
    pub(crate) fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|question| question.method() == method)
    }

    /// What it is about, where the protocol wants that told to whoever does not read the body.
    fn subject(self, params: &Map<String, Value>) -> Option<&str> {
        let name = match self {
            Self::Prompt => "name",
            Self::Resource => "uri",
            _ => return None,
        };
        params.get(name)?.as_str()
    }

    /// The request.
    pub(crate) fn request(self, url: &Url, dialect: &Dialect, params: &Map<String, Value>) -> Outgoing {
        let subject = self.subject(params).filter(|_| *dialect == Dialect::Stateless);
        let header: Option<(HeaderName, HeaderValue)> =
            subject.and_then(header_value).map(|value| (message::NAME, value));
        let mut outgoing = message::request(url, dialect, self.method(), params.clone());
        outgoing.headers.extend(header);
        outgoing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_question_names_its_subject_in_a_header_where_the_revision_wants_it() {
        let url = Url::parse("https://tickets.example/mcp").expect("a URL");
        let params = json!({ "uri": "tickets://87" });
        let params = params.as_object().expect("an object");
        let name = |outgoing: &Outgoing| {
            outgoing.headers.iter().find(|(name, _)| name == message::NAME).map(|(_, value)| value.clone())
        };
        let told = Question::Resource.request(&url, &Dialect::Stateless, params);
        assert_eq!(name(&told).expect("a name"), "tickets://87");
        let old = Question::Resource.request(&url, &Dialect::Plain("2025-11-25".to_owned()), params);
        assert_eq!(name(&old), None);
        assert_eq!(name(&Question::Resources.request(&url, &Dialect::Stateless, params)), None);
    }

    #[test]
    fn a_method_is_one_question() {
        for question in Question::ALL {
            assert_eq!(Question::of(question.method()), Some(question));
        }
        assert_eq!(Question::of("tools/call"), None);
    }
}
