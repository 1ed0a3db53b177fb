//! People, agents and tokens: made and ended here, listed for operators and admins.

use model::visible::{self, Piece, Place};
use model::{Ability, AgentId, FieldError, KeyId, Person, PersonId, Refusal, Role, Time};

use crate::actor::PersonActor;
use crate::agent::AgentLine;
use crate::agents::KeyWanted;
use crate::catalogue::ActionLine;
use crate::credential_secret::CredentialLine;
use crate::engine::Engine;
use crate::grant::GrantEnd;
use crate::password;
use crate::store::{GrantsOf, KeyRow, NewKey};
use crate::token::{PlainToken, TokenKind};

/// A person to be added.
#[derive(Debug, Clone)]
pub struct PersonWanted {
    /// Their address.
    pub email: String,
    /// Their name.
    pub name: String,
    /// Roles beside `member`.
    pub roles: Vec<Role>,
    /// Their password.
    pub password: Option<String>,
}

/// An agent to be added, with its first key.
#[derive(Debug, Clone)]
pub struct AgentWanted {
    /// Its name.
    pub name: String,
    /// The owner's address.
    pub owner: String,
    /// Every write of its key goes to the approval queue.
    pub requires_approval: bool,
    /// What its key may be used for; empty: the four `actions:` abilities.
    pub abilities: Vec<Ability>,
    /// The actions it may see.
    pub toolset: Option<Vec<String>>,
    /// The one session its key is bound to.
    pub session: Option<String>,
}

impl Engine {
    /// Adds a person, for whoever runs the desk from its command line, who may choose a weak password.
    ///
    /// # Errors
    /// `Invalid` with every field at fault, a taken address among them.
    pub async fn add_person(&self, wanted: PersonWanted) -> Result<Person, Refusal> {
        let mut faults = Vec::new();
        let email = wanted.email.trim().to_lowercase();
        faults.extend(fault_of_email(&email));
        let name = wanted.name.trim().to_owned();
        faults.extend(fault_of_name(&name));
        if let Some(fault) = wanted.password.as_deref().and_then(password::unusable) {
            faults.push(FieldError::new("/password", fault));
        }
        if !faults.is_empty() {
            return Err(Refusal::Invalid(faults));
        }
        let person = self.newcomer(email, name, Role::with_member(&wanted.roles));
        let hash = self.hashed(wanted.password).await?;
        let mut tx = self.store().begin().await?;
        tx.insert_person(&person, hash.as_deref())
            .await
            .map_err(|error| taken(error, "/email", "Somebody with this address is there already."))?;
        tx.commit().await?;
        Ok(person)
    }

    /// Adds an agent with its first key, which is shown once.
    ///
    /// # Errors
    /// `Invalid` with every field at fault.
    pub async fn add_agent(&self, wanted: AgentWanted) -> Result<(AgentId, PlainToken), Refusal> {
        let mut faults = Vec::new();
        let owner = self.store().person_by_email(&wanted.owner).await?.map(|(person, _)| person);
        if owner.as_ref().is_none_or(|person| person.disabled_at.is_some()) {
            faults.push(FieldError::new("/owner", "There is nobody with this address."));
        }
        if !is_name(&wanted.name) || wanted.name.starts_with("agt_") {
            faults.push(FieldError::new(
                "/name",
                "The name has to be 1 to 100 letters, digits, “.”, “-” or “_”, and may not look like an id.",
            ));
        }
        let AgentWanted { name, requires_approval, abilities, toolset, session, .. } = wanted;
        let key = KeyWanted { requires_approval, abilities, toolset, session };
        faults.extend(self.faults_of_key(&key));
        let owner = match owner {
            Some(owner) if faults.is_empty() => owner,
            _ => return Err(Refusal::Invalid(faults)),
        };
        let agent = AgentId::from_uuid(self.ambient().uuid());
        let (key, token) = self.new_key(&name, agent, owner.id, key);
        let mut tx = self.store().begin().await?;
        tx.insert_agent(agent, owner.id, &name, self.now())
            .await
            .map_err(|error| taken(error, "/name", "An agent with this name is there already."))?;
        tx.insert_key(&key).await?;
        tx.commit().await?;
        Ok((agent, token))
    }

    /// Adds a person's token, which is shown once. Without abilities it has `receipts:read`.
    ///
    /// # Errors
    /// `Invalid` when there is no such person.
    pub async fn add_token(
        &self,
        email: &str,
        abilities: Vec<Ability>,
    ) -> Result<(KeyId, PlainToken), Refusal> {
        let person = self.store().person_by_email(email).await?.map(|(person, _)| person);
        let person = person
            .filter(|person| person.disabled_at.is_none())
            .ok_or_else(|| Refusal::invalid("/person", "There is nobody with this address."))?;
        self.store_token(person.id, abilities, None).await
    }

    /// Stores a fresh token of a person's. Without abilities it has `receipts:read`.
    pub(crate) async fn store_token(
        &self,
        person: PersonId,
        abilities: Vec<Ability>,
        expires_at: Option<Time>,
    ) -> Result<(KeyId, PlainToken), Refusal> {
        let token = PlainToken::generate(TokenKind::Person, self.ambient());
        let row = KeyRow {
            id: KeyId::from_uuid(self.ambient().uuid()),
            agent: None,
            person,
            abilities: if abilities.is_empty() { vec![Ability::ReceiptsRead] } else { abilities },
            requires_approval: false,
            toolset: None,
            session: None,
            last_used_at: None,
        };
        let key = NewKey { row, hash: token.hashed(), created_at: self.now(), expires_at };
        let id = key.row.id;
        let mut tx = self.store().begin().await?;
        tx.insert_key(&key).await?;
        tx.commit().await?;
        Ok((id, token))
    }

    /// Revokes an agent by name or id: its keys are taken no more and what it has waiting is withdrawn. `false`: there
    /// is none, or it was revoked before.
    pub async fn revoke_agent(&self, name_or_id: &str) -> Result<bool, Refusal> {
        let Some(agent) = self.find_agent(name_or_id).await? else { return Ok(false) };
        self.revoke(agent.id).await
    }

    pub(crate) async fn revoke(&self, agent: AgentId) -> Result<bool, Refusal> {
        let mut tx = self.store().begin().await?;
        let revoked = tx.revoke_agent(agent, self.now()).await?;
        self.end_grants(&mut tx, GrantsOf::Agent(agent), GrantEnd::Agent, None).await?;
        tx.commit().await?;
        for key in self.store().keys_of_agent(agent).await? {
            self.withdraw_of_key(key).await?;
        }
        Ok(revoked)
    }

    /// Revokes one key or token; what it has waiting is withdrawn. `false`: there is none, or it was revoked before.
    pub async fn revoke_token(&self, id: KeyId) -> Result<bool, Refusal> {
        let mut tx = self.store().begin().await?;
        let revoked = tx.revoke_key(id, self.now()).await?;
        tx.commit().await?;
        self.withdraw_of_key(id).await?;
        Ok(revoked)
    }

    /// Everybody, for operators and admins.
    pub async fn people(&self, person: &PersonActor) -> Result<Vec<Person>, Refusal> {
        oversees(person)?;
        Ok(self.store().people().await?)
    }

    /// The catalogue's actions, for operators and admins.
    pub fn actions(&self, person: &PersonActor) -> Result<Vec<ActionLine>, Refusal> {
        oversees(person)?;
        Ok(self.catalogue().actions().map(|action| action.line()).collect())
    }

    /// The catalogue's credentials, names and rules alone, and whether each has its secret, for operators and admins.
    pub async fn credentials(&self, person: &PersonActor) -> Result<Vec<CredentialLine>, Refusal> {
        oversees(person)?;
        self.credential_lines().await
    }

    /// Everybody, for whoever runs the desk from its command line.
    pub async fn all_people(&self) -> Result<Vec<Person>, Refusal> {
        Ok(self.store().people().await?)
    }

    /// Every agent, for whoever runs the desk from its command line.
    pub async fn all_agents(&self) -> Result<Vec<AgentLine>, Refusal> {
        Ok(self.store().agents(None).await?)
    }

    pub(crate) async fn hashed(&self, password: Option<String>) -> Result<Option<String>, Refusal> {
        let Some(password) = password else { return Ok(None) };
        let ambient = self.ambient().clone();
        let hash = tokio::task::spawn_blocking(move || password::hash(&password, &ambient)).await;
        hash.map(Some).map_err(|_| Refusal::Unavailable)
    }
}

/// Operators and admins; everybody else learns nothing.
pub(crate) fn oversees(person: &PersonActor) -> Result<(), Refusal> {
    let roles = &person.person().roles;
    if roles.contains(&Role::Operator) || roles.contains(&Role::Admin) {
        Ok(())
    } else {
        Err(Refusal::NotFound)
    }
}

pub(crate) fn taken(error: crate::store::StoreError, field: &str, message: &str) -> Refusal {
    if error.is_taken() { Refusal::invalid(field, message) } else { error.into() }
}

/// What is wrong with somebody's address.
pub(crate) fn fault_of_email(email: &str) -> Option<FieldError> {
    let message = "This has to be an address like name@example.com.";
    (!looks_like_email(email)).then(|| FieldError::new("/email", message))
}

/// What is wrong with what a person is called.
pub(crate) fn fault_of_name(name: &str) -> Option<FieldError> {
    let fault = if name.is_empty() || name.chars().count() > 200 {
        "The name has to be 1 to 200 characters."
    } else if visible::hides(name, Place::Line) {
        "The name has something in it that cannot be seen, or that changes how the rest is read. Type it by hand, without that."
    } else {
        return None;
    };
    Some(FieldError::new("/name", fault))
}

/// Enough to catch a slip of the hand, and what would be read as another address than it is; whether it exists only a mail
/// to it can tell. Quoted names and addresses in brackets (RFC 5321, section 4.1.2) are nobody's.
fn looks_like_email(email: &str) -> bool {
    let Some((name, host)) = email.split_once('@') else { return false };
    let is_plain =
        |letter: char| !letter.is_whitespace() && !letter.is_control() && !r#""(),:;<>@[\]"#.contains(letter);
    let dotted = |part: &str| part.split('.').all(|piece| !piece.is_empty());
    let is_host = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-');
    (email.len() <= 254 && dotted(name) && dotted(host))
        && (name.chars().all(is_plain) && host.chars().all(is_host))
        && visible::visible(email, Place::Line).iter().all(|piece| matches!(piece, Piece::Plain(_)))
}

/// Whether a text can name an agent, a group or a tenant.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=100).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// Whether a text can name a session: 1 to 128 visible ASCII characters.
pub fn is_session(session: &str) -> bool {
    (1..=128).contains(&session.len()) && session.bytes().all(|byte| (0x21..=0x7e).contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_address_and_reads_as_it_is() {
        for good in
            ["ann@desk.test", "a@b", "o'hara+x@mail.example.com", "jürgen@büro.example", "ann.b@10.0.0.1"]
        {
            assert!(fault_of_email(good).is_none(), "{good}");
        }
        for bad in [
            "",
            "ann",
            "@b.c",
            "a@",
            "a@b@c",
            "<a@b.c>",
            "Ann <a@b.c>",
            "a@b.c,d@e.f",
            "a@b.c;",
            "mailto:a@b.c",
            "a b@c.d",
            "a@b c",
            "\"a\"@b.c",
            "(x)a@b.c",
            "a@[10.0.0.1]",
            "a..b@c.d",
            ".a@c.d",
            "a@c..d",
            "a@.c",
            "a@c.",
            "a@b_c",
            "a\u{200b}@b.c",
            "a@b\u{202e}.c",
            "\u{430}nn@desk.test",
            "a\0@b.c",
        ] {
            assert!(fault_of_email(bad).is_some(), "{bad:?}");
        }
    }

    #[test]
    fn a_name_is_what_is_seen_of_it() {
        for good in ["Ann", "Jürgen Müller", "Анна", "山田 太郎", "O’Hara", "Ann 👩‍💻", "Ann 🏴󠁧󠁢󠁳󠁣󠁴󠁿"]
        {
            assert!(fault_of_name(good).is_none(), "{good}");
        }
        let long = "x".repeat(201);
        for bad in [
            "",
            &long,
            "Ann\0",
            "A\u{200b}nn",
            "Ann\u{202e}",
            "Ann\n",
            "Ann\u{1b}[2J",
            "\u{3164}",
            "Ann\u{e0041}",
            "Ann           Admin",
            "\u{301}",
            "Ann\u{feff}",
            "a\u{336}b",
        ] {
            assert!(fault_of_name(bad).is_some(), "{bad:?}");
        }
    }
}
