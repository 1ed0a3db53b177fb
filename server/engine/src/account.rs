//! What a person changes of their own account, and the password that whoever runs the desk sets for them.

use model::{FieldError, PersonId, Refusal};

use crate::account_event::AccountEventType;
use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::namesake::reads_like;
use crate::password;
use crate::provider;
use crate::registry::{fault_of_name, oversees};
use crate::store::{Identity, IdentityChange, IdentityEvent, Subject};
use crate::time_zone;

/// Why no password is taken.
pub(crate) const PASSWORDS_OFF: &str = "Passwords are switched off at this desk.";

/// How somebody signs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ways {
    /// They have a password, whether it counts or not.
    pub has_password: bool,
    /// Whom they are at sign-in providers.
    pub identities: Vec<Identity>,
    /// What signing in there changed of the account, the newest first, at most so many lines as a page shows.
    pub changes: Vec<IdentityEvent>,
}

/// Why a name is not taken.
const ANOTHERS: &str =
    "This reads like what somebody else here is called. Add something that tells you apart.";

/// So many lines are shown of what signing in changed.
const LINES: i64 = 20;

impl Engine {
    /// Changes what the person is called, and the zone in which they read times; `None`: UTC.
    ///
    /// # Errors
    /// `Invalid` on `/name` and `/time_zone`; `Denied` without a live session.
    pub async fn change_account(
        &self,
        me: &PersonActor,
        name: &str,
        zone: Option<&str>,
    ) -> Result<(), Refusal> {
        me.in_person()?;
        let name = name.trim();
        let mut faults: Vec<FieldError> = fault_of_name(name).into_iter().collect();
        if faults.is_empty() && name != me.person().name && self.is_anothers(me.id(), name).await? {
            faults.push(FieldError::new("/name", ANOTHERS));
        }
        if zone.is_some_and(|zone| time_zone::named(zone).is_none()) {
            faults.push(FieldError::new("/time_zone", "There is no such time zone. Choose one of the list."));
        }
        if !faults.is_empty() {
            return Err(Refusal::Invalid(faults));
        }
        let mut tx = self.store().begin().await?;
        if !tx.save_person(me.id(), name, zone).await? {
            return Err(Refusal::NotFound);
        }
        if name != me.person().name {
            // Receipts are read with the names of today: what somebody was called stays to be found.
            let (id, what) = (self.event_id(), AccountEventType::NameChanged);
            tx.insert_account_event(id, self.now(), me.id(), what, &me.person().name).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Whether this would be read as what somebody else is called.
    async fn is_anothers(&self, person: PersonId, name: &str) -> Result<bool, Refusal> {
        let people = self.store().people().await?;
        Ok(people.iter().any(|other| other.id != person && reads_like(name, &other.name)))
    }

    /// Changes the person's own password. All their sessions end but the one that asks.
    ///
    /// # Errors
    /// `Invalid` on `/present` and `/password`; `RateLimited` when the present one was guessed at too often; `Denied`
    /// without a live session.
    pub async fn change_password(
        &self,
        me: &PersonActor,
        present: &str,
        wanted: &str,
        asking: Option<[u8; 32]>,
    ) -> Result<(), Refusal> {
        me.in_person()?;
        if !self.catalogue().sign_in.passwords {
            return Err(Refusal::invalid("/password", PASSWORDS_OFF));
        }
        let person = me.person();
        // What is wrong with the new one is told first: it is no guess at the present one.
        if let Some(fault) = password::fault(wanted, &[&person.email, &person.name]) {
            return Err(Refusal::invalid("/password", fault));
        }
        let proof = self.store().proof_of(me.id()).await?.ok_or(Refusal::NotFound)?;
        if !self.is_password_of(me.id(), present, proof.password_hash).await? {
            return Err(Refusal::invalid("/present", "This is not your present password."));
        }
        if present == wanted {
            return Err(Refusal::invalid("/password", "This is your present password. Choose another one."));
        }
        self.store_password(me.id(), wanted, proof.epoch, asking).await
    }

    /// Sets a person's password, for whoever runs the desk from its command line, who may choose a weak one. All their
    /// sessions end.
    ///
    /// # Errors
    /// `NotFound` when there is nobody with this address; `Invalid` on `/password`.
    pub async fn set_password(&self, email: &str, wanted: &str) -> Result<PersonId, Refusal> {
        let (person, proof) = self.store().person_by_email(email).await?.ok_or(Refusal::NotFound)?;
        if let Some(fault) = password::unusable(wanted) {
            return Err(Refusal::invalid("/password", fault));
        }
        self.store_password(person.id, wanted, proof.epoch, None).await?;
        self.forget_failures(&person).await?;
        Ok(person.id)
    }

    /// How the person signs in.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn own_ways(&self, me: &PersonActor) -> Result<Ways, Refusal> {
        me.in_person()?;
        self.ways(me.id()).await
    }

    /// How somebody signs in, for operators and admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else, and when there is nobody of this id.
    pub async fn ways_of(&self, me: &PersonActor, id: PersonId) -> Result<Ways, Refusal> {
        oversees(me)?;
        self.ways(id).await
    }

    async fn ways(&self, id: PersonId) -> Result<Ways, Refusal> {
        let proof = self.store().proof_of(id).await?.ok_or(Refusal::NotFound)?;
        Ok(Ways {
            has_password: proof.password_hash.is_some(),
            identities: self.store().identities_of(id).await?,
            changes: self.store().identity_events(id, LINES).await?,
        })
    }

    /// Links a person to this subject of the catalogue's sign-in provider, for whoever runs the desk from its command line:
    /// where the provider verifies no addresses.
    ///
    /// # Errors
    /// `NotFound` when there is nobody with this address; `Invalid` on `/subject` for one that cannot be, when there is no
    /// provider, when the account is disabled or has a link there already, and when somebody has this one.
    pub async fn link(&self, email: &str, subject: &str) -> Result<PersonId, Refusal> {
        let no = |why: &str| Refusal::invalid("/subject", why);
        let Some(settings) = self.catalogue().sign_in.oidc.clone() else {
            return Err(no("The catalogue has no sign-in provider."));
        };
        if !provider::is_subject(subject) {
            return Err(no("A subject is 1 to 255 bytes, without NUL."));
        }
        let (person, _) = self.store().person_by_email(email).await?.ok_or(Refusal::NotFound)?;
        let of = Subject { issuer: &settings.issuer, subject };
        let mut tx = self.store().begin().await?;
        if tx.link_by_email(of, &person.email, self.now()).await?.is_none() {
            return Err(no(
                "The account is disabled or linked already, or somebody else is linked to this subject. Look at the person's page, or unlink first.",
            ));
        }
        tx.note_identity(&self.line(person.id, IdentityChange::Linked, &settings.issuer)).await?;
        tx.commit().await?;
        Ok(person.id)
    }

    /// Takes a person's links to sign-in providers away, for whoever runs the desk from its command line: how many. All
    /// their sessions end. Whoever signs in next with their verified address is linked anew.
    ///
    /// # Errors
    /// `NotFound` when there is nobody with this address.
    pub async fn unlink(&self, email: &str) -> Result<usize, Refusal> {
        let (person, _) = self.store().person_by_email(email).await?.ok_or(Refusal::NotFound)?;
        let mut tx = self.store().begin().await?;
        let issuers = tx.unlink(person.id).await?;
        for issuer in &issuers {
            tx.note_identity(&self.line(person.id, IdentityChange::Unlinked, issuer)).await?;
        }
        if !issuers.is_empty() {
            tx.end_sessions(person.id, None).await?;
        }
        tx.commit().await?;
        Ok(issuers.len())
    }

    /// `Unavailable` when another password was set in between: nobody knows then which of the two was to count.
    async fn store_password(
        &self,
        person: PersonId,
        wanted: &str,
        epoch: i64,
        kept: Option<[u8; 32]>,
    ) -> Result<(), Refusal> {
        let hash = self.hashed(Some(wanted.to_owned())).await?.ok_or(Refusal::Unavailable)?;
        let mut tx = self.store().begin().await?;
        if !tx.set_password(person, &hash, epoch).await? {
            return Err(Refusal::Unavailable);
        }
        tx.end_sessions(person, kept).await?;
        Ok(tx.commit().await?)
    }
}
