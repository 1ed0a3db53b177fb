//! The life of a call as a small machine, written from sections 4 to 7 of the contract: where every call stands after each
//! step, what was sent, which receipts and events there are, and whose the keys are. It shares no code with the engine.

#![allow(unreachable_pub, reason = "a part of a test")]

mod steps;

use std::collections::BTreeMap;

pub type Seconds = i64;

/// `lease`, `undo_window`, `hold_ttl`, `result_ttl`, `answer_ttl` and `receipt_retention_days` of the machine's desk.
pub const LEASE: Seconds = 3_700;
pub const UNDO_WINDOW: Seconds = 60;
pub const HOLD_TTL: Seconds = 86_400;
pub const RESULT_TTL: Seconds = 600;
pub const ANSWER_TTL: Seconds = 86_400;
pub const RETENTION_DAYS: u32 = 30;
const RETENTION: Seconds = RETENTION_DAYS as Seconds * 86_400;

/// How time goes on. No sum of few of them comes within the seconds that a test takes of one of the limits above.
pub const PASSES: [Seconds; 4] = [110, 4_000, 90_000, 40 * 86_400];
/// From here on longer than any send may last.
const DAYS: Seconds = 90_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Person {
    /// Owns the agents.
    Ann,
    /// An approver.
    Max,
    /// An operator.
    Olga,
}

pub const PEOPLE: [Person; 3] = [Person::Ann, Person::Max, Person::Olga];

/// What is called, by whom, on which surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A write that needs nobody.
    Passes,
    /// A write that its owner is asked about.
    Held,
    /// The same with an undo window.
    Undoable,
    /// Two of Max and Olga are asked.
    Quorum,
    /// What its preview shows may change.
    Checked,
    /// A write that needs nobody, in the queue.
    Queued,
    /// Held, and queued when it is confirmed.
    HeldForQueue,
    /// Held, and queued when its undo window has passed.
    UndoableForQueue,
}

pub const KINDS: [Kind; 8] = [
    Kind::Passes,
    Kind::Held,
    Kind::Undoable,
    Kind::Quorum,
    Kind::Checked,
    Kind::Queued,
    Kind::HeldForQueue,
    Kind::UndoableForQueue,
];

impl Kind {
    pub const fn is_queued(self) -> bool {
        matches!(self, Self::Queued | Self::HeldForQueue | Self::UndoableForQueue)
    }

    /// Made by the agent that needs nobody.
    pub const fn is_quick(self) -> bool {
        matches!(self, Self::Passes | Self::Queued)
    }

    pub const fn action(self) -> &'static str {
        match self {
            Self::Passes | Self::Held | Self::Queued | Self::HeldForQueue => "note",
            Self::Undoable | Self::UndoableForQueue => "undoable",
            Self::Quorum => "two_people",
            Self::Checked => "send_mail",
        }
    }

    const fn method(self) -> &'static str {
        match self {
            Self::Passes | Self::Held | Self::Queued | Self::HeldForQueue => "PUT",
            Self::Undoable | Self::UndoableForQueue | Self::Checked => "POST",
            Self::Quorum => "DELETE",
        }
    }

    const fn has_undo_window(self) -> bool {
        matches!(self, Self::Undoable | Self::UndoableForQueue)
    }

    const fn quorum(self) -> usize {
        if matches!(self, Self::Quorum) { 2 } else { 1 }
    }

    const fn decides(self, person: Person) -> bool {
        matches!(
            (self, person),
            (Self::Quorum, Person::Max | Person::Olga)
                | (
                    Self::Passes
                        | Self::Held
                        | Self::Undoable
                        | Self::Checked
                        | Self::Queued
                        | Self::HeldForQueue
                        | Self::UndoableForQueue,
                    Person::Ann
                )
        )
    }

    const fn may_settle(self, person: Person) -> bool {
        self.decides(person) || matches!(person, Person::Olga)
    }

    /// What a 4xx of the service is told as: this action maps a 404 to a field, the others do not.
    fn refusal(self) -> &'static str {
        if self.action() == "note" { "invalid" } else { "refused" }
    }
}

/// What the service does with a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    Does,
    Refuses,
    Fails,
    Cuts,
    /// Keeps the connection open, and then does the inner one.
    Waits(Later),
}

/// The same, in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Later {
    Does,
    Refuses,
    Fails,
    Cuts,
}

pub type Node = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Call {
        node: Node,
        kind: Kind,
        text: u8,
        key: Option<u8>,
        service: Service,
    },
    Confirm {
        node: Node,
        call: usize,
        person: Person,
        service: Service,
    },
    Decline {
        node: Node,
        call: usize,
        person: Person,
    },
    Undo {
        node: Node,
        call: usize,
        person: Person,
    },
    /// By the agents' owner.
    Withdraw {
        node: Node,
        call: usize,
    },
    Settle {
        node: Node,
        call: usize,
        person: Person,
        happened: bool,
    },
    /// The agent whose calls are held is revoked.
    Revoke,
    /// What a dry run says changes.
    Change,
    Pass(Seconds),
    SendDue {
        node: Node,
        service: Service,
    },
    RunQueue {
        node: Node,
        service: Service,
    },
    Expire {
        node: Node,
    },
    Recover {
        node: Node,
    },
    Erase {
        node: Node,
    },
    /// The connection that is kept open comes to its end.
    Answer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Queued,
    Held,
    Approved,
    Sending,
    Done,
    Refused,
    Declined,
    Expired,
    Withdrawn,
    Failed,
    InDoubt,
}

impl State {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Held => "held",
            Self::Approved => "approved",
            Self::Sending => "sending",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Declined => "declined",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Failed => "failed",
            Self::InDoubt => "in_doubt",
        }
    }

    /// Whether its input is kept.
    const fn keeps_input(self) -> bool {
        matches!(self, Self::Queued | Self::Held | Self::Approved | Self::Sending | Self::InDoubt)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Receipt {
    /// When something became known about it last.
    at: Seconds,
    seen: ReceiptSeen,
}

#[derive(Debug, Clone)]
struct Call {
    kind: Kind,
    text: u8,
    key: Option<u8>,
    state: State,
    expires_at: Seconds,
    send_at: Seconds,
    lease_until: Seconds,
    /// Who has confirmed, in their order.
    votes: Vec<Person>,
    /// What its preview was made of.
    shown: u8,
    /// Who waits for the service, and for what.
    open: Option<(Node, Later)>,
    was_sent: bool,
    settled: bool,
    attempts: usize,
    result_until: Option<Seconds>,
    receipt: Option<Receipt>,
    events: Vec<&'static str>,
}

#[derive(Debug, Clone, Copy)]
struct Claim {
    call: usize,
    answer_until: Option<Seconds>,
    forgotten: bool,
}

/// What the step before was answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// `done`, `held`, `queued`, `replayed`, `waits` for a call that has no answer yet; the state's word of a call that
    /// was decided or settled, `sent` of one that a Confirm sends; or a problem's code.
    pub word: &'static str,
    /// The call that the answer names.
    pub names: Option<usize>,
    /// The status of the first answer, and whether it came with the result.
    pub replay: Option<(Option<u16>, bool)>,
}

/// What can be seen of the desk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub calls: Vec<CallSeen>,
    /// How often each kind of event was written, repeats and refusals included.
    pub events: BTreeMap<&'static str, usize>,
    /// What the service got, sorted.
    pub sent: Vec<Sent>,
    /// Whom which calls wait for, and who could settle which.
    pub asked: Vec<(Person, Vec<usize>, Vec<usize>)>,
    pub rows: Rows,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSeen {
    pub state: &'static str,
    pub attempts: usize,
    pub has_result: bool,
    pub receipt: Option<ReceiptSeen>,
    pub events: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptSeen {
    pub outcome: &'static str,
    pub upstream_status: Option<u16>,
    pub approved_by: Vec<Person>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    pub method: String,
    pub text: String,
    pub key: Option<String>,
}

/// How many rows there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    pub claims: usize,
    pub answers: usize,
    pub forgotten: usize,
    pub inputs: usize,
    pub receipts: usize,
}

/// The desk, as far as the contract says what it is to be.
#[derive(Debug, Clone, Default)]
pub struct Desk {
    pub told: Told,
    /// What the caller that waited was answered, in the step `Answer`: which call it was, and the word.
    pub late: Option<(usize, &'static str)>,
    now: Seconds,
    quota: u8,
    revoked: bool,
    calls: Vec<Call>,
    claims: BTreeMap<u8, Claim>,
    /// Events of calls that left no row.
    repeats: Vec<&'static str>,
    sent: Vec<Sent>,
}

pub fn text(text: u8) -> String {
    format!("text-{text}")
}

pub fn key(key: u8) -> String {
    format!("key-{key}")
}

impl Desk {
    pub fn seen(&self) -> Seen {
        let mut events = BTreeMap::new();
        for event in self.calls.iter().flat_map(|call| &call.events).chain(&self.repeats) {
            *events.entry(*event).or_default() += 1;
        }
        let mut sent = self.sent.clone();
        sent.sort();
        let whose = |fits: &dyn Fn(&Call) -> bool| {
            (0..self.calls.len()).filter(|at| fits(&self.calls[*at])).collect::<Vec<_>>()
        };
        Seen {
            calls: self.calls.iter().map(Call::seen).collect(),
            events,
            sent,
            asked: PEOPLE
                .into_iter()
                .map(|person| {
                    let held = whose(&|call: &Call| self.is_held(call) && call.kind.decides(person));
                    let in_doubt =
                        whose(&|call: &Call| call.state == State::InDoubt && call.kind.may_settle(person));
                    (person, held, in_doubt)
                })
                .collect(),
            rows: Rows {
                claims: self.claims.len(),
                answers: self.claims.values().filter(|claim| claim.answer_until.is_some()).count(),
                forgotten: self.claims.values().filter(|claim| claim.forgotten).count(),
                inputs: whose(&|call: &Call| call.state.keeps_input()).len(),
                receipts: whose(&|call: &Call| call.receipt.is_some()).len(),
            },
        }
    }

    /// How many calls have a row.
    pub fn count(&self) -> usize {
        self.calls.len()
    }

    /// What a dry run says now.
    pub const fn quota(&self) -> u8 {
        self.quota
    }

    pub fn kind(&self, call: usize) -> Kind {
        self.calls[call].kind
    }

    /// Whether it waits for the end of its undo window, or for the job that sends it.
    pub fn is_approved(&self, call: usize) -> bool {
        self.calls[call].state == State::Approved
    }

    /// Calls about which something can still be done.
    pub fn live(&self) -> Vec<usize> {
        let live = |call: &Call| {
            matches!(
                call.state,
                State::Held | State::Approved | State::Queued | State::Sending | State::InDoubt
            ) || call.open.is_some()
        };
        (0..self.calls.len()).filter(|at| live(&self.calls[*at])).collect()
    }

    /// The call whose connection is open, and where it stands.
    pub fn open(&self) -> Option<(usize, State)> {
        let open = self.calls.iter().position(|call| call.open.is_some());
        open.map(|at| (at, self.calls[at].state))
    }

    pub fn has_open(&self) -> bool {
        self.open().is_some()
    }

    /// Whether there is a receipt that may be forgotten.
    pub fn has_old(&self) -> bool {
        self.calls.iter().any(|call| call.receipt.as_ref().is_some_and(|receipt| receipt.is_old(self.now)))
    }

    /// Held and not lapsed.
    fn is_held(&self, call: &Call) -> bool {
        call.state == State::Held && call.expires_at > self.now
    }

    /// Whether the step can be taken. What two sends that are open at once do to one key depends on which answer comes
    /// first, so one is open at most; and no send lasts for days.
    pub fn allows(&self, step: &Step) -> bool {
        let waits = |service: Service, starts: usize| {
            !matches!(service, Service::Waits(_)) || !self.has_open() && starts <= 1
        };
        let is_call = |call: usize| call < self.calls.len();
        match *step {
            Step::Call { kind, service, .. } => (kind.is_quick() || !self.revoked) && waits(service, 1),
            Step::Confirm { call, service, .. } => is_call(call) && waits(service, 1),
            Step::Decline { call, .. }
            | Step::Undo { call, .. }
            | Step::Withdraw { call, .. }
            | Step::Settle { call, .. } => is_call(call),
            Step::Revoke => !self.revoked,
            Step::Pass(seconds) => seconds < DAYS || !self.has_open(),
            Step::SendDue { service, .. } => waits(service, self.due().len()),
            Step::RunQueue { service, .. } => waits(service, self.queued().len()),
            Step::Answer => self.has_open(),
            Step::Change | Step::Expire { .. } | Step::Recover { .. } | Step::Erase { .. } => true,
        }
    }

    fn due(&self) -> Vec<usize> {
        let due = |call: &Call| call.state == State::Approved && call.send_at <= self.now;
        (0..self.calls.len()).filter(|at| due(&self.calls[*at])).collect()
    }

    fn queued(&self) -> Vec<usize> {
        (0..self.calls.len()).filter(|at| self.calls[*at].state == State::Queued).collect()
    }
}

impl Receipt {
    /// What is in doubt is kept, however old.
    fn is_old(&self, now: Seconds) -> bool {
        self.seen.outcome != "in_doubt" && self.at <= now - RETENTION
    }
}

impl Call {
    fn seen(&self) -> CallSeen {
        CallSeen {
            state: self.state.word(),
            attempts: self.attempts,
            has_result: self.result_until.is_some(),
            receipt: self.receipt.as_ref().map(|receipt| receipt.seen.clone()),
            events: self.events.clone(),
        }
    }
}
