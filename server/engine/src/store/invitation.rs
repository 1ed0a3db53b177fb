//! Invitations, and links to make the first admin with. Only hashes are stored.

use model::{InvitationId, PersonId, Role, Time};
use sqlx::any::AnyRow;

use super::columns::{Columns, to_json};
use super::identity::Offered;
use super::{Store, StoreError, Tx};
use crate::token::HashedToken;

/// An invitation that waits for its person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationLine {
    /// Its id.
    pub id: InvitationId,
    /// The address that its person will sign in with.
    pub email: String,
    /// What the person is called.
    pub name: String,
    /// The roles they will have.
    pub roles: Vec<Role>,
    /// When it was made.
    pub created_at: Time,
    /// Until when it is good.
    pub expires_at: Time,
}

/// Those that are good at `$1`: neither used, withdrawn nor lapsed, and whoever invited may still do so.
const GOOD: &str = "i.used_at IS NULL AND i.withdrawn_at IS NULL AND i.expires_at > $1 \
    AND EXISTS (SELECT 1 FROM persons p JOIN person_roles r ON r.person_id = p.id \
    WHERE p.id = i.invited_by AND p.disabled_at IS NULL AND r.role = 'admin')";

const SELECT: &str =
    "SELECT i.id, i.email, i.name, i.roles, i.created_at, i.expires_at FROM invitations i WHERE";

impl Store {
    /// The invitations that are good, the newest first.
    pub async fn invitations(&self, now: Time) -> Result<Vec<InvitationLine>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} {GOOD} ORDER BY i.id DESC"));
        let rows = sqlx::query(sql).bind(now.micros()).fetch_all(&self.read).await?;
        rows.iter().map(read).collect()
    }

    /// The good invitation with this hash.
    pub async fn invitation_by_hash(
        &self,
        hash: HashedToken,
        now: Time,
    ) -> Result<Option<InvitationLine>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} {GOOD} AND i.hash = $2"));
        let row =
            sqlx::query(sql).bind(now.micros()).bind(hash.0.to_vec()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// Forgets invitations that have lapsed, used ones among them, at most so many.
    pub async fn delete_old_invitations(&self, now: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 + 0)",
        )
        .bind(now.micros())
        .bind(limit);
        self.write(query).await
    }

    /// Whether anybody has an account.
    pub async fn has_people(&self) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM persons").fetch_one(&self.read).await?;
        Ok(count > 0)
    }

    /// Stores a link to make the first admin with.
    pub async fn insert_set_up_link(&self, hash: HashedToken, now: Time) -> Result<(), StoreError> {
        let query = sqlx::query("INSERT INTO set_up_links (hash, made_at) VALUES ($1, $2)")
            .bind(hash.0.to_vec())
            .bind(now.micros());
        self.write(query).await.map(drop)
    }

    /// Whether there is such a link.
    pub async fn knows_set_up_link(&self, hash: HashedToken) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM set_up_links WHERE hash = $1")
            .bind(hash.0.to_vec())
            .fetch_one(&self.read)
            .await?;
        Ok(count > 0)
    }
}

impl Tx {
    /// Stores an invitation. Those that were made for the same address before are withdrawn.
    pub async fn insert_invitation(
        &mut self,
        line: &InvitationLine,
        hash: HashedToken,
        by: PersonId,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE invitations SET withdrawn_at = $2 WHERE email = $1 AND used_at IS NULL AND withdrawn_at IS NULL",
        )
        .bind(&line.email)
        .bind(line.created_at.micros())
        .execute(&mut *self.inner)
        .await?;
        sqlx::query(
            "INSERT INTO invitations (id, hash, email, name, roles, invited_by, created_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(line.id.to_string())
        .bind(hash.0.to_vec())
        .bind(&line.email)
        .bind(&line.name)
        .bind(to_json(&line.roles))
        .bind(by.to_string())
        .bind(line.created_at.micros())
        .bind(line.expires_at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Uses an invitation up, once. `false`: it is not good, or not any more.
    pub async fn use_invitation(&mut self, hash: HashedToken, now: Time) -> Result<bool, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "UPDATE invitations SET used_at = $1 WHERE hash = $2 AND used_at IS NULL AND withdrawn_at IS NULL \
             AND id IN (SELECT i.id FROM invitations i WHERE {GOOD} AND i.hash = $2)"
        ));
        let done =
            sqlx::query(sql).bind(now.micros()).bind(hash.0.to_vec()).execute(&mut *self.inner).await?;
        Ok(done.rows_affected() == 1)
    }

    /// Uses the good invitation of this address up, once, and tells what it offers; `None`: there is none, or not any
    /// more.
    pub async fn use_invitation_of(&mut self, email: &str, now: Time) -> Result<Option<Offered>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "UPDATE invitations SET used_at = $1 WHERE email = $2 AND used_at IS NULL AND withdrawn_at IS NULL \
             AND id IN (SELECT i.id FROM invitations i WHERE {GOOD} AND i.email = $2) RETURNING id, name, roles"
        ));
        let row = sqlx::query(sql)
            .bind(now.micros())
            .bind(email.to_owned())
            .fetch_optional(&mut *self.inner)
            .await?;
        row.map(|row| {
            let columns = Columns::new("invitations", "id", &row);
            Ok(Offered { name: columns.get("name")?, roles: columns.json("roles")? })
        })
        .transpose()
    }

    /// Withdraws an invitation. `false`: it was withdrawn or used before, or there is none.
    pub async fn withdraw_invitation(&mut self, id: InvitationId, now: Time) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE invitations SET withdrawn_at = $2 WHERE id = $1 AND used_at IS NULL AND withdrawn_at IS NULL",
        )
        .bind(id.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Withdraws every open invitation of somebody who may invite no more: it does not come back with their right.
    pub async fn withdraw_invitations_of(&mut self, admin: PersonId, now: Time) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE invitations SET withdrawn_at = $2 WHERE invited_by = $1 AND used_at IS NULL AND withdrawn_at IS NULL",
        )
        .bind(admin.to_string())
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(())
    }

    /// Uses a link for the first admin up, and every other one with it. `false`: somebody else did, or there is none.
    pub async fn use_set_up_link(&mut self, hash: HashedToken) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "DELETE FROM set_up_links WHERE EXISTS (SELECT 1 FROM set_up_links own WHERE own.hash = $1)",
        )
        .bind(hash.0.to_vec())
        .execute(&mut *self.inner)
        .await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        let people: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM persons").fetch_one(&mut *self.inner).await?;
        Ok(people == 0)
    }
}

fn read(row: &AnyRow) -> Result<InvitationLine, StoreError> {
    let columns = Columns::new("invitations", "id", row);
    Ok(InvitationLine {
        id: columns.parse("id")?,
        email: columns.get("email")?,
        name: columns.get("name")?,
        roles: columns.json("roles")?,
        created_at: columns.time("created_at")?,
        expires_at: columns.time("expires_at")?,
    })
}
