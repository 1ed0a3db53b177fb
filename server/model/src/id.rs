//! Ids: TypeIDs, a prefix and a UUIDv7 in base32 (<https://github.com/jetify-com/typeid>).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use type_safe_id::{StaticType, TypeSafeId};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

/// The text is no id of the wanted kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an id of this kind")
    }
}

impl std::error::Error for NotAnId {}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $tag:ident, $prefix:literal) => {
        #[doc(hidden)]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $tag;

        impl StaticType for $tag {
            const TYPE: &'static str = $prefix;
        }

        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(TypeSafeId<$tag>);

        impl $name {
            /// An id from the 128 bits of a UUIDv7; the caller brings time and randomness.
            pub fn from_uuid(uuid: Uuid) -> Self {
                Self(TypeSafeId::from_uuid(uuid))
            }

            /// The 128 bits that it is made of.
            pub fn uuid(&self) -> Uuid {
                self.0.uuid()
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .pattern(Some(concat!("^", $prefix, "_[0-7][0-9a-hjkmnp-tv-z]{25}$")))
                    .into()
            }
        }

        impl ToSchema for $name {}

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
                text.parse().map(Self).map_err(|_| NotAnId)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotAnId;

            fn try_from(text: String) -> Result<Self, NotAnId> {
                text.parse()
            }
        }
    };
}

id!(/// Somebody with an account.
    PersonId, PersonTag, "per");
id!(/// A program that acts for one person.
    AgentId, AgentTag, "agt");
id!(/// An agent's key or a person's token.
    KeyId, KeyTag, "key");
id!(/// A group of people and actions.
    TenantId, TenantTag, "ten");
id!(/// One request on its way through the pipeline.
    CallId, CallTag, "call");
id!(/// What a person said to a held call.
    ApprovalId, ApprovalTag, "apr");
id!(/// What was done.
    ReceiptId, ReceiptTag, "rct");
id!(/// A journal line.
    EventId, EventTag, "evt");
id!(/// A pause of one agent, or of everything.
    PauseId, PauseTag, "pau");
id!(/// Something that is owed to somebody who is to be told.
    NoticeId, NoticeTag, "ntc");
id!(/// A browser that is told by web push.
    BrowserId, BrowserTag, "brw");
id!(/// A browser that somebody is signed in with.
    BrowserSessionId, BrowserSessionTag, "ses");
id!(/// A passkey of somebody's.
    PasskeyId, PasskeyTag, "pky");
id!(/// That somebody stands in for somebody else for a while.
    DelegationId, DelegationTag, "dlg");
id!(/// An account that is offered to somebody by a link.
    InvitationId, InvitationTag, "inv");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_keeps_its_kind() {
        let id = CallId::from_uuid(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));
        let text = id.to_string();
        assert!(text.starts_with("call_"), "{text}");
        assert_eq!(text.parse::<CallId>(), Ok(id));
        assert_eq!(text.parse::<PersonId>(), Err(NotAnId));
        assert_eq!("call_".parse::<CallId>(), Err(NotAnId));
        assert_eq!("".parse::<CallId>(), Err(NotAnId));
    }

    #[test]
    fn ids_sort_by_time() {
        let early = CallId::from_uuid(Uuid::from_u128(1 << 80));
        let late = CallId::from_uuid(Uuid::from_u128(2 << 80));
        assert!(early.to_string() < late.to_string());
    }
}
