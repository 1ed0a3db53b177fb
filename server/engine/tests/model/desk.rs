//! The desk as a model: rows, processes and a service, small enough to be looked at whole.
//!
//! Every transition is one transaction or one step of a send, and names the function whose statement it mirrors. Two
//! processes share the rows. A process that crashes loses what it was at, and is there again at once: a longer absence
//! is a process that does nothing. What is not modelled is a process that is suspended between its last look at the
//! lease and its first byte (`sending::holds_lease`); no desk can close that gap alone.

use stateright::Model;

/// A part of the desk that is left out, to see that it is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Without {
    /// The desk as it is.
    Nothing,
    /// Recovery sends again instead of recording the doubt.
    GivingUp,
    /// A send does not look at its lease before it connects.
    LeaseCheck,
    /// The intent is written without looking at the state.
    IntentGuard,
    /// An undo is written without looking at the state.
    UndoGuard,
    /// A call is stored although its key is claimed.
    UniqueClaim,
    /// A call in doubt frees its key.
    KeptKey,
    /// A person may find that nothing happened while the request is still on its way.
    ClosedConnection,
    /// A status of `in_doubt_on` is taken for a failure.
    DoubtfulStatus,
    /// Nobody looks for calls that were given up.
    Recovery,
}

/// One way to set the desk up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Desk {
    pub(crate) without: Without,
    /// Whether confirmed calls wait for an undo window.
    pub(crate) undo_window: bool,
    /// Whether the service's 5xx is no word that nothing happened.
    pub(crate) in_doubt_on: bool,
}

/// `calls.state`, as far as it differs here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum State {
    Held,
    Approved,
    /// With the owner of the lease, and whether the lease has run out.
    Sending(Node, bool),
    Done,
    /// Refused or failed: known not to have happened.
    Failed,
    /// Declined, expired or withdrawn.
    Unsent,
    InDoubt,
}

pub(crate) type Node = u8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    pub(crate) state: State,
    /// `settled_at`
    settled: bool,
    /// How often it was done, as far as the service does not say that it was not.
    pub(crate) effects: u8,
}

/// What a process is at with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Step {
    /// `Engine::start_and_send` has read the row as approved.
    Looked,
    /// The intent is durable.
    Intended,
    /// The request has left.
    Waiting,
    /// How the send ended, not yet recorded.
    Heard(Heard),
}

/// How a send ends for the one who sends (`conclusion::conclude`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Heard {
    Done,
    /// 4xx, a 5xx, or never left.
    NotDone,
    Unknown,
}

pub(crate) type Work = (Node, usize, Step);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) calls: Vec<Call>,
    /// `claims`: whose the key is.
    claim: Option<usize>,
    /// In every process, sorted.
    work: Vec<Work>,
    /// Requests that have left and that the service has not dealt with, by call; they outlive their process.
    on_the_wire: Vec<usize>,
    crashes: u8,
    lapses: u8,
    undos: u8,
    repeats: u8,
}

/// What the service does with a request: whether it acts, and what comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Done,
    Refused,
    Failed,
    DoneThenFailed,
    DoneThenCut,
    Cut,
}

impl Service {
    const ALL: [Self; 6] =
        [Self::Done, Self::Refused, Self::Failed, Self::DoneThenFailed, Self::DoneThenCut, Self::Cut];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    Call,
    Confirm(Node, usize),
    Undo(usize),
    EndUnsent(usize),
    Look(Node, usize),
    Start(Work),
    Send(Work),
    NeverLeaves(Work),
    Serve(usize, Service),
    TimeOut(Work),
    Record(Work),
    Lapse(usize),
    Renew(Work),
    Recover(Node, usize),
    Crash(Node),
    SettleHappened(usize),
    SettleNotHappened(usize),
}

impl World {
    fn replace(&mut self, old: Work, new: Option<Work>) {
        self.work.retain(|work| *work != old);
        self.work.extend(new);
        self.work.sort_unstable();
    }

    fn works_on(&self, call: usize) -> bool {
        self.work.iter().any(|(_, at, _)| *at == call)
    }

    /// `Tx::free_claim`: `WHERE slot = … AND call_id = …`
    fn free_claim(&mut self, call: usize) {
        if self.claim == Some(call) {
            self.claim = None;
        }
    }

    /// Whether something is confirmed and has not ended.
    pub(crate) fn has_open(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.state, State::Approved | State::Sending(..)))
    }
}

impl Model for Desk {
    type State = World;
    type Action = Act;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            calls: Vec::new(),
            claim: None,
            work: Vec::new(),
            on_the_wire: Vec::new(),
            crashes: 2,
            lapses: 2,
            undos: 1,
            repeats: 2,
        }]
    }

    fn actions(&self, world: &World, acts: &mut Vec<Act>) {
        if world.repeats > 0 {
            acts.push(Act::Call);
        }
        for (at, call) in world.calls.iter().enumerate() {
            self.acts_on(world, at, *call, acts);
        }
        for work in world.work.iter().copied() {
            match work.2 {
                Step::Looked => acts.push(Act::Start(work)),
                Step::Intended => acts.extend([Act::Send(work), Act::NeverLeaves(work)]),
                Step::Waiting => acts.push(Act::TimeOut(work)),
                Step::Heard(_) => acts.push(Act::Record(work)),
            }
            let lapsed = matches!(world.calls[work.1].state, State::Sending(owner, true) if owner == work.0);
            if lapsed && work.2 == Step::Waiting {
                acts.push(Act::Renew(work));
            }
        }
        for at in world.on_the_wire.iter().copied() {
            acts.extend(Service::ALL.map(|service| Act::Serve(at, service)));
        }
        for node in [0, 1] {
            if world.crashes > 0 && world.work.iter().any(|(at, _, _)| *at == node) {
                acts.push(Act::Crash(node));
            }
        }
    }

    fn next_state(&self, world: &World, act: Act) -> Option<World> {
        let mut next = world.clone();
        match act {
            Act::Call => self.call(&mut next),
            Act::Confirm(node, at) => self.confirm(&mut next, node, at),
            Act::Undo(at) => {
                // `Tx::undo`: `AND state = 'approved' AND send_at > now`
                next.calls[at].state = State::Held;
                next.undos -= 1;
            }
            Act::EndUnsent(at) => {
                // `Tx::end_unsent` and `Tx::free_claim`
                next.calls[at].state = State::Unsent;
                next.free_claim(at);
            }
            Act::Look(node, at) => next.work.push((node, at, Step::Looked)),
            Act::Start(work) => self.start(&mut next, work),
            Act::Send(work) => self.send(&mut next, work),
            Act::NeverLeaves(work) => {
                next.replace(work, Some((work.0, work.1, Step::Heard(Heard::NotDone))));
            }
            Act::Serve(at, service) => self.serve(&mut next, at, service),
            Act::TimeOut(work) => next.replace(work, Some((work.0, work.1, Step::Heard(Heard::Unknown)))),
            Act::Record(work) => Self::record(&mut next, work),
            Act::Lapse(at) => {
                let State::Sending(owner, _) = next.calls[at].state else { return None };
                next.calls[at].state = State::Sending(owner, true);
                next.lapses = next.lapses.saturating_sub(1);
            }
            Act::Renew(work) => next.calls[work.1].state = State::Sending(work.0, false),
            Act::Recover(node, at) => self.recover(&mut next, node, at),
            Act::Crash(node) => {
                next.work.retain(|(at, _, _)| *at != node);
                next.crashes -= 1;
            }
            Act::SettleHappened(at) => {
                // `Tx::settle`: `AND state = 'in_doubt'`
                next.calls[at] = Call { state: State::Done, settled: true, ..next.calls[at] };
            }
            Act::SettleNotHappened(at) => {
                next.calls[at] = Call { state: State::Failed, settled: true, ..next.calls[at] };
                next.free_claim(at);
            }
        }
        next.work.sort_unstable();
        Some(next)
    }

    /// A desk without one of its parts may send for ever; the second effect is enough to be seen.
    fn within_boundary(&self, world: &World) -> bool {
        world.work.len() <= 4 && world.calls.iter().all(|call| call.effects <= 2)
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        crate::properties()
    }
}

impl Desk {
    fn acts_on(self, world: &World, at: usize, call: Call, acts: &mut Vec<Act>) {
        match call.state {
            State::Held => {
                acts.extend([0, 1].map(|node| Act::Confirm(node, at)));
                acts.push(Act::EndUnsent(at));
            }
            State::Approved => {
                // `Engine::send_when_due`, of the process that took the decision and of the job of any other.
                let free = [0, 1].into_iter().filter(|node| !world.work.contains(&(*node, at, Step::Looked)));
                acts.extend(free.map(|node| Act::Look(node, at)));
                // A revoked key takes back what has not been sent (`Unsent::Any`).
                acts.push(Act::EndUnsent(at));
            }
            State::Sending(_, lapsed) if lapsed && self.without != Without::Recovery => {
                acts.extend([0, 1].map(|node| Act::Recover(node, at)));
            }
            // A lease that nobody renews runs out; one that is held may, when its process is slow.
            State::Sending(_, false) if world.lapses > 0 || !world.works_on(at) => acts.push(Act::Lapse(at)),
            State::InDoubt if call.effects > 0 => acts.push(Act::SettleHappened(at)),
            // A person tells the truth, and looks when no request of the call is on its way.
            State::InDoubt
                if self.without == Without::ClosedConnection || !world.on_the_wire.contains(&at) =>
            {
                acts.push(Act::SettleNotHappened(at));
            }
            _ => {}
        }
        let may_undo = call.state == State::Approved
            || self.without == Without::UndoGuard && matches!(call.state, State::Sending(..));
        if may_undo && world.undos > 0 {
            acts.push(Act::Undo(at));
        }
    }

    /// `pipeline::claim::look_up`, then `gate::hold::store`: `Tx::insert_call` and `Tx::insert_claim`, whose conflict
    /// undoes both. Who finds the key taken is answered from its call's row and changes nothing.
    fn call(self, next: &mut World) {
        next.repeats -= 1;
        if next.claim.is_none() || self.without == Without::UniqueClaim {
            next.claim = Some(next.calls.len());
            next.calls.push(Call { state: State::Held, settled: false, effects: 0 });
        }
    }

    /// `Engine::spend`: `Tx::lock_held`, then `Tx::approve` or `Tx::start_sending`, each `AND state = 'held'`.
    fn confirm(self, next: &mut World, node: Node, at: usize) {
        if self.undo_window {
            next.calls[at].state = State::Approved;
        } else {
            next.calls[at].state = State::Sending(node, false);
            next.work.push((node, at, Step::Intended));
        }
    }

    /// `Tx::start_due`: `AND state = 'approved' AND send_at <= now`
    fn start(self, next: &mut World, work: Work) {
        let (node, at, _) = work;
        let free = next.calls[at].state == State::Approved || self.without == Without::IntentGuard;
        if free {
            next.calls[at].state = State::Sending(node, false);
        }
        next.replace(work, free.then_some((node, at, Step::Intended)));
    }

    /// `sending::holds_lease`, then the connection and the request: a lease that has run out is renewed where
    /// `Store::renew_lease` still finds the row (`state = 'sending' AND lease_owner = …`); else nothing is sent.
    fn send(self, next: &mut World, work: Work) {
        let (node, at, _) = work;
        let state = &mut next.calls[at].state;
        let holds = matches!(*state, State::Sending(owner, _) if owner == node);
        if holds {
            *state = State::Sending(node, false);
        }
        let sends = holds || self.without == Without::LeaseCheck;
        next.replace(work, sends.then_some((node, at, Step::Waiting)));
        if sends {
            next.on_the_wire.push(at);
            next.on_the_wire.sort_unstable();
        }
    }

    /// The service deals with one request; whoever still waits for it hears of it. A service that acts and then says
    /// 5xx is taken at its word, unless `in_doubt_on` names the status.
    fn serve(self, next: &mut World, at: usize, service: Service) {
        let index = next.on_the_wire.iter().position(|call| *call == at).expect("on the wire");
        next.on_the_wire.remove(index);
        let acts = match service {
            Service::Done | Service::DoneThenCut => true,
            Service::DoneThenFailed => self.in_doubt_on,
            Service::Refused | Service::Failed | Service::Cut => false,
        };
        next.calls[at].effects += u8::from(acts);
        let doubtful = self.in_doubt_on && self.without != Without::DoubtfulStatus;
        let heard = match service {
            Service::Done => Heard::Done,
            Service::Refused => Heard::NotDone,
            Service::Failed | Service::DoneThenFailed if !doubtful => Heard::NotDone,
            _ => Heard::Unknown,
        };
        let waiting = next.work.iter().copied().find(|(_, call, step)| *call == at && *step == Step::Waiting);
        if let Some(work) = waiting {
            next.replace(work, Some((work.0, at, Step::Heard(heard))));
        }
    }

    /// `completion::record`: `Tx::end_sending` (`AND state IN ('sending', …)`), else `Tx::end_late` (`AND (state =
    /// 'in_doubt' OR settled_at IS NOT NULL)`) where the answer says something definite.
    fn record(next: &mut World, work: Work) {
        let (_, at, Step::Heard(heard)) = work else { unreachable!("what was heard is recorded") };
        next.replace(work, None);
        let call = next.calls[at];
        let ended = match heard {
            Heard::Done => State::Done,
            Heard::NotDone => State::Failed,
            Heard::Unknown => State::InDoubt,
        };
        let open = matches!(call.state, State::Sending(..));
        let late = heard != Heard::Unknown && (call.state == State::InDoubt || call.settled);
        if open || late {
            next.calls[at] = Call { state: ended, settled: false, ..call };
            match heard {
                Heard::NotDone => next.free_claim(at),
                // `completion::take_key_back`
                Heard::Done if next.claim.is_none() => next.claim = Some(at),
                _ => {}
            }
        }
    }

    /// `Engine::give_up`: `Tx::give_up_lapsed` (`AND state = 'sending' AND lease_until <= now`)
    fn recover(self, next: &mut World, node: Node, at: usize) {
        if self.without == Without::GivingUp {
            next.calls[at].state = State::Sending(node, false);
            next.work.push((node, at, Step::Intended));
            return;
        }
        next.calls[at].state = State::InDoubt;
        if self.without == Without::KeptKey {
            next.free_claim(at);
        }
    }
}
