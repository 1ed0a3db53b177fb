//! What happened to people's accounts, as they themselves and those who run the desk see it.

use std::str::FromStr;

use model::{PersonId, Refusal, Time};

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::registry::oversees;

/// How many are told to the person, and to who runs the desk.
const MOST_OWN: i64 = 10;
const MOST_OF_ALL: i64 = 50;

/// What can happen to an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountEventType {
    /// They call themselves something else. About: what they were called.
    NameChanged,
    /// A passkey was added.
    PasskeyAdded,
    /// A passkey is called something else.
    PasskeyRenamed,
    /// A passkey was removed.
    PasskeyRemoved,
    /// A passkey was not taken: the count of its signatures went back.
    PasskeyWentBack,
}

impl AccountEventType {
    const ALL: [Self; 5] = [
        Self::NameChanged,
        Self::PasskeyAdded,
        Self::PasskeyRenamed,
        Self::PasskeyRemoved,
        Self::PasskeyWentBack,
    ];

    /// The word as it stands in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NameChanged => "name.changed",
            Self::PasskeyAdded => "passkey.added",
            Self::PasskeyRenamed => "passkey.renamed",
            Self::PasskeyRemoved => "passkey.removed",
            Self::PasskeyWentBack => "passkey.went_back",
        }
    }
}

impl FromStr for AccountEventType {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|one| one.as_str() == word).ok_or(())
    }
}

/// One thing that happened to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountEvent {
    /// When.
    pub at: Time,
    /// Whose account.
    pub person: PersonId,
    /// Their name.
    pub name: String,
    /// What.
    pub r#type: AccountEventType,
    /// What it was about: a passkey's name, or an earlier one of the person's.
    pub about: Option<String>,
}

impl Engine {
    /// The newest of what happened to the person's own account.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn own_account_events(&self, me: &PersonActor) -> Result<Vec<AccountEvent>, Refusal> {
        me.in_person()?;
        Ok(self.store().account_events(Some(me.id()), MOST_OWN).await?)
    }

    /// The newest of what happened to all accounts, for operators and admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else.
    pub async fn account_events(&self, me: &PersonActor) -> Result<Vec<AccountEvent>, Refusal> {
        oversees(me)?;
        Ok(self.store().account_events(None, MOST_OF_ALL).await?)
    }
}
