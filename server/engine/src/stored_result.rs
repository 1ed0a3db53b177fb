//! What an action answered, as it is kept, sealed, for its caller and for a repeat.

use model::CallId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::seal::{DoesNotOpen, Purpose, Sealer};

/// What an action answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredResult {
    /// The answer, cut to the declared output.
    pub(crate) result: Value,
    /// The answer in words for the model.
    pub(crate) reply: Option<String>,
}

impl StoredResult {
    /// Sealed for the call's row (`Purpose::Result`) or its claim (`Purpose::Answer`).
    pub(crate) fn seal(&self, sealer: &Sealer, purpose: Purpose, call: CallId) -> Vec<u8> {
        sealer.seal(purpose, &call.to_string(), &self.to_json())
    }

    /// Opened from where `seal` put it.
    ///
    /// # Errors
    /// When the sealing key is missing or the blob is not what `seal` made for this place.
    pub(crate) fn open(
        sealer: &Sealer,
        purpose: Purpose,
        call: CallId,
        blob: &[u8],
    ) -> Result<Self, DoesNotOpen> {
        let plain = sealer.open(purpose, &call.to_string(), blob)?;
        serde_json::from_slice(&plain).map_err(|_| DoesNotOpen)
    }

    /// Whether it may be stored for replay: not larger than `limit` bytes and none of the action's credential fields
    /// anywhere in it.
    pub(crate) fn may_be_replayed(&self, limit: usize, credential_fields: &[String]) -> bool {
        self.to_json().len() <= limit && !holds_any(&self.result, credential_fields)
    }

    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_else(|_| unreachable!("plain data always serializes"))
    }
}

fn holds_any(value: &Value, fields: &[String]) -> bool {
    match value {
        Value::Object(map) => {
            map.iter().any(|(name, value)| fields.contains(name) || holds_any(value, fields))
        }
        Value::Array(items) => items.iter().any(|item| holds_any(item, fields)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn large_answers_and_credentials_are_not_kept_for_replay() {
        let stored = StoredResult { result: json!({"a": [{"token": "x"}]}), reply: None };
        assert!(stored.may_be_replayed(1_000, &[]));
        assert!(!stored.may_be_replayed(10, &[]));
        assert!(!stored.may_be_replayed(1_000, &["token".to_owned()]));
    }
}
