//! The secrets of credentials: from the environment or from the sealed store, and whether they are there.

use std::path::Path;
use std::sync::Arc;

use model::{Refusal, Time};

use crate::credential::{Credential, SecretSource};
use crate::engine::Engine;
use crate::seal::Purpose;
use crate::secret::Secret;
use crate::store::{Store, StoreError};

/// The longest secret that is kept, in bytes: all headers of a request together may be 64 KiB.
pub const LONGEST: usize = 16 * 1024;

/// Whether a credential can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretStanding {
    /// It has a secret that a header can carry.
    Usable,
    /// It has none: the variable is not set, or the store has none of its name.
    Missing,
    /// It has one that cannot be used: it does not open with the sealing keys, or no header can carry it.
    Unusable,
}

impl SecretStanding {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Missing => "missing",
            Self::Unusable => "unusable",
        }
    }
}

/// A credential and whether its secret is there. Never the secret.
#[derive(Debug, Clone)]
pub struct CredentialLine {
    /// Its rules.
    pub credential: Arc<Credential>,
    /// Whether its secret is there.
    pub standing: SecretStanding,
    /// When it was put into the sealed store.
    pub set_at: Option<Time>,
}

impl CredentialLine {
    /// What an operator is told; `None`: nothing is missing.
    pub fn warning(&self) -> Option<String> {
        warning(&self.credential, self.standing)
    }
}

/// What an operator is told of a credential that stands like this; `None`: nothing is missing.
pub fn warning(credential: &Credential, standing: SecretStanding) -> Option<String> {
    let name = &credential.name;
    let why = match (standing, &credential.secret) {
        (SecretStanding::Usable, _) => return None,
        (SecretStanding::Missing, SecretSource::Env(variable)) => {
            format!("the environment variable {variable} is not set. Set it and start the server again")
        }
        (SecretStanding::Missing, SecretSource::Store) => {
            format!("the sealed store has none. Set it with `countersign credential set {name}`")
        }
        (SecretStanding::Unusable, SecretSource::Env(variable)) => {
            format!(
                "what {variable} holds cannot stand in a header. Set it without line breaks and control characters"
            )
        }
        (SecretStanding::Unusable, SecretSource::Store) => {
            format!(
                "what the sealed store has does not open with these sealing keys. Set it again with `countersign credential set {name}`"
            )
        }
    };
    Some(format!(
        "the credential “{name}” has no usable secret: {why}. Until then requests with it are not sent."
    ))
}

/// Whether the environment has this credential's secret; `None`: its secret is in the sealed store.
pub fn standing_in_environment(credential: &Credential) -> Option<SecretStanding> {
    let SecretSource::Env(variable) = &credential.secret else { return None };
    Some(standing_of(of_environment(variable).as_ref()))
}

/// The names under which a database keeps secrets. It is neither made nor migrated for that.
///
/// # Errors
/// When it cannot be read.
pub async fn kept_in(database_url: &str, base: &Path) -> Result<Vec<String>, StoreError> {
    let Some(store) = Store::open_existing(database_url, base).await? else { return Ok(Vec::new()) };
    let kept = store.kept_secrets().await;
    store.close().await;
    Ok(kept?.into_keys().collect())
}

impl Engine {
    /// Keeps the secret of a credential of the catalogue in the sealed store, in the place of an earlier one. It counts
    /// from the next request on, in every process.
    ///
    /// # Errors
    /// `Invalid` when the catalogue has no such credential, or takes its secret from elsewhere, or no header could
    /// carry the secret.
    pub async fn set_secret(&self, name: &str, secret: &str) -> Result<(), Refusal> {
        let catalogue = self.catalogue();
        let own = self.provider_credential().filter(|own| own.name == name);
        let found = catalogue.credential(name).map(Arc::as_ref).or(own.as_ref());
        let credential = found
            .ok_or_else(|| Refusal::invalid("/name", "The catalogue has no credential of this name."))?;
        if let SecretSource::Env(variable) = &credential.secret {
            let message = format!(
                "The catalogue takes the secret of this credential from the environment variable {variable}, not from the store."
            );
            return Err(Refusal::invalid("/name", message));
        }
        if !fits(secret) {
            let message = "The secret has to be one line of at most 16 KiB, without control characters.";
            return Err(Refusal::invalid("/secret", message));
        }
        let sealed = self.sealer().seal(Purpose::Credential, name, secret.as_bytes());
        Ok(self.store().set_sealed_secret(name, &sealed, self.now()).await?)
    }

    /// The catalogue's credentials, and whether each has its secret.
    pub async fn credential_lines(&self) -> Result<Vec<CredentialLine>, Refusal> {
        self.lines_of(self.catalogue().credentials().cloned().collect()).await
    }

    /// The same, and the desk's own secret at the sign-in provider: everything that whoever runs the desk has to give it.
    pub async fn secret_lines(&self) -> Result<Vec<CredentialLine>, Refusal> {
        let credentials = self.catalogue().credentials().cloned().collect::<Vec<_>>();
        let own = self.provider_credential().map(Arc::new);
        self.lines_of(credentials.into_iter().chain(own).collect()).await
    }

    fn provider_credential(&self) -> Option<Credential> {
        self.catalogue().sign_in.oidc.as_ref()?.credential()
    }

    async fn lines_of(&self, credentials: Vec<Arc<Credential>>) -> Result<Vec<CredentialLine>, Refusal> {
        let kept = self.store().kept_secrets().await?;
        let mut lines = Vec::new();
        for credential in credentials {
            let standing = match standing_in_environment(&credential) {
                Some(standing) => standing,
                None => self.standing_in_store(&credential.name).await?,
            };
            let in_store = credential.secret == SecretSource::Store;
            let set_at = kept.get(&credential.name).copied().filter(|_| in_store);
            lines.push(CredentialLine { credential, standing, set_at });
        }
        Ok(lines)
    }

    /// The secret of a credential. `None` when there is no credential.
    pub(crate) async fn secret_of(&self, credential: Option<&Credential>) -> Result<Option<Secret>, Refusal> {
        let Some(credential) = credential else { return Ok(None) };
        let found = match &credential.secret {
            SecretSource::Env(variable) => of_environment(variable),
            SecretSource::Store => self.stored_secret(&credential.name).await?,
        };
        if found.is_none() {
            tracing::error!(credential = %credential.name, "the credential has no secret");
        }
        found.map(Some).ok_or(Refusal::Unavailable)
    }

    async fn standing_in_store(&self, name: &str) -> Result<SecretStanding, StoreError> {
        let Some(blob) = self.store().sealed_secret(name).await? else { return Ok(SecretStanding::Missing) };
        let opened = self.sealer().open(Purpose::Credential, name, &blob).ok().and_then(Secret::from_bytes);
        let usable = opened.is_some_and(|secret| fits(secret.expose()));
        Ok(if usable { SecretStanding::Usable } else { SecretStanding::Unusable })
    }

    async fn stored_secret(&self, name: &str) -> Result<Option<Secret>, Refusal> {
        let Some(blob) = self.store().sealed_secret(name).await? else { return Ok(None) };
        let plain = self.sealer().open(Purpose::Credential, name, &blob)?;
        Ok(Secret::from_bytes(plain))
    }
}

fn of_environment(variable: &str) -> Option<Secret> {
    std::env::var(variable).ok().map(Secret::new)
}

fn standing_of(secret: Option<&Secret>) -> SecretStanding {
    match secret.map(Secret::expose) {
        None | Some("") => SecretStanding::Missing,
        Some(text) if fits(text) => SecretStanding::Usable,
        Some(_) => SecretStanding::Unusable,
    }
}

/// Whether a header can carry it.
fn fits(secret: &str) -> bool {
    (1..=LONGEST).contains(&secret.len()) && secret.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'))
}
