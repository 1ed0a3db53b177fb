//! What a client of the Model Context Protocol carries from one round of a held call to the next (`requestState`):
//! sealed, so that its client can neither read nor change it, and bound, so that it fits this one request alone. No
//! node keeps anything: whichever one has the sealing key goes on.
//!
//! On the wire `cs1.<kid>.<base64url>`. XChaCha20-Poly1305 twice: the inner seal's associated data is version, key,
//! audience, person, method, tool and the hash of the arguments; the cover's is version and key alone. So the log can
//! tell a state that was altered from one that is shown in another place, while the wire tells them apart in nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::HEXLOWER;
use model::{CallId, PersonId, Time};
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::engine::Engine;
use crate::input_hash::InputHash;
use crate::seal::{self, KeyName, Purpose, Sealer};

/// The form of the text. Another form of it gets another name.
const VERSION: &str = "cs1";

/// The longest text that is looked at; what is sealed here is far shorter.
const LONGEST: usize = 1_024;

/// What a state says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestState {
    /// The held call.
    pub call: CallId,
    /// When the first round was answered.
    pub issued: Time,
    /// When the state lapses.
    pub expires: Time,
    /// The round that brings it back, from 1.
    pub round: u8,
}

/// What a state is good for. All of it is associated data, none of it is in the text.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The address the desk is known by.
    pub audience: &'a str,
    /// Whose call it is.
    pub person: PersonId,
    /// The method of the protocol.
    pub method: &'a str,
    /// The tool that is called.
    pub tool: &'a str,
    /// The arguments, as the client sent them.
    pub arguments: InputHash,
}

/// Why a state is not taken. For the log alone: on the wire it is one and the same error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StateFault {
    /// Not made here, or altered since.
    #[error("altered, or not made here")]
    Tampered,
    /// Sealed with a key that is not among the desk's.
    #[error("sealed with an unknown key")]
    UnknownKey,
    /// Older than `request_state_max_age`.
    #[error("too old")]
    TooOld,
    /// Made for another audience, person, method, tool or other arguments.
    #[error("bound to something else")]
    BoundElsewhere,
}

/// A state is not taken; the log has been told why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateNotTaken;

impl RequestState {
    /// The state that the first answer about a held call carries.
    pub fn first(call: CallId, now: Time, max_age: i64) -> Self {
        Self { call, issued: now, expires: now.plus_seconds(max_age), round: 1 }
    }

    /// The same for the round after.
    #[must_use]
    pub const fn next_round(self) -> Self {
        Self { round: self.round.saturating_add(1), ..self }
    }

    /// The text that the client brings back.
    pub fn seal(&self, sealer: &Sealer, binding: &Binding<'_>) -> String {
        let payload = serde_json::to_vec(self).unwrap_or_default();
        let inner = sealer.seal(Purpose::RequestState, &binding.place(), &payload);
        let blob = sealer.seal(Purpose::RequestStateCover, VERSION, &inner);
        let (key, rest) = seal::take_apart(&blob).unwrap_or_default();
        format!("{VERSION}.{}.{}", HEXLOWER.encode(&key), URL_SAFE_NO_PAD.encode(rest))
    }

    /// Reads a text that `seal` made for the same binding, no longer than `max_age` seconds ago.
    ///
    /// # Errors
    /// Why it is not taken.
    pub fn open(
        text: &str,
        sealer: &Sealer,
        binding: &Binding<'_>,
        now: Time,
        max_age: i64,
    ) -> Result<Self, StateFault> {
        let (key, rest) = parts(text).ok_or(StateFault::Tampered)?;
        if !sealer.knows(key) {
            return Err(StateFault::UnknownKey);
        }
        let inner = sealer
            .open(Purpose::RequestStateCover, VERSION, &seal::put_together(key, &rest))
            .map_err(|_| StateFault::Tampered)?;
        let payload = sealer
            .open(Purpose::RequestState, &binding.place(), &inner)
            .map_err(|_| StateFault::BoundElsewhere)?;
        let state: Self = serde_json::from_slice(&payload).map_err(|_| StateFault::Tampered)?;
        // A setting that was made shorter since counts for states that are out already.
        let lapses = state.expires.min(state.issued.plus_seconds(max_age));
        if now < lapses { Ok(state) } else { Err(StateFault::TooOld) }
    }
}

impl Binding<'_> {
    /// Everything of the binding in one text, in which no part can be taken for another.
    fn place(&self) -> String {
        let arguments = HEXLOWER.encode(&self.arguments.bytes());
        serde_json::json!([VERSION, self.audience, self.person, self.method, self.tool, arguments])
            .to_string()
    }
}

/// The key's name and the sealed rest. There is one way to write a state: any other is none.
fn parts(text: &str) -> Option<(KeyName, Vec<u8>)> {
    let (key, rest) = text.strip_prefix(VERSION)?.strip_prefix('.')?.split_once('.')?;
    if text.len() > LONGEST {
        return None;
    }
    let key = HEXLOWER.decode(key.as_bytes()).ok()?.try_into().ok()?;
    Some((key, URL_SAFE_NO_PAD.decode(rest).ok()?))
}

impl Engine {
    /// The state with which a client goes on waiting for this call.
    pub fn first_state(&self, call: CallId) -> RequestState {
        RequestState::first(call, self.now(), self.state_max_age())
    }

    /// The text of a state, bound to this actor and request. `None`: the caller has no person whose it could be.
    pub fn seal_state(
        &self,
        state: &RequestState,
        actor: &Actor,
        request: &StateRequest<'_>,
    ) -> Option<String> {
        let audience = self.public_url();
        Some(state.seal(self.sealer(), &request.binding(&audience, actor)?))
    }

    /// Opens the text of a state that this actor's client brings back with this request.
    ///
    /// # Errors
    /// One error for everything; the log is told which.
    pub fn open_state(
        &self,
        text: &str,
        actor: &Actor,
        request: &StateRequest<'_>,
    ) -> Result<RequestState, StateNotTaken> {
        let audience = self.public_url();
        let binding = request.binding(&audience, actor).ok_or(StateNotTaken)?;
        RequestState::open(text, self.sealer(), &binding, self.now(), self.state_max_age()).map_err(|fault| {
            tracing::warn!(%fault, person = %binding.person, tool = request.tool, "a request state is not taken");
            StateNotTaken
        })
    }

    fn state_max_age(&self) -> i64 {
        self.seconds(self.catalogue().server.request_state_max_age)
    }
}

/// The request that a state belongs to.
#[derive(Debug, Clone, Copy)]
pub struct StateRequest<'a> {
    /// The method of the protocol.
    pub method: &'a str,
    /// The tool that is called.
    pub tool: &'a str,
    /// The arguments, as the client sent them.
    pub arguments: InputHash,
}

impl<'a> StateRequest<'a> {
    fn binding(&self, audience: &'a str, actor: &Actor) -> Option<Binding<'a>> {
        let person = actor.person()?.id;
        let Self { method, tool, arguments } = *self;
        Some(Binding { audience, person, method, tool, arguments })
    }
}

#[cfg(test)]
mod tests;
