//! How much is open right now, counted in the database: the same from every node.

use model::Time;
use sqlx::Row;

use super::{Readers, Store, StoreError};

/// How much is open right now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Held calls, by the youngest age they have at least, in the order that was asked for. Nobody is counted twice.
    pub held: Vec<u64>,
    /// Confirmed, and in the undo window.
    pub approved: u64,
    /// Waiting for a worker.
    pub queued: u64,
    /// On their way.
    pub sending: u64,
    /// Reads that a worker runs.
    pub running: u64,
    /// Sent, and nobody knows whether it happened.
    pub in_doubt: u64,
}

/// The connections of the pool; SQLite's are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Connections {
    /// In use.
    pub busy: u64,
    /// Open, and in nobody's use.
    pub idle: u64,
}

/// One statement a state, each answered from the index of that state alone.
const OPEN: &str = "SELECT 'approved' AS state, COUNT(*) AS calls FROM calls WHERE state = 'approved' \
    UNION ALL SELECT 'queued', COUNT(*) FROM calls WHERE state = 'queued' \
    UNION ALL SELECT 'sending', COUNT(*) FROM calls WHERE state = 'sending' \
    UNION ALL SELECT 'running', COUNT(*) FROM calls WHERE state = 'running' \
    UNION ALL SELECT 'in_doubt', COUNT(*) FROM calls WHERE state = 'in_doubt'";

impl Store {
    /// Counts what is open. `ages` are the moments that part the held calls, newest first; what was held before the last
    /// of them is the last number, so there is one number more than there are moments.
    pub(crate) async fn load(&self, ages: &[Time]) -> Result<Load, StoreError> {
        let mut load = Load { held: self.held_since(ages).await?, ..Load::default() };
        for row in sqlx::query(OPEN).fetch_all(&self.read).await? {
            let calls = row.try_get::<i64, _>("calls")?.unsigned_abs();
            match row.try_get::<&str, _>("state")? {
                "approved" => load.approved = calls,
                "queued" => load.queued = calls,
                "sending" => load.sending = calls,
                "running" => load.running = calls,
                _ => load.in_doubt = calls,
            }
        }
        Ok(load)
    }

    async fn held_since(&self, ages: &[Time]) -> Result<Vec<u64>, StoreError> {
        let mut held = Vec::with_capacity(ages.len() + 1);
        let mut younger = 0;
        for since in ages.iter().map(|age| age.micros()).chain([i64::MIN]) {
            let count: i64 =
                sqlx::query_scalar("SELECT COUNT(*) FROM calls WHERE state = 'held' AND created_at >= $1")
                    .bind(since)
                    .fetch_one(&self.read)
                    .await?;
            let count = count.unsigned_abs();
            held.push(count.saturating_sub(younger));
            younger = count;
        }
        Ok(held)
    }

    /// The connections that are open, where a pool has them.
    pub(crate) fn connections(&self) -> Option<Connections> {
        let Readers::Pool(pool) = &self.read else { return None };
        let idle = u64::try_from(pool.num_idle()).unwrap_or(u64::MAX);
        Some(Connections { busy: u64::from(pool.size()).saturating_sub(idle), idle })
    }
}
