//! What checkpoints are signed with: an Ed25519 key, made on the first start and kept sealed, and the name of the log.
//!
//! It is never replaced: with another key, nobody who kept a checkpoint could tell whether the log went on.

use ledger::note::{self, Signer};
use url::Url;
use zeroize::Zeroizing;

use super::Unsigned;
use crate::engine::Engine;
use crate::seal::Purpose;
use crate::store::LedgerKeyRow;

/// What the secret is sealed for.
const PLACE: &str = "checkpoint";

impl Engine {
    /// What checkpoints are checked with, as text: `NAME+ID+KEY`. The key is made when there is none.
    ///
    /// # Errors
    /// When the database does not answer, or no sealing key opens it.
    pub async fn ledger_key(&self) -> Result<String, Unsigned> {
        Ok(self.ledger_signer().await?.verifier().to_string())
    }

    /// The key, made when there is none. All nodes have the one that was kept first.
    pub(crate) async fn ledger_signer(&self) -> Result<Signer, Unsigned> {
        if let Some(signer) = self.kept_ledger_signer().await? {
            return Ok(signer);
        }
        let secret = Zeroizing::new(self.ambient().bytes::<32>());
        let origin = origin(&self.catalogue().server.public_url);
        let secret = self.sealer().seal(Purpose::LedgerKey, PLACE, secret.as_slice());
        self.store().keep_ledger_key(&LedgerKeyRow { origin, secret }, self.now()).await?;
        let kept = self.kept_ledger_signer().await?;
        kept.ok_or_else(|| Unsigned::Key("the key of the ledger is not there".to_owned()))
    }

    /// The key, if one was made.
    pub(crate) async fn kept_ledger_signer(&self) -> Result<Option<Signer>, Unsigned> {
        let Some(row) = self.store().ledger_key().await? else { return Ok(None) };
        let unusable = || {
            Unsigned::Key(
                "the key of the ledger opens with none of the sealing keys that are here".to_owned(),
            )
        };
        let secret = self.sealer().open(Purpose::LedgerKey, PLACE, &row.secret).map_err(|_| unusable())?;
        let secret: Zeroizing<[u8; 32]> =
            Zeroizing::new(Zeroizing::new(secret).as_slice().try_into().map_err(|_| unusable())?);
        Signer::new(&row.origin, &secret).map(Some).ok_or_else(unusable)
    }
}

/// The name of a log that is reached there: its address without the scheme. It stays when the address is changed.
fn origin(public_url: &Url) -> String {
    let host = public_url.host_str().unwrap_or("countersign");
    let port = public_url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = public_url.path().trim_end_matches('/');
    let whole = format!("{host}{port}{path}");
    if note::is_name(&whole) { whole } else { format!("{host}{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_named_by_its_address() {
        for (url, name) in [
            ("https://desk.example", "desk.example"),
            ("https://desk.example:8443/desk/", "desk.example:8443/desk"),
            ("http://127.0.0.1:8087", "127.0.0.1:8087"),
            ("http://[::1]:8087/", "[::1]:8087"),
            ("https://desk.example/a+b", "desk.example"),
        ] {
            assert_eq!(origin(&Url::parse(url).expect("an address")), name);
        }
    }
}
