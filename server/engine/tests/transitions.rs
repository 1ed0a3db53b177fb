//! Every statement that moves a call, on a call in every state: it moves those that it may, and finds no other.
//!
//! Whoever moves a call has looked at it before, so these conditions count when somebody else was quicker.

mod desk;

use std::path::Path;

use desk::{Desk, keyed};
use engine::store::{CallRow, NewCall, NewClaim, SendEnd, Store, Tx, Unsent};
use model::{CallId, CallStatus, PersonId, Surface, Time};
use serde_json::json;
use uuid::Uuid;

const MINUTE: i64 = 60;

/// A call, by its state and what else a statement may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Queued,
    Held,
    HeldLapsed,
    HeldForQueue,
    /// Its undo window is open.
    Approved,
    ApprovedForQueue,
    /// Its undo window has passed.
    Due,
    DueForQueue,
    Sending,
    /// Its lease has run out.
    SendingLapsed,
    Running,
    Done,
    Refused,
    Declined,
    Expired,
    Withdrawn,
    Failed,
    InDoubt,
    /// Done, as a person found.
    Settled,
}

use Stands::{
    Approved, ApprovedForQueue, Declined, Done, Due, DueForQueue, Expired, Failed, Held, HeldForQueue,
    HeldLapsed, InDoubt, Queued, Refused, Running, Sending, SendingLapsed, Settled, Withdrawn,
};

const ALL: [Stands; 19] = [
    Queued,
    Held,
    HeldLapsed,
    HeldForQueue,
    Approved,
    ApprovedForQueue,
    Due,
    DueForQueue,
    Sending,
    SendingLapsed,
    Running,
    Done,
    Refused,
    Declined,
    Expired,
    Withdrawn,
    Failed,
    InDoubt,
    Settled,
];

impl Stands {
    const fn state(self) -> CallStatus {
        match self {
            Queued => CallStatus::Queued,
            Held | HeldLapsed | HeldForQueue => CallStatus::Held,
            Approved | ApprovedForQueue | Due | DueForQueue => CallStatus::Approved,
            Sending | SendingLapsed => CallStatus::Sending,
            Running => CallStatus::Running,
            Done | Settled => CallStatus::Done,
            Refused => CallStatus::Refused,
            Declined => CallStatus::Declined,
            Expired => CallStatus::Expired,
            Withdrawn => CallStatus::Withdrawn,
            Failed => CallStatus::Failed,
            InDoubt => CallStatus::InDoubt,
        }
    }

    const fn surface(self) -> Surface {
        match self {
            Queued | HeldForQueue | ApprovedForQueue | DueForQueue => Surface::Queue,
            _ => Surface::Api,
        }
    }

    /// Puts a held call into this state behind the desk's back. A time that the state has no use for is one that has
    /// passed, or one to come: neither alone lets a statement pass.
    fn sql(self, id: CallId, now: Time, passed: bool) -> String {
        let (future, past) = (now.plus_seconds(MINUTE).micros(), now.plus_seconds(-MINUTE).micros());
        let other = if passed { past } else { future };
        let send_at = match self {
            Due | DueForQueue => past,
            Approved | ApprovedForQueue => future,
            _ => other,
        };
        let expires_at = match self {
            HeldLapsed => past,
            Held | HeldForQueue => future,
            _ => other,
        };
        let lease = match self {
            SendingLapsed => format!("lease_owner = 'node', lease_until = {past}"),
            Sending => format!("lease_owner = 'node', lease_until = {future}"),
            _ => format!("lease_owner = 'node', lease_until = {other}"),
        };
        let has_ended = self.state().is_ended() && self != InDoubt;
        let erased = if has_ended { ", input = NULL, preview = NULL, preview_title = NULL" } else { "" };
        let ended = if self.state().is_ended() { format!(", ended_at = {past}") } else { String::new() };
        let settled = if self == Settled { format!(", settled_at = {past}") } else { String::new() };
        format!(
            "UPDATE calls SET state = '{}', send_at = {send_at}, expires_at = {expires_at}, {lease}{erased}{ended}{settled} WHERE id = '{id}'",
            self.state()
        )
    }
}

/// Where a statement finds a call.
type Finds = &'static [Stands];

/// Each statement, with what it finds.
const MOVES: [(Move, Finds); 19] = [
    (Move::Lock, &[Held, HeldForQueue]),
    (Move::LockByAnother, &[]),
    (Move::LockOlderPreview, &[]),
    (Move::Tighten, &[Held, HeldLapsed, HeldForQueue]),
    (Move::ReplacePreview, &[Held, HeldLapsed, HeldForQueue]),
    (Move::Approve, &[Held, HeldLapsed, HeldForQueue]),
    (Move::Undo, &[Approved, ApprovedForQueue]),
    (Move::StartSending, &[Held, HeldLapsed, HeldForQueue]),
    (Move::StartDue, &[Due]),
    (Move::QueueConfirmed, &[HeldForQueue]),
    (Move::QueueDue, &[DueForQueue]),
    (Move::StartQueued, &[Queued]),
    (Move::EndUnsent(Unsent::Held), &[Held, HeldForQueue]),
    (Move::EndUnsent(Unsent::Lapsed), &[HeldLapsed]),
    (Move::EndUnsent(Unsent::Queued), &[Queued]),
    (Move::EndSending, &[Sending, SendingLapsed, Running]),
    (Move::Settle, &[InDoubt]),
    (Move::EndLate, &[InDoubt, Settled]),
    (Move::GiveUp, &[SendingLapsed]),
];

/// What may still be taken back when a key is revoked.
const UNSENT: Finds = &[Queued, Held, HeldLapsed, HeldForQueue, Approved, ApprovedForQueue, Due, DueForQueue];

#[derive(Debug, Clone, Copy)]
enum Move {
    Lock,
    LockByAnother,
    LockOlderPreview,
    Tighten,
    ReplacePreview,
    Approve,
    Undo,
    StartSending,
    StartDue,
    QueueConfirmed,
    QueueDue,
    StartQueued,
    EndUnsent(Unsent),
    EndSending,
    Settle,
    EndLate,
    GiveUp,
}

/// The calls of a test, one in each state.
struct Calls {
    store: Store,
    now: Time,
    ann: PersonId,
    max: PersonId,
    row: CallRow,
    ids: Vec<(Stands, CallId)>,
}

impl Calls {
    /// Both kinds of them.
    async fn all_of(desk: &Desk) -> [Self; 2] {
        [Self::of(desk, false).await, Self::of(desk, true).await]
    }

    async fn of(desk: &Desk, passed: bool) -> Self {
        let store = Store::open(&desk.database.url(), Path::new("/")).await.expect("the store");
        let id = desk.held(desk.careful("note", json!({ "text": "x" })).await).await;
        let row = store.call(id).await.expect("storage").expect("the call");
        let approvers =
            desk.database.texts(&format!("SELECT subject FROM call_approvers WHERE call_id = '{id}'")).await;
        let now = desk.engine.now();
        let mut ids = Vec::new();
        for (number, stands) in (1..).zip(ALL) {
            let id = CallId::from_uuid(Uuid::from_u128(number + 100 * u128::from(passed)));
            let new = NewCall {
                row: CallRow { id, surface: stands.surface(), ..row.clone() },
                input_hash: [0; 32],
                approvers: approvers.clone(),
                self_approval: true,
                lease_owner: None,
            };
            let mut tx = store.begin().await.expect("a transaction");
            tx.insert_call(&new).await.expect("inserted");
            tx.commit().await.expect("committed");
            desk.database.run(&stands.sql(id, now, passed)).await.expect("it fits the schema");
            ids.push((stands, id));
        }
        Self { store, now, ann: desk.ann.id, max: desk.max.id, row, ids }
    }

    /// Where the statement finds a call. What it does is undone.
    async fn found_by(&self, what: Move) -> Vec<Stands> {
        let mut found = Vec::new();
        for (stands, id) in self.ids.iter().copied() {
            let mut tx = self.store.begin().await.expect("a transaction");
            if self.makes(&mut tx, what, id).await {
                found.push(stands);
            }
        }
        found
    }

    async fn makes(&self, tx: &mut Tx, what: Move, id: CallId) -> bool {
        let (now, later) = (self.now, self.now.plus_seconds(MINUTE));
        let version = self.row.preview_version.as_deref();
        let end = SendEnd {
            status: CallStatus::Done,
            at: now,
            result: None,
            erase_at: None,
            problem: None,
            upstream_status: Some(200),
            receipt_id: None,
            attempts: &[],
        };
        let made = match what {
            Move::Lock => tx.lock_held(id, self.ann, version, now).await,
            Move::LockByAnother => tx.lock_held(id, self.max, version, now).await,
            Move::LockOlderPreview => tx.lock_held(id, self.ann, Some("older"), now).await,
            Move::Tighten => tx.tighten(id, 5, true, false).await,
            Move::ReplacePreview => tx.replace_preview(id, &self.row).await,
            Move::Approve => tx.approve(id, now, later).await,
            Move::Undo => tx.undo(id, now).await,
            Move::StartSending => tx.start_sending(id, now, "node", later).await,
            Move::StartDue => tx.start_due(id, now, "node", later).await,
            Move::QueueConfirmed => tx.queue_confirmed(id, now).await,
            Move::QueueDue => tx.queue_due(id, now).await,
            Move::StartQueued => tx.start_queued(id, CallStatus::Sending, now, "node", later).await,
            Move::EndUnsent(from) => tx.end_unsent(id, from, CallStatus::Withdrawn, now, None, None).await,
            Move::EndSending => tx.end_sending(id, &end).await,
            Move::Settle => tx.settle(id, CallStatus::Done, now, None, &[]).await,
            Move::EndLate => tx.end_late(id, &end).await,
            Move::GiveUp => tx.give_up_lapsed(id, now, None).await,
        };
        made.expect("storage")
    }
}

on_both! {
    async fn each_statement_moves_what_it_may_and_finds_no_other(desk: Desk) {
        for calls in Calls::all_of(&desk).await {
            for (what, finds) in MOVES {
                assert_eq!(calls.found_by(what).await, finds, "{what:?}");
            }
            assert_eq!(calls.found_by(Move::EndUnsent(Unsent::Any)).await, UNSENT);
        }
    }
}

on_both! {
    /// A lease is renewed by the process that holds it, as long as the send is its own.
    async fn a_lease_is_its_owners_to_renew(desk: Desk) {
        for calls in Calls::all_of(&desk).await {
            let until = calls.now.plus_seconds(MINUTE);
            let mut renewed = Vec::new();
            for (stands, id) in &calls.ids {
                assert!(!calls.store.renew_lease(*id, "another", until).await.expect("storage"), "{stands:?}");
                if calls.store.renew_lease(*id, "node", until).await.expect("storage") {
                    renewed.push(*stands);
                }
            }
            assert_eq!(renewed, [Sending, SendingLapsed, Running]);
        }
    }
}

on_both! {
    /// The jobs plan what is due, and nothing else.
    async fn the_jobs_find_what_is_due(desk: Desk) {
        for calls in Calls::all_of(&desk).await {
            let planned = |ids: Vec<CallId>| {
                let fit = calls.ids.iter().filter(|(_, id)| ids.contains(id));
                fit.map(|(stands, _)| *stands).collect::<Vec<_>>()
            };
            let (store, now) = (&calls.store, calls.now);
            assert_eq!(planned(store.calls_to_send(now, 100).await.expect("storage")), [Due, DueForQueue]);
            assert_eq!(planned(store.calls_to_expire(now, 100).await.expect("storage")), [HeldLapsed]);
            assert_eq!(planned(store.calls_with_lapsed_lease(now, 100).await.expect("storage")), [SendingLapsed]);
            assert_eq!(planned(store.queued_calls(None, 100).await.expect("storage")), [Queued]);
            let key = calls.row.key_id.expect("a key made it");
            assert_eq!(planned(store.unsent_calls_of_key(key).await.expect("storage")), UNSENT);
            let person = calls.row.person_id.expect("it is a person's");
            assert_eq!(planned(store.unsent_calls_of_person(person).await.expect("storage")), UNSENT);
        }
    }
}

on_both! {
    /// A key is freed, and answered, by the call that holds it alone.
    async fn a_key_is_its_calls_own(desk: Desk) {
        let store = Store::open(&desk.database.url(), Path::new("/")).await.expect("the store");
        let holder = desk.held(keyed(desk.careful("note", json!({ "text": "x" })).await, "k")).await;
        let other = desk.held(desk.careful("note", json!({ "text": "y" })).await).await;
        let slot = store.call(holder).await.expect("storage").expect("the call").claim_slot.expect("a slot");
        let now = desk.engine.now();
        let mut tx = store.begin().await.expect("a transaction");
        let claim = NewClaim { slot, request_hash: [0; 32] };
        assert!(!tx.insert_claim(claim, other, now).await.expect("storage"), "it is taken");
        tx.free_claim(slot, other).await.expect("storage");
        tx.store_answer(slot, other, b"an answer", now).await.expect("storage");
        tx.commit().await.expect("committed");
        let kept = store.claim(slot).await.expect("storage").expect("it is still held");
        assert_eq!((kept.call, kept.answer), (holder, None));
        let mut tx = store.begin().await.expect("a transaction");
        tx.store_answer(slot, holder, b"an answer", now).await.expect("storage");
        tx.commit().await.expect("committed");
        assert_eq!(store.claim(slot).await.expect("storage").and_then(|claim| claim.answer), Some(b"an answer".to_vec()));
        let mut tx = store.begin().await.expect("a transaction");
        tx.free_claim(slot, holder).await.expect("storage");
        tx.commit().await.expect("committed");
        assert!(store.claim(slot).await.expect("storage").is_none());
    }
}
