//! A point in time, counted as the database counts it.

use std::fmt;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// Microseconds since 1970-01-01T00:00:00Z; on the wire RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-11-30T09:30:00.000000Z")]
pub struct Time(i64);

impl Time {
    /// From microseconds since 1970. Kept within the years 1 to 9999, so that every `Time` can be written.
    pub fn from_micros(micros: i64) -> Self {
        const FIRST: i64 = -62_135_596_800_000_000;
        const LAST: i64 = 253_402_300_799_999_999;
        Self(micros.clamp(FIRST, LAST))
    }

    /// Microseconds since 1970.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This time moved by a number of whole seconds, which may be negative.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_micros(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// This time moved by a number of milliseconds, which may be negative.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_micros(self.0.saturating_add(millis.saturating_mul(1_000)))
    }

    /// Whole seconds from `earlier` to this time; negative when this time comes first.
    pub const fn seconds_since(self, earlier: Time) -> i64 {
        (self.0 - earlier.0).div_euclid(1_000_000)
    }

    /// The same moment for calendars and formatting.
    pub fn to_chrono(self) -> DateTime<Utc> {
        DateTime::from_timestamp_micros(self.0).unwrap_or(DateTime::UNIX_EPOCH)
    }

    /// Reads RFC 3339 with any offset.
    pub fn parse(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text).ok().map(|t| Self::from_micros(t.timestamp_micros()))
    }
}

impl From<DateTime<Utc>> for Time {
    fn from(time: DateTime<Utc>) -> Self {
        Self::from_micros(time.timestamp_micros())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_chrono().to_rfc3339_opts(SecondsFormat::Micros, true))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not an RFC 3339 time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_read_back() {
        let time = Time::from_micros(1_764_495_000_123_456);
        assert_eq!(time.to_string(), "2025-11-30T09:30:00.123456Z");
        assert_eq!(Time::parse("2025-11-30T10:30:00.123456+01:00"), Some(time));
        assert_eq!(Time::parse("yesterday"), None);
    }

    #[test]
    fn the_ends_of_time_can_be_written() {
        assert_eq!(Time::from_micros(i64::MAX).to_string(), "9999-12-31T23:59:59.999999Z");
        assert_eq!(Time::from_micros(i64::MIN).to_string(), "0001-01-01T00:00:00.000000Z");
        assert_eq!(Time::from_micros(i64::MAX).plus_seconds(i64::MAX), Time::from_micros(i64::MAX));
    }
}
