//! What an address narrows receipts to: the same for the pages and for exports.

use chrono::{NaiveDate, NaiveTime};
use engine::ReceiptFilter;
use model::Time;

/// The names of the filters in an address, in their order on the page.
pub const NAMES: [&str; 7] = ["person", "agent", "action", "host", "outcome", "from", "to"];

/// What an address asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// What can be read of it.
    pub filter: ReceiptFilter,
    /// What cannot: the filter's name and what would do. While there is any, nothing is shown.
    pub faults: Vec<(&'static str, &'static str)>,
}

/// Reads the filters of an address. `value`: what stands there under a name.
pub fn read(value: impl Fn(&str) -> Option<String>) -> Asked {
    let text = |name: &str| value(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut asked = Asked::default();
    let mut faults = Vec::new();
    let filter = &mut asked.filter;
    filter.person = parsed(
        text("person"),
        |id| id.parse().ok(),
        "person",
        "There is nobody with this id. Choose a person.",
        &mut faults,
    );
    filter.agent = text("agent");
    filter.action = text("action");
    filter.host = text("host").map(|host| host.to_lowercase());
    filter.outcome = parsed(
        text("outcome"),
        |word| word.parse().ok(),
        "outcome",
        "There is no such outcome. Choose one.",
        &mut faults,
    );
    filter.from = parsed(text("from"), |day| midnight(day, 0), "from", NO_DAY, &mut faults);
    filter.to = parsed(text("to"), |day| midnight(day, 1), "to", NO_DAY, &mut faults);
    if filter.from.zip(filter.to).is_some_and(|(from, to)| from >= to) {
        faults.push(("to", "This day is before the first one. Choose a later one."));
    }
    asked.faults = faults;
    asked
}

const NO_DAY: &str = "This is no day. Write one as 2026-11-30.";

fn parsed<T>(
    text: Option<String>,
    parse: impl Fn(&str) -> Option<T>,
    name: &'static str,
    fault: &'static str,
    faults: &mut Vec<(&'static str, &'static str)>,
) -> Option<T> {
    let text = text?;
    let value = parse(&text);
    if value.is_none() {
        faults.push((name, fault));
    }
    value
}

/// The beginning of a day, or of the day after it, in UTC.
fn midnight(day: &str, days_on: i64) -> Option<Time> {
    let day: NaiveDate = day.parse().ok()?;
    Some(Time::from(day.and_time(NaiveTime::MIN).and_utc()).plus_seconds(days_on * 86_400))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Asked {
        read(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn whole_days() {
        let asked = of(&[("from", "2026-11-30"), ("to", "2026-11-30"), ("host", " A.Example ")]);
        assert_eq!(
            asked.filter.from.map(|time| time.to_string()).as_deref(),
            Some("2026-11-30T00:00:00.000000Z")
        );
        assert_eq!(
            asked.filter.to.map(|time| time.to_string()).as_deref(),
            Some("2026-12-01T00:00:00.000000Z")
        );
        assert_eq!(asked.filter.host.as_deref(), Some("a.example"));
        assert_eq!(asked.faults, []);
    }

    #[test]
    fn what_cannot_be_read_is_told_by_its_name() {
        let asked = of(&[
            ("person", "ann"),
            ("outcome", "perhaps"),
            ("from", "30.11.2026"),
            ("to", "soon"),
            ("agent", " "),
        ]);
        let names: Vec<_> = asked.faults.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["person", "outcome", "from", "to"]);
        assert_eq!(asked.filter, ReceiptFilter::default());
        assert_eq!(of(&[("from", "2026-11-30"), ("to", "2026-11-29")]).faults.len(), 1);
    }
}
