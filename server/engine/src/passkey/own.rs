//! A person's own passkeys, as their account shows and changes them.

use model::{FieldError, PasskeyId, Refusal, Time};

use super::ceremony::{self, Attestation};
use super::{Assertion, TO_ANSWER, unfit};
use crate::account::PASSWORDS_OFF;
use crate::account_event::AccountEventType;
use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::store::{Bound, ChallengePurpose, NewPasskey, PasskeyRow};

/// How many passkeys somebody can have.
pub const MOST: i64 = 20;

/// How long somebody who has proved who they are may add and remove passkeys, in seconds.
pub const RECENT: i64 = 300;

/// The longest name of a passkey, in characters.
const LONGEST_NAME: usize = 60;

/// One of a person's own passkeys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPasskey {
    /// What to change it by.
    pub id: PasskeyId,
    /// What its person calls it.
    pub name: String,
    /// When it was added.
    pub created_at: Time,
    /// When it was last used.
    pub used_at: Option<Time>,
    /// The name that it was made for, when the desk has another one now: it cannot be used.
    pub made_for: Option<String>,
}

impl Engine {
    /// A person's own passkeys, in the order in which they were added.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn own_passkeys(&self, me: &PersonActor) -> Result<Vec<OwnPasskey>, Refusal> {
        me.in_person()?;
        let here = self.party().ok().map(|party| party.id);
        let own = |row: PasskeyRow| OwnPasskey {
            id: row.id,
            name: row.name,
            created_at: row.created_at,
            used_at: row.used_at,
            made_for: Some(row.rp).filter(|rp| here.as_ref() != Some(rp)),
        };
        Ok(self.store().passkeys_of(me.id()).await?.into_iter().map(own).collect())
    }

    /// Until when whoever is signed in with this session may add and remove passkeys; `None`: they have to prove anew who
    /// they are.
    pub async fn proved_until(&self, session: [u8; 32]) -> Result<Option<Time>, Refusal> {
        let now = self.now();
        let Some(row) = self.store().session(session, now).await? else { return Ok(None) };
        Ok(Some(row.proved_at.plus_seconds(RECENT)).filter(|until| *until > now))
    }

    /// Whether this session is the person's own, and they have proved in it not long ago who they are.
    pub(super) async fn proved_recently(&self, me: &PersonActor, session: [u8; 32]) -> Result<(), Refusal> {
        me.in_person()?;
        let is_own = self.session_person(session).await? == Some(me.id());
        if is_own && self.proved_until(session).await?.is_some() {
            return Ok(());
        }
        Err(Refusal::invalid(
            "/proof",
            "It is more than five minutes since you proved who you are. Prove it again.",
        ))
    }

    /// Proves anew, with the password, who is signed in. The session is to get another id.
    ///
    /// # Errors
    /// `Invalid` on `/present`, and where passwords are switched off; `RateLimited` when it was guessed at too often; `Denied`
    /// without a live session.
    pub async fn prove_with_password(&self, me: &PersonActor, password: &str) -> Result<(), Refusal> {
        me.in_person()?;
        if !self.catalogue().sign_in.passwords {
            return Err(Refusal::invalid("/present", PASSWORDS_OFF));
        }
        let proof = self.store().proof_of(me.id()).await?.ok_or(Refusal::NotFound)?;
        if self.is_password_of(me.id(), password, proof.password_hash).await? {
            return Ok(());
        }
        Err(Refusal::invalid("/present", "This is not your password."))
    }

    /// The same with a passkey.
    ///
    /// # Errors
    /// `PasskeyRefused`; `Denied` without a live session.
    pub async fn prove_with_passkey(
        &self,
        me: &PersonActor,
        session: [u8; 32],
        assertion: &Assertion,
    ) -> Result<(), Refusal> {
        me.in_person()?;
        let answered = self.answered(me.id(), assertion, ChallengePurpose::Prove).await?;
        let bound = Bound { purpose: ChallengePurpose::Prove, person: me.id(), session, shown: None };
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if !tx.spend_challenge(answered.challenge, &bound, now.plus_seconds(-TO_ANSWER)).await? {
            return Err(unfit());
        }
        if !tx.use_passkey(answered.used(), now).await? {
            drop(tx);
            return Err(self.went_back(&answered.passkey).await?);
        }
        Ok(tx.commit().await?)
    }

    /// Adds a passkey that was made in this session. Nobody's session ends.
    ///
    /// # Errors
    /// `Invalid` on `/name`, on `/proof` when the last proof is not recent, and on `/passkey` when there are too many; `PasskeyRefused`
    /// for one that does not hold or is there already; `Denied` without a live session.
    pub async fn add_passkey(
        &self,
        me: &PersonActor,
        session: [u8; 32],
        name: &str,
        new: &Attestation,
    ) -> Result<PasskeyId, Refusal> {
        self.proved_recently(me, session).await?;
        let name = checked_name(name)?;
        let party = self.party().map_err(|_| Refusal::NotFound)?;
        let judged = self
            .kept(ChallengePurpose::Add.as_str(), &new.state)
            .and_then(|kept| Ok((kept.challenge, ceremony::created(&party, new, &kept.state)?)));
        let (challenge, passkey) = judged.map_err(|misfit| {
            tracing::warn!(person = %me.id(), %misfit, "a new passkey was not taken");
            unfit()
        })?;
        let (now, id) = (self.now(), PasskeyId::from_uuid(self.ambient().uuid()));
        let row = NewPasskey { id, person: me.id(), passkey: &passkey, rp: &party.id, name, at: now };
        let bound = Bound { purpose: ChallengePurpose::Add, person: me.id(), session, shown: None };
        let mut tx = self.store().begin().await?;
        if !tx.spend_challenge(challenge, &bound, now.plus_seconds(-TO_ANSWER)).await? {
            return Err(unfit());
        }
        let added = tx.insert_passkey(&row, MOST).await;
        if !added.map_err(|error| if error.is_taken() { unfit() } else { error.into() })? {
            return Err(Refusal::invalid("/passkey", "You have 20 passkeys already. Remove one first."));
        }
        tx.insert_account_event(self.event_id(), now, me.id(), AccountEventType::PasskeyAdded, name).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// Calls one of the person's own passkeys something else. `false`: it is none of theirs.
    ///
    /// # Errors
    /// `Invalid` on `/name`; `Denied` without a live session.
    pub async fn rename_passkey(&self, me: &PersonActor, id: PasskeyId, name: &str) -> Result<bool, Refusal> {
        me.in_person()?;
        let name = checked_name(name)?;
        let mut tx = self.store().begin().await?;
        if !tx.rename_passkey(me.id(), id, name).await? {
            return Ok(false);
        }
        let (event, now) = (self.event_id(), self.now());
        tx.insert_account_event(event, now, me.id(), AccountEventType::PasskeyRenamed, name).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Removes one of the person's own passkeys: it is taken no more, at once. `false`: it is none of theirs.
    ///
    /// # Errors
    /// `Invalid` on `/proof` when the last proof is not recent; `Denied` without a live session.
    pub async fn remove_passkey(
        &self,
        me: &PersonActor,
        session: [u8; 32],
        id: PasskeyId,
    ) -> Result<bool, Refusal> {
        self.proved_recently(me, session).await?;
        let mut tx = self.store().begin().await?;
        let Some(name) = tx.delete_passkey(me.id(), id).await? else { return Ok(false) };
        let (event, now) = (self.event_id(), self.now());
        tx.insert_account_event(event, now, me.id(), AccountEventType::PasskeyRemoved, &name).await?;
        tx.commit().await?;
        Ok(true)
    }
}

fn checked_name(name: &str) -> Result<&str, Refusal> {
    let name = name.trim();
    let is_fit = (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.contains('\0');
    if is_fit {
        return Ok(name);
    }
    Err(Refusal::Invalid(vec![FieldError::new("/name", "Give it a name of at most 60 characters.")]))
}
