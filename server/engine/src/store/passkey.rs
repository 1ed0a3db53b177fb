//! Passkeys, and the challenges that they are asked to sign.

use model::{CallId, PasskeyId, PersonId, Time};
use sqlx::any::AnyRow;
use webauthn_rs::prelude::Passkey;

use super::columns::Columns;
use super::{Store, StoreError, Tx};

/// A passkey to be stored.
#[derive(Debug, Clone)]
pub struct NewPasskey<'a> {
    /// What its person knows it by.
    pub id: PasskeyId,
    /// Whose it is.
    pub person: PersonId,
    /// What the authenticator knows it by, its public half, and what else the library keeps of it.
    pub passkey: &'a Passkey,
    /// The name that it was made for.
    pub rp: &'a str,
    /// What its person calls it.
    pub name: &'a str,
    /// When.
    pub at: Time,
}

/// A passkey as it is stored.
#[derive(Debug, Clone)]
pub struct PasskeyRow {
    /// What its person knows it by.
    pub id: PasskeyId,
    /// Whose it is.
    pub person: PersonId,
    /// What the authenticator knows it by.
    pub credential: Vec<u8>,
    /// Its public half, and what else the library keeps of it.
    pub passkey: Passkey,
    /// The name that it was made for.
    pub rp: String,
    /// What its person calls it.
    pub name: String,
    /// When it was added.
    pub created_at: Time,
    /// When it was last used.
    pub used_at: Option<Time>,
}

/// A passkey that has answered.
#[derive(Debug, Clone, Copy)]
pub struct UsedPasskey<'a> {
    /// What its person knows it by.
    pub id: PasskeyId,
    /// Whose it is.
    pub person: PersonId,
    /// How many signatures it says it has made.
    pub counter: u32,
    /// What the library keeps of it from now on.
    pub passkey: &'a Passkey,
}

/// What a challenge is good for, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound<'a> {
    /// What for.
    pub purpose: ChallengePurpose,
    /// Whose.
    pub person: PersonId,
    /// The session that asked, by the hash of its id.
    pub session: [u8; 32],
    /// The call, and the version of the preview that is shown.
    pub shown: Option<(CallId, &'a str)>,
}

/// What a challenge can be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChallengePurpose {
    /// To add a passkey.
    Add,
    /// To prove anew who one is.
    Prove,
    /// To confirm one call.
    Confirm,
}

impl ChallengePurpose {
    /// The word that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Prove => "prove",
            Self::Confirm => "confirm",
        }
    }
}

const SELECT: &str = "SELECT id, person_id, credential, passkey, rp, name, created_at, used_at FROM passkeys";

impl Store {
    /// A person's passkeys, in the order in which they were added.
    pub async fn passkeys_of(&self, person: PersonId) -> Result<Vec<PasskeyRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE person_id = $1 ORDER BY id"));
        let rows = sqlx::query(sql).bind(person.to_string()).fetch_all(&self.read).await?;
        rows.iter().map(read).collect()
    }

    /// The passkey that an authenticator knows by this.
    pub async fn passkey_by_credential(&self, credential: &[u8]) -> Result<Option<PasskeyRow>, StoreError> {
        let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE credential = $1"));
        let row = sqlx::query(sql).bind(credential.to_vec()).fetch_optional(&self.read).await?;
        row.as_ref().map(read).transpose()
    }

    /// Stores a challenge, by its digest, unless so many were made for its person since then. `false`: they were.
    pub async fn insert_challenge(
        &self,
        hash: [u8; 32],
        bound: &Bound<'_>,
        at: Time,
        (most, since): (i64, Time),
    ) -> Result<bool, StoreError> {
        let query = sqlx::query(
            "INSERT INTO passkey_challenges (hash, purpose, person_id, session, call_id, preview_version, made_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7 WHERE (SELECT COUNT(*) FROM passkey_challenges WHERE person_id = $3 AND made_at > $9) < $8",
        )
        .bind(hash.to_vec())
        .bind(bound.purpose.as_str())
        .bind(bound.person.to_string())
        .bind(bound.session.to_vec())
        .bind(bound.shown.map(|(call, _)| call.to_string()))
        .bind(bound.shown.map(|(_, version)| version.to_owned()))
        .bind(at.micros())
        .bind(most)
        .bind(since.micros());
        Ok(self.write(query).await? == 1)
    }

    /// Forgets challenges that were made before then, at most so many.
    pub async fn delete_old_challenges(&self, before: Time, limit: i64) -> Result<u64, StoreError> {
        let query = sqlx::query(
            "DELETE FROM passkey_challenges WHERE hash IN (SELECT hash FROM passkey_challenges WHERE made_at < $1 ORDER BY made_at LIMIT $2 + 0)",
        )
        .bind(before.micros())
        .bind(limit);
        self.write(query).await
    }
}

impl Tx {
    /// Stores a passkey, unless its person has `most` already. `false`: they have. One that the authenticator knows by
    /// the same is a unique violation.
    pub async fn insert_passkey(&mut self, new: &NewPasskey<'_>, most: i64) -> Result<bool, StoreError> {
        // Whoever adds another one for the same person waits, so that the count stands.
        sqlx::query("UPDATE persons SET created_at = created_at WHERE id = $1")
            .bind(new.person.to_string())
            .execute(&mut *self.inner)
            .await?;
        let done = sqlx::query(
            "INSERT INTO passkeys (id, person_id, credential, passkey, counter, rp, name, created_at) \
             SELECT $1, $2, $3, $4, 0, $5, $6, $7 WHERE (SELECT COUNT(*) FROM passkeys WHERE person_id = $2) < $8",
        )
        .bind(new.id.to_string())
        .bind(new.person.to_string())
        .bind(new.passkey.cred_id().clone())
        .bind(in_json(new.passkey))
        .bind(new.rp)
        .bind(new.name)
        .bind(new.at.micros())
        .bind(most)
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Calls a person's own passkey something else. `false`: it is none of theirs.
    pub async fn rename_passkey(
        &mut self,
        person: PersonId,
        id: PasskeyId,
        name: &str,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE passkeys SET name = $3 WHERE person_id = $1 AND id = $2")
            .bind(person.to_string())
            .bind(id.to_string())
            .bind(name)
            .execute(&mut *self.inner)
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Removes a person's own passkey: what it was called. `None`: it is none of theirs.
    pub async fn delete_passkey(
        &mut self,
        person: PersonId,
        id: PasskeyId,
    ) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar("DELETE FROM passkeys WHERE person_id = $1 AND id = $2 RETURNING name")
            .bind(person.to_string())
            .bind(id.to_string())
            .fetch_optional(&mut *self.inner)
            .await?)
    }

    /// Takes a challenge away that was made for exactly this and not before `since`. `false`: there is none, or somebody
    /// else has taken it.
    pub async fn spend_challenge(
        &mut self,
        hash: [u8; 32],
        bound: &Bound<'_>,
        since: Time,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "DELETE FROM passkey_challenges WHERE hash = $1 AND purpose = $2 AND person_id = $3 AND session = $4 \
             AND COALESCE(call_id, '') = $5 AND COALESCE(preview_version, '') = $6 AND made_at >= $7",
        )
        .bind(hash.to_vec())
        .bind(bound.purpose.as_str())
        .bind(bound.person.to_string())
        .bind(bound.session.to_vec())
        .bind(bound.shown.map(|(call, _)| call.to_string()).unwrap_or_default())
        .bind(bound.shown.map_or("", |(_, version)| version).to_owned())
        .bind(since.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Notes that the challenge of a sign-in was used. `false`: it was before.
    pub async fn use_sign_in_challenge(&mut self, hash: [u8; 32], made_at: Time) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "INSERT INTO passkey_challenges (hash, purpose, made_at) VALUES ($1, 'sign_in', $2) ON CONFLICT DO NOTHING",
        )
        .bind(hash.to_vec())
        .bind(made_at.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Notes that a passkey has made its `counter`th signature. `false`: it is gone, or had made as many already; one that
    /// does not count says 0 each time.
    pub async fn use_passkey(&mut self, used: UsedPasskey<'_>, now: Time) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE passkeys SET counter = $3, passkey = $4, used_at = $5 WHERE id = $1 AND person_id = $2 \
             AND (counter < $3 OR (counter = 0 AND $3 = 0))",
        )
        .bind(used.id.to_string())
        .bind(used.person.to_string())
        .bind(i64::from(used.counter))
        .bind(in_json(used.passkey))
        .bind(now.micros())
        .execute(&mut *self.inner)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn in_json(passkey: &Passkey) -> String {
    serde_json::to_string(passkey).unwrap_or_else(|_| unreachable!("a passkey can be written as JSON"))
}

fn read(row: &AnyRow) -> Result<PasskeyRow, StoreError> {
    let columns = Columns::new("passkeys", "id", row);
    Ok(PasskeyRow {
        id: columns.parse("id")?,
        person: columns.parse("person_id")?,
        credential: columns.get("credential")?,
        passkey: columns.json("passkey")?,
        rp: columns.get("rp")?,
        name: columns.get("name")?,
        created_at: columns.time("created_at")?,
        used_at: columns.time_maybe("used_at")?,
    })
}
