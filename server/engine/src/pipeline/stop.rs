//! Why a call goes no further.

use model::{Answer, Refusal};

use crate::store::StoreError;

/// Why a call goes no further.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A step said no. The journal is still to be told.
    Refused(Refusal),
    /// A step answered: a preview, a prompt, "held", a replay. The journal has been told.
    Answered(Box<Answer>),
    /// It was run and did not end as done. The journal has been told.
    Ended(Refusal),
}

impl Stop {
    /// A step answered.
    pub(super) fn answered(answer: Answer) -> Self {
        Self::Answered(Box::new(answer))
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<StoreError> for Refusal {
    /// The caller learns that nothing was done; the log learns why.
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "storage failed");
        Self::Unavailable
    }
}

impl From<crate::seal::DoesNotOpen> for Refusal {
    fn from(error: crate::seal::DoesNotOpen) -> Self {
        tracing::error!(%error, "a stored value cannot be read");
        Self::Unavailable
    }
}

impl From<crate::seal::DoesNotOpen> for Stop {
    fn from(error: crate::seal::DoesNotOpen) -> Self {
        Self::Refused(error.into())
    }
}
