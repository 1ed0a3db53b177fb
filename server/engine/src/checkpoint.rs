//! Checkpoints: the head of the ledger, signed, so that whoever keeps one can tell later whether anything before it is
//! another than it was.

mod file;
mod key;

use ledger::{Checkpoint, Frontier, Hash};
use model::{Refusal, Time};

use crate::engine::Engine;
use crate::store::{CheckpointRow, StoreError};

/// How many hashes are read at once.
const AT_ONCE: u64 = 4_096;

/// A head that is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The signed note (c2sp.org/tlog-checkpoint).
    pub note: String,
    /// How many leaves it covers.
    pub size: u64,
    /// When it was signed.
    pub at: Time,
}

/// Why no checkpoint was signed.
#[derive(Debug, thiserror::Error)]
pub enum Unsigned {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key cannot be used.
    #[error("{0}")]
    Key(String),
    /// What is there is not what was signed before.
    #[error("the ledger is not the one that was signed: {0}")]
    Forked(String),
    /// The file that it is written to holds something else, or cannot be read.
    #[error("the file of the published checkpoint cannot be used: {0}")]
    Published(String),
    /// It is signed, and not in its file.
    #[error("the checkpoint is signed, and cannot be written to {0}")]
    File(String),
}

/// How the ledger stands.
#[derive(Debug, Clone)]
pub struct Standing {
    /// What its checkpoints are checked with; `None`: there is no key yet.
    pub key: Option<String>,
    /// The newest checkpoint; `None`: there is none yet.
    pub newest: Option<Signed>,
    /// How many records have no leaf yet.
    pub waiting: u64,
}

impl Engine {
    /// Gives what waits its leaves, signs the head when it is another than before, and writes it to the file of
    /// `[ledger]`. With `whole` the tree is built again of all leaves first, and has to be the one that was signed.
    ///
    /// Nothing is ever signed that is not a continuation of what was signed before.
    ///
    /// # Errors
    /// Nothing is signed then, unless the error says so.
    pub async fn checkpoint(&self, whole: bool) -> Result<Signed, Unsigned> {
        let file = self.checkpoint_file();
        // Before the leaves: another node that writes the same file can only be behind them.
        let published = match &file {
            Some(path) => file::read(path, &self.ledger_signer().await?.verifier())?,
            None => None,
        };
        while self.sequence().await? {}
        let signed = self.sign(published.as_ref(), whole).await?;
        if let Some(path) = &file {
            // Another node may have written a later one meanwhile.
            let published = file::read(path, &self.ledger_signer().await?.verifier())?;
            if published.is_none_or(|published| published.size < signed.size) {
                file::write(path, &signed.note)?;
            }
        }
        Ok(signed)
    }

    /// The newest checkpoint; `None`: there is none yet.
    ///
    /// # Errors
    /// `Unavailable` when the database does not answer.
    pub async fn newest_checkpoint(&self) -> Result<Option<Signed>, Refusal> {
        Ok(self.store().last_checkpoint().await?.map(signed))
    }

    /// How the ledger stands. Nothing is changed.
    ///
    /// # Errors
    /// When the database does not answer, or the key cannot be opened.
    pub async fn ledger_standing(&self) -> Result<Standing, Unsigned> {
        let key = self.kept_ledger_signer().await?.map(|signer| signer.verifier());
        let newest = self.store().last_checkpoint().await?;
        if let (Some(key), Some(row)) = (&key, &newest) {
            head_of(row, key)?;
        }
        let waiting = self.store().count_unsequenced().await?;
        Ok(Standing { key: key.map(|key| key.to_string()), newest: newest.map(signed), waiting })
    }

    async fn sign(&self, published: Option<&Checkpoint>, whole: bool) -> Result<Signed, Unsigned> {
        let signer = self.ledger_signer().await?;
        let last = self.store().last_checkpoint().await?;
        let mut tree = match &last {
            Some(row) => head_of(row, &signer.verifier())?,
            None => Frontier::new(),
        };
        if whole && self.built(tree.size()).await?.root() != tree.root() {
            return Err(Unsigned::Forked(format!(
                "the first {} leaves are not those that its checkpoint covers",
                tree.size()
            )));
        }
        let size = self.store().ledger_size().await?;
        self.grow(&mut tree, size).await?;
        if let Some(published) = published {
            self.goes_on(published, &tree).await?;
        }
        if let Some(row) = last.filter(|row| row.size == size) {
            return Ok(signed(row));
        }
        let checkpoint = Checkpoint { origin: signer.verifier().name().to_owned(), size, root: tree.root() };
        let peaks = tree.peaks().iter().flat_map(|hash| hash.0).collect();
        self.keep(CheckpointRow { size, note: checkpoint.sign(&signer), peaks, signed_at: self.now() }).await
    }

    /// Keeps a head, unless another node has kept one of as many leaves: of the same leaves it is the same.
    async fn keep(&self, row: CheckpointRow) -> Result<Signed, Unsigned> {
        let mut tx = self.store().begin().await?;
        if tx.checkpoint_size().await?.is_some_and(|size| size >= row.size) {
            return Ok(signed(row));
        }
        let kept = match tx.insert_checkpoint(&row).await {
            Ok(()) => tx.commit().await,
            Err(error) => Err(error),
        };
        match kept {
            Err(error) if !error.is_taken() => Err(error.into()),
            _ => Ok(signed(row)),
        }
    }

    /// The tree has to have begun as the one whose head was published.
    async fn goes_on(&self, published: &Checkpoint, tree: &Frontier) -> Result<(), Unsigned> {
        let root = match published.size {
            size if size > tree.size() => {
                return Err(Unsigned::Forked(format!(
                    "a checkpoint of {size} leaves was published, and there are {}. Was the database brought back from an older backup?",
                    tree.size()
                )));
            }
            size if size == tree.size() => tree.root(),
            size => match self.store().checkpoint_before(size + 1).await?.filter(|row| row.size == size) {
                Some(row) => head_of(&row, &self.ledger_signer().await?.verifier())?.root(),
                None => self.built(size).await?.root(),
            },
        };
        if root == published.root {
            return Ok(());
        }
        let size = published.size;
        Err(Unsigned::Forked(format!(
            "its first {size} leaves are not those of the checkpoint that was published"
        )))
    }

    /// The tree of the first leaves, built anew.
    async fn built(&self, size: u64) -> Result<Frontier, Unsigned> {
        let mut tree = Frontier::new();
        self.grow(&mut tree, size).await?;
        Ok(tree)
    }

    /// Puts the leaves of the ledger behind those that a tree has, up to this size.
    async fn grow(&self, tree: &mut Frontier, size: u64) -> Result<(), Unsigned> {
        if tree.size() > size {
            let shrunk = format!("{} leaves were signed, and there are {size}", tree.size());
            return Err(Unsigned::Forked(shrunk));
        }
        while tree.size() < size {
            let until = size.min(tree.size() + AT_ONCE);
            for (index, hash) in self.store().leaf_hashes(tree.size(), until).await? {
                if index != tree.size() {
                    return Err(Unsigned::Forked(format!("leaf {} is gone", tree.size())));
                }
                tree.push(Hash(hash));
            }
            if tree.size() != until {
                return Err(Unsigned::Forked(format!("leaf {} is gone", tree.size())));
            }
        }
        Ok(())
    }
}

fn signed(row: CheckpointRow) -> Signed {
    Signed { note: row.note, size: row.size, at: row.signed_at }
}

/// The tree of a head that was kept, once it was found to be the one that was signed.
fn head_of(row: &CheckpointRow, key: &ledger::note::VerifierKey) -> Result<Frontier, Unsigned> {
    let faulty = |what: &str| Unsigned::Forked(format!("the checkpoint of {} leaves {what}", row.size));
    let checkpoint = Checkpoint::open(&row.note, key).map_err(|_| faulty("is not signed by its key"))?;
    let peaks = row.peaks.chunks_exact(32).filter_map(|peak| peak.try_into().ok()).map(Hash).collect();
    Frontier::of(row.size, peaks)
        .filter(|tree| checkpoint.size == row.size && checkpoint.root == tree.root())
        .ok_or_else(|| faulty("is another than the one that was signed"))
}
