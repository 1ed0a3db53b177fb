//! A call as a surface hands it to the pipeline.

use model::Surface;
use serde_json::{Map, Value};

use crate::actor::Actor;
use crate::catalogue::question_name;
use crate::upstream::Question;

/// A call as a surface hands it to the pipeline. Every surface builds one and awaits one answer.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// Who is calling.
    pub actor: Actor,
    /// Where the call came in.
    pub surface: Surface,
    /// The action's name as the caller wrote it.
    pub action: String,
    /// The input object, control fields included.
    pub input: Map<String, Value>,
    /// Every value of the header `Idempotency-Key`, in order.
    pub key_header: Vec<String>,
    /// The header `Countersign-Session`.
    pub session: Option<String>,
    /// The header `Countersign-Tenant`.
    pub tenant: Option<String>,
    /// The agent's own reason (`Countersign-Reason`), shown to the person as the agent's words.
    pub reason: Option<String>,
}

impl Arrival {
    /// A call that Rust code in the same process makes on its own account: it belongs to no person. A read and a write
    /// pass; a dangerous one is answered with a prompt, whose token goes into [`Arrival::confirmed`].
    ///
    /// ```
    /// # use engine::Arrival;
    /// let call = Arrival::code("restart_service", [("service", "mail".into())]).keyed("restart-7");
    /// ```
    pub fn code<N: Into<String>>(action: &str, input: impl IntoIterator<Item = (N, Value)>) -> Self {
        let input = input.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { input, ..Self::asking(Actor::System, Surface::Code, action, None) }
    }

    /// The same call for somebody whom the engine has authenticated: the gate then goes by them.
    #[must_use]
    pub fn by(self, actor: Actor) -> Self {
        Self { actor, ..self }
    }

    /// The same call with an idempotency key: a repeat is answered from the receipt.
    #[must_use]
    pub fn keyed(self, key: &str) -> Self {
        self.with("idempotency_key", key.into())
    }

    /// The same call as a dry run: it only shows what would be done.
    #[must_use]
    pub fn dry_run(self) -> Self {
        self.with("dry_run", true.into())
    }

    /// The same call with the token of the prompt that it was answered with.
    #[must_use]
    pub fn confirmed(self, token: &str) -> Self {
        self.with("confirm_token", token.into())
    }

    /// The same call into the durable queue.
    #[must_use]
    pub fn queued(self) -> Self {
        Self { surface: Surface::Queue, ..self }
    }

    fn with(mut self, field: &str, value: Value) -> Self {
        self.input.insert(field.to_owned(), value);
        self
    }

    /// A caller's question to an MCP server of the catalogue, with its params on the wire. It is a read like any other.
    pub fn question(actor: Actor, upstream: &str, question: Question, params: Map<String, Value>) -> Self {
        let input = [("method", Value::from(question.method())), ("params", Value::from(params))];
        let input = input.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { input, ..Self::asking(actor, Surface::Mcp, &question_name(upstream), None) }
    }

    /// A call that only asks whether the action is open to the caller.
    pub(crate) fn asking(actor: Actor, surface: Surface, action: &str, tenant: Option<&str>) -> Self {
        Self {
            actor,
            surface,
            action: action.to_owned(),
            input: Map::new(),
            key_header: Vec::new(),
            session: None,
            tenant: tenant.map(str::to_owned),
            reason: None,
        }
    }
}
