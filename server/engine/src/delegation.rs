//! Standing in for somebody: while a delegation runs, the delegate decides the held calls that the delegator may decide.

use chrono::{LocalResult, NaiveDateTime, TimeZone as _};
use chrono_tz::Tz;
use model::{DelegationId, FieldError, PersonId, Refusal, Time};

use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::registry::oversees;
use crate::store::NewDelegation;

/// The longest time for which somebody passes their voice on, in days.
pub const LONGEST: i64 = 90;

/// How far ahead one may begin, in days.
const FURTHEST: i64 = 366;

/// How many of one person may run or lie ahead.
const MOST: i64 = 20;

/// In seconds.
const DAY: i64 = 86_400;

/// Who stands in for whom, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegation {
    /// Its id.
    pub id: DelegationId,
    /// Whose voice is passed on.
    pub delegator: PersonId,
    /// Their name.
    pub delegator_name: String,
    /// Who uses it.
    pub delegate: PersonId,
    /// Their name.
    pub delegate_name: String,
    /// From when on.
    pub from: Time,
    /// The first moment at which it counts no more.
    pub until: Time,
}

impl Delegation {
    /// The last minute of the clock at which it counts.
    pub fn last(&self) -> Time {
        self.until.plus_seconds(-60)
    }

    /// Whether it has begun; one that is over is never told.
    pub fn runs(&self, now: Time) -> bool {
        self.from <= now
    }
}

/// A delegation that somebody wants: an address, and the first and the last moment in the zone in which they read times.
#[derive(Debug, Clone)]
pub struct DelegationWanted<'a> {
    /// The address of the delegate.
    pub to: &'a str,
    /// The first moment, as `2026-11-30T09:30`; empty: now.
    pub from: &'a str,
    /// The last moment, in the same form.
    pub until: &'a str,
}

impl Engine {
    /// What this person has passed on and what was passed on to them, as far as it runs or lies ahead.
    pub async fn own_delegations(&self, me: &PersonActor) -> Result<Vec<Delegation>, Refusal> {
        Ok(self.store().delegations_of(Some(me.id()), self.now()).await?)
    }

    /// Everybody's, for operators and admins.
    ///
    /// # Errors
    /// `NotFound` for everybody else.
    pub async fn delegations(&self, me: &PersonActor) -> Result<Vec<Delegation>, Refusal> {
        oversees(me)?;
        Ok(self.store().delegations_of(None, self.now()).await?)
    }

    /// Passes this person's voice on for a while.
    ///
    /// # Errors
    /// `Invalid` on `/to`, `/from` and `/until`; `Denied` without a live session.
    pub async fn delegate(
        &self,
        me: &PersonActor,
        wanted: DelegationWanted<'_>,
    ) -> Result<DelegationId, Refusal> {
        me.in_person()?;
        let now = self.now();
        let zone = self.zone_of(me.id()).await?;
        let delegate = self.store().person_by_email(wanted.to.trim()).await?.map(|(person, _)| person);
        let delegate = delegate.filter(|one| one.disabled_at.is_none() && one.id != me.id());
        let (from, until, mut faults) = span(&wanted, zone, now);
        if delegate.is_none() {
            let message = "There is nobody else with this address who can sign in.";
            faults.insert(0, FieldError::new("/to", message));
        }
        let (Some(delegate), true) = (delegate, faults.is_empty()) else {
            return Err(Refusal::Invalid(faults));
        };
        let id = DelegationId::from_uuid(self.ambient().uuid());
        let new = NewDelegation { id, delegator: me.id(), delegate: delegate.id, from, until, at: now };
        let mut tx = self.store().begin().await?;
        // The delegate too: nobody is disabled between this look and the row.
        let (first, second) = if me.id().to_string() < delegate.id.to_string() {
            (me.id(), delegate.id)
        } else {
            (delegate.id, me.id())
        };
        if !(tx.lock_person(first).await? && tx.lock_person(second).await?) {
            return Err(Refusal::invalid("/to", "This account cannot be used any more. Name somebody else."));
        }
        if tx.count_delegations(me.id(), now).await? >= MOST {
            let message = "Twenty of yours run or lie ahead already. End one first.";
            return Err(Refusal::invalid("/to", message));
        }
        if !tx.insert_delegation(&new).await? {
            let message = "Somebody decides yours in some of this time already. Choose another time, or end that one first.";
            return Err(Refusal::invalid("/from", message));
        }
        tx.commit().await?;
        Ok(id)
    }

    /// Ends a delegation at once, for the one who gave it or received it.
    ///
    /// # Errors
    /// `NotFound` when there is none of theirs, or it is over; `Denied` without a live session.
    pub async fn end_delegation(&self, me: &PersonActor, id: DelegationId) -> Result<(), Refusal> {
        me.in_person()?;
        let mut tx = self.store().begin().await?;
        if !tx.end_delegation(id, me.id(), self.now()).await? {
            return Err(Refusal::NotFound);
        }
        Ok(tx.commit().await?)
    }
}

/// The moments between which it counts, and what is wrong with them. The last moment is a minute of the clock, and the whole of
/// it counts.
fn span(wanted: &DelegationWanted<'_>, zone: Tz, now: Time) -> (Time, Time, Vec<FieldError>) {
    let form = "Write a day and a time of day, like 2026-11-30T09:30.";
    let mut faults = Vec::new();
    let from = match wanted.from.trim() {
        "" => Some(now),
        text => moment(text, zone),
    };
    let until = moment(wanted.until.trim(), zone).map(|last| last.plus_seconds(60));
    match from {
        None => faults.push(FieldError::new("/from", form)),
        Some(from) if from.seconds_since(now) > FURTHEST * DAY => {
            faults.push(FieldError::new("/from", "This is more than a year ahead. Choose an earlier day."));
        }
        Some(_) => {}
    }
    // What lies behind has no say over what was decided then.
    let from = from.unwrap_or(now).max(now);
    match until {
        None => faults.push(FieldError::new("/until", form)),
        Some(until) if until <= now => {
            faults.push(FieldError::new("/until", "This lies behind. Choose a later moment."));
        }
        Some(until) if until <= from => {
            faults.push(FieldError::new("/until", "The last moment has to come after the first."));
        }
        Some(until) if until.seconds_since(from) > LONGEST * DAY => {
            faults.push(FieldError::new("/until", "This is longer than 90 days. Choose an earlier moment."));
        }
        Some(_) => {}
    }
    (from, until.unwrap_or(now), faults)
}

/// A moment as a browser's control writes it. Of an hour that comes twice the first; one that is left out begins with the hour
/// after it.
fn moment(text: &str, zone: Tz) -> Option<Time> {
    let written = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"];
    let clock = written.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
    let at = match zone.from_local_datetime(&clock) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => at,
        LocalResult::None => {
            zone.from_local_datetime(&clock.checked_add_signed(chrono::TimeDelta::hours(1))?).earliest()?
        }
    };
    Some(Time::from_micros(at.timestamp_micros()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(from: &str, until: &str) -> Vec<String> {
        let now = Time::parse("2026-11-30T09:30:00Z").expect("a time");
        let wanted = DelegationWanted { to: "", from, until };
        span(&wanted, Tz::Europe__Berlin, now).2.into_iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn moments_are_those_of_ones_own_zone() {
        let at = |text| moment(text, Tz::Europe__Berlin).map(|time| time.to_string());
        assert_eq!(at("2026-11-30T10:30"), at("2026-11-30 10:30"));
        assert_eq!(moment("2026-11-30T10:30", Tz::Europe__Berlin), Time::parse("2026-11-30T09:30:00Z"));
        // The clock goes from 2:00 to 3:00, and from 3:00 back to 2:00.
        assert_eq!(moment("2026-03-29T02:30", Tz::Europe__Berlin), Time::parse("2026-03-29T01:30:00Z"));
        assert_eq!(moment("2026-10-25T02:30", Tz::Europe__Berlin), Time::parse("2026-10-25T00:30:00Z"));
        assert_eq!(moment("tomorrow", Tz::UTC), None);
    }

    #[test]
    fn a_delegation_has_a_beginning_an_end_and_a_length() {
        assert_eq!(faults("", "2026-12-03T18:00"), [""; 0]);
        assert_eq!(faults("", "2026-11-30T10:29"), ["/until"], "it is over");
        assert_eq!(faults("2026-12-03T18:00", "2026-12-03T17:00"), ["/until"]);
        assert_eq!(faults("2026-12-01T00:00", "2027-02-28T23:59"), [""; 0], "ninety days");
        assert_eq!(faults("2026-12-01T00:00", "2027-03-01T00:00"), ["/until"], "a minute more");
        assert_eq!(faults("2028-01-01T00:00", "2028-01-02T00:00"), ["/from"]);
        assert_eq!(faults("x", "y"), ["/from", "/until"]);
    }
}
