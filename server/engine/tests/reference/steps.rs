//! What each step does.

use super::{
    ANSWER_TTL, Call, Claim, Desk, HOLD_TTL, Kind, LEASE, Later, Node, Person, RESULT_TTL, Receipt,
    ReceiptSeen, Sent, Service, State, Step, Told, UNDO_WINDOW, key, text,
};

fn told(word: &'static str) -> Told {
    Told { word, ..Told::default() }
}

impl Desk {
    #[must_use]
    pub fn after(mut self, step: &Step) -> Self {
        self.late = None;
        self.told = match *step {
            Step::Call { node, kind, text, key, service } => self.call(node, kind, text, key, service),
            Step::Confirm { node, call, person, service } => self.confirm(node, call, person, service),
            Step::Decline { call, person, .. } => self.decline(call, person),
            Step::Undo { call, person, .. } => self.undo(call, person),
            Step::Withdraw { call, .. } => self.withdraw(call),
            Step::Settle { node, call, person, happened } => self.settle(node, call, person, happened),
            ref other => {
                self.job(other);
                Told::default()
            }
        };
        self
    }

    fn job(&mut self, step: &Step) {
        match *step {
            Step::Revoke => self.revoke(),
            Step::Change => self.quota += 1,
            Step::Pass(seconds) => self.now += seconds,
            Step::SendDue { node, service } => {
                for at in self.due() {
                    if self.calls[at].kind.is_queued() {
                        self.calls[at].state = State::Queued;
                    } else {
                        self.send(at, node, service);
                    }
                }
            }
            Step::RunQueue { node, service } => {
                for at in self.queued() {
                    self.send(at, node, service);
                }
            }
            Step::Expire { .. } => {
                for at in 0..self.calls.len() {
                    if self.calls[at].state == State::Held && self.calls[at].expires_at <= self.now {
                        self.end_unsent(at, State::Expired, "action.expired");
                    }
                }
            }
            Step::Recover { .. } => {
                for at in 0..self.calls.len() {
                    if self.calls[at].state == State::Sending && self.calls[at].lease_until <= self.now {
                        self.in_doubt(at);
                    }
                }
            }
            Step::Erase { .. } => self.erase(),
            Step::Answer => self.answer(),
            _ => unreachable!("it has an answer"),
        }
    }

    /// Steps 10 to 12 of section 3, and section 6.
    fn call(&mut self, node: Node, kind: Kind, text: u8, key: Option<u8>, service: Service) -> Told {
        if let Some(claim) = key.and_then(|key| self.claims.get(&key).copied()) {
            return self.repeat(claim, kind, text);
        }
        let at = self.calls.len();
        if let Some(key) = key {
            self.claims.insert(key, Claim { call: at, answer_until: None, forgotten: false });
        }
        self.calls.push(Call {
            kind,
            text,
            key,
            state: if kind == Kind::Queued { State::Queued } else { State::Held },
            expires_at: self.now + HOLD_TTL,
            send_at: 0,
            lease_until: 0,
            votes: Vec::new(),
            shown: self.quota,
            open: None,
            was_sent: false,
            settled: false,
            attempts: 0,
            result_until: None,
            receipt: None,
            events: Vec::new(),
        });
        match kind {
            Kind::Passes => {
                self.send(at, node, service);
                let names = (self.calls[at].state == State::InDoubt).then_some(at);
                Told { names, ..told(self.word_of(at)) }
            }
            Kind::Queued => Told { names: Some(at), ..told("queued") },
            _ => {
                self.calls[at].events.push("call.held");
                Told { names: Some(at), ..told("held") }
            }
        }
    }

    fn repeat(&mut self, claim: Claim, kind: Kind, text: u8) -> Told {
        let first = &self.calls[claim.call];
        let is_same = (first.kind.action(), first.text) == (kind.action(), text);
        let named = |word| Told { names: Some(claim.call), ..told(word) };
        let answer = match first.state {
            _ if !is_same => told("idempotency_key_reused"),
            _ if claim.forgotten => told("idempotency_key_forgotten"),
            State::Done => {
                let status = if first.settled { None } else { Some(200) };
                Told { replay: Some((status, claim.answer_until.is_some())), ..told("replayed") }
            }
            State::InDoubt => named("outcome_unknown"),
            State::Held | State::Approved | State::Queued | State::Sending => named("idempotency_in_flight"),
            _ => unreachable!("its key is free: {first:?}"),
        };
        self.repeats.push(if answer.replay.is_some() { "action.replayed" } else { "action.refused" });
        answer
    }

    /// What whoever waits for a call that needs nobody is told.
    fn word_of(&self, at: usize) -> &'static str {
        let call = &self.calls[at];
        match call.state {
            State::Sending => "waits",
            State::Refused => call.kind.refusal(),
            State::Failed => "upstream_failed",
            State::InDoubt => "outcome_unknown",
            other => other.word(),
        }
    }

    fn confirm(&mut self, node: Node, at: usize, person: Person, service: Service) -> Told {
        if let Some(refused) = self.cannot_decide(at, person) {
            return refused;
        }
        let (now, quota) = (self.now, self.quota);
        let call = &mut self.calls[at];
        if call.kind == Kind::Checked && call.shown != quota {
            call.shown = quota;
            return told("preview_changed");
        }
        if call.votes.contains(&person) {
            return told("already_decided");
        }
        call.votes.push(person);
        call.events.push("call.decided");
        if call.votes.len() < call.kind.quorum() {
            return told("held");
        }
        if call.kind.has_undo_window() {
            call.state = State::Approved;
            call.send_at = now + UNDO_WINDOW;
            return told("approved");
        }
        if call.kind.is_queued() {
            call.state = State::Queued;
            return told("queued");
        }
        self.send(at, node, service);
        // The decision does not wait for the send.
        told("sent")
    }

    /// Section 4, `POST /v1/calls/{id}/decision`: who may not, and what comes too late.
    fn cannot_decide(&self, at: usize, person: Person) -> Option<Told> {
        let call = &self.calls[at];
        if !call.kind.decides(person) {
            return Some(told("not_found"));
        }
        match call.state {
            State::Held if call.expires_at <= self.now => Some(told("expired")),
            State::Held => None,
            State::Expired => Some(told("expired")),
            State::Withdrawn => Some(told("withdrawn")),
            _ => Some(told("already_decided")),
        }
    }

    fn decline(&mut self, at: usize, person: Person) -> Told {
        if let Some(refused) = self.cannot_decide(at, person) {
            return refused;
        }
        self.calls[at].events.push("call.decided");
        self.end_unsent(at, State::Declined, "action.declined");
        told("declined")
    }

    fn undo(&mut self, at: usize, person: Person) -> Told {
        let now = self.now;
        let is_held = self.is_held(&self.calls[at]);
        let call = &mut self.calls[at];
        if !call.kind.decides(person) {
            return told("not_found");
        }
        if call.state == State::Approved && call.send_at > now {
            call.state = State::Held;
            call.votes.clear();
        } else if is_held && call.votes.contains(&person) {
            call.votes.retain(|voter| *voter != person);
        } else {
            return told("not_held");
        }
        call.events.push("call.undone");
        told("held")
    }

    fn withdraw(&mut self, at: usize) -> Told {
        if !self.is_held(&self.calls[at]) {
            return told("not_held");
        }
        self.end_unsent(at, State::Withdrawn, "action.withdrawn");
        told("withdrawn")
    }

    fn revoke(&mut self) {
        self.revoked = true;
        for at in 0..self.calls.len() {
            let call = &self.calls[at];
            let is_unsent = matches!(call.state, State::Held | State::Approved | State::Queued);
            if is_unsent && !call.kind.is_quick() {
                self.end_unsent(at, State::Withdrawn, "action.withdrawn");
            }
        }
    }

    fn end_unsent(&mut self, at: usize, state: State, event: &'static str) {
        assert!(!self.calls[at].was_sent, "nothing of it has been sent");
        self.calls[at].state = state;
        self.calls[at].events.push(event);
        self.free_key(at);
    }

    /// Section 7: once its lease has run out and its connection is closed, as far as the process can know.
    fn settle(&mut self, node: Node, at: usize, person: Person, happened: bool) -> Told {
        let now = self.now;
        let call = &mut self.calls[at];
        if !call.kind.may_settle(person) {
            return told("not_found");
        }
        if call.state != State::InDoubt {
            return told("already_decided");
        }
        if call.open.is_some_and(|(by, _)| by == node) {
            return told("unavailable");
        }
        call.state = if happened { State::Done } else { State::Failed };
        call.settled = true;
        call.attempts += usize::from(!happened);
        call.events.push("call.settled");
        let outcome = if happened { "settled_happened" } else { "settled_did_not_happen" };
        call.amend(now, outcome, None);
        if !happened {
            self.free_key(at);
        }
        told(if happened { "done" } else { "failed" })
    }

    /// One send at most, whatever the service does.
    fn send(&mut self, at: usize, node: Node, service: Service) {
        let now = self.now;
        let call = &mut self.calls[at];
        assert!(!call.was_sent, "at most once");
        call.was_sent = true;
        let sent =
            Sent { method: call.kind.method().to_owned(), text: text(call.text), key: call.key.map(key) };
        self.sent.push(sent);
        let ends = match service {
            Service::Does => Later::Does,
            Service::Refuses => Later::Refuses,
            Service::Fails => Later::Fails,
            Service::Cuts => Later::Cuts,
            Service::Waits(later) => {
                call.state = State::Sending;
                call.lease_until = now + LEASE;
                call.open = Some((node, later));
                return;
            }
        };
        self.end(at, ends);
    }

    /// The table “What a send can end as”.
    fn end(&mut self, at: usize, ends: Later) {
        let now = self.now;
        let call = &mut self.calls[at];
        let (state, event, receipt) = match ends {
            Later::Does => (State::Done, "action.completed", Some(200)),
            Later::Refuses => (State::Refused, "action.refused", Some(404)),
            Later::Fails => (State::Failed, "action.failed", None),
            Later::Cuts => return self.in_doubt(at),
        };
        call.state = state;
        call.events.push(event);
        call.attempts += usize::from(state == State::Failed);
        if receipt.is_some() {
            call.receipt = Some(call.new_receipt(now, "done", receipt));
        }
        self.keep(at);
    }

    fn in_doubt(&mut self, at: usize) {
        let now = self.now;
        let call = &mut self.calls[at];
        call.state = State::InDoubt;
        call.events.push("action.in_doubt");
        call.receipt = Some(call.new_receipt(now, "in_doubt", None));
    }

    /// What stays of a send that ended: the result and the answer of what was done, and its key; of the others nothing.
    fn keep(&mut self, at: usize) {
        let now = self.now;
        let call = &mut self.calls[at];
        if call.state != State::Done {
            return self.free_key(at);
        }
        let is_answered_now = call.kind == Kind::Passes;
        call.result_until = Some(now + if is_answered_now { RESULT_TTL } else { ANSWER_TTL });
        let claim = call.key.and_then(|key| self.claims.get_mut(&key));
        if let Some(claim) = claim.filter(|claim| claim.call == at) {
            claim.answer_until = Some(now + ANSWER_TTL);
        }
    }

    /// An answer that arrives late still completes the call, and overrides a settlement.
    fn answer(&mut self) {
        let (at, _) = self.open().expect("one is open");
        let (_, ends) = self.calls[at].open.take().expect("it is open");
        if self.calls[at].state == State::Sending {
            self.end(at, ends);
        } else {
            self.answer_late(at, ends);
        }
        if self.calls[at].kind == Kind::Passes {
            let word = match ends {
                Later::Does => "done",
                Later::Refuses => self.calls[at].kind.refusal(),
                Later::Fails => "upstream_failed",
                Later::Cuts => "outcome_unknown",
            };
            self.late = Some((at, word));
        }
    }

    fn answer_late(&mut self, at: usize, ends: Later) {
        let now = self.now;
        let call = &mut self.calls[at];
        let (state, outcome, status) = match ends {
            Later::Does => (State::Done, "done", 200),
            Later::Refuses => (State::Refused, "done", 404),
            Later::Fails => (State::Failed, "settled_did_not_happen", 500),
            // It says nothing that is not known.
            Later::Cuts => return,
        };
        call.state = state;
        call.settled = false;
        call.attempts = usize::from(state == State::Failed);
        // It had its one ending event when it was given up.
        call.events.push("call.settled");
        call.amend(now, outcome, Some(status));
        if let Some(key) = call.key.filter(|_| state == State::Done) {
            let heir = self.claims.get(&key).map(|claim| claim.call).filter(|heir| *heir != at);
            let waits = |heir: &usize| {
                matches!(self.calls[*heir].state, State::Held | State::Approved | State::Queued)
            };
            if let Some(heir) = heir.filter(waits) {
                self.end_unsent(heir, State::Withdrawn, "action.withdrawn");
            }
            self.claims.entry(key).or_insert(Claim { call: at, answer_until: None, forgotten: false });
        }
        self.keep(at);
    }

    fn free_key(&mut self, at: usize) {
        let key = self.calls[at].key;
        if let Some(key) = key.filter(|key| self.claims.get(key).is_some_and(|claim| claim.call == at)) {
            self.claims.remove(&key);
        }
    }

    /// Section 4, “What is kept, and how long”, and the retention of receipts.
    fn erase(&mut self) {
        let now = self.now;
        let is_over = |until: &Option<_>| until.is_some_and(|until| until <= now);
        for claim in self.claims.values_mut() {
            claim.answer_until = claim.answer_until.filter(|until| !is_over(&Some(*until)));
        }
        for (at, call) in self.calls.iter_mut().enumerate() {
            call.result_until = call.result_until.filter(|until| !is_over(&Some(*until)));
            if !call.receipt.as_ref().is_some_and(|receipt| receipt.is_old(now)) {
                continue;
            }
            call.receipt = None;
            let claim = call.key.and_then(|key| self.claims.get_mut(&key));
            if let Some(claim) = claim.filter(|claim| claim.call == at) {
                claim.forgotten = true;
                claim.answer_until = None;
            }
        }
    }
}

impl Call {
    fn new_receipt(&self, at: i64, outcome: &'static str, upstream_status: Option<u16>) -> Receipt {
        let approved_by = self.votes.clone();
        Receipt { at, seen: ReceiptSeen { outcome, upstream_status, approved_by } }
    }

    /// A row of its own says what became known later.
    fn amend(&mut self, at: i64, outcome: &'static str, upstream_status: Option<u16>) {
        let receipt = self.receipt.as_mut().expect("a call in doubt has a receipt");
        receipt.at = at;
        receipt.seen.outcome = outcome;
        receipt.seen.upstream_status = upstream_status;
    }
}
