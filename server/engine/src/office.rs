//! What admins change of other people's accounts: roles, and whether an account can be used. Somebody who can do this is
//! always left: the last admin keeps the role and the account.

use model::{Person, PersonId, Refusal, Role};

use crate::actor::PersonActor;
use crate::circles::administers;
use crate::engine::Engine;
use crate::grant::GrantEnd;
use crate::registry::oversees;
use crate::store::{GrantsOf, Tx};

/// Why the last admin keeps the role and the account.
const LAST_ADMIN: &str = "Nobody else who can sign in is an admin. Make somebody else an admin first.";

/// What disabling a person does, counted beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disabling {
    /// Sessions that end.
    pub sessions: u64,
    /// Tokens of their own that are taken no more.
    pub tokens: u64,
    /// Agents whose keys are taken no more.
    pub agents: u64,
    /// Calls of theirs and their agents' that are withdrawn.
    pub withdrawn: u64,
    /// Held calls of others that go to the operators.
    pub handed_over: u64,
}

impl Engine {
    /// One person, for operators and admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else, and when there is none.
    pub async fn person(&self, me: &PersonActor, id: PersonId) -> Result<Person, Refusal> {
        oversees(me)?;
        self.store().person(id).await?.ok_or(Refusal::NotFound)
    }

    /// Changes a person's roles beside `member`. Calls that nobody can decide any more go to the operators.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins; `Invalid` on `/roles` when nobody would be left to manage people; `Denied`
    /// without a live session.
    pub async fn set_roles(&self, admin: &PersonActor, id: PersonId, roles: &[Role]) -> Result<(), Refusal> {
        administers(admin)?;
        admin.in_person()?;
        self.give_roles(id, roles).await
    }

    /// The same for whoever runs the desk from its command line, by the person's address.
    ///
    /// # Errors
    /// `NotFound` when there is nobody with this address; `Invalid` on `/roles` when nobody would be left to manage people.
    pub async fn set_roles_of(&self, email: &str, roles: &[Role]) -> Result<(), Refusal> {
        let (person, _) = self.store().person_by_email(email).await?.ok_or(Refusal::NotFound)?;
        self.give_roles(person.id, roles).await
    }

    async fn give_roles(&self, id: PersonId, roles: &[Role]) -> Result<(), Refusal> {
        if self.store().person(id).await?.is_none() {
            return Err(Refusal::NotFound);
        }
        let mut tx = self.store().begin().await?;
        tx.lock_admins().await?;
        let admins = self.usable_admins(&mut tx).await?;
        tx.set_roles(id, &Role::with_member(roles)).await?;
        if !roles.contains(&Role::Admin) {
            tx.withdraw_invitations_of(id, self.now()).await?;
        }
        if admins > 0 && self.usable_admins(&mut tx).await? == 0 {
            return Err(Refusal::invalid("/roles", LAST_ADMIN));
        }
        tx.hand_over_orphans(None).await?;
        Ok(tx.commit().await?)
    }

    /// What disabling this person would do now.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins.
    pub async fn disabling(&self, admin: &PersonActor, id: PersonId) -> Result<Disabling, Refusal> {
        administers(admin)?;
        let store = self.store();
        let (sessions, tokens, agents, withdrawn, handed_over) = tokio::try_join!(
            store.sessions_of(id, self.now()),
            store.live_tokens_of(id, self.now()),
            store.live_agents_of(id),
            store.unsent_calls_of_person(id),
            store.orphans_without(id),
        )?;
        let (sessions, withdrawn) = (sessions.len() as u64, withdrawn.len() as u64);
        Ok(Disabling { sessions, tokens, agents, withdrawn, handed_over })
    }

    /// Disables a person, as [`Engine::disable_person`] does. `false`: they are disabled already.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins, and when there is none; `Invalid` on `/person` for the last admin; `Denied`
    /// without a live session.
    pub async fn disable(&self, admin: &PersonActor, id: PersonId) -> Result<bool, Refusal> {
        administers(admin)?;
        admin.in_person()?;
        self.end_account(id).await
    }

    /// Disables a person, for whoever runs the desk from its command line: their sessions, tokens and agents' keys are taken
    /// no more, their agents' calls are withdrawn, and calls that only they could decide go to the operators. `false`: they
    /// are disabled already.
    ///
    /// # Errors
    /// `NotFound` when there is nobody with this address; `Invalid` on `/person` for the last admin who can sign in.
    pub async fn disable_person(&self, email: &str) -> Result<bool, Refusal> {
        let (person, _) = self.store().person_by_email(email).await?.ok_or(Refusal::NotFound)?;
        self.end_account(person.id).await
    }

    /// How many admins can sign in as this desk is set up.
    async fn usable_admins(&self, tx: &mut Tx) -> Result<i64, Refusal> {
        let catalogue = self.catalogue();
        Ok(tx.usable_admins(catalogue.sign_in.passwords, catalogue.sign_in.oidc.is_some()).await?)
    }

    async fn end_account(&self, id: PersonId) -> Result<bool, Refusal> {
        if self.store().person(id).await?.is_none() {
            return Err(Refusal::NotFound);
        }
        let mut tx = self.store().begin().await?;
        tx.lock_admins().await?;
        let admins = self.usable_admins(&mut tx).await?;
        let disabled = tx.disable_person(id, self.now()).await?;
        if admins > 0 && self.usable_admins(&mut tx).await? == 0 {
            return Err(Refusal::invalid("/person", LAST_ADMIN));
        }
        tx.end_sessions(id, None).await?;
        tx.withdraw_invitations_of(id, self.now()).await?;
        tx.end_delegations_of(id, self.now()).await?;
        self.end_grants(&mut tx, GrantsOf::Grantor(id), GrantEnd::Grantor, None).await?;
        self.end_grants(&mut tx, GrantsOf::Owner(id), GrantEnd::Agent, None).await?;
        tx.hand_over_orphans(None).await?;
        tx.commit().await?;
        self.withdraw_of_person(id).await?;
        Ok(disabled)
    }

    /// Makes a disabled account usable again. Tokens and agents' keys that were not revoked are taken again; sessions and
    /// calls do not come back. `false`: it is usable.
    ///
    /// # Errors
    /// `NotFound` for everybody but admins; `Denied` without a live session.
    pub async fn enable(&self, admin: &PersonActor, id: PersonId) -> Result<bool, Refusal> {
        administers(admin)?;
        admin.in_person()?;
        self.begin_account_again(id).await
    }

    /// The same for whoever runs the desk from its command line, by the person's address.
    ///
    /// # Errors
    /// `NotFound` when there is nobody with this address.
    pub async fn enable_person(&self, email: &str) -> Result<bool, Refusal> {
        let (person, _) = self.store().person_by_email(email).await?.ok_or(Refusal::NotFound)?;
        self.begin_account_again(person.id).await
    }

    /// Calls that came in while the account was being disabled, or that a stopped process left, do not come back with it.
    async fn begin_account_again(&self, id: PersonId) -> Result<bool, Refusal> {
        self.withdraw_of_person(id).await?;
        Ok(self.store().enable_person(id).await?)
    }
}
