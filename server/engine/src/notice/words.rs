//! What a notice says: how many calls wait, since when, and where to look. Nothing that an agent wrote, no title and
//! no target. Plain ASCII, so that it arrives everywhere as it is.

use model::Time;

use super::Kind;
use crate::store::Waiting;

/// What a notice says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    /// One line.
    pub(super) title: String,
    /// One sentence more.
    pub(super) since: String,
    /// Where to look: a path of the desk.
    pub(super) path: String,
    /// How many wait.
    pub(super) count: usize,
    /// Since when the oldest waits.
    pub(super) oldest: Option<Time>,
}

impl Words {
    /// Of what waits now. `who` is “you” or “a person”.
    pub(super) fn of(kind: Kind, waiting: &[Waiting], who: &str) -> Self {
        if kind == Kind::Test {
            return Self {
                title: "A test notice from Countersign".to_owned(),
                since: "Notices arrive here. Nothing waits because of this one.".to_owned(),
                path: "/inbox".to_owned(),
                count: 0,
                oldest: None,
            };
        }
        let oldest = waiting.iter().map(|one| one.since).min();
        let since = oldest.map(|time| time.to_chrono().format("%-d %B %Y, %H:%M UTC").to_string());
        let since = since.unwrap_or_default();
        let (title, since, path) = match waiting {
            [one] => (
                format!("A call waits for {who}"),
                format!("It has waited since {since}."),
                format!("/inbox/{}", one.call),
            ),
            many => (
                format!("{} calls wait for {who}", many.len()),
                format!("The oldest has waited since {since}."),
                "/inbox".to_owned(),
            ),
        };
        Self { title, since, path, count: waiting.len(), oldest }
    }

    /// The text of a mail.
    pub(super) fn mail(&self, desk: &str) -> String {
        format!(
            "{}. {}\r\n\r\nLook at it here:\r\n{desk}{}\r\n\r\n\
             The page asks you to sign in. Opening it decides nothing.\r\n\r\n\
             How and when you are told:\r\n{desk}/account/notices\r\n",
            self.title, self.since, self.path
        )
    }

    /// One line for a chat.
    pub(super) fn line(&self, desk: &str) -> String {
        format!("{}. {} {desk}{}", self.title, self.since, self.path)
    }
}
