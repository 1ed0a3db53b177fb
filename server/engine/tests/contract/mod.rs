//! Sections 3, 5 and 6 of the contract as a small function, written from its text alone: what a call is answered, and
//! what it leaves behind. It shares no code with the engine.

#![allow(unreachable_pub, reason = "a part of a test")]

use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Read,
    Write,
    External,
    Destructive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    Api,
    Mcp,
    Form,
    Queue,
    Code,
}

/// A rule over the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerRule {
    Always,
    Never,
    Agents,
}

/// What sends every write of an action to the approval queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    Plain,
    Approvers,
    Quorum,
    NotTheOwner,
}

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the catalogue")]
pub struct Action {
    pub effect: Effect,
    pub expose: Vec<Surface>,
    pub public: bool,
    pub of_tenant: bool,
    pub register_when: CallerRule,
    pub authorize: CallerRule,
    /// `input.text != 'forbidden'`
    pub forbids: bool,
    pub deny_as_not_found: bool,
    /// `input.text == 'hold'`
    pub holds: bool,
    /// A rule of the input: the text may not be `ruled`.
    pub rules: bool,
    pub approval: Approval,
    pub replay: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    All,
    HasIt,
    LacksIt,
}

/// The four `actions:` abilities, in the order of the effects.
pub type Abilities = [bool; 4];

#[derive(Debug, Clone)]
pub enum Caller {
    /// A live session, of a member of the tenant or of somebody else.
    Session {
        member: bool,
    },
    /// A person's token; the person is a member of the tenant.
    Token {
        abilities: Abilities,
    },
    /// An agent's key; its owner is a member of the tenant.
    Key {
        requires_approval: bool,
        abilities: Abilities,
        toolset: Toolset,
    },
    Public {
        named: bool,
    },
    Code,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    Plain,
    Other,
    Hold,
    Forbidden,
    Ruled,
    Number,
    Nul,
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DryRun {
    Absent,
    Wanted,
    NoBoolean,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    None,
    Invalid,
    Named(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    None,
    Nonsense,
    /// Of the last prompt, when there was one.
    OfPrompt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenant {
    None,
    Own,
    Unknown,
}

/// What the upstream does with a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upstream {
    Does,
    Refuses,
    Fails,
    Cuts,
}

#[derive(Debug, Clone)]
pub struct Call {
    pub surface: Surface,
    pub tenant: Tenant,
    pub text: Text,
    pub unknown_argument: bool,
    pub dry_run: DryRun,
    pub key: Key,
    pub token: Token,
    pub upstream: Upstream,
}

/// One action, one caller, and the calls it makes one after the other.
#[derive(Debug, Clone)]
pub struct World {
    pub action: Action,
    /// The surface that is switched off.
    pub off: Option<Surface>,
    pub caller: Caller,
    pub calls: Vec<Call>,
}

/// What comes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// `done`, `preview`, `held`, `queued`, `confirmation_required`, `replayed`, or a problem's code.
    pub answer: &'static str,
    /// How often the upstream was reached.
    pub sent: usize,
    pub receipts: usize,
    /// The one ending event; `None`: it has not ended, or never passed the door.
    pub ending: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Done,
    InFlight,
    InDoubt,
}

/// What the desk remembers of earlier calls.
#[derive(Debug, Default)]
pub struct Memory {
    keys: BTreeMap<u8, (Text, Kept)>,
    prompt: Option<(Text, bool)>,
}

const fn no(code: &'static str) -> Told {
    Told { answer: code, sent: 0, receipts: 0, ending: Some("action.refused") }
}

const fn at_the_door(code: &'static str) -> Told {
    Told { ending: None, ..no(code) }
}

impl World {
    /// What the contract says to the next call.
    pub fn predict(&self, memory: &mut Memory, call: &Call) -> Told {
        let door = self.action.expose.contains(&call.surface) && self.off != Some(call.surface);
        let toolset = !matches!(self.caller, Caller::Key { toolset: Toolset::LacksIt, .. });
        match &self.caller {
            Caller::Public { .. } if !(door && self.action.public) => return at_the_door("unauthenticated"),
            _ if !(door && toolset) => return at_the_door("not_found"),
            _ => {}
        }
        // What is not there for nobody in particular is so in the same words as what is not public.
        let absent =
            if matches!(self.caller, Caller::Public { .. }) { "unauthenticated" } else { "not_found" };
        if !self.has_ability() || !self.holds(self.action.register_when) || !self.is_member(call.tenant) {
            return no(absent);
        }
        let call = &self.cut(call);
        let denied = if self.action.deny_as_not_found { absent } else { "denied" };
        if !self.holds(self.action.authorize) {
            return no(denied);
        }
        if self.is_invalid(call) {
            return no("invalid");
        }
        if self.action.forbids && call.text == Text::Forbidden {
            return no(denied);
        }
        let key = self.claim(call);
        if let Some((text, kept)) = key.and_then(|key| memory.keys.get(&key)) {
            return repeat(*text == call.text, *kept);
        }
        self.gate(memory, call, key)
    }

    /// On `mcp` the arguments are cut to what is advertised, and to `dry_run`: `confirm_token` is that of dangerous ones.
    fn cut(&self, call: &Call) -> Call {
        let mut call = call.clone();
        if call.surface == Surface::Mcp {
            call.unknown_argument = false;
            if !self.is_dangerous() {
                call.token = Token::None;
            }
        }
        call
    }

    fn is_dangerous(&self) -> bool {
        matches!(self.action.effect, Effect::External | Effect::Destructive)
    }

    fn has_ability(&self) -> bool {
        match &self.caller {
            Caller::Token { abilities } | Caller::Key { abilities, .. } => {
                abilities[self.action.effect as usize]
            }
            Caller::Session { .. } | Caller::Public { .. } | Caller::Code => true,
        }
    }

    fn holds(&self, rule: CallerRule) -> bool {
        match rule {
            CallerRule::Always => true,
            CallerRule::Never => false,
            CallerRule::Agents => matches!(self.caller, Caller::Key { .. }),
        }
    }

    fn is_member(&self, tenant: Tenant) -> bool {
        match tenant {
            Tenant::None => !self.action.of_tenant,
            Tenant::Own => match self.caller {
                Caller::Session { member } => member,
                Caller::Token { .. } | Caller::Key { .. } => true,
                Caller::Public { .. } | Caller::Code => false,
            },
            Tenant::Unknown => false,
        }
    }

    fn is_write(&self) -> bool {
        self.action.effect != Effect::Read
    }

    /// Whether an idempotency key counts at all.
    fn is_keyed(&self) -> bool {
        self.is_write() && self.action.replay && !matches!(self.caller, Caller::Public { named: false })
    }

    fn is_invalid(&self, call: &Call) -> bool {
        matches!(call.text, Text::Number | Text::Nul | Text::Missing)
            || (call.text == Text::Ruled && self.action.rules)
            || call.unknown_argument
            || call.dry_run == DryRun::NoBoolean
            || (call.key == Key::Invalid && self.is_keyed())
    }

    fn claim(&self, call: &Call) -> Option<u8> {
        match call.key {
            Key::Named(key) if self.is_keyed() && call.dry_run == DryRun::Absent => Some(key),
            _ => None,
        }
    }

    fn gate(&self, memory: &mut Memory, call: &Call, key: Option<u8>) -> Told {
        if call.dry_run == DryRun::Wanted {
            return Told { answer: "preview", ending: Some("action.completed"), ..no("") };
        }
        let approved = matches!(self.caller, Caller::Key { requires_approval: true, .. });
        let in_person = matches!(self.caller, Caller::Session { .. } | Caller::Token { .. });
        if approved && self.is_write() && call.token != Token::None {
            return no("confirm_token_invalid");
        }
        if self.action.holds && call.text == Text::Hold {
            return hold(memory, call, key);
        }
        if !self.is_write() {
            return self.run(memory, call, key);
        }
        if approved || in_person || self.action.approval != Approval::Plain {
            hold(memory, call, key)
        } else if self.is_dangerous() {
            self.prompt(memory, call, key)
        } else {
            self.run(memory, call, key)
        }
    }

    fn prompt(&self, memory: &mut Memory, call: &Call, key: Option<u8>) -> Told {
        match (call.token, memory.prompt) {
            (Token::None, _) => {
                memory.prompt = Some((call.text, false));
                no("confirmation_required")
            }
            (Token::OfPrompt, Some((text, false))) if text == call.text => {
                memory.prompt = Some((text, true));
                self.run(memory, call, key)
            }
            _ => no("confirm_token_invalid"),
        }
    }

    /// The table “What a send can end as”. A read is sent to where everything is well.
    fn run(&self, memory: &mut Memory, call: &Call, key: Option<u8>) -> Told {
        let upstream = if self.is_write() { call.upstream } else { Upstream::Does };
        let (answer, receipts, ending, kept) = match upstream {
            Upstream::Does => ("done", 1, "action.completed", Some(Kept::Done)),
            Upstream::Refuses => ("refused", 1, "action.refused", None),
            Upstream::Fails => ("upstream_failed", 0, "action.failed", None),
            Upstream::Cuts => ("outcome_unknown", 1, "action.in_doubt", Some(Kept::InDoubt)),
        };
        if let Some((key, kept)) = key.zip(kept) {
            memory.keys.insert(key, (call.text, kept));
        }
        let answer = if call.surface == Surface::Queue { "queued" } else { answer };
        Told { answer, sent: 1, receipts: if self.is_write() { receipts } else { 0 }, ending: Some(ending) }
    }
}

fn hold(memory: &mut Memory, call: &Call, key: Option<u8>) -> Told {
    if let Some(key) = key {
        memory.keys.insert(key, (call.text, Kept::InFlight));
    }
    at_the_door("held")
}

fn repeat(same: bool, kept: Kept) -> Told {
    match kept {
        _ if !same => no("idempotency_key_reused"),
        Kept::Done => Told { answer: "replayed", ending: Some("action.replayed"), ..no("") },
        Kept::InFlight => no("idempotency_in_flight"),
        Kept::InDoubt => no("outcome_unknown"),
    }
}
