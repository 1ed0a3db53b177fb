//! What a browser keeps of a sign-in that it has begun: sealed, and bound to the one state that has to come back with it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::Time;
use serde::{Deserialize, Serialize};

use super::Return;
use crate::engine::Engine;
use crate::seal::{Purpose, Sealer};

/// How long a sign-in may take, in seconds.
pub(super) const GOOD_FOR: i64 = 600;

/// The longest text that is looked at.
const LONGEST: usize = 4_096;

/// What a sign-in has to come back with. Only the desk reads it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Pass {
    /// The provider it was begun at.
    pub(super) issuer: String,
    /// What the provider's word has to repeat.
    pub(super) nonce: String,
    /// What only whoever began can know (RFC 7636).
    pub(super) verifier: String,
    /// Where its person wants to go.
    pub(super) next: String,
    /// When it was begun.
    pub(super) begun_at: Time,
}

impl Pass {
    pub(super) fn sealed(&self, sealer: &Sealer, state: &str) -> String {
        let plain = serde_json::to_vec(self).unwrap_or_default();
        URL_SAFE_NO_PAD.encode(sealer.seal(Purpose::SignIn, state, &plain))
    }
}

impl Engine {
    /// The pass that was made here for this state, while it is good.
    pub(super) fn pass_of(&self, came: &Return) -> Option<Pass> {
        let text = came.pass.as_deref().filter(|text| text.len() <= LONGEST)?;
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let plain = self.sealer().open(Purpose::SignIn, came.state.as_deref()?, &sealed).ok()?;
        let pass: Pass = serde_json::from_slice(&plain).ok()?;
        let age = self.now().seconds_since(pass.begun_at);
        (0..GOOD_FOR).contains(&age).then_some(pass)
    }
}
