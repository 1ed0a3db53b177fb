//! Time and randomness, brought in as parameters so that a test can choose them.

use std::sync::{Arc, Mutex, PoisonError};

use model::Time;
use uuid::Uuid;

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Time;
}

/// Makes random bytes fit for keys and tokens.
pub trait Entropy: Send + Sync + 'static {
    /// Fills the whole buffer.
    fn fill(&self, buffer: &mut [u8]);
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine for the time")]
    fn now(&self) -> Time {
        chrono::Utc::now().into()
    }
}

/// The machine's randomness.
#[derive(Debug, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// # Panics
    /// When the machine has no randomness: nothing safe can be done without it.
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine for randomness")]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system gives randomness");
    }
}

/// Where the engine takes time, randomness and ids from.
#[derive(Clone)]
pub struct Ambient {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    last: Arc<Mutex<u128>>,
}

impl Ambient {
    /// Of the machine.
    pub fn system() -> Self {
        Self::new(SystemClock, SystemEntropy)
    }

    /// Of the given clock and randomness.
    pub fn new(clock: impl Clock, entropy: impl Entropy) -> Self {
        Self { clock: Arc::new(clock), entropy: Arc::new(entropy), last: Arc::default() }
    }

    /// Now.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// A fresh UUIDv7 (RFC 9562) to make an id from: `CallId::from_uuid(ambient.uuid())`. Greater than every one before
    /// it in this process (section 6.2 of the RFC), so that ids made within one millisecond keep their order.
    pub fn uuid(&self) -> Uuid {
        let millis = u64::try_from(self.now().micros() / 1_000).unwrap_or(0);
        let fresh =
            uuid::Builder::from_unix_timestamp_millis(millis, &self.bytes::<10>()).into_uuid().as_u128();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = fresh.max(last.wrapping_add(1));
        Uuid::from_u128(*last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_keep_their_order() {
        let ambient = Ambient::system();
        let ids: Vec<_> = (0..10_000).map(|_| ambient.uuid()).collect();
        assert!(ids.windows(2).all(|two| two[0] < two[1]));
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
    }
}
