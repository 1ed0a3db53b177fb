//! How somebody is told: what their page shows, and what they change there.

use std::time::Duration;

use model::{BrowserId, NoticeId, Refusal, Time};

use super::{Channel, Choices, Kind, Outcome};
use crate::actor::PersonActor;
use crate::catalogue::Catalogue;
use crate::engine::Engine;
use crate::sign_in::seconds_until;
use crate::store::{NewNotice, NoticeRow};

/// How many of the newest notices somebody is shown.
const SHOWN: i64 = 12;

/// How long a test is waited for, so that its page can say how it ended.
const PATIENCE: Duration = Duration::from_secs(8);

/// How somebody is told, and what they were told lately.
#[derive(Debug, Clone)]
pub struct NoticeSheet {
    /// Whether this desk can send mail.
    pub has_mail: bool,
    /// Their choices.
    pub choices: Choices,
    /// Their browsers.
    pub browsers: Vec<BrowserLine>,
    /// The desk's public key, for a browser that wants to be told; `None`: there is none yet, or it cannot be read.
    pub push_key: Option<String>,
    /// After how long a call that waits is told.
    pub after: Duration,
    /// The newest notices, newest first.
    pub latest: Vec<NoticeLine>,
}

/// A browser that is told.
#[derive(Debug, Clone)]
pub struct BrowserLine {
    /// Which.
    pub id: BrowserId,
    /// What it calls itself.
    pub label: String,
    /// Since when it is told.
    pub since: Time,
    /// SHA-256 of its endpoint, in hexadecimal digits: a browser finds itself by it.
    pub mark: String,
}

/// A notice and how it stands.
#[derive(Debug, Clone)]
pub struct NoticeLine {
    /// The way.
    pub channel: Channel,
    /// Which browser.
    pub browser: Option<String>,
    /// What it is about.
    pub kind: Kind,
    /// When it was owed, or ended.
    pub at: Time,
    /// How it ended; `None`: it is on its way.
    pub outcome: Option<Outcome>,
    /// Why it was not handed over, or not yet.
    pub problem: Option<String>,
}

/// How many tests somebody gets in a minute.
const MOST_TESTS: usize = 3;

/// In seconds.
const MINUTE: i64 = 60;

impl Engine {
    /// How this person is told. Changes nothing.
    pub async fn notice_sheet(&self, person: &PersonActor) -> Result<NoticeSheet, Refusal> {
        let browsers: Vec<BrowserLine> = self
            .store()
            .browsers_of(person.id())
            .await?
            .into_iter()
            .map(|row| BrowserLine {
                id: row.id,
                label: row.label,
                since: row.created_at,
                mark: data_encoding::HEXLOWER.encode(&row.endpoint_hash),
            })
            .collect();
        let latest = self.store().notices_of(&person.id().to_string(), SHOWN).await?;
        let latest = latest.into_iter().filter(|row| row.end.is_none_or(|(end, _)| end != Outcome::Moot));
        Ok(NoticeSheet {
            has_mail: self.catalogue().mail.is_some(),
            choices: self.store().notice_choices(person.id()).await?,
            push_key: self.kept_push_key().await.ok().flatten().map(|key| key.public()),
            after: self.catalogue().notices.after,
            latest: latest.map(|row| line(row, &browsers)).collect(),
            browsers,
        })
    }

    /// Keeps how this person wants to be told.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn set_notice_choices(&self, person: &PersonActor, choices: Choices) -> Result<(), Refusal> {
        person.in_person()?;
        Ok(self.store().set_notice_choices(person.id(), choices, self.now()).await?)
    }

    /// Sends a test on every way of this person's, quiet hours or not, and waits a little for how that ends. `false`:
    /// there is no way. A way whose last test is still on its way gets no second one.
    ///
    /// # Errors
    /// `RateLimited` after three tests within a minute; `Denied` without a live session.
    pub async fn test_notices(&self, person: &PersonActor) -> Result<bool, Refusal> {
        person.in_person()?;
        let addressee = person.id().to_string();
        let choices = self.store().notice_choices(person.id()).await?;
        let mut ways = Vec::new();
        if self.catalogue().mail.is_some() && choices.mail {
            ways.push((Channel::Mail, String::new()));
        }
        let browsers = self.store().browsers_of(person.id()).await?;
        ways.extend(browsers.iter().map(|browser| (Channel::Push, browser.id.to_string())));
        let now = self.now();
        let mut tx = self.store().begin().await?;
        for (channel, target) in &ways {
            let id = NoticeId::from_uuid(self.ambient().uuid());
            let new = NewNotice {
                id,
                addressee: &addressee,
                channel: *channel,
                target,
                kind: Kind::Test,
                created_at: now,
                due_at: now,
            };
            tx.insert_notice(&new).await?;
        }
        // Counted with the new ones: two that are asked for at once cannot both be the last one that may be.
        let most = MOST_TESTS * ways.len().max(1);
        let newest = tx.tests_since(&addressee, now.plus_seconds(-MINUTE)).await?;
        if newest.len() > most {
            let free_at = newest[newest.len() - most - 1].plus_seconds(MINUTE);
            return Err(Refusal::RateLimited { retry_after: seconds_until(free_at, now) });
        }
        tx.commit().await?;
        let engine = self.clone();
        let sending = self.spawn(async move { engine.send_tests_of(&addressee).await });
        // The outbox sends what is not sent by then.
        let _ = tokio::time::timeout(PATIENCE, sending).await;
        Ok(!ways.is_empty())
    }

    async fn send_tests_of(&self, addressee: &str) {
        let Ok(latest) = self.store().notices_of(addressee, SHOWN).await else { return };
        let tests = latest.into_iter().filter(|row| row.kind == Kind::Test && row.end.is_none());
        let sends = tests.map(|test| self.send_notice(test));
        for error in futures::future::join_all(sends).await.into_iter().filter_map(Result::err) {
            tracing::error!(%error, "a test notice could not be marked");
        }
    }
}

fn line(row: NoticeRow, browsers: &[BrowserLine]) -> NoticeLine {
    let named = |browser: &&BrowserLine| browser.id.to_string() == row.target;
    NoticeLine {
        channel: row.channel,
        browser: browsers.iter().find(named).map(|browser| browser.label.clone()),
        kind: row.kind,
        at: row.end.map_or(row.created_at, |(_, at)| at),
        outcome: row.end.map(|(outcome, _)| outcome),
        problem: row.problem,
    }
}

/// What an operator is told of a catalogue whose notices cannot be sent: variables that are not set.
pub fn warnings(catalogue: &Catalogue) -> Vec<String> {
    let mail = catalogue.mail.iter().flat_map(|mail| &mail.password);
    let mail = mail.map(|variable| ("the mail server".to_owned(), variable.as_str()));
    let webhooks = catalogue.webhooks().flat_map(|webhook| {
        webhook.variables().into_iter().map(|variable| (format!("the webhook “{}”", webhook.name), variable))
    });
    mail.chain(webhooks)
        .filter(|(_, variable)| !std::env::var(variable).is_ok_and(|value| !value.is_empty()))
        .map(|(what, variable)| {
            format!(
                "{what} needs the environment variable {variable}, and it is not set. Set it and start the server again. \
                 Until then no notice goes there."
            )
        })
        .collect()
}
