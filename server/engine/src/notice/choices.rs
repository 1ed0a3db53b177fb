//! How somebody wants to be told.

use chrono::{TimeDelta, Timelike as _};
use chrono_tz::Tz;
use model::Time;

/// How somebody wants to be told. Browsers are chosen one by one, by being there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choices {
    /// By mail, when the desk can send any.
    pub mail: bool,
    /// When they are not to be told.
    pub quiet: Option<Quiet>,
}

impl Default for Choices {
    fn default() -> Self {
        Self { mail: true, quiet: None }
    }
}

/// A stretch of the day in one's own zone, in minutes from midnight; it may go over midnight. Both ends alike are no stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// The first minute.
    pub from: u16,
    /// The first minute after it.
    pub to: u16,
}

const DAY: u16 = 24 * 60;

impl Quiet {
    /// From what a form gives: `22:00` and `07:30`.
    pub fn parse(from: &str, to: &str) -> Option<Self> {
        let (from, to) = (minute(from)?, minute(to)?);
        (from != to).then_some(Self { from, to })
    }

    /// `22:00` and `07:30`.
    pub fn written(self) -> (String, String) {
        let text = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        (text(self.from), text(self.to))
    }

    /// When this quiet ends, if it holds now where the clock on the wall is that of this zone.
    pub(super) fn until(self, now: Time, zone: Tz) -> Option<Time> {
        let clock = now.to_chrono().with_timezone(&zone).naive_local();
        let minute = u16::try_from(clock.hour() * 60 + clock.minute()).unwrap_or(0);
        let since = (minute + DAY - self.from) % DAY;
        let length = (self.to + DAY - self.from) % DAY;
        let left = length.checked_sub(since).filter(|left| *left > 0)?;
        let wait = i64::from(left) * 60 - i64::from(clock.second());
        // In a night in which the clock is changed, what it says then counts, not how long the night is.
        let then = (clock + TimeDelta::seconds(wait)).and_local_timezone(zone).earliest();
        Some(then.map_or_else(|| now.plus_seconds(wait), |then| Time::from(then.to_utc())))
    }
}

/// `HH:MM`, as a browser's field for times gives it.
fn minute(text: &str) -> Option<u16> {
    let (hours, minutes) = text.trim().split_once(':')?;
    let two = |digits: &str, most: u16| {
        let plain = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u16>().ok().filter(|number| plain && *number < most)
    };
    Some(two(hours, 24)? * 60 + two(minutes, 60)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        Time::parse(&format!("2026-11-30T{text}Z")).expect("a time")
    }

    fn until(from: &str, to: &str, now: &str) -> Option<String> {
        let end = Quiet::parse(from, to).expect("a stretch").until(at(now), Tz::UTC)?;
        Some(end.to_chrono().format("%d %H:%M:%S").to_string())
    }

    #[test]
    fn quiet_hours_may_go_over_midnight() {
        assert_eq!(until("22:00", "07:00", "21:59:59"), None);
        assert_eq!(until("22:00", "07:00", "22:00:00").as_deref(), Some("01 07:00:00"));
        assert_eq!(until("22:00", "07:00", "06:59:30").as_deref(), Some("30 07:00:00"));
        assert_eq!(until("22:00", "07:00", "07:00:00"), None);
        assert_eq!(until("12:00", "13:00", "12:30:00").as_deref(), Some("30 13:00:00"));
        assert_eq!(until("12:00", "13:00", "13:00:00"), None);
        assert_eq!(until("00:00", "23:59", "23:59:10"), None);
    }

    #[test]
    fn quiet_hours_are_those_of_ones_own_clock() {
        let night = Quiet::parse("22:00", "07:00").expect("a stretch");
        let until = |now: &str, zone: Tz| {
            night.until(Time::parse(now).expect("a time"), zone).map(|end| end.to_string())
        };
        assert_eq!(until("2026-11-30T21:30:00Z", Tz::UTC), None);
        assert_eq!(
            until("2026-11-30T21:30:00Z", Tz::Europe__Berlin).as_deref(),
            Some("2026-12-01T06:00:00.000000Z")
        );
        assert_eq!(until("2026-11-30T21:30:00Z", Tz::America__New_York), None);
        // The clock goes back an hour in this night, and on by one in that.
        assert_eq!(
            until("2026-10-24T21:00:00Z", Tz::Europe__Berlin).as_deref(),
            Some("2026-10-25T06:00:00.000000Z")
        );
        assert_eq!(
            until("2026-03-28T22:00:00Z", Tz::Europe__Berlin).as_deref(),
            Some("2026-03-29T05:00:00.000000Z")
        );
    }

    #[test]
    fn only_times_of_day_are_read() {
        assert_eq!(
            Quiet::parse("22:00", "07:30").map(Quiet::written),
            Some(("22:00".into(), "07:30".into()))
        );
        for (from, to) in [
            ("22:00", "22:00"),
            ("24:00", "07:00"),
            ("22", "07:00"),
            ("22:60", "1:00"),
            ("+2:00", "07:00"),
            ("", ""),
        ] {
            assert_eq!(Quiet::parse(from, to), None, "{from} {to}");
        }
    }
}
