//! People.

use model::{Person, PersonId, Role, Time};
use sqlx::any::AnyRow;

use super::columns::Columns;
use super::identity::Subject;
use super::{Store, StoreError, Tx};

/// A person's row with the roles beside it; one row per person.
const SELECT: &str = "SELECT p.id, p.email, p.name, p.password_hash, p.created_at, p.disabled_at, p.time_zone, p.signed_in_at, p.sign_in_epoch, \
    (SELECT COUNT(*) FROM person_roles r WHERE r.person_id = p.id AND r.role = 'approver') AS approver, \
    (SELECT COUNT(*) FROM person_roles r WHERE r.person_id = p.id AND r.role = 'operator') AS operator, \
    (SELECT COUNT(*) FROM person_roles r WHERE r.person_id = p.id AND r.role = 'admin') AS admin \
    FROM persons p";

impl Store {
    /// The person with this id.
    pub async fn person(&self, id: PersonId) -> Result<Option<Person>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE p.id = $1"));
        let row = sqlx::query(sql).bind(id.to_string()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// The person with this address and what their password is checked against.
    // PostgreSQL has no text with a NUL in it, so nobody has such an address.
    pub async fn person_by_email(&self, email: &str) -> Result<Option<(Person, Proof)>, StoreError> {
        if email.contains('\0') {
            return Ok(None);
        }
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE p.email = $1"));
        let row = sqlx::query(sql).bind(email.to_lowercase()).fetch_optional(&self.read).await?;
        row.as_ref().map(|row| Ok((read(row)?, proof(row)?))).transpose()
    }

    /// The person whom a subject of a provider is linked to, and what a session of theirs has to be of.
    pub async fn person_by_identity(&self, of: Subject<'_>) -> Result<Option<(Person, Proof)>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!(
            "{SELECT} JOIN person_identities i ON i.person_id = p.id WHERE i.issuer = $1 AND i.subject = $2"
        ));
        let row = sqlx::query(sql).bind(of.issuer.to_owned()).bind(of.subject.to_owned());
        let row = row.fetch_optional(&self.read).await?;
        row.as_ref().map(|row| Ok((read(row)?, proof(row)?))).transpose()
    }

    /// What a person's password is checked against.
    pub async fn proof_of(&self, id: PersonId) -> Result<Option<Proof>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE p.id = $1"));
        let row = sqlx::query(sql).bind(id.to_string()).fetch_optional(&self.read).await?;
        row.as_ref().map(proof).transpose()
    }

    /// Makes a disabled account usable again. `false`: it is, or there is none.
    pub async fn enable_person(&self, id: PersonId) -> Result<bool, StoreError> {
        let query =
            sqlx::query("UPDATE persons SET disabled_at = NULL WHERE id = $1 AND disabled_at IS NOT NULL")
                .bind(id.to_string());
        Ok(self.write(query).await? == 1)
    }

    /// Notes that a person signed in.
    pub async fn note_sign_in(&self, id: PersonId, now: Time) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE persons SET signed_in_at = $2 WHERE id = $1")
            .bind(id.to_string())
            .bind(now.micros());
        self.write(query).await.map(drop)
    }
    /// Everybody, by name.
    pub async fn people(&self) -> Result<Vec<Person>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} ORDER BY p.name, p.id"));
        let rows = sqlx::query(sql).fetch_all(&self.read).await?;
        rows.iter().map(read).collect()
    }
}

impl Tx {
    /// Adds a person. A taken address is a unique violation (`StoreError::is_taken`).
    pub async fn insert_person(
        &mut self,
        person: &Person,
        password_hash: Option<&str>,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO persons (id, email, name, password_hash, created_at) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(person.id.to_string())
        .bind(&person.email)
        .bind(&person.name)
        .bind(password_hash)
        .bind(person.created_at.micros())
        .execute(&mut *self.inner)
        .await?;
        for role in &person.roles {
            sqlx::query("INSERT INTO person_roles (person_id, role) VALUES ($1, $2)")
                .bind(person.id.to_string())
                .bind(role.as_str())
                .execute(&mut *self.inner)
                .await?;
        }
        Ok(())
    }

    /// Sets a new password, unless another one was set since this epoch was read. `false`: it was.
    pub async fn set_password(&mut self, id: PersonId, hash: &str, epoch: i64) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE persons SET password_hash = $2 WHERE id = $1 AND sign_in_epoch = $3")
            .bind(id.to_string())
            .bind(hash)
            .bind(epoch)
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Changes what a person is called and the zone in which they read times. `false`: there is none.
    pub async fn save_person(
        &mut self,
        id: PersonId,
        name: &str,
        time_zone: Option<&str>,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE persons SET name = $2, time_zone = $3 WHERE id = $1")
            .bind(id.to_string())
            .bind(name)
            .bind(time_zone)
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Keeps what a person may do as it is until this transaction ends: whoever disables them, or changes their roles or groups,
    /// waits for it.
    pub async fn hold_person(&mut self, id: PersonId) -> Result<(), StoreError> {
        self.person_row(id, "SHARE").await
    }

    /// Waits for everybody who holds a person, before what they may do is changed.
    pub async fn move_person(&mut self, id: PersonId) -> Result<(), StoreError> {
        self.person_row(id, "UPDATE").await
    }

    async fn person_row(&mut self, id: PersonId, how: &'static str) -> Result<(), StoreError> {
        if self.writes_alone() {
            return Ok(());
        }
        let sql = sqlx::AssertSqlSafe(format!("SELECT 1 FROM persons WHERE id = $1 FOR {how}"));
        sqlx::query(sql).bind(id.to_string()).fetch_optional(&mut *self.inner).await?;
        Ok(())
    }

    /// Nobody else, on any node, changes who is an admin or can be one until this transaction ends.
    pub async fn lock_admins(&mut self) -> Result<(), StoreError> {
        if self.writes_alone() {
            return Ok(());
        }
        for sql in [
            "UPDATE person_roles SET role = role WHERE role = 'admin'",
            "UPDATE persons SET created_at = created_at WHERE id IN (SELECT person_id FROM person_roles WHERE role = 'admin')",
        ] {
            sqlx::query(sql).execute(&mut *self.inner).await?;
        }
        Ok(())
    }

    /// How many admins can sign in: with a password or a provider, where the desk takes those, or with a passkey.
    pub async fn usable_admins(&mut self, passwords: bool, provider: bool) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar(
            "SELECT COUNT(*) FROM person_roles r JOIN persons p ON p.id = r.person_id WHERE r.role = 'admin' AND p.disabled_at IS NULL \
             AND (($1 = 1 AND p.password_hash IS NOT NULL) OR EXISTS (SELECT 1 FROM passkeys k WHERE k.person_id = p.id) \
             OR ($2 = 1 AND EXISTS (SELECT 1 FROM person_identities i WHERE i.person_id = p.id)))",
        )
        .bind(i64::from(passwords))
        .bind(i64::from(provider))
        .fetch_one(&mut *self.inner)
        .await?)
    }

    /// Gives a person these roles and no other.
    pub async fn set_roles(&mut self, id: PersonId, roles: &[Role]) -> Result<(), StoreError> {
        self.move_person(id).await?;
        for role in Role::ALL {
            let sql = if roles.contains(role) {
                "INSERT INTO person_roles (person_id, role) VALUES ($1, $2) ON CONFLICT DO NOTHING"
            } else {
                "DELETE FROM person_roles WHERE person_id = $1 AND role = $2"
            };
            sqlx::query(sql).bind(id.to_string()).bind(role.as_str()).execute(&mut *self.inner).await?;
        }
        Ok(())
    }

    /// Makes an account unusable. `false`: it was already, or there is none.
    pub async fn disable_person(&mut self, id: PersonId, now: Time) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE persons SET disabled_at = $2 WHERE id = $1 AND disabled_at IS NULL")
            .bind(id.to_string())
            .bind(now.micros())
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }
}

/// What a password is checked against, and what a session that begins by it has to be of.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The hash; `None`: nobody can sign in with a password.
    pub password_hash: Option<String>,
    /// How often all of the person's sessions have been ended.
    pub epoch: i64,
}

fn proof(row: &AnyRow) -> Result<Proof, StoreError> {
    let columns = Columns::new("persons", "id", row);
    Ok(Proof { password_hash: columns.get("password_hash")?, epoch: columns.get("sign_in_epoch")? })
}

fn read(row: &AnyRow) -> Result<Person, StoreError> {
    let columns = Columns::new("persons", "id", row);
    let mut roles = vec![Role::Member];
    for (column, role) in [("approver", Role::Approver), ("operator", Role::Operator), ("admin", Role::Admin)]
    {
        if columns.flag(column)? {
            roles.push(role);
        }
    }
    Ok(Person {
        id: columns.parse("id")?,
        email: columns.get("email")?,
        name: columns.get("name")?,
        roles,
        created_at: columns.time("created_at")?,
        disabled_at: columns.time_maybe("disabled_at")?,
        time_zone: columns.get("time_zone")?,
        signed_in_at: columns.time_maybe("signed_in_at")?,
    })
}
