//! An operator's override: a held call that others decide is confirmed by one who is none of them, with words that stay.
//!
//! It is the same walk as every Confirm, and decides alone, whatever the quorum. It is reached from a page of its own: no API and
//! no list makes one.

use model::{
    CallId, CallStatus, Decision, Effect, Event, EventType, FieldError, Listing, Preview, Refusal, Verdict,
};

use crate::actor::PersonActor;
use crate::decision::checked_reason;
use crate::engine::Engine;
use crate::filter::PageAsked;
use crate::item::Item;
use crate::passkey::StepUp;
use crate::registry::oversees;
use crate::status::too_late;
use crate::store::{CallRow, CallState, Standing, Window};

/// What somebody says who overrides.
#[derive(Debug, Clone, Copy)]
pub struct OverrideWanted<'a> {
    /// The version of the preview that was shown.
    pub version: &'a str,
    /// The proof that it was shown, and for how long.
    pub view_token: &'a str,
    /// What was typed as the target, where the call has to have it typed.
    pub target: &'a str,
    /// Why: kept for ever and shown with the receipt.
    pub reason: &'a str,
    /// What whoever overrides has proved anew who they are with: an action with `step_up` takes it, as for a Confirm.
    pub proof: Option<&'a StepUp>,
}

/// What has to be typed to send what cannot be put back, by a Confirm as by an override.
pub fn target_of(preview: &Preview) -> Option<&str> {
    let target = preview.target.as_ref().unwrap_or(&preview.title);
    (preview.effect == Effect::Destructive).then_some(target.as_str())
}

impl Engine {
    /// Held calls that others decide and this person may override, newest first, without what is in them.
    ///
    /// # Errors
    /// `NotFound` for everybody but operators and admins.
    pub async fn held_of_others(&self, me: &PersonActor, page: &PageAsked) -> Result<Listing<Item>, Refusal> {
        oversees(me)?;
        let rows = self.store().held_of_others(me.id(), &Window::asked(page)?, self.now()).await?;
        let standing = Standing { overrides: true, ..Standing::default() };
        let items = rows.items.into_iter().map(|row| (row, standing)).collect::<Vec<_>>();
        Ok(Listing { items: self.lines(me, &items)?, next_cursor: rows.next_cursor })
    }

    /// Opens a held call that others decide, with what is in it. That it was opened, and by whom, is in the journal before it is
    /// shown. `None`: this person may not override it.
    ///
    /// # Errors
    /// `NotFound` for everybody but operators and admins; `Denied` without a live session.
    pub async fn open_to_override(&self, me: &PersonActor, id: CallId) -> Result<Option<Item>, Refusal> {
        let overrider = me.overrider()?;
        let now = self.now();
        let seen = self.store().call_to_override(overrider.id(), id, now).await?;
        let waits = |row: &CallRow| matches!(row.state, CallState::Held { expires_at } if expires_at > now);
        let Some((row, standing)) = seen.filter(|(row, _)| waits(row)) else { return Ok(None) };
        let opened = row.event(self.event_id(), now, EventType::Opened, CallStatus::Held);
        let mut tx = self.store().begin().await?;
        tx.insert_event(&Event { by: Some(overrider.id()), ..opened }).await?;
        tx.commit().await?;
        self.nudges().tell(id);
        self.item_to_override(me, &row, standing).await.map(Some)
    }

    /// Overrides those who decide a held call: it is confirmed as it was shown. Nothing is done unless everything holds that a
    /// Confirm asks for.
    ///
    /// # Errors
    /// `Invalid` on `/reason` without words, on `/target` when it is not the one, on `/view` when the page was not shown for long
    /// enough; `NotFound` for whoever may not override this call, those who may decide it among them; all that
    /// [`Engine::decide_with`] answers.
    pub async fn override_call(
        &self,
        me: &PersonActor,
        id: CallId,
        wanted: OverrideWanted<'_>,
    ) -> Result<model::Call, Refusal> {
        let overrider = me.overrider()?;
        let seen = self.store().call_to_override(overrider.id(), id, self.now()).await?;
        let (row, _) = seen.ok_or(Refusal::NotFound)?;
        // Before anything is said of the fields: a call that is past holding is told as that.
        if let Some(refusal) = too_late(row.state.status()) {
            return Err(refusal);
        }
        let words = checked_reason(Some(wanted.reason))?;
        self.view_token_fits(wanted.view_token, me, id, wanted.version)?;
        let shown = self.preview_shown(&overrider, id, wanted.version).await?;
        let shown = shown.ok_or(Refusal::PreviewChanged(None))?;
        let mut faults = Vec::new();
        if words.is_none() {
            let fault = "Say why you override those who decide it. It stays with the receipt.";
            faults.push(FieldError::new("/reason", fault));
        }
        if target_of(&shown).is_some_and(|target| wanted.target.trim() != target.trim()) {
            let fault = "This is not the target. Type it exactly as the preview names it.";
            faults.push(FieldError::new("/target", fault));
        }
        let (Some(words), true) = (words, faults.is_empty()) else { return Err(Refusal::Invalid(faults)) };
        let decision = Decision {
            decision: Verdict::Confirm,
            preview_version: Some(wanted.version.to_owned()),
            reason: Some(words.to_owned()),
        };
        self.decide_with(&overrider, id, decision, wanted.proof.cloned()).await
    }
}
