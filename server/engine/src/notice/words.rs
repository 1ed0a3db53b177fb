//! What a notice says: how many calls wait, since when, and where to look. Nothing that an agent wrote, no title and
//! no target. Plain ASCII, so that it arrives everywhere as it is.

use chrono_tz::Tz;
use model::Time;

use super::Kind;
use crate::store::{MOST_CALLS, Waiting};

/// What a notice says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    /// One line.
    pub(super) title: String,
    /// One sentence more.
    pub(super) since: String,
    /// Where to look: a path of the desk.
    pub(super) path: String,
    /// How many wait; it is not counted beyond a thousand.
    pub(super) count: usize,
    /// Since when the oldest waits.
    pub(super) oldest: Option<Time>,
}

impl Words {
    /// Of what waits now. `who` is “you” or “a person”, and times are those of their zone.
    pub(super) fn of(kind: Kind, waiting: &[Waiting], who: &str, zone: Tz) -> Self {
        if kind == Kind::Test {
            return Self {
                title: "A test notice from Countersign".to_owned(),
                since: "Notices arrive here. Nothing waits because of this one.".to_owned(),
                path: "/inbox".to_owned(),
                count: 0,
                oldest: None,
            };
        }
        if kind == Kind::Overridden {
            return Self::of_overridden(waiting, who, zone);
        }
        let oldest = waiting.iter().map(|one| one.since).min();
        let since = oldest.map(|time| written(time, zone));
        let since = since.unwrap_or_default();
        let (title, since, path) = match waiting {
            [one] => (
                format!("A call waits for {who}"),
                format!("It has waited since {since}."),
                format!("/inbox/{}", one.call),
            ),
            many => (
                format!("{} calls wait for {who}", counted(many.len())),
                format!("The oldest has waited since {since}."),
                "/inbox".to_owned(),
            ),
        };
        Self { title, since, path, count: waiting.len().min(usize::from(MOST_CALLS)), oldest }
    }

    /// Of calls that somebody overrode, in their order.
    fn of_overridden(told: &[Waiting], who: &str, zone: Tz) -> Self {
        let whose = if who == "you" { "you decide" } else { "other people decide" };
        let at = told.last().map(|one| written(one.since, zone)).unwrap_or_default();
        let (title, since) = match told {
            [_] => (format!("An operator overrode a call that {whose}"), format!("That was on {at}.")),
            many => (
                format!("Operators overrode {} calls that {whose}", counted(many.len()).to_lowercase()),
                format!("The latest was on {at}."),
            ),
        };
        let path = told.last().map_or_else(|| "/inbox".to_owned(), |one| format!("/inbox/{}", one.call));
        let count = told.len().min(usize::from(MOST_CALLS));
        Self { title, since, path, count, oldest: told.first().map(|one| one.since) }
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

/// `30 November 2026, 10:30 (Europe/Berlin)`: the zone's name, as its short forms are not plain everywhere.
fn written(time: Time, zone: Tz) -> String {
    let clock = time.to_chrono().with_timezone(&zone).format("%-d %B %Y, %H:%M");
    if zone == Tz::UTC {
        format!("{clock} UTC")
    } else {
        format!("{clock} ({})", zone.name().replace('_', " "))
    }
}

/// “7”, or “More than 1000”.
fn counted(count: usize) -> String {
    if count > usize::from(MOST_CALLS) { format!("More than {MOST_CALLS}") } else { count.to_string() }
}

#[cfg(test)]
mod tests {
    use model::CallId;

    use super::*;
    use crate::ambient::Ambient;

    fn waiting(count: usize) -> Vec<Waiting> {
        let since = Time::parse("2026-11-30T09:30:00Z").expect("a time");
        let call = || CallId::from_uuid(Ambient::system().uuid());
        (0..count).map(|_| Waiting { call: call(), since }).collect()
    }

    #[test]
    fn times_are_those_of_ones_own_zone_and_name_it() {
        let since = |zone| Words::of(Kind::Waiting, &waiting(1), "you", zone).since;
        assert_eq!(since(Tz::UTC), "It has waited since 30 November 2026, 09:30 UTC.");
        assert_eq!(since(Tz::Europe__Berlin), "It has waited since 30 November 2026, 10:30 (Europe/Berlin).");
        assert_eq!(
            since(Tz::America__New_York),
            "It has waited since 30 November 2026, 04:30 (America/New York)."
        );
    }

    #[test]
    fn an_override_says_so_and_where_to_look() {
        let one = waiting(1);
        let words = Words::of(Kind::Overridden, &one, "you", Tz::UTC);
        assert_eq!(words.title, "An operator overrode a call that you decide");
        assert_eq!(
            (words.since, words.path),
            ("That was on 30 November 2026, 09:30 UTC.".to_owned(), format!("/inbox/{}", one[0].call))
        );
        let many = Words::of(Kind::Overridden, &waiting(1_001), "you", Tz::UTC);
        assert_eq!(many.title, "Operators overrode more than 1000 calls that you decide");
    }

    #[test]
    fn more_than_are_counted_are_called_more() {
        let title = |count| Words::of(Kind::Waiting, &waiting(count), "you", Tz::UTC).title;
        assert_eq!(title(1_000), "1000 calls wait for you");
        assert_eq!(title(1_001), "More than 1000 calls wait for you");
    }
}
