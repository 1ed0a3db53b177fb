//! Something in the catalogue that can be called.

use std::sync::Arc;
use std::time::Duration;

use model::action::Annotations;
use model::{Effect, FieldError, OfferedAction, Preview, Refusal, Surface};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::approvers::Approver;
use super::convert::Conversion;
use super::refusals::{as_pointer, refusal_for};
use super::rule::Rule;
use super::schema::{InputSchema, MOST_FAULTS};
use super::template::Scope;
use super::tool::ToolCall;
use super::upstream::Upstream;
use super::work::Work;
use super::{asking, fingerprint, offer, output, preview, raw_request};
use crate::credential::Credential;
use crate::handler::Named;
use crate::idempotency::{passed_on_hash, request_hash};
use crate::input_hash::InputHash;
use crate::outgoing::Outgoing;

/// Something in the catalogue that can be called.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the catalogue")]
pub struct Action {
    /// Its name: `[a-z][a-z0-9_]{0,63}`.
    pub name: String,
    /// A short name for people.
    pub title: String,
    /// What it does, for the model and for people.
    pub description: String,
    /// What it does to the world.
    pub effect: Effect,
    /// Where it can be called.
    pub expose: Vec<Surface>,
    /// It can be called without a token.
    pub public: bool,
    /// The tenants it is for; empty: everywhere.
    pub tenants: Vec<String>,
    /// Whether it is there at all for a caller.
    pub register_when: Option<Rule>,
    /// Whether a caller may call it.
    pub authorize: Option<Rule>,
    /// Whether a caller may call it with this input.
    pub authorize_input: Option<Rule>,
    /// Whether a call waits for a person whoever makes it. A rule that cannot be evaluated counts as true here.
    pub hold_when: Option<Rule>,
    /// A caller who may not call it is told that it does not exist.
    pub deny_as_not_found: bool,
    /// Who decides; empty: the agent's owner.
    pub approvers: Vec<Approver>,
    /// How many of them.
    pub quorum: u32,
    /// The owner may decide too.
    pub self_approval: bool,
    /// Whoever confirms proves with a passkey, for that one call, who they are.
    pub step_up: bool,
    /// How long a call waits for a person.
    pub hold_ttl: Duration,
    /// How long a Confirm can be undone.
    pub undo_window: Duration,
    /// A repeat with the same key is answered from the receipt.
    pub replay: bool,
    /// The credential that its requests carry.
    pub credential: Option<Arc<Credential>>,
    /// Fields of the answer that are secrets: an answer that holds one is not stored.
    pub credential_fields: Vec<String>,
    /// Fields that the caller neither sees nor sets.
    pub fixed: Map<String, Value>,
    /// What is made of the caller's values before they are validated.
    pub convert: Vec<(String, Vec<Conversion>)>,
    /// The schema of its input.
    pub input: Arc<InputSchema>,
    /// What the input may not be, beyond the schema.
    pub rules: Vec<InputRule>,
    /// What a call of it does.
    pub(super) work: Work,
    /// SHA-256 over everything that the catalogue says of it itself.
    pub(super) definition: [u8; 32],
}

/// What the input may not be: where `when` is true, `field` is at fault.
#[derive(Debug)]
pub struct InputRule {
    /// The fault, as a rule over `input`.
    pub when: Rule,
    /// The field at fault.
    pub field: String,
    /// Fixed text.
    pub message: String,
}

impl Action {
    /// The action with every control field that a call of it can carry.
    pub fn offered(&self) -> OfferedAction {
        self.offered_with(&self.control_fields())
    }

    /// The action as a caller is offered it whose calls can carry these control fields.
    pub fn offered_with(&self, control_fields: &[&str]) -> OfferedAction {
        OfferedAction {
            name: self.name.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            effect: self.effect,
            input_schema: offer::schema(self.input.as_json(), &self.fixed, control_fields),
            annotations: Annotations::of(self.effect, self.replay),
        }
    }

    /// The control fields that a call of it may carry.
    pub fn control_fields(&self) -> Vec<&'static str> {
        offer::control(self.effect, self.replay)
    }

    /// Whether a call of it may carry this control field.
    pub fn advertises(&self, control_field: &str) -> bool {
        self.control_fields().contains(&control_field)
    }

    /// Whether it is exposed there.
    pub fn is_exposed_on(&self, surface: Surface) -> bool {
        self.expose.contains(&surface)
    }

    /// Whether the tenant of a call can change anything: it is for some alone, or a rule over the caller names it.
    pub fn heeds_tenant(&self) -> bool {
        let rules = [&self.register_when, &self.authorize, &self.authorize_input, &self.hold_when];
        !self.tenants.is_empty() || rules.into_iter().flatten().any(|rule| rule.source().contains("tenant"))
    }

    /// Its writes are never let through by a token or by the caller's own session.
    pub fn wants_queue(&self) -> bool {
        self.effect.is_write()
            && (!self.approvers.is_empty() || self.quorum > 1 || !self.self_approval || self.step_up)
    }

    /// Every field at fault: by the schema, with formats asserted, then by the rules. The messages never hold the
    /// caller's values. Empty: the input is valid.
    pub fn validate(&self, input: &Value) -> Vec<FieldError> {
        self.validate_after(Vec::new(), input)
    }

    /// The same, after faults that were found while the input was prepared.
    pub(crate) fn validate_after(&self, mut faults: Vec<FieldError>, input: &Value) -> Vec<FieldError> {
        faults.extend(self.input.faults(&self.declared(input)));
        let sound = faults.is_empty();
        for rule in &self.rules {
            let field = as_pointer(&rule.field);
            if rule.is_broken(input, &field, sound) && !faults.iter().any(|fault| fault.field == field) {
                faults.push(FieldError::new(field, rule.message.clone()));
            }
        }
        if self.passes_on() {
            let written = raw_request::faults(input).into_iter().take(MOST_FAULTS);
            let fresh: Vec<_> =
                written.filter(|fault| faults.iter().all(|told| told.field != fault.field)).collect();
            faults.extend(fresh);
        }
        faults
    }

    /// Its input is a request that is passed on as it is (fetch and via).
    pub const fn passes_on(&self) -> bool {
        matches!(self.work, Work::PassedOn)
    }

    /// The handler that a call of it runs; `None`: it sends a request.
    pub(crate) fn handler(&self) -> Option<&Named> {
        match &self.work {
            Work::Handled(handled) => Some(&handled.handler),
            Work::Described(_) | Work::Tool(_) | Work::Question(_) | Work::PassedOn => None,
        }
    }

    /// The tool that a call of it calls; `None`: it is no call of a tool.
    pub fn tool_call(&self) -> Option<&ToolCall> {
        match &self.work {
            Work::Tool(tool) => Some(tool),
            Work::Described(_) | Work::Handled(_) | Work::Question(_) | Work::PassedOn => None,
        }
    }

    /// The server that a call of it asks for a prompt or a resource; `None`: it asks none.
    pub(crate) fn asks(&self) -> Option<&Upstream> {
        match &self.work {
            Work::Question(upstream) => Some(upstream),
            Work::Described(_) | Work::Handled(_) | Work::Tool(_) | Work::PassedOn => None,
        }
    }

    /// What of the catalogue a confirmation is bound to, beside what is sent: whose secret goes with it and where, and
    /// the definition of its tool.
    pub(crate) fn binding(&self) -> Option<String> {
        let credential = self.credential.as_ref().map(|credential| credential.binding());
        match self.tool_call() {
            Some(tool) => Some(format!("{} {}", tool.binding(), credential.unwrap_or_default())),
            None => credential,
        }
    }

    /// SHA-256 over everything that the catalogue says of it: the entry itself, its credential whole, and the definition
    /// of its tool. It is another one whenever any of that is.
    pub(crate) fn pin(&self) -> [u8; 32] {
        // Every field of a credential stands in its `Debug`, the secret does not: no new one can be forgotten here.
        let credential = self.credential.as_deref().map(|credential| format!("{credential:?}"));
        let tool = self.tool_call().map(|tool| format!("{} {}", tool.upstream().url, tool.name()));
        let mut digest = Sha256::new_with_prefix(b"countersign pin 1");
        digest.update(self.definition);
        let says = format!("{} {}", self.name, self.effect.as_str());
        for part in [Some(says), credential, self.binding(), tool] {
            let part = part.unwrap_or_default();
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }

    /// Whether the catalogue says what the model is told of an answer.
    pub(crate) fn has_reply(&self) -> bool {
        self.work.telling().is_some_and(|telling| telling.reply.is_some())
    }

    /// What a call of it is known by: a repeat and a confirmation have to hash alike. Of a request that is passed on
    /// these are method, address and body, however they were written down.
    pub fn hash(&self, arguments: &Map<String, Value>) -> InputHash {
        let passed_on = if self.passes_on() { raw_request::hash(arguments) } else { None };
        passed_on.unwrap_or_else(|| InputHash::of(arguments))
    }

    /// What an idempotency key of a call with this hash stands for. Fetch and via pass on the same requests, so a key
    /// used in one place is known in the other.
    pub fn request_hash(&self, hash: InputHash) -> [u8; 32] {
        if self.passes_on() { passed_on_hash(hash) } else { request_hash(&self.name, hash) }
    }

    /// The input less the fixed fields that the schema does not know.
    fn declared(&self, input: &Value) -> Value {
        let mut declared = input.clone();
        if let Some(entries) = declared.as_object_mut() {
            entries.retain(|name, _| !self.fixed.contains_key(name) || self.input.property(name).is_some());
        }
        declared
    }

    /// The request for a valid input, or what its handler is given.
    ///
    /// # Errors
    /// `Invalid` with every field it cannot be written from; `EgressBlocked` for an address that is passed on and would
    /// be sent as another one.
    pub fn render(&self, input: &Value) -> Result<Outgoing, Refusal> {
        match &self.work {
            Work::Described(described) => {
                described.request.render(&Scope::input(input)).map_err(Refusal::Invalid)
            }
            Work::Handled(handled) => Ok(Outgoing::to_handler(&handled.handler.name, input)),
            Work::Tool(tool) => tool.render(input),
            Work::Question(upstream) => asking::render(upstream, input),
            Work::PassedOn => raw_request::render(input),
        }
    }

    /// The dry run's request for a valid input; `None`: the action has no dry run.
    pub fn render_dry_run(&self, input: &Value) -> Result<Option<Outgoing>, Vec<FieldError>> {
        let template = self.work.described().and_then(|described| described.dry_run.as_ref());
        template.map(|request| request.render(&Scope::input(input))).transpose()
    }

    /// What a person is shown. The version is left empty. `dry_run`: what the dry run answered, if it was asked.
    pub fn preview(
        &self,
        input: &Value,
        outgoing: &Outgoing,
        dry_run: Option<&Value>,
        agent_words: Option<String>,
        warnings: Vec<String>,
    ) -> Preview {
        let written = match self.work.telling() {
            Some(telling) => telling.preview.write(&Scope::with_dry_run(input, dry_run), &self.input),
            None => raw_request::written(outgoing),
        };
        Preview {
            version: String::new(),
            title: written.title.unwrap_or_else(|| self.title.clone()),
            summary: match self.tool_call() {
                Some(tool) if written.summary.is_empty() => tool.summary(),
                _ => written.summary,
            },
            fields: written.fields,
            target: written.target,
            effect: self.effect,
            request: preview::request(
                outgoing,
                self.credential.as_ref().map(|credential| credential.name.as_str()),
            ),
            agent_words,
            warnings,
            checked: preview::checked(dry_run),
        }
    }

    /// What the caller gets of an answer.
    pub fn project(&self, answer: &Value) -> Value {
        let names = self.work.telling().and_then(|telling| telling.output.as_deref());
        output::project(names, answer)
    }

    /// The answer in words for the model. `output`: what the caller gets. `None` also when a part of it is missing.
    pub fn reply(&self, input: &Value, output: &Value) -> Option<String> {
        self.work.telling()?.reply.as_ref()?.text(&Scope::with_output(input, output)).ok()
    }

    /// What an upstream's 4xx means to the caller.
    pub fn refusal_for(&self, status: u16) -> Refusal {
        let rules = self.work.described().map_or(&[][..], |described| &described.refusals);
        refusal_for(rules, status)
    }

    /// What a confirmation is bound to: SHA-256 over the request, and the dry run's status and body where there is one.
    pub fn fingerprint(&self, outgoing: &Outgoing, dry_run: Option<(u16, &[u8])>) -> [u8; 32] {
        let telling = self.work.telling();
        let pointers = telling.map_or(&[][..], |telling| &telling.fingerprint);
        let mut wording = vec![Some(self.title.as_str())];
        wording.extend(telling.into_iter().flat_map(|telling| telling.preview.wording(&self.input)));
        let told = fingerprint::Telling { effect: self.effect, wording: &wording };
        fingerprint::of(outgoing, told, self.binding().as_deref(), dry_run, pointers)
    }
}

impl InputRule {
    /// Whether the field is at fault. `sound`: the schema found nothing. A rule that cannot be evaluated does not apply
    /// when its field is not there; when it is, it counts as broken, so that no input can get around it.
    fn is_broken(&self, input: &Value, pointer: &str, sound: bool) -> bool {
        self.when.evaluate_input(input).unwrap_or_else(|error| {
            tracing::debug!(rule = %self.when.source(), %error, "a rule of the input could not be evaluated");
            sound && input.pointer(pointer).is_some()
        })
    }
}
