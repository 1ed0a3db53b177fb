//! An action as operators and admins are shown it: its rules as they are written, and where it sends.

use std::time::Duration;

use model::{Effect, Surface};

use super::request::RequestTemplate;
use super::work::Work;
use super::{Action, Approver, Rule};

/// An action as operators and admins are shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the catalogue")]
pub struct ActionLine {
    /// Its name.
    pub name: String,
    /// A short name for people.
    pub title: String,
    /// What it does.
    pub description: String,
    /// What it does to the world.
    pub effect: Effect,
    /// Where it can be called.
    pub surfaces: Vec<Surface>,
    /// It can be called without a token.
    pub public: bool,
    /// The tenants it is for; empty: everywhere.
    pub tenants: Vec<String>,
    /// Rules over the caller, by the key they stand under in the catalogue.
    pub rules: Vec<(&'static str, String)>,
    /// A caller who may not call it is told that it does not exist.
    pub deny_as_not_found: bool,
    /// Who decides, as the catalogue names them; empty: the agent's owner.
    pub approvers: Vec<String>,
    /// How many of them.
    pub quorum: u32,
    /// The owner may decide too.
    pub self_approval: bool,
    /// A decider has to sign in afresh.
    pub step_up: bool,
    /// How long a call waits for a person.
    pub hold_ttl: Duration,
    /// How long a Confirm can be taken back.
    pub undo_window: Duration,
    /// A repeat with the same key is answered from the receipt.
    pub replay: bool,
    /// Where it sends: method and address, with the places that values are put into.
    pub sends: String,
    /// What is asked before, to see what would happen.
    pub dry_run: Option<String>,
    /// The name of the credential that its requests carry.
    pub credential: Option<String>,
}

impl Action {
    /// The action as operators and admins are shown it. No secret stands in a catalogue, so none is in it.
    pub fn line(&self) -> ActionLine {
        let described = self.work.described();
        ActionLine {
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            effect: self.effect,
            surfaces: self.expose.clone(),
            public: self.public,
            tenants: self.tenants.clone(),
            rules: self.caller_rules(),
            deny_as_not_found: self.deny_as_not_found,
            approvers: self.approvers.iter().map(Approver::written).collect(),
            quorum: self.quorum,
            self_approval: self.self_approval,
            step_up: self.step_up,
            hold_ttl: self.hold_ttl,
            undo_window: self.undo_window,
            replay: self.replay,
            sends: match &self.work {
                Work::Described(described) => described.request.written(),
                Work::Handled(handled) => format!("RUN handler:{}", handled.handler.name),
                Work::Tool(tool) => format!(
                    "the tool {} of {}, at {}",
                    tool.name(),
                    tool.upstream().name,
                    tool.upstream().url
                ),
                Work::Question(upstream) => format!("a question to {}, at {}", upstream.name, upstream.url),
                Work::PassedOn => "the request of its caller".to_owned(),
            },
            dry_run: described.and_then(|described| described.dry_run.as_ref()).map(RequestTemplate::written),
            credential: self.credential.as_ref().map(|credential| credential.name.clone()),
        }
    }

    fn caller_rules(&self) -> Vec<(&'static str, String)> {
        let rules: [(&'static str, &Option<Rule>); 4] = [
            ("register_when", &self.register_when),
            ("authorize", &self.authorize),
            ("authorize_input", &self.authorize_input),
            ("hold_when", &self.hold_when),
        ];
        let written =
            rules.into_iter().filter_map(|(key, rule)| Some((key, rule.as_ref()?.source().to_owned())));
        written.collect()
    }
}
