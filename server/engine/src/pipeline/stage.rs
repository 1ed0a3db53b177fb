//! The stages of a call, and what is known of it at each.

use std::marker::PhantomData;

use model::{Answer, Approval, CallId, FieldError, Surface, Time};
use serde_json::{Map, Value};

use super::SharedAction;
use crate::actor::Actor;
use crate::catalogue::Caller;
use crate::grant::Granted;
use crate::idempotency::IdempotencyKey;
use crate::input_hash::InputHash;
use crate::outgoing::Outgoing;
use crate::store::NewClaim;

/// A call at one stage of the pipeline.
pub(crate) struct Call<S: Stage> {
    /// What never changes on the way.
    pub(super) head: Head,
    /// What is known at this stage.
    pub(super) data: S::Data,
    stage: PhantomData<S>,
}

/// What never changes on the way.
#[derive(Clone)]
pub(crate) struct Head {
    pub(crate) id: CallId,
    pub(crate) at: Time,
    pub(crate) actor: Actor,
    pub(crate) surface: Surface,
    pub(crate) session: Option<String>,
    pub(crate) tenant: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) action: SharedAction,
    pub(crate) caller: Caller,
}

/// What is known after the door: what the caller sent, as it was sent.
pub(crate) struct Sent {
    pub(super) input: Map<String, Value>,
    pub(super) key_header: Vec<String>,
    /// What the surface could not make an input of.
    pub(super) unread: Vec<FieldError>,
}

/// What is known once the input is prepared.
#[derive(Clone)]
pub(crate) struct Ready {
    /// What the control fields asked.
    pub(crate) control: Control,
    /// The caller's arguments, without control fields.
    pub(crate) arguments: Map<String, Value>,
    /// Hash of the caller's arguments.
    pub(crate) input_hash: InputHash,
    /// The input as the action gets it.
    pub(crate) input: Value,
}

/// What the control fields asked.
#[derive(Clone)]
pub(crate) struct Control {
    pub(crate) dry_run: bool,
    pub(crate) confirm_token: Option<String>,
    pub(crate) key: Option<IdempotencyKey>,
}

/// What is known once the idempotency key was looked up.
pub(crate) struct Claiming {
    pub(super) ready: Ready,
    /// Made durable together with the call.
    pub(super) claim: Option<NewClaim>,
}

/// What is known once the gate let the call through.
pub(crate) struct Clearing {
    pub(super) ready: Ready,
    pub(super) claim: Option<NewClaim>,
    pub(super) outgoing: Outgoing,
    pub(super) approval: Approval,
    /// The prompt that is spent together with the intent.
    pub(super) prompt: Option<[u8; 32]>,
    /// The standing grant of which a use is taken together with the intent.
    pub(super) granted: Option<Box<Granted>>,
}

/// A stage of the pipeline.
pub(crate) trait Stage {
    /// What is known of a call at this stage.
    type Data;
}

macro_rules! stages {
    ($($(#[$doc:meta])* $name:ident: $data:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) enum $name {}
        impl Stage for $name { type Data = $data; }
    )*};
}

stages! {
    /// The action is exposed on this surface to this caller.
    Found: Sent;
    /// The token has the ability of the action's effect.
    Permitted: Sent;
    /// The action's `register_when` holds.
    Registered: Sent;
    /// The caller's person is a member of the tenant.
    Member: Sent;
    /// `authorize` without input holds.
    Authorized: Sent;
    /// The arguments are cut to the advertised schema where that is done.
    Cut: Sent;
    /// The input is prepared; faults found on the way stand beside it.
    Prepared: (Ready, Vec<FieldError>);
    /// The input is valid.
    Valid: Ready;
    /// `authorize` with input holds.
    Allowed: Ready;
    /// The idempotency key is free or not asked for.
    Claimed: Claiming;
    /// Nothing stands between the call and its run.
    Cleared: Clearing;
}

impl<S: Stage> Call<S> {
    pub(super) const fn new(head: Head, data: S::Data) -> Self {
        Self { head, data, stage: PhantomData }
    }

    /// To the next stage, with what is known there.
    pub(super) fn become_with<T: Stage>(self, change: impl FnOnce(S::Data) -> T::Data) -> Call<T> {
        Call::new(self.head, change(self.data))
    }

    /// To the next stage, where nothing more is known.
    pub(super) fn become_next<T: Stage<Data = S::Data>>(self) -> Call<T> {
        Call::new(self.head, self.data)
    }

    /// What the journal needs of a call that ends early.
    pub(super) fn trace(&self) -> Head {
        self.head.clone()
    }
}

impl Call<Found> {
    /// With what its surface could not make an input of: faults, to be told with those that the steps find.
    pub(super) fn with_unread(mut self, unread: Vec<FieldError>) -> Self {
        self.data.unread = unread;
        self
    }
}

impl Call<Allowed> {
    /// Into what never changes and what is known.
    pub(crate) fn into_parts(self) -> (Head, Ready) {
        (self.head, self.data)
    }
}

/// Shorthand for the answer that ends a call well.
pub(super) type Answered = Result<Answer, super::Stop>;
