//! The actions of the file and the tools that were taken, put together.

use std::sync::Arc;

use model::Effect;

use super::input::is_control;
use super::preview::PreviewTemplate;
use super::reading::{HOLD, OWN, SURFACES, is_name, spoken, usual_undo_window};
use super::schema::InputSchema;
use super::tool::ToolCall;
use super::upstream::Upstream;
use super::work::{Telling, Work};
use super::{Action, Catalogue};
use crate::upstream::{ParamHeader, Pin};

/// A tool that was taken and cannot be an action by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// Its server's name in the catalogue.
    pub upstream: String,
    /// The tool's name at its server.
    pub tool: String,
    /// Why, as the end of a sentence that names it.
    pub why: String,
}

impl Catalogue {
    /// What can be called with these tools: the file's actions, those that call a tool only where its definition
    /// counts; and the tools that no action of the file calls.
    pub(crate) fn composed(&self, pins: &[Arc<Pin>]) -> (Self, Vec<Unfit>) {
        let mut actions = Vec::new();
        for action in &self.actions {
            if let Some(tool) = action.tool_call() {
                let pin = pins.iter().find(|pin| tool.is(&pin.upstream, pin.definition.name())).cloned();
                let counts = pin.is_some();
                tool.set_pin(pin);
                if !counts {
                    continue;
                }
            }
            actions.push(action.clone());
        }
        let mut unfit = Vec::new();
        for (upstream, pin) in self.by_themselves(pins) {
            let taken = |name: &str| {
                self.action(name).is_some() || actions.iter().any(|action: &Arc<Action>| action.name == name)
            };
            match of_tool(upstream, pin, taken) {
                Ok(action) => actions.push(Arc::new(action)),
                Err(why) => {
                    let tool = pin.definition.name().to_owned();
                    unfit.push(Unfit { upstream: upstream.name.clone(), tool, why });
                }
            }
        }
        (Self { actions, ..self.clone() }, unfit)
    }

    /// The tools that are to be actions by themselves, in the order in which they were taken.
    fn by_themselves<'a>(
        &'a self,
        pins: &'a [Arc<Pin>],
    ) -> impl Iterator<Item = (&'a Arc<Upstream>, &'a Arc<Pin>)> {
        let written = |pin: &Pin| {
            let calls = |action: &Arc<Action>| {
                action.tool_call().is_some_and(|tool| tool.is(&pin.upstream, pin.definition.name()))
            };
            self.actions.iter().any(calls)
        };
        let offered = |pin: &'a Arc<Pin>| {
            let upstream = self.upstream(&pin.upstream)?;
            upstream.offers(pin.definition.name()).then_some((upstream, pin))
        };
        pins.iter().filter(move |pin| !written(pin)).filter_map(offered)
    }
}

/// The action that a tool becomes.
fn of_tool(upstream: &Arc<Upstream>, pin: &Arc<Pin>, taken: impl Fn(&str) -> bool) -> Result<Action, String> {
    let definition = &pin.definition;
    let name = definition.action_name(&upstream.name);
    if !is_name(&name) || OWN.contains(&name.as_str()) {
        return Err(format!("“{name}” cannot be the name of an action"));
    }
    if taken(&name) {
        return Err(format!("there is another action “{name}”"));
    }
    let schema =
        definition.input_schema().cloned().unwrap_or_else(|| serde_json::json!({ "type": "object" }));
    ParamHeader::of(&schema)?;
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return Err("its input is no object".to_owned());
    }
    let input = InputSchema::of_tool(schema)
        .map_err(|_| "its input is no JSON Schema that can be used".to_owned())?;
    if let Some(own) = input.names().iter().find(|name| is_control(name)) {
        return Err(format!("it has an argument “{own}”, which is the desk's own"));
    }
    let telling = Telling {
        fingerprint: Vec::new(),
        preview: PreviewTemplate::names_alone(),
        output: None,
        reply: None,
    };
    let work = Work::Tool(Box::new(ToolCall::by_itself(upstream.clone(), pin.clone(), telling)));
    Ok(action(name, pin, definition.effect(), upstream, input, work))
}

fn action(
    name: String,
    pin: &Pin,
    effect: Effect,
    upstream: &Upstream,
    input: InputSchema,
    work: Work,
) -> Action {
    Action {
        title: pin.definition.title().map_or_else(|| spoken(&name), str::to_owned),
        name,
        description: pin.definition.description().to_owned(),
        effect,
        expose: SURFACES.to_vec(),
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
        undo_window: usual_undo_window(Some(effect)),
        replay: true,
        credential: upstream.credential.clone(),
        credential_fields: Vec::new(),
        fixed: serde_json::Map::new(),
        convert: Vec::new(),
        input: Arc::new(input),
        rules: Vec::new(),
        work,
        // What its server says of it is bound by the pin's hash.
        definition: [0; 32],
    }
}
