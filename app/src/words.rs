//! The words of the pages: one place for each term, so that it is the same everywhere.

use chrono::Datelike as _;
use chrono_tz::Tz;
use engine::account_event::AccountEventType;
use model::{Ability, ApprovalKind, CallStatus, Effect, EventType, Outcome, Role, Surface, Time};

/// What an effect means to a person.
pub(crate) const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "only looks",
        Effect::Write => "can be put back",
        Effect::External => "leaves the house",
        Effect::Destructive => "cannot be put back",
    }
}

/// An action's name as words: `send_mail` is “send mail”.
pub(crate) fn action(name: &str) -> String {
    match name {
        "fetch" | "via" => "send the request".to_owned(),
        _ => name.replace(['_', '-'], " "),
    }
}

/// Where a call stands, in a word.
pub(crate) const fn status(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Queued => "Queued",
        CallStatus::Held => "Held",
        CallStatus::Approved => "Confirmed",
        CallStatus::Sending | CallStatus::Running => "Sending",
        CallStatus::Done => "Sent",
        CallStatus::Refused => "Refused",
        CallStatus::Declined => "Declined",
        CallStatus::Expired => "Expired",
        CallStatus::Withdrawn => "Withdrawn",
        CallStatus::Failed => "Failed",
        CallStatus::InDoubt => "Not known",
    }
}

/// What a journal line says.
pub(crate) const fn event(kind: EventType) -> &'static str {
    match kind {
        EventType::Held => "held",
        EventType::Decided => "decided",
        EventType::Opened => "opened by an operator",
        EventType::Overridden => "overridden by an operator",
        EventType::Undone => "taken back in time",
        EventType::Settled => "settled",
        EventType::Completed => "done",
        EventType::Refused => "refused",
        EventType::Failed => "failed",
        EventType::Replayed => "answered from the receipt",
        EventType::Declined => "declined",
        EventType::Expired => "expired",
        EventType::Withdrawn => "withdrawn",
        EventType::InDoubt => "not known",
        EventType::GrantMade => "standing grant made",
        EventType::GrantUsed => "let through by a standing grant",
        EventType::GrantEnded => "standing grant ended",
        EventType::GrantRevoked => "standing grant revoked",
    }
}

/// What happened to an account.
pub(crate) const fn account_event(kind: AccountEventType) -> &'static str {
    match kind {
        AccountEventType::NameChanged => "name changed, before:",
        AccountEventType::PasskeyAdded => "passkey added:",
        AccountEventType::PasskeyRenamed => "passkey renamed:",
        AccountEventType::PasskeyRemoved => "passkey removed:",
        AccountEventType::PasskeyWentBack => "passkey refused, its count of signatures went back:",
    }
}

/// How a send ended, for a filter.
pub(crate) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "Answered",
        Outcome::InDoubt => "Not known",
        Outcome::SettledHappened => "Settled: it happened",
        Outcome::SettledDidNotHappen => "Settled: it did not happen",
    }
}

/// Who approved, when no person did.
pub(crate) const fn approval(kind: ApprovalKind) -> &'static str {
    match kind {
        ApprovalKind::Person => "A person",
        ApprovalKind::ConfirmToken => "Confirmed by the agent",
        ApprovalKind::Grant => "A standing grant",
        ApprovalKind::Override => "An operator's override",
        ApprovalKind::None => "Nobody: not needed",
    }
}

/// An upstream's answer: number and word (RFC 9110, section 15).
pub(crate) fn answer(status: u16) -> String {
    let word = match status {
        200 => "done",
        201 => "created",
        202 => "accepted",
        204 => "done, no content",
        300..=399 => "redirected",
        400 => "bad request",
        401 | 403 => "not allowed",
        402 => "payment required",
        404 => "not found",
        409 => "conflict",
        410 => "gone",
        429 => "too many",
        405..=499 => "refused",
        500.. => "failed",
        _ => "answered",
    };
    format!("{status} {word}")
}

/// A moment in full, as people write it in this zone.
pub(crate) fn moment(time: Time, zone: Tz) -> String {
    time.to_chrono().with_timezone(&zone).format("%-d %B %Y, %H:%M:%S %Z").to_string()
}

/// A moment to the minute, as people write it in this zone.
pub(crate) fn minute(time: Time, zone: Tz) -> String {
    time.to_chrono().with_timezone(&zone).format("%-d %B %Y, %H:%M %Z").to_string()
}

/// A moment to the thousandth of a second.
pub(crate) fn moment_to_the_milli(time: Time, zone: Tz) -> String {
    time.to_chrono().with_timezone(&zone).format("%-d %B %Y, %H:%M:%S%.3f").to_string()
}

/// Where a call came in.
pub(crate) const fn surface(surface: Surface) -> &'static str {
    match surface {
        Surface::Api => "over the API",
        Surface::Mcp => "over MCP",
        Surface::Form => "by the form on the desk's page",
        Surface::Queue => "over the queue",
        Surface::Fetch => "as a request of its own (fetch)",
        Surface::Via => "as a request passed on (via)",
        Surface::Code => "from Rust code",
    }
}

/// How long: “2 min”. What is less than one more is left out.
pub(crate) fn span(seconds: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let seconds = seconds.abs();
    UNITS
        .iter()
        .find(|(size, _)| seconds >= *size)
        .map_or_else(|| "0 s".to_owned(), |(size, unit)| format!("{} {unit}", seconds / size))
}

/// In how long, rounded to the nearest: what lapses in a few seconds less than a week lapses “in 7 days”.
pub(crate) fn ahead(seconds: i64) -> String {
    let rounded = |unit: i64| (seconds + unit / 2) / unit;
    match seconds {
        ..60 => format!("{} s", seconds.max(0)),
        60..3_570 => format!("{} min", rounded(60)),
        3_570..171_000 => format!("{} h", rounded(3_600)),
        _ => format!("{} days", rounded(86_400)),
    }
}

/// A small number as a sentence begins with it: “Two”.
pub(crate) fn number(number: u32) -> String {
    const WORDS: [&str; 10] = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
    let word = usize::try_from(number).ok().and_then(|at| WORDS.get(at));
    word.map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// What a token may be used for, to a person.
pub(crate) const fn ability(ability: Ability) -> &'static str {
    match ability {
        Ability::ActionsRead => "call what only looks",
        Ability::ActionsWrite => "call what can be put back",
        Ability::ActionsExternal => "call what leaves the house",
        Ability::ActionsDestructive => "call what cannot be put back",
        Ability::ReceiptsRead => "read receipts and events",
        Ability::ApprovalsDecide => "decide held calls",
        Ability::AgentsManage => "manage agents",
    }
}

/// Roles as they are listed.
pub(crate) fn roles(roles: &[Role]) -> String {
    roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", ")
}

/// How long to wait, rounded up: “4 minutes”.
pub(crate) fn wait(seconds: u32) -> String {
    match (seconds, seconds.div_ceil(60)) {
        (0 | 1, _) => "a second".to_owned(),
        (2..60, _) => format!("{seconds} seconds"),
        (_, 1) => "a minute".to_owned(),
        (_, minutes) => format!("{minutes} minutes"),
    }
}

/// A past moment as people say it: “2 min ago”, “yesterday”, “3 March”.
pub(crate) fn ago(time: Time, now: Time, zone: Tz) -> String {
    let seconds = now.seconds_since(time);
    let (then, today) = (time.to_chrono().with_timezone(&zone), now.to_chrono().with_timezone(&zone));
    match seconds {
        ..=0 => "now".to_owned(),
        1..86_400 => format!("{} ago", span(seconds)),
        86_400..172_800 => "yesterday".to_owned(),
        172_800..604_800 => format!("{} days ago", seconds / 86_400),
        _ if then.year() == today.year() => then.format("%-d %B").to_string(),
        _ => then.format("%-d %B %Y").to_string(),
    }
}

/// How often each of these words was said, in the order of their first: “7 sent, 1 declined”.
pub(crate) fn counted<'a>(all: impl Iterator<Item = &'a str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for words in all {
        match counts.iter_mut().find(|(said, _)| *said == words) {
            Some((_, count)) => *count += 1,
            None => counts.push((words, 1)),
        }
    }
    counts.iter().map(|(words, count)| format!("{count} {words}")).collect::<Vec<_>>().join(", ")
}

/// A count where there is room for two figures: “99+”.
pub(crate) fn count(count: u64) -> String {
    if count > 99 { "99+".to_owned() } else { count.to_string() }
}

/// A size as people say it.
pub(crate) fn bytes(count: usize) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..2_048 => format!("{count} bytes"),
        _ => format!("{} KiB", count.div_ceil(1_024)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_never_told_too_short() {
        let told = [1, 30, 60, 61, 900].map(wait);
        assert_eq!(told, ["a second", "30 seconds", "a minute", "2 minutes", "15 minutes"]);
    }

    #[test]
    fn what_lapses_is_told_to_the_nearest() {
        let told = [7 * 86_400 - 3, 86_400 - 3, 3_600 - 3, 60 - 1, 90, 3_569, 172_800 - 3].map(ahead);
        assert_eq!(told, ["7 days", "24 h", "1 h", "59 s", "2 min", "59 min", "2 days"]);
        assert_eq!([2, 9, 10].map(number), ["Two", "Nine", "10"]);
    }

    #[test]
    fn counts_as_people_say_them() {
        assert_eq!(counted(["sent", "changed", "sent"].into_iter()), "2 sent, 1 changed");
        assert_eq!((count(99), count(1_000)), ("99".to_owned(), "99+".to_owned()));
    }

    #[test]
    fn times_as_people_say_them() {
        let now = Time::from_micros(1_764_495_000_000_000);
        let said = |seconds: i64| ago(now.plus_seconds(-seconds), now, Tz::UTC);
        assert_eq!(said(0), "now");
        assert_eq!(said(59), "59 s ago");
        assert_eq!(said(130), "2 min ago");
        assert_eq!(said(7_200), "2 h ago");
        assert_eq!(said(90_000), "yesterday");
        assert_eq!(said(300_000), "3 days ago");
        assert_eq!(said(8_640_000), "22 August");
        assert_eq!(said(86_400_000), "6 March 2023");
        assert_eq!(moment(now, Tz::UTC), "30 November 2025, 09:30:00 UTC");
        assert_eq!(moment(now, Tz::Europe__Berlin), "30 November 2025, 10:30:00 CET");
        assert_eq!(
            moment(now.plus_seconds(-86_400 * 120), Tz::Europe__Berlin),
            "2 August 2025, 11:30:00 CEST"
        );
        assert_eq!(moment(now, Tz::Asia__Kathmandu), "30 November 2025, 15:15:00 +0545");
        let late = Time::from_micros(1_764_459_000_000_000);
        assert_eq!(ago(late, late.plus_seconds(864_000), Tz::UTC), "29 November");
        assert_eq!(ago(late, late.plus_seconds(864_000), Tz::Asia__Tokyo), "30 November");
    }
}
