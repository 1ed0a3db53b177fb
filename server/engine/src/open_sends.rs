//! The sends of this process that have not come to their end: their connections are open, and their answers may come.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use model::CallId;

/// Which calls this process is sending. A call stays in it until how its send ended is recorded, or until it is known
/// that no answer will come.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenSends(Arc<Mutex<HashSet<CallId>>>);

/// One of them; it is open until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenSend {
    sends: OpenSends,
    id: CallId,
}

impl OpenSends {
    /// A send begins.
    pub(crate) fn begin(&self, id: CallId) -> OpenSend {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        OpenSend { sends: self.clone(), id }
    }

    /// Whether this process still waits for what comes of the call.
    pub(crate) fn has(&self, id: CallId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }
}

impl Drop for OpenSend {
    fn drop(&mut self) {
        self.sends.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_is_open_until_it_ends() {
        let sends = OpenSends::default();
        let (one, other) =
            (CallId::from_uuid(uuid::Uuid::from_u128(1)), CallId::from_uuid(uuid::Uuid::from_u128(2)));
        let open = sends.begin(one);
        assert!(sends.has(one) && !sends.has(other));
        drop(open);
        assert!(!sends.has(one));
    }
}
