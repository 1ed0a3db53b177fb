//! The actions behind fetch and via: passing on a caller's own request with a credential.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use model::{Effect, Surface};
use serde_json::{Map, Value};

use super::work::Work;
use super::{Action, Catalogue, raw_request};
use crate::actor::Actor;
use crate::credential::Credential;

const HOLD_TTL: Duration = Duration::from_hours(24);

impl Catalogue {
    /// The action that a call means: one of the catalogue by its name, or on fetch and via the passing on of a request
    /// with the credential that it names, or on MCP a question to a server. `None`:
    /// there is none.
    pub fn action_for(
        &self,
        surface: Surface,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Option<Arc<Action>> {
        if !surface.takes_requests() {
            return self.action(name).cloned().or_else(|| self.question(surface, name, arguments));
        }
        // A call that names no credential goes on to where every fault of its input is told.
        let credential = match raw_request::credential(arguments) {
            Some(name) => Some(self.credential(name)?.clone()),
            None => None,
        };
        let effect = raw_request::method(arguments).map_or(Effect::Write, |method| effect_of(&method));
        Some(Arc::new(passing_on(surface, credential, effect)))
    }

    /// Whether a caller may pass requests on with the credential of this name.
    pub fn lets_pass_on(&self, surface: Surface, credential: &str, actor: &Actor) -> bool {
        let open_to = |credential: &Arc<Credential>| {
            passing_on(surface, Some(credential.clone()), Effect::Write).is_open_to(actor)
        };
        self.surfaces.is_on(surface) && self.credential(credential).is_some_and(open_to)
    }

    /// The address behind a path below `/via/{credential}`, text put to text, so that no byte of it is another one.
    /// `tail` begins with the path's slash or is empty.
    pub fn via_address(&self, credential: &str, tail: &str) -> Option<String> {
        Some(format!("{}{tail}", self.credential(credential)?.base_url.as_ref()?))
    }
}

/// The methods that only read (RFC 9110, section 9.2.1, and QUERY).
fn effect_of(method: &Method) -> Effect {
    match method.as_str() {
        "GET" | "HEAD" | "OPTIONS" | "QUERY" => Effect::Read,
        _ => Effect::Write,
    }
}

fn passing_on(surface: Surface, credential: Option<Arc<Credential>>, effect: Effect) -> Action {
    let name = credential.as_ref().map_or("", |credential| credential.name.as_str());
    Action {
        name: surface.as_str().to_owned(),
        title: format!("A request with “{name}”"),
        description: String::new(),
        effect,
        expose: vec![surface],
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
        hold_ttl: HOLD_TTL,
        undo_window: Duration::ZERO,
        replay: true,
        credential,
        credential_fields: Vec::new(),
        fixed: Map::new(),
        convert: Vec::new(),
        input: raw_request::schema(),
        rules: Vec::new(),
        work: Work::PassedOn,
        definition: [0; 32],
    }
}

impl Action {
    /// What a toolset has to list for it.
    pub fn tool(&self) -> String {
        match &self.credential {
            Some(credential) if self.passes_on() => format!("fetch:{}", credential.name),
            _ => self.name.clone(),
        }
    }

    /// Whether the agent's toolset has it, and the credential's `allow` list the caller.
    pub(crate) fn is_open_to(&self, actor: &Actor) -> bool {
        let toolset = actor.agent().and_then(|agent| agent.toolset.as_ref());
        let tool = self.tool();
        toolset.is_none_or(|tools| tools.contains(&tool)) && self.allows(actor)
    }

    /// Whether the caller may use the credential for requests of their own. An action of the catalogue has rules of
    /// its own instead.
    fn allows(&self, actor: &Actor) -> bool {
        match &self.credential {
            Some(credential) if self.passes_on() => credential.allow.iter().any(|who| is(who, actor)),
            _ => true,
        }
    }
}

/// Whether the caller is meant by an entry of `allow`.
fn is(who: &str, actor: &Actor) -> bool {
    match who.split_once(':') {
        Some(("agent", name)) => actor.agent().is_some_and(|agent| agent.name == name),
        Some(("group", name)) => actor.groups().iter().any(|group| group == name),
        Some(("person", email)) => {
            actor.person().is_some_and(|person| person.email.to_lowercase() == email.to_lowercase())
        }
        _ => who == "*",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_methods_read() {
        for (method, effect) in [
            ("GET", Effect::Read),
            ("HEAD", Effect::Read),
            ("OPTIONS", Effect::Read),
            ("QUERY", Effect::Read),
            ("get", Effect::Write),
            ("POST", Effect::Write),
            ("PROPFIND", Effect::Write),
            ("TRACE", Effect::Write),
        ] {
            assert_eq!(
                effect_of(&Method::from_bytes(method.as_bytes()).expect("a method")),
                effect,
                "{method}"
            );
        }
    }
}
