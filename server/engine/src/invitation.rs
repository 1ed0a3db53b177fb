//! Accounts that an admin offers by a link. The link names its person, is good for seven days and can be used once; who
//! opens it changes nothing. Whoever may invite no more has invited nobody.

use model::{FieldError, InvitationId, Person, PersonId, Refusal, Role};

use crate::account::PASSWORDS_OFF;
use crate::actor::PersonActor;
use crate::circles::administers;
use crate::engine::Engine;
use crate::password;
use crate::registry::{fault_of_email, fault_of_name, taken};
use crate::store::InvitationLine;
use crate::token::{HashedToken, PlainToken, TokenKind};

/// How long an invitation is good, in seconds: seven days.
pub const GOOD_FOR: i64 = 7 * 86_400;

/// Who is to be invited.
#[derive(Debug, Clone)]
pub struct InvitationWanted {
    /// The address they will sign in with.
    pub email: String,
    /// What they are called.
    pub name: String,
    /// Roles beside `member`.
    pub roles: Vec<Role>,
}

/// An account that was just made by a link; a session of it can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// Who.
    pub person: PersonId,
    /// What a session that begins now has to be of.
    pub epoch: i64,
}

impl Engine {
    /// Invites somebody: what stands in the link, shown once. An earlier invitation of the same address is withdrawn.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins; `Invalid` on `/email` and `/name`; `Denied` without a live session.
    pub async fn invite(
        &self,
        admin: &PersonActor,
        wanted: InvitationWanted,
    ) -> Result<(InvitationLine, PlainToken), Refusal> {
        administers(admin)?;
        admin.in_person()?;
        let (email, name) = (wanted.email.trim().to_lowercase(), wanted.name.trim().to_owned());
        let mut faults: Vec<FieldError> =
            fault_of_email(&email).into_iter().chain(fault_of_name(&name)).collect();
        if self.store().person_by_email(&email).await?.is_some() {
            faults.push(FieldError::new("/email", "Somebody with this address is there already."));
        }
        if !faults.is_empty() {
            return Err(Refusal::Invalid(faults));
        }
        let token = PlainToken::generate(TokenKind::Invitation, self.ambient());
        let now = self.now();
        let line = InvitationLine {
            id: InvitationId::from_uuid(self.ambient().uuid()),
            email,
            name,
            roles: Role::with_member(&wanted.roles),
            created_at: now,
            expires_at: now.plus_seconds(GOOD_FOR),
        };
        let mut tx = self.store().begin().await?;
        tx.insert_invitation(&line, token.hashed(), admin.id()).await?;
        tx.commit().await?;
        Ok((line, token))
    }

    /// The invitations that are good, the newest first.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins.
    pub async fn invitations(&self, admin: &PersonActor) -> Result<Vec<InvitationLine>, Refusal> {
        administers(admin)?;
        Ok(self.store().invitations(self.now()).await?)
    }

    /// Withdraws an invitation. `false`: it was used or withdrawn before.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins; `Denied` without a live session.
    pub async fn withdraw_invitation(&self, admin: &PersonActor, id: InvitationId) -> Result<bool, Refusal> {
        administers(admin)?;
        admin.in_person()?;
        let mut tx = self.store().begin().await?;
        let withdrawn = tx.withdraw_invitation(id, self.now()).await?;
        tx.commit().await?;
        Ok(withdrawn)
    }

    /// The invitation that a link is for, when it is good. Asking changes nothing.
    ///
    /// # Errors
    /// `NotFound` for a link that is mistyped, unknown, used, withdrawn or lapsed, all alike.
    pub async fn invitation(&self, token: &str) -> Result<InvitationLine, Refusal> {
        let hash = hash_of_link(token)?;
        self.store().invitation_by_hash(hash, self.now()).await?.ok_or(Refusal::NotFound)
    }

    /// Makes the account that a link offers, with this password. Of two at once, one does.
    ///
    /// # Errors
    /// As above; `Invalid` on `/password`, or on `/email` when somebody with this address came in between.
    pub async fn accept_invitation(&self, token: &str, password: &str) -> Result<Joined, Refusal> {
        let offered = self.invitation(token).await?;
        if !self.catalogue().sign_in.passwords {
            return Err(Refusal::invalid("/password", PASSWORDS_OFF));
        }
        if let Some(fault) = password::fault(password, &[&offered.email, &offered.name]) {
            return Err(Refusal::invalid("/password", fault));
        }
        let hash = self.hashed(Some(password.to_owned())).await?;
        let person = self.newcomer(offered.email, offered.name, offered.roles);
        let mut tx = self.store().begin().await?;
        if !tx.use_invitation(hash_of_link(token)?, self.now()).await? {
            return Err(Refusal::NotFound);
        }
        tx.insert_person(&person, hash.as_deref())
            .await
            .map_err(|error| taken(error, "/email", "Somebody with this address is there already."))?;
        tx.commit().await?;
        self.store().note_sign_in(person.id, self.now()).await?;
        Ok(Joined { person: person.id, epoch: 0 })
    }

    /// Somebody who is there from now on.
    pub(crate) fn newcomer(&self, email: String, name: String, roles: Vec<Role>) -> Person {
        Person {
            id: PersonId::from_uuid(self.ambient().uuid()),
            email,
            name,
            roles,
            created_at: self.now(),
            disabled_at: None,
            time_zone: None,
            signed_in_at: None,
        }
    }
}

/// What a link is stored under.
///
/// # Errors
/// `NotFound` for what is no link of this desk.
pub(crate) fn hash_of_link(token: &str) -> Result<HashedToken, Refusal> {
    match PlainToken::parse(token) {
        Some((TokenKind::Invitation, token)) => Ok(token.hashed()),
        _ => Err(Refusal::NotFound),
    }
}
