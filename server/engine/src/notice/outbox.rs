//! The outbox: what is due is taken by one process, sent, and marked.
//!
//! Every way has places of its own, each handing-over takes one and is a task of its own. Whoever does not answer keeps a
//! place until the time is up; what has been tried least often is taken next, so that what is new goes before it.

use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use model::{BrowserId, NoticeId, PersonId, Time};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::words::Words;
use super::{Channel, Kind, NotDelivered, Outcome, WEBHOOK};
use crate::engine::Engine;
use crate::store::{NewNotice, NoticeEnd, NoticeRow, StoreError, Waiting};

/// The most notices that one turn begins with on one way.
const BATCH: usize = 100;

/// How long handing one over may take.
const LONGEST: Duration = Duration::from_secs(45);

/// How long a process has a notice that it took; longer than it can take to hand over.
const LEASE: i64 = 120;

/// Seconds until the second try; each pause is twice the one before.
const FIRST_PAUSE: i64 = 30;
const LONGEST_PAUSE: i64 = 3_600;

/// Seconds after which nobody tries any more.
const GIVEN_UP_AFTER: i64 = 86_400;

/// Seconds for which it can be seen how a notice ended.
pub(super) const KEPT: i64 = 86_400;

/// The places of each way. Mail has one server, browsers and webhooks have many.
#[derive(Debug)]
pub(crate) struct Outbox {
    mail: Arc<Semaphore>,
    push: Arc<Semaphore>,
    webhook: Arc<Semaphore>,
}

impl Outbox {
    pub(crate) fn new() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { mail: places(8), push: places(32), webhook: places(16) }
    }

    fn places(&self, channel: Channel) -> &Arc<Semaphore> {
        match channel {
            Channel::Mail => &self.mail,
            Channel::Push => &self.push,
            Channel::Webhook => &self.webhook,
        }
    }
}

impl Engine {
    /// Sends what is due, and returns when all of it has ended. What another process has taken is left to it.
    pub async fn send_notices(&self) -> Result<(), StoreError> {
        let ways = Channel::ALL.map(|channel| self.begin_notices(channel));
        let begun = futures::future::try_join_all(ways).await?;
        futures::future::join_all(begun.into_iter().flatten()).await;
        Ok(())
    }

    /// Begins to send what is due on this way, and does not wait for how that ends. While every place is taken, it waits
    /// for one.
    pub(crate) async fn begin_notices(&self, channel: Channel) -> Result<Vec<JoinHandle<()>>, StoreError> {
        let mut begun = Vec::new();
        while begun.len() < BATCH {
            let place = tokio::select! {
                place = self.outbox().places(channel).clone().acquire_owned() => place,
                () = self.ending().over() => break,
            };
            // Looked for once there is a place: what is new by then goes first.
            let Some(notice) = self.store().due_notice(channel, self.now()).await? else { break };
            let Some(notice) = self.taken(notice).await? else { continue };
            let engine = self.clone();
            begun.push(self.spawn(async move {
                let _place = place;
                let id = notice.id;
                if let Err(error) = engine.deliver_taken(notice).await {
                    tracing::error!(%error, notice = %id, "how a notice ended could not be marked; it is sent again");
                }
            }));
        }
        Ok(begun)
    }

    /// Forgets what was told long ago.
    pub(crate) async fn delete_old_notices(&self, limit: i64) -> Result<u64, StoreError> {
        let before = self.now().plus_seconds(-KEPT);
        let tellings = self.store().delete_old_tellings(before, limit).await?;
        // Longer than they are looked for, or they would be told again.
        let tellings =
            tellings.max(self.store().delete_old_overrides(before.plus_seconds(-KEPT), limit).await?);
        Ok(tellings.max(self.store().delete_old_notices(before, limit).await?))
    }

    /// Takes one notice and sends it, unless another process has taken it.
    pub(super) async fn send_notice(&self, notice: NoticeRow) -> Result<(), StoreError> {
        match self.taken(notice).await? {
            Some(notice) => self.deliver_taken(notice).await,
            None => Ok(()),
        }
    }

    /// The notice, once this process has it.
    async fn taken(&self, notice: NoticeRow) -> Result<Option<NoticeRow>, StoreError> {
        let now = self.now();
        let is_ours = self.store().take_notice(notice.id, now, self.node(), now.plus_seconds(LEASE)).await?;
        Ok(is_ours.then_some(notice))
    }

    /// Sends a notice that was taken, and marks how that ended. `at least once`: dying between the two repeats it.
    async fn deliver_taken(&self, notice: NoticeRow) -> Result<(), StoreError> {
        let (store, now) = (self.store(), self.now());
        if let Some(later) = self.quiet_until(&notice, now).await? {
            return store.put_notice_back(notice.id, self.node(), later, None, false).await.map(drop);
        }
        let waiting = self.waiting_for(&notice, now).await?;
        let Some(waiting) = waiting else {
            return self.end(&notice, &[], Outcome::Moot, None).await;
        };
        let handed_over = tokio::time::timeout(LONGEST, self.deliver(&notice, &waiting)).await;
        match handed_over.unwrap_or_else(|_| Err(NotDelivered::Later("No answer came in time.".to_owned()))) {
            Ok(()) => self.end(&notice, &waiting, Outcome::Sent, None).await,
            Err(NotDelivered::Never(why)) => self.end(&notice, &[], Outcome::GivenUp, Some(&why)).await,
            Err(NotDelivered::Later(why)) => self.try_later(&notice, &why).await,
        }
    }

    /// When the quiet hours end that hold now. A test is wanted now.
    async fn quiet_until(&self, notice: &NoticeRow, now: Time) -> Result<Option<Time>, StoreError> {
        let Ok(person) = notice.addressee.parse::<PersonId>() else { return Ok(None) };
        if notice.kind == Kind::Test {
            return Ok(None);
        }
        let choices = self.store().notice_choices(person).await?;
        let zone = self.zone_of(person).await?;
        Ok(choices.quiet.and_then(|quiet| quiet.until(now, zone)))
    }

    /// What the notice tells of; `None`: nothing waits any more, or nobody wants to be told on this way.
    async fn waiting_for(&self, notice: &NoticeRow, now: Time) -> Result<Option<Vec<Waiting>>, StoreError> {
        if notice.channel == Channel::Push && !self.is_told(notice).await? {
            return Ok(None);
        }
        if notice.kind == Kind::Test {
            return Ok(Some(Vec::new()));
        }
        let before = self.waiting_before(now);
        let waiting = if let Some(name) = notice.addressee.strip_prefix(WEBHOOK) {
            let Some(webhook) = self.catalogue().webhook(name).cloned() else { return Ok(None) };
            if notice.kind == Kind::Overridden {
                return self.overridden(notice).await;
            }
            self.store().waiting_for_subjects(&webhook.to, None, before, now).await?
        } else {
            let Ok(person) = notice.addressee.parse::<PersonId>() else { return Ok(None) };
            if notice.channel == Channel::Mail && !self.store().notice_choices(person).await?.mail {
                return Ok(None);
            }
            if notice.kind == Kind::Overridden {
                return self.overridden(notice).await;
            }
            self.store().waiting_for_person(person, before, now).await?
        };
        Ok(Some(waiting).filter(|waiting| !waiting.is_empty()))
    }

    /// The overrides that the notice tells of.
    async fn overridden(&self, notice: &NoticeRow) -> Result<Option<Vec<Waiting>>, StoreError> {
        let told = self.store().overridden_for(&notice.addressee, notice.created_at, self.now()).await?;
        Ok(Some(told).filter(|told| !told.is_empty()))
    }

    /// Whether the browser is still there, and still this person's.
    async fn is_told(&self, notice: &NoticeRow) -> Result<bool, StoreError> {
        let Ok(id) = notice.target.parse::<BrowserId>() else { return Ok(false) };
        let browser = self.store().browser(id).await?;
        Ok(browser.is_some_and(|browser| browser.person.to_string() == notice.addressee))
    }

    async fn deliver(&self, notice: &NoticeRow, waiting: &[Waiting]) -> Result<(), NotDelivered> {
        let words = match notice.addressee.parse::<PersonId>() {
            Ok(person) => {
                let zone = self.zone_of(person).await.map_err(|error| {
                    tracing::error!(%error, notice = %notice.id, "a notice could not be made");
                    NotDelivered::Later("The database did not answer.".to_owned())
                })?;
                Words::of(notice.kind, waiting, "you", zone)
            }
            Err(_) => Words::of(notice.kind, waiting, "a person", Tz::UTC),
        };
        match notice.channel {
            Channel::Mail => self.send_mail(notice, &words).await,
            Channel::Push => self.send_push(notice, &words).await,
            Channel::Webhook => self.send_webhook(notice, &words).await,
        }
    }

    /// Marks a notice as ended. Every call that it told of counts as told, so that none is told again by itself. What was
    /// owed while it was on its way goes into one after it.
    async fn end(
        &self,
        notice: &NoticeRow,
        told: &[Waiting],
        outcome: Outcome,
        problem: Option<&str>,
    ) -> Result<(), StoreError> {
        if let Some(problem) = problem {
            tracing::warn!(notice = %notice.id, channel = notice.channel.as_str(), problem, "a notice was given up");
        }
        let now = self.now();
        let mut tx = self.store().begin().await?;
        // Tellings first, as where they are owed: two that wait for each other would wait for ever.
        for one in told.iter().filter(|_| notice.kind == Kind::Waiting) {
            tx.claim_telling(&notice.addressee, one.call, now).await?;
        }
        if !tx.end_notice(notice.id, self.node(), NoticeEnd { outcome, problem, at: now }).await? {
            return Ok(());
        }
        if notice.kind == Kind::Waiting && tx.owes_more(notice.id, &notice.addressee, told).await? {
            tx.insert_notice(&self.after(notice, outcome, now)).await?;
        }
        if notice.kind == Kind::Overridden
            && outcome == Outcome::Sent
            && let Some(since) = tx.owed_override(&notice.addressee, notice.created_at, told).await?
        {
            tx.insert_notice(&NewNotice { created_at: since, ..self.after(notice, outcome, now) }).await?;
        }
        tx.commit().await
    }

    /// The notice that comes after one that is just ending.
    fn after<'n>(&self, ended: &'n NoticeRow, outcome: Outcome, now: Time) -> NewNotice<'n> {
        let every = if outcome == Outcome::Sent { self.seconds(self.catalogue().notices.every) } else { 0 };
        NewNotice {
            id: NoticeId::from_uuid(self.ambient().uuid()),
            addressee: &ended.addressee,
            channel: ended.channel,
            target: &ended.target,
            kind: ended.kind,
            created_at: now,
            due_at: now.plus_seconds(every),
        }
    }

    async fn try_later(&self, notice: &NoticeRow, why: &str) -> Result<(), StoreError> {
        let next = self.now().plus_seconds(pause(notice.tries));
        if next > notice.created_at.plus_seconds(GIVEN_UP_AFTER) {
            return self.end(notice, &[], Outcome::GivenUp, Some(why)).await;
        }
        tracing::warn!(notice = %notice.id, channel = notice.channel.as_str(), problem = why, "a notice could not be handed over; it is tried again");
        self.store().put_notice_back(notice.id, self.node(), next, Some(why), true).await.map(drop)
    }
}

/// Seconds until the next try, after so many that came before this one.
fn pause(tries: u32) -> i64 {
    FIRST_PAUSE.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let pauses: Vec<i64> = (0..9).map(pause).collect();
        assert_eq!(pauses, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
    }
}
