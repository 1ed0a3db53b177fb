//! What a call looks like: another one that waits, was done within the hour, or failed within it.
//!
//! It changes while the call waits, so it is no part of the stored preview: it is looked up whenever a preview is shown.
//! The version that is shown names it beside the preview, and a Confirm is refused with `preview_changed` when the call
//! looks like something by now that the named version did not tell. A likeness that has gone, or one more of a kind that
//! was told, refuses nothing, so that confirming stays possible while others come and go.

use std::collections::HashMap;

use model::{CallId, Preview, Refusal, Time};

use crate::engine::Engine;
use crate::pipeline::{Head, Ready};
use crate::store::{CallRow, CallState, Twins};

/// How long ago a call may have ended to be told of, in seconds.
const RECENT: i64 = 3_600;

/// Between the version of the stored preview and the letters of what the call looks like.
const SEPARATOR: char = '-';

/// What a call looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Likeness {
    /// One that waits, is under way or in doubt.
    open: bool,
    /// One that was done within the hour.
    done: bool,
    /// One that failed within the hour.
    failed: bool,
}

impl Likeness {
    /// Each kind with its letter and its words.
    const fn kinds(self) -> [(bool, char, &'static str); 3] {
        [
            (
                self.open,
                'w',
                "The same call, with the same arguments, waits, is under way or ended in doubt already.",
            ),
            (self.done, 'd', "The same call, with the same arguments, was done within the last hour."),
            (
                self.failed,
                'f',
                "The same call, with the same arguments, was tried within the last hour and failed.",
            ),
        ]
    }

    fn told(self) -> impl Iterator<Item = (char, &'static str)> {
        self.kinds().into_iter().filter_map(|(holds, letter, words)| holds.then_some((letter, words)))
    }

    /// The preview with this told in its warnings and in its version.
    pub(crate) fn on(self, mut preview: Preview) -> Preview {
        preview.version = self.version_over(&preview.version);
        preview.warnings.extend(self.told().map(|(_, words)| words.to_owned()));
        preview
    }

    /// The version of a stored preview that is shown with this.
    fn version_over(self, stored: &str) -> String {
        let letters: String = self.told().map(|(letter, _)| letter).collect();
        if letters.is_empty() { stored.to_owned() } else { format!("{stored}{SEPARATOR}{letters}") }
    }

    /// What this version tells, when it is one of this stored preview.
    pub(crate) fn named_by(version: &str, stored: &str) -> Option<Self> {
        let letters = version.strip_prefix(stored)?;
        let has = |letter| letters.contains(letter);
        let named = Self { open: has('w'), done: has('d'), failed: has('f') };
        (named.version_over(stored) == version).then_some(named)
    }

    /// Whether everything that holds now was told.
    pub(crate) const fn covers(self, now: Self) -> bool {
        (self.open || !now.open) && (self.done || !now.done) && (self.failed || !now.failed)
    }
}

impl From<Twins> for Likeness {
    fn from(twins: Twins) -> Self {
        Self { open: twins.open > 0, done: twins.done > 0, failed: twins.failed > 0 }
    }
}

impl Engine {
    /// What a call on its way looks like.
    pub(crate) async fn likeness(&self, head: &Head, ready: &Ready) -> Result<Likeness, Refusal> {
        let person = head.actor.person().map(|person| person.id);
        let hash = ready.input_hash.bytes();
        let twins = self.store().twins(head.id, person, &head.action.name, hash, self.recently()).await?;
        Ok(twins.into())
    }

    /// What each of these looks like, as far as it still lies ahead; the others look like nothing any more.
    pub(crate) async fn likenesses(&self, rows: &[CallRow]) -> Result<HashMap<CallId, Likeness>, Refusal> {
        let ahead = rows.iter().filter(|row| row.preview.is_some() && lies_ahead(&row.state));
        let ids: Vec<_> = ahead.map(|row| row.id).collect();
        let twins = self.store().twins_of(&ids, self.recently()).await?;
        Ok(twins.into_iter().map(|(id, twins)| (id, twins.into())).collect())
    }

    /// What one of them looks like.
    pub(crate) async fn likeness_of(&self, row: &CallRow) -> Result<Likeness, Refusal> {
        let found = self.likenesses(std::slice::from_ref(row)).await?;
        Ok(found.get(&row.id).copied().unwrap_or_default())
    }

    pub(crate) fn recently(&self) -> Time {
        self.now().plus_seconds(-RECENT)
    }
}

/// Whether nothing has been sent yet and something still may be.
const fn lies_ahead(state: &CallState) -> bool {
    matches!(state, CallState::Held { .. } | CallState::Approved { .. } | CallState::Queued)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Likeness> {
        let kinds = [false, true];
        let pairs = kinds.into_iter().flat_map(|open| kinds.map(|done| (open, done)));
        pairs.flat_map(|(open, done)| kinds.map(|failed| Likeness { open, done, failed })).collect()
    }

    #[test]
    fn a_version_names_what_it_tells_and_nothing_else() {
        for likeness in all() {
            assert_eq!(Likeness::named_by(&likeness.version_over("ab12"), "ab12"), Some(likeness));
        }
        for other in ["", "ab1", "ab12-", "ab12w", "ab12-dw", "ab12-ww", "ab12-x", "ab13", "ab12-w-d"] {
            assert_eq!(Likeness::named_by(other, "ab12"), None, "{other}");
        }
    }

    #[test]
    fn what_has_gone_refuses_nothing() {
        let seen = Likeness { open: true, done: true, failed: false };
        assert!(seen.covers(Likeness::default()) && seen.covers(Likeness { done: false, ..seen }));
        assert!(!seen.covers(Likeness { failed: true, ..Likeness::default() }));
        for likeness in all() {
            assert!(likeness.covers(likeness));
            assert_eq!(Likeness::default().covers(likeness), likeness == Likeness::default());
        }
    }
}
