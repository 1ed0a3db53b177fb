//! Whom the provider's word signs in, and the groups that it says they are in.
//!
//! A person is known by issuer and subject, once they are linked. They are linked the first time: by an address that the
//! provider has verified, to the one account of that address, while it is usable and nobody else of that provider is
//! linked to it; to the account that an invitation offers to that address; or, where the catalogue says so, to a new one.

use model::{PersonId, Role};

use super::NotSignedIn;
use super::claims::Claims;
use super::proof::Proven;
use crate::actor::{PersonActor, Via};
use crate::catalogue::ProviderSettings;
use crate::engine::Engine;
use crate::registry::{fault_of_email, fault_of_name};
use crate::sign_in::SignedIn;
use crate::store::{IdentityChange, IdentityEvent, StoreError, Subject, Tx};

impl Engine {
    /// Whoever it is, when their account can be used. Whether there is one, the answer does not tell.
    pub(super) async fn admitted(
        &self,
        settings: &ProviderSettings,
        proven: Proven,
    ) -> Result<SignedIn, NotSignedIn> {
        let of = Subject { issuer: &settings.issuer, subject: &proven.subject };
        let mut found = self.store().person_by_identity(of).await?;
        if found.is_none() && self.introduced(settings, of, &proven.claims).await? {
            found = self.store().person_by_identity(of).await?;
        }
        let Some((person, proof)) = found.filter(|(person, _)| person.disabled_at.is_none()) else {
            return Err(NotSignedIn::Nobody);
        };
        self.take_groups(settings, person.id, &proven.claims).await?;
        self.store().note_sign_in(person.id, self.now()).await?;
        let groups = self.store().groups_of(person.id).await?;
        Ok(SignedIn { person: PersonActor::new(person, groups, Via::Session), epoch: proof.epoch })
    }

    /// Links somebody whom nobody is linked to yet. `false`: there is no account for them.
    async fn introduced(
        &self,
        settings: &ProviderSettings,
        of: Subject<'_>,
        claims: &Claims,
    ) -> Result<bool, NotSignedIn> {
        let Some((email, true)) = &claims.email else {
            tracing::warn!("whoever signs in has no address that the provider has verified");
            return Ok(false);
        };
        if fault_of_email(email).is_some() {
            return Ok(false);
        }
        let mut tx = self.store().begin().await?;
        let change = match tx.link_by_email(of, email, self.now()).await? {
            Some(person) => Some((person, IdentityChange::Linked)),
            None => match self.made(&mut tx, settings, of, claims, email).await {
                // Somebody of this address, or this subject, came in between; or is there and cannot be linked.
                Err(error) if error.is_taken() => return Ok(false),
                made => made?,
            },
        };
        let Some((person, change)) = change else { return Ok(false) };
        tx.note_identity(&self.line(person, change, of.issuer)).await?;
        tx.commit().await?;
        tracing::info!(%person, change = change.as_str(), "an account was linked to a subject of the provider");
        Ok(true)
    }

    /// A new account, linked: what an invitation offers, or where the catalogue says so a member's.
    async fn made(
        &self,
        tx: &mut Tx,
        settings: &ProviderSettings,
        of: Subject<'_>,
        claims: &Claims,
        email: &str,
    ) -> Result<Option<(PersonId, IdentityChange)>, StoreError> {
        let offered = tx.use_invitation_of(email, self.now()).await?;
        let (name, roles, change) = match offered {
            Some(offered) => (offered.name, offered.roles, IdentityChange::Joined),
            None if settings.provision => {
                (called(claims, email), Role::with_member(&[]), IdentityChange::Provisioned)
            }
            None => return Ok(None),
        };
        let person = self.newcomer(email.to_owned(), name, roles);
        tx.insert_person(&person, None).await?;
        tx.link(of, person.id, self.now()).await?;
        Ok(Some((person.id, change)))
    }

    /// Puts a person into the groups that the provider says, of those that the catalogue maps, and out of the others of
    /// them. What waits only for somebody who is in a group no more goes to the operators.
    async fn take_groups(
        &self,
        settings: &ProviderSettings,
        person: PersonId,
        claims: &Claims,
    ) -> Result<(), NotSignedIn> {
        if settings.groups.is_empty() {
            return Ok(());
        }
        if claims.groups.is_none() {
            tracing::warn!(%person, claim = settings.groups_claim, "the provider does not say in which groups somebody is: they are in none of the mapped ones");
        }
        let there = claims.groups.as_deref().unwrap_or_default();
        let mut line = self.line(person, IdentityChange::Groups, &settings.issuer);
        let mut tx = self.store().begin().await?;
        for (group, sources) in &settings.groups {
            if sources.iter().any(|source| there.contains(source)) {
                if tx.add_to_group(group, person).await? {
                    line.joined.push(group.clone());
                }
            } else if tx.remove_from_group(group, Some(person)).await? {
                line.parted.push(group.clone());
            }
        }
        if line.joined.is_empty() && line.parted.is_empty() {
            return Ok(());
        }
        tx.hand_over_orphans(None).await?;
        tx.note_identity(&line).await?;
        tx.commit().await?;
        tracing::info!(%person, joined = ?line.joined, parted = ?line.parted, "the provider's groups changed an account");
        Ok(())
    }

    /// A line about an account.
    pub(crate) fn line(&self, person: PersonId, change: IdentityChange, issuer: &str) -> IdentityEvent {
        IdentityEvent {
            id: self.ambient().uuid().to_string(),
            at: self.now(),
            person,
            change,
            issuer: issuer.to_owned(),
            joined: Vec::new(),
            parted: Vec::new(),
        }
    }
}

/// What a newcomer is called, when the provider says nothing that can be used: as their address begins.
fn called(claims: &Claims, email: &str) -> String {
    let said = claims.name.clone().filter(|name| fault_of_name(name).is_none());
    said.unwrap_or_else(|| email.split('@').next().unwrap_or(email).to_owned())
}
