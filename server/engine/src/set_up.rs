//! The first admin: made with a link that the console shows while nobody has an account.

use model::{FieldError, Refusal, Role};

use crate::engine::Engine;
use crate::invitation::{Joined, hash_of_link};
use crate::password;
use crate::registry::{fault_of_email, fault_of_name, taken};
use crate::token::{PlainToken, TokenKind};

impl Engine {
    /// What stands in a fresh link for the first admin; `None`: somebody has an account. Links of earlier starts stay good
    /// until one is used or somebody is there.
    pub async fn set_up_link(&self) -> Result<Option<PlainToken>, Refusal> {
        if self.store().has_people().await? {
            return Ok(None);
        }
        let token = PlainToken::generate(TokenKind::Invitation, self.ambient());
        self.store().insert_set_up_link(token.hashed(), self.now()).await?;
        Ok(Some(token))
    }

    /// Whether the first admin can be made with this link. Asking changes nothing.
    ///
    /// # Errors
    /// `NotFound` for a link that is mistyped, unknown or used, or when somebody has an account, all alike.
    pub async fn may_set_up(&self, token: &str) -> Result<(), Refusal> {
        let hash = hash_of_link(token)?;
        let is_open = self.store().knows_set_up_link(hash).await? && !self.store().has_people().await?;
        if is_open { Ok(()) } else { Err(Refusal::NotFound) }
    }

    /// Makes the first admin. Of two at once, one does. Where passwords are switched off they have none, and are linked when
    /// they sign in through the provider with this address.
    ///
    /// # Errors
    /// As above; `Invalid` on `/email`, `/name` and `/password`.
    pub async fn set_up(
        &self,
        token: &str,
        email: &str,
        name: &str,
        password: &str,
    ) -> Result<Joined, Refusal> {
        self.may_set_up(token).await?;
        let (email, name) = (email.trim().to_lowercase(), name.trim().to_owned());
        let password = Some(password).filter(|_| self.catalogue().sign_in.passwords);
        let weak = password.and_then(|password| password::fault(password, &[&email, &name]));
        let weak = weak.map(|fault| FieldError::new("/password", fault));
        let faults: Vec<FieldError> =
            fault_of_email(&email).into_iter().chain(fault_of_name(&name)).chain(weak).collect();
        if !faults.is_empty() {
            return Err(Refusal::Invalid(faults));
        }
        let hash = self.hashed(password.map(str::to_owned)).await?;
        let person = self.newcomer(email, name, Role::with_member(&[Role::Admin]));
        let mut tx = self.store().begin().await?;
        if !tx.use_set_up_link(hash_of_link(token)?).await? {
            return Err(Refusal::NotFound);
        }
        tx.insert_person(&person, hash.as_deref())
            .await
            .map_err(|error| taken(error, "/email", "Somebody with this address is there already."))?;
        tx.commit().await?;
        self.store().note_sign_in(person.id, self.now()).await?;
        Ok(Joined { person: person.id, epoch: 0 })
    }
}
