//! Everything in the database is sealed again with the first key, in bounded steps, while servers run.

use model::Refusal;
use zeroize::Zeroizing;

use crate::engine::Engine;
use crate::seal::KeyName;
use crate::store::{SealedColumn, SealedValue};

/// How many values one step takes on, in one transaction.
const STEP: i64 = 50;

/// What was sealed again, and what could not be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resealed {
    /// Values that the first key seals now.
    pub done: u64,
    /// Values that open with none of the keys: they are left as they are.
    pub unreadable: u64,
}

/// A key and how many values of the database it seals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    /// The key's name, which tells nothing about it.
    pub name: KeyName,
    /// Whether this process has the key.
    pub known: bool,
    /// How many values it seals.
    pub seals: u64,
}

/// A walk over everything that is sealed. Dropped half-way it is taken up again by the next one: what has been sealed
/// again is passed over.
pub struct Resealing {
    engine: Engine,
    column: usize,
    last: Option<SealedValue>,
}

impl Engine {
    /// Every key that this process has, the one that seals first, and then those that are missing here and still seal
    /// something.
    pub async fn key_uses(&self) -> Result<Vec<KeyUse>, Refusal> {
        let mut counts = self.store().count_sealed().await?;
        let names = self.sealer().names();
        let mut uses: Vec<_> = names
            .into_iter()
            .map(|name| KeyUse { name, known: true, seals: counts.remove(&mark(name)).unwrap_or(0) })
            .collect();
        let missing = counts.into_iter().map(|(mark, seals)| {
            let name = mark.get(1..).and_then(|name| name.try_into().ok()).unwrap_or_default();
            KeyUse { name, known: false, seals }
        });
        uses.extend(missing);
        Ok(uses)
    }

    /// Begins, or goes on, to seal everything with the first key.
    pub fn reseal(&self) -> Resealing {
        Resealing { engine: self.clone(), column: 0, last: None }
    }

    /// Reads the sealing keys again from where they came from. `true`: they are others now.
    pub fn refresh_keys(&self) -> bool {
        self.sealer().refresh()
    }
}

impl Resealing {
    /// The next values, in one transaction; `None`: there are no more.
    pub async fn step(&mut self) -> Result<Option<Resealed>, Refusal> {
        while let Some(column) = SealedColumn::ALL.get(self.column).copied() {
            let (store, mark) = (self.engine.store(), self.engine.sealer().mark());
            let after = self.last.as_ref().map(|value| &value.key);
            let values = store.sealed_otherwise(column, after, &mark, STEP).await?;
            if let Some(last) = values.last() {
                let resealed = self.seal_again(column, &values).await?;
                self.last = Some(last.clone());
                return Ok(Some(resealed));
            }
            (self.column, self.last) = (self.column + 1, None);
        }
        Ok(None)
    }

    /// All of it, to the end.
    pub async fn finish(mut self) -> Result<Resealed, Refusal> {
        let mut all = Resealed::default();
        while let Some(some) = self.step().await? {
            all.done += some.done;
            all.unreadable += some.unreadable;
        }
        Ok(all)
    }

    async fn seal_again(&self, column: SealedColumn, values: &[SealedValue]) -> Result<Resealed, Refusal> {
        let sealer = self.engine.sealer();
        let mut resealed = Resealed::default();
        let mut tx = self.engine.store().begin().await?;
        for value in values {
            let Ok(plain) = sealer.open(column.purpose, &value.place, &value.blob).map(Zeroizing::new) else {
                resealed.unreadable += 1;
                continue;
            };
            let fresh = sealer.seal(column.purpose, &value.place, &plain);
            resealed.done += u64::from(tx.replace_sealed(column, value, fresh).await?);
        }
        tx.commit().await?;
        Ok(resealed)
    }
}

fn mark(name: KeyName) -> Vec<u8> {
    crate::seal::put_together(name, &[])
}
