//! Somebody with an account.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::words::words;
use crate::{PersonId, Time};

words! {
    /// What a person may do beyond their own agents and calls. Roles accumulate.
    Role {
        /// Own agents, own calls.
        Member = "member",
        /// Also decides where an action names `role:approver`.
        Approver = "approver",
        /// Also sees every receipt and event, settles and pauses.
        Operator = "operator",
        /// Also manages people, agents and credentials; no approval by that role.
        Admin = "admin",
    }
}

impl Role {
    /// These roles and `member`, in the order of `ALL`.
    pub fn with_member(roles: &[Self]) -> Vec<Self> {
        Self::ALL.iter().copied().filter(|role| *role == Self::Member || roles.contains(role)).collect()
    }
}

/// An account, without anything secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Person {
    /// The person's id.
    pub id: PersonId,
    /// Lower-case address, unique.
    pub email: String,
    /// The name as people see it.
    pub name: String,
    /// At least `member`, in the order of `Role::ALL`.
    pub roles: Vec<Role>,
    /// When the account was made.
    pub created_at: Time,
    /// Set when the account can no longer be used.
    pub disabled_at: Option<Time>,
    /// The IANA name of the zone in which pages show times; `None`: UTC.
    pub time_zone: Option<String>,
    /// When the person last signed in on the pages.
    pub signed_in_at: Option<Time>,
}

impl Person {
    /// Whether this person sees everybody's receipts and events.
    pub fn is_operator(&self) -> bool {
        self.roles.contains(&Role::Operator)
    }
}
