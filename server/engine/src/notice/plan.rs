//! What is owed: who has to be told of which calls, put into the outbox.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use model::{ApprovalId, CallId, NoticeId, PersonId, Time};

use super::outbox::KEPT;
use super::{Channel, Kind, WEBHOOK};
use crate::engine::Engine;
use crate::store::{NewNotice, StoreError, Tx};
use crate::time_zone;

/// The most pairs of a person and a call that one turn takes on.
const BATCH: i64 = 500;

/// One way to an addressee, and when it may be used.
struct Way {
    channel: Channel,
    target: String,
    due_at: Time,
}

impl Engine {
    /// Puts what is owed into the outbox: a call that still waits after the time of the catalogue owes everybody who
    /// may decide it one notice. Whoever has an unsent notice gets no second one: it tells of this call too.
    pub async fn plan_notices(&self) -> Result<(), StoreError> {
        let now = self.now();
        let has_mail = self.catalogue().mail.is_some();
        if has_mail || self.store().has_browsers().await? {
            let pairs = self.store().people_to_tell(self.waiting_before(now), now, has_mail, BATCH).await?;
            let mut by_person: BTreeMap<String, (PersonId, Vec<CallId>)> = BTreeMap::new();
            for (person, call) in pairs {
                by_person.entry(person.to_string()).or_insert((person, Vec::new())).1.push(call);
            }
            for (addressee, (person, calls)) in by_person {
                let ways = self.ways_to(person, has_mail, now).await?;
                self.owe(&addressee, &calls, &ways, now).await?;
            }
            self.plan_overridden(now, has_mail).await?;
        }
        self.plan_webhooks(now).await
    }

    /// Whoever may decide a call that somebody has overridden is owed word of it.
    async fn plan_overridden(&self, now: Time, has_mail: bool) -> Result<(), StoreError> {
        let since = now.plus_seconds(-KEPT);
        let mut by_person: BTreeMap<String, (PersonId, Vec<ApprovalId>)> = BTreeMap::new();
        for (person, decision) in self.store().people_overridden(since, now, has_mail, BATCH).await? {
            by_person.entry(person.to_string()).or_insert((person, Vec::new())).1.push(decision);
        }
        for (addressee, (person, decisions)) in by_person {
            let ways = self.ways_to(person, has_mail, now).await?;
            self.owe_overridden(&addressee, &decisions, &ways, now).await?;
        }
        Ok(())
    }

    /// In one transaction: who claims the telling of an override puts it into the outbox.
    async fn owe_overridden(
        &self,
        addressee: &str,
        decisions: &[ApprovalId],
        ways: &[Way],
        now: Time,
    ) -> Result<(), StoreError> {
        let mut tx = self.store().begin().await?;
        let mut claimed = false;
        for decision in decisions {
            claimed |= tx.claim_override(addressee, *decision, now).await?;
        }
        if !claimed {
            return Ok(());
        }
        self.insert_notices(&mut tx, addressee, Kind::Overridden, ways, now).await?;
        tx.commit().await
    }

    async fn plan_webhooks(&self, now: Time) -> Result<(), StoreError> {
        let webhooks: Vec<_> = self.catalogue().webhooks().cloned().collect();
        for webhook in webhooks {
            let addressee = format!("{WEBHOOK}{}", webhook.name);
            let since = now.plus_seconds(-KEPT);
            let overrides = self.store().overrides_for_subjects(&webhook.to, &addressee, since, now).await?;
            if !overrides.is_empty() {
                let due_at = self.next_telling(&addressee, Channel::Webhook, "", now).await?;
                let way = Way { channel: Channel::Webhook, target: String::new(), due_at };
                self.owe_overridden(&addressee, &overrides, &[way], now).await?;
            }
            let before = self.waiting_before(now);
            let waiting =
                self.store().waiting_for_subjects(&webhook.to, Some(&addressee), before, now).await?;
            if waiting.is_empty() {
                continue;
            }
            let calls: Vec<CallId> = waiting.iter().map(|one| one.call).collect();
            let due_at = self.next_telling(&addressee, Channel::Webhook, "", now).await?;
            let way = Way { channel: Channel::Webhook, target: String::new(), due_at };
            self.owe(&addressee, &calls, &[way], now).await?;
        }
        Ok(())
    }

    /// Calls that were held before this have waited long enough.
    pub(super) fn waiting_before(&self, now: Time) -> Time {
        let after = self.catalogue().notices.after;
        now.plus_seconds(-self.seconds(after))
    }

    /// The ways to a person, with their quiet hours kept.
    async fn ways_to(&self, person: PersonId, has_mail: bool, now: Time) -> Result<Vec<Way>, StoreError> {
        let addressee = person.to_string();
        let choices = self.store().notice_choices(person).await?;
        let zone = self.zone_of(person).await?;
        let mut targets = Vec::new();
        if has_mail && choices.mail {
            targets.push((Channel::Mail, String::new()));
        }
        let browsers = self.store().browsers_of(person).await?;
        targets.extend(browsers.iter().map(|browser| (Channel::Push, browser.id.to_string())));
        let mut ways = Vec::new();
        for (channel, target) in targets {
            let next = self.next_telling(&addressee, channel, &target, now).await?;
            let due_at = choices.quiet.and_then(|quiet| quiet.until(next, zone)).unwrap_or(next);
            ways.push(Way { channel, target, due_at });
        }
        Ok(ways)
    }

    /// The zone of the clock that somebody's quiet hours are told by.
    pub(crate) async fn zone_of(&self, person: PersonId) -> Result<Tz, StoreError> {
        let person = self.store().person(person).await?;
        Ok(person.and_then(|person| time_zone::named(&person.time_zone?)).unwrap_or(Tz::UTC))
    }

    /// The next time at which somebody may be told on this way.
    async fn next_telling(
        &self,
        addressee: &str,
        channel: Channel,
        target: &str,
        now: Time,
    ) -> Result<Time, StoreError> {
        let every = self.seconds(self.catalogue().notices.every);
        let last = self.store().last_told(addressee, channel, target).await?;
        Ok(last.map_or(now, |last| last.plus_seconds(every).max(now)))
    }

    /// In one transaction: who claims the telling of a call puts it into the outbox.
    async fn owe(
        &self,
        addressee: &str,
        calls: &[CallId],
        ways: &[Way],
        now: Time,
    ) -> Result<(), StoreError> {
        let mut tx = self.store().begin().await?;
        let mut claimed = false;
        for call in calls {
            claimed |= tx.claim_telling(addressee, *call, now).await?;
        }
        if !claimed {
            return Ok(());
        }
        self.insert_notices(&mut tx, addressee, Kind::Waiting, ways, now).await?;
        tx.commit().await
    }

    async fn insert_notices(
        &self,
        tx: &mut Tx,
        addressee: &str,
        kind: Kind,
        ways: &[Way],
        now: Time,
    ) -> Result<(), StoreError> {
        for way in ways {
            let new = NewNotice {
                id: NoticeId::from_uuid(self.ambient().uuid()),
                addressee,
                channel: way.channel,
                target: &way.target,
                kind,
                created_at: now,
                due_at: way.due_at,
            };
            tx.insert_notice(&new).await?;
        }
        Ok(())
    }
}
