//! What an upstream answered to a request that was passed on as its caller wrote it (fetch and via).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ReceiptId;

/// What an upstream answered, less what must not come back: cookies, and anything that holds the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UpstreamAnswer {
    /// The upstream's status.
    pub status: u16,
    /// The headers by their lower-case names; one that came several times is a list.
    pub headers: BTreeMap<String, HeaderValues>,
    /// The body, when it is UTF-8 text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The body, when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
    /// Why there is no body, when it could not be taken in. What was asked has been answered all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostBody>,
}

/// The values of one header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum HeaderValues {
    /// It came once.
    One(String),
    /// It came several times, in this order.
    Many(Vec<String>),
}

/// Why a body could not be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LostBody {
    /// It is larger than this many bytes.
    LargerThan(usize),
    /// It broke off.
    BrokeOff,
    /// It went to its caller as it arrived, and was not kept.
    Streamed,
}

/// The answer that is passed on, and the receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Passed {
    /// What the upstream answered.
    #[serde(flatten)]
    pub upstream: UpstreamAnswer,
    /// The receipt; `null` for a read that needed no approval, and where the upstream failed.
    pub receipt_id: Option<ReceiptId>,
}

impl HeaderValues {
    /// Every value, in order.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }

    /// Adds one more.
    pub fn push(&mut self, value: String) {
        match self {
            Self::One(first) => *self = Self::Many(vec![std::mem::take(first), value]),
            Self::Many(values) => values.push(value),
        }
    }
}
