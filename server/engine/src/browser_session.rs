//! Browser sessions: stored sealed, under a hash of their id.

use model::{Refusal, Time};

use crate::engine::Engine;
use crate::seal::Purpose;

impl Engine {
    /// Stores a new session. `false`: the id is taken.
    pub async fn session_create(
        &self,
        id_hash: [u8; 32],
        data: &[u8],
        expires: Time,
    ) -> Result<bool, Refusal> {
        Ok(self.store().create_session(id_hash, &self.sealed_session(id_hash, data), expires).await?)
    }

    /// Changes a session that is there. One that was ended meanwhile stays ended.
    pub async fn session_save(&self, id_hash: [u8; 32], data: &[u8], expires: Time) -> Result<(), Refusal> {
        Ok(self.store().save_session(id_hash, &self.sealed_session(id_hash, data), expires).await?)
    }

    /// A session that has not run out.
    pub async fn session_load(&self, id_hash: [u8; 32]) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(blob) = self.store().session(id_hash, self.now()).await? else { return Ok(None) };
        // A session sealed with a key that is gone is no session; its person signs in again.
        Ok(self.sealer().open(Purpose::Session, &place(id_hash), &blob).ok())
    }

    /// Ends a session.
    pub async fn session_delete(&self, id_hash: [u8; 32]) -> Result<(), Refusal> {
        Ok(self.store().delete_session(id_hash).await?)
    }

    fn sealed_session(&self, id_hash: [u8; 32], data: &[u8]) -> Vec<u8> {
        self.sealer().seal(Purpose::Session, &place(id_hash), data)
    }
}

fn place(id_hash: [u8; 32]) -> String {
    data_encoding::HEXLOWER.encode(&id_hash)
}
