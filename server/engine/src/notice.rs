//! Being told: people who may decide a held call are told outside the page, never with the payload.
//!
//! `plan` puts what is owed into the outbox, `outbox` takes it from there and sends it, each on any node. A notice is
//! sent at least once: a process that dies between the sending and its mark leaves a notice that is sent again, under
//! the same id. Its words are made when it is sent, of what waits then: how many, since when, and where to look.

mod choices;
mod mail;
mod outbox;
mod plan;
mod push;
mod standing;
mod webhook;
mod words;

pub use choices::{Choices, Quiet};
pub(crate) use outbox::Outbox;
pub use push::NewBrowser;
pub use standing::{BrowserLine, NoticeLine, NoticeSheet, warnings};

use std::str::FromStr;

/// A way on which somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Mail.
    Mail,
    /// Web push, to one browser.
    Push,
    /// A webhook of the catalogue.
    Webhook,
}

impl Channel {
    /// Every way.
    pub(crate) const ALL: [Self; 3] = [Self::Mail, Self::Push, Self::Webhook];
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Calls wait.
    Waiting,
    /// Calls that they decide were overridden.
    Overridden,
    /// Somebody wants to see whether notices arrive.
    Test,
}

/// How a notice ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was handed over.
    Sent,
    /// Nothing waited any more.
    Moot,
    /// It could not be handed over.
    GivenUp,
}

/// No word of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAWord;

macro_rules! stored_as {
    ($name:ident { $($variant:ident = $word:literal),+ }) => {
        impl $name {
            /// As it stands in the database.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl FromStr for $name {
            type Err = NotAWord;

            fn from_str(text: &str) -> Result<Self, NotAWord> {
                match text { $($word => Ok(Self::$variant),)+ _ => Err(NotAWord) }
            }
        }
    };
}

stored_as!(Channel { Mail = "mail", Push = "push", Webhook = "webhook" });
stored_as!(Kind { Waiting = "waiting", Overridden = "overridden", Test = "test" });
stored_as!(Outcome { Sent = "sent", Moot = "moot", GivenUp = "given_up" });

/// How handing a notice over ended, when it did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotDelivered {
    /// It is tried again later. Why, in words without anybody's values.
    Later(String),
    /// It never can be.
    Never(String),
}

/// The name of a webhook as an addressee.
pub(crate) const WEBHOOK: &str = "webhook:";
