//! The proof that a page has shown a preview, and for how long.
//!
//! A page puts it beside its Confirm button. A press within half a second of the page being made is a reflex, not a
//! decision, and a token made for another person, call or preview proves nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{CallId, Refusal, Time};

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::seal::Purpose;

/// How long a preview has to have been shown, in milliseconds.
pub const SHOWN_FOR: i64 = 500;

/// What is wrong with a view token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewFault {
    /// Younger than half a second.
    TooYoung,
    /// Made for another person, call or preview, or not made here.
    Other,
}

impl Engine {
    /// The proof that this person is being shown this preview from now on.
    pub fn view_token(&self, person: &PersonActor, id: CallId, version: &str) -> String {
        let now = self.now().micros().to_be_bytes();
        URL_SAFE_NO_PAD.encode(self.sealer().seal(Purpose::View, &place(person, id, version), &now))
    }

    /// Whether the token was made for this person, call and preview, and is old enough.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn view_token_fits(
        &self,
        token: &str,
        person: &PersonActor,
        id: CallId,
        version: &str,
    ) -> Result<(), ViewFault> {
        let blob = URL_SAFE_NO_PAD.decode(token).map_err(|_| ViewFault::Other)?;
        let plain = self
            .sealer()
            .open(Purpose::View, &place(person, id, version), &blob)
            .map_err(|_| ViewFault::Other)?;
        let made = plain.try_into().map(i64::from_be_bytes).map_err(|_| ViewFault::Other)?;
        let old_enough = Time::from_micros(made).plus_millis(SHOWN_FOR) <= self.now();
        if old_enough { Ok(()) } else { Err(ViewFault::TooYoung) }
    }
}

impl From<ViewFault> for Refusal {
    fn from(fault: ViewFault) -> Self {
        match fault {
            ViewFault::TooYoung => Self::invalid(
                "/view",
                "This was pressed within half a second of being shown. Nothing was done. Read it, then press again.",
            ),
            ViewFault::Other => Self::PreviewChanged(None),
        }
    }
}

fn place(person: &PersonActor, id: CallId, version: &str) -> String {
    format!("{} {id} {version}", person.id())
}
