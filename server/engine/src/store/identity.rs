//! Who people are at a sign-in provider, what signing in there changed of their accounts, and which sign-ins came back.

use model::{PersonId, Role, Time};

use super::columns::{Columns, to_json};
use super::{Store, StoreError, Tx};

/// Somebody, as a provider names them.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The provider.
    pub issuer: &'a str,
    /// Who it is there, for ever.
    pub subject: &'a str,
}

/// What signing in by a provider changed of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityChange {
    /// It was linked to a subject.
    Linked,
    /// It was made of an invitation, and linked.
    Joined,
    /// It was made because the provider knows its person, and linked.
    Provisioned,
    /// It is in other groups.
    Groups,
    /// The link was taken away.
    Unlinked,
}

impl IdentityChange {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Linked => "linked",
            Self::Joined => "joined",
            Self::Provisioned => "provisioned",
            Self::Groups => "groups",
            Self::Unlinked => "unlinked",
        }
    }

    fn of(word: &str) -> Option<Self> {
        let all = [Self::Linked, Self::Joined, Self::Provisioned, Self::Groups, Self::Unlinked];
        all.into_iter().find(|change| change.as_str() == word)
    }
}

/// A line about an account: ids and names of groups only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityEvent {
    /// Its id; ids sort by time.
    pub id: String,
    /// When.
    pub at: Time,
    /// Whose account.
    pub person: PersonId,
    /// What happened.
    pub change: IdentityChange,
    /// The provider.
    pub issuer: String,
    /// The groups that the person is in since.
    pub joined: Vec<String>,
    /// The groups that the person is in no more.
    pub parted: Vec<String>,
}

/// Whom a person is at a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The provider.
    pub issuer: String,
    /// Who it is there.
    pub subject: String,
    /// Since when.
    pub linked_at: Time,
}

/// What an invitation offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// What its person is called.
    pub name: String,
    /// The roles they will have.
    pub roles: Vec<Role>,
}

impl Store {
    /// Whom this person is at their providers.
    pub async fn identities_of(&self, person: PersonId) -> Result<Vec<Identity>, StoreError> {
        let rows = sqlx::query(
            "SELECT issuer, subject, linked_at FROM person_identities WHERE person_id = $1 ORDER BY linked_at, issuer",
        )
        .bind(person.to_string())
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("person_identities", "issuer", row);
                Ok(Identity {
                    issuer: columns.get("issuer")?,
                    subject: columns.get("subject")?,
                    linked_at: columns.time("linked_at")?,
                })
            })
            .collect()
    }

    /// What signing in by a provider changed of a person's account, the newest first.
    pub async fn identity_events(
        &self,
        person: PersonId,
        limit: i64,
    ) -> Result<Vec<IdentityEvent>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, at, person_id, kind, issuer, joined, parted FROM identity_events WHERE person_id = $1 ORDER BY id DESC LIMIT $2 + 0",
        )
        .bind(person.to_string())
        .bind(limit)
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("identity_events", "id", row);
                let kind: String = columns.get("kind")?;
                Ok(IdentityEvent {
                    id: columns.get("id")?,
                    at: columns.time("at")?,
                    person: columns.parse("person_id")?,
                    change: IdentityChange::of(&kind).ok_or_else(|| columns.fault("kind"))?,
                    issuer: columns.get("issuer")?,
                    joined: columns.json("joined")?,
                    parted: columns.json("parted")?,
                })
            })
            .collect()
    }

    /// How many admins can sign in by this provider: their account is usable and linked.
    pub async fn linked_admins(&self, issuer: &str) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT COUNT(*) FROM person_roles r JOIN persons p ON p.id = r.person_id JOIN person_identities i ON i.person_id = p.id \
             WHERE r.role = 'admin' AND p.disabled_at IS NULL AND i.issuer = $1",
        )
        .bind(issuer)
        .fetch_one(&self.read)
        .await?)
    }

    /// Whether this sign-in comes back for the first time. Of two at once, one does.
    pub async fn spend_return(&self, state: [u8; 32], now: Time) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "INSERT INTO sign_in_returns (state, came_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        )
        .bind(state.to_vec())
        .bind(now.micros());
        Ok(self.write(query).await? == 1)
    }

    /// Forgets sign-ins that came back before then and are good no more in any case, at most so many.
    pub async fn delete_old_returns(&self, before: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM sign_in_returns WHERE state IN (SELECT state FROM sign_in_returns WHERE came_at <= $1 ORDER BY came_at LIMIT $2 + 0)",
        )
        .bind(before.micros())
        .bind(limit);
        self.write(query).await
    }
}

impl Tx {
    /// Links a subject to the person with this address, when the account is usable, no other subject of the provider is
    /// linked to it, and this one is to nobody: whom, if it was.
    pub async fn link_by_email(
        &mut self,
        of: Subject<'_>,
        email: &str,
        now: Time,
    ) -> Result<Option<PersonId>, StoreError> {
        let person: Option<String> = sqlx::query_scalar(
            "INSERT INTO person_identities (issuer, subject, person_id, linked_at) \
             SELECT $1, $2, p.id, $4 FROM persons p WHERE p.email = $3 AND p.disabled_at IS NULL \
             ON CONFLICT DO NOTHING RETURNING person_id",
        )
        .bind(of.issuer)
        .bind(of.subject)
        .bind(email)
        .bind(now.micros())
        .fetch_optional(&mut *self.inner)
        .await?;
        let unreadable = |id: String| StoreError::Inconsistent {
            table: "person_identities",
            column: "person_id",
            row: id,
        };
        person.map(|id| id.parse().map_err(|_| unreadable(id))).transpose()
    }

    /// Links a subject to a person who has just been made. A subject that is linked is a unique violation.
    pub async fn link(&mut self, of: Subject<'_>, person: PersonId, now: Time) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO person_identities (issuer, subject, person_id, linked_at) VALUES ($1, $2, $3, $4)",
        )
        .bind(of.issuer)
        .bind(of.subject)
        .bind(person.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Takes a person's links away: the providers they were to.
    pub async fn unlink(&mut self, person: PersonId) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar("DELETE FROM person_identities WHERE person_id = $1 RETURNING issuer")
            .bind(person.to_string())
            .fetch_all(&mut *self.inner)
            .await?)
    }

    /// Writes a line about an account.
    pub async fn note_identity(&mut self, event: &IdentityEvent) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO identity_events (id, at, person_id, kind, issuer, joined, parted) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(&event.id)
        .bind(event.at.micros())
        .bind(event.person.to_string())
        .bind(event.change.as_str())
        .bind(&event.issuer)
        .bind(to_json(&event.joined))
        .bind(to_json(&event.parted))
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }
}
