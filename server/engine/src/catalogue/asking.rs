//! The actions behind the prompts and resources of MCP servers: putting a caller's question to one of them.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use model::{Effect, FieldError, Refusal, Surface};
use serde_json::{Map, Value, json};

use super::reading::HOLD;
use super::schema::InputSchema;
use super::upstream::Upstream;
use super::work::Work;
use super::{Action, Catalogue};
use crate::actor::Actor;
use crate::outgoing::Outgoing;
use crate::upstream::Question;

/// What the name of such an action begins with. No action of a file can have it.
const MARK: &str = "mcp:";

static SCHEMA: LazyLock<Arc<InputSchema>> = LazyLock::new(|| {
    let methods = Question::ALL.map(Question::method);
    let schema = json!({
        "type": "object",
        "required": ["method", "params"],
        "additionalProperties": false,
        "properties": {
            "method": { "type": "string", "enum": methods },
            "params": { "type": "object", "additionalProperties": true },
        },
    });
    Arc::new(InputSchema::of_tool(schema).unwrap_or_else(|_| unreachable!("a schema of our own")))
});

/// The name of the action, and what a toolset has to list for it.
pub(crate) fn action_name(upstream: &str) -> String {
    format!("{MARK}{upstream}")
}

/// Whether this is the name of such an action.
pub fn is_question(action: &str) -> bool {
    action.starts_with(MARK)
}

/// The question and its params in the input of such an action.
fn question_in(arguments: &Map<String, Value>) -> Option<(Question, &Map<String, Value>)> {
    let question = Question::of(arguments.get("method")?.as_str()?)?;
    Some((question, arguments.get("params")?.as_object()?))
}

impl Catalogue {
    /// The action that puts a question to the server that its name has. `None`: there is no such server, or the catalogue
    /// does not pass this question on to it.
    pub(super) fn question(
        &self,
        surface: Surface,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Option<Arc<Action>> {
        if surface != Surface::Mcp {
            return None;
        }
        let upstream = self.upstream(name.strip_prefix(MARK)?)?;
        let (question, params) = question_in(arguments)?;
        upstream.takes(question, params).then(|| Arc::new(asking(upstream)))
    }

    /// The servers that this caller may ask for their prompts.
    pub fn with_prompts(&self, actor: &Actor) -> Vec<Arc<Upstream>> {
        self.open_to(actor, |upstream| upstream.prompts)
    }

    /// The servers that this caller may ask for their resources.
    pub fn with_resources(&self, actor: &Actor) -> Vec<Arc<Upstream>> {
        self.open_to(actor, |upstream| !upstream.resources.is_empty())
    }

    fn open_to(&self, actor: &Actor, has: impl Fn(&Upstream) -> bool) -> Vec<Arc<Upstream>> {
        let is_on = self.surfaces.is_on(Surface::Mcp) && !matches!(actor, Actor::Public { .. });
        let open = |upstream: &&Arc<Upstream>| has(upstream) && asking(upstream).is_open_to(actor);
        self.upstreams().filter(|_| is_on).filter(open).cloned().collect()
    }
}

/// The request for a question that the server takes.
pub(super) fn render(upstream: &Upstream, input: &Value) -> Result<Outgoing, Refusal> {
    let question = input.as_object().and_then(question_in);
    let (question, params) = question
        .ok_or_else(|| Refusal::Invalid(vec![FieldError::new("/method", "This cannot be asked.")]))?;
    // It was never reached, so nobody knows how it is spoken to.
    let dialect = upstream.dialect().ok_or(Refusal::UpstreamUnreachable)?;
    Ok(question.request(&upstream.url, &dialect, params))
}

fn asking(upstream: &Arc<Upstream>) -> Action {
    Action {
        name: action_name(&upstream.name),
        title: format!("A question to the MCP server “{}”", upstream.name),
        description: String::new(),
        effect: Effect::Read,
        expose: vec![Surface::Mcp],
        public: false,
        tenants: Vec::new(),
        register_when: None,
        authorize: None,
        authorize_input: None,
        hold_when: None,
        deny_as_not_found: false,
        approvers: Vec::new(),
        quorum: 1,
        self_approval: true,
        step_up: false,
        hold_ttl: HOLD,
        undo_window: Duration::ZERO,
        replay: true,
        credential: upstream.credential.clone(),
        credential_fields: Vec::new(),
        fixed: Map::new(),
        convert: Vec::new(),
        input: SCHEMA.clone(),
        rules: Vec::new(),
        work: Work::Question(upstream.clone()),
        definition: [0; 32],
    }
}
