//! Signing in with email and password, and what stands against guessing.
//!
//! A try is counted as a failure before the password is looked at, and taken back when it was right: so many tries at
//! once are no more than so many one after the other. Three counts stand in the database, for every node:
//!
//! - of the address it comes from, whatever accounts it names;
//! - of the account, for every address that it was never signed in to from;
//! - of the account and the address, where it was signed in to from there within thirty days.
//!
//! The last two are one or the other. So nobody can lock somebody out for ever: a stranger's failures never count against
//! the addresses that a person signs in from, and elsewhere no wait is longer than fifteen minutes. A failure is forgotten
//! after a while, and the counts with it.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use model::{Person, PersonId, Refusal, Time};
use sha2::{Digest, Sha256};

use crate::actor::{PersonActor, Via};
use crate::engine::Engine;
use crate::password;
use crate::store::{Limit, Taken};

/// How long a sign-in waits for its turn to be looked at.
const PATIENCE: Duration = Duration::from_secs(5);

/// For one address. Many people may sit behind it.
const OF_ADDRESS: Limit = Limit { burst: 30, forgets_in: 120 };

/// For one account.
const OF_ACCOUNT: Limit = Limit { burst: 5, forgets_in: 600 };

/// How long it is remembered from where somebody signed in, in seconds.
pub(crate) const PLACE_KNOWN: i64 = 30 * 86_400;

/// How long it is remembered that a sign-in came back from a provider, in seconds: longer than any can be good.
const RETURN_KNOWN: i64 = 3_600;

/// Somebody has proved who they are.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// Who.
    pub person: PersonActor,
    /// What a session that begins now has to be of, so that it is worth nothing once all have been ended.
    pub epoch: i64,
}

/// What is counted.
type Subject = [u8; 32];

/// A try that was counted and is not decided yet.
pub(crate) struct Counted {
    /// Each with what was owed afterwards.
    subjects: Vec<(Subject, Limit, i64)>,
}

impl Engine {
    /// The person with this address and password; `None`: wrong, without telling which. `from` is where it comes from.
    /// Where passwords are switched off, every one is wrong and none is looked at.
    ///
    /// # Errors
    /// `RateLimited` when too many have failed: the password was not looked at.
    pub async fn sign_in(
        &self,
        email: &str,
        password: &str,
        from: Option<IpAddr>,
    ) -> Result<Option<SignedIn>, Refusal> {
        if !self.catalogue().sign_in.passwords {
            return Ok(None);
        }
        let email = email.to_lowercase();
        let found = self.store().person_by_email(&email).await?;
        let (person, proof) = found.unzip();
        // Of whomever it is known: asked for one account alone, the waits would tell that there is such an account.
        let place = place(from);
        let is_known = self.store().knows_place(place, self.now().plus_seconds(-PLACE_KNOWN)).await?;
        let account = if is_known {
            subject(&["account from", &email, &written(from)])
        } else {
            subject(&["account", &email])
        };
        let address = (subject(&["address", &written(from)]), OF_ADDRESS);
        let counted = self.count_try(vec![address, (account, OF_ACCOUNT)]).await?;
        let (hash, epoch) = proof.map_or((None, 0), |proof| (proof.password_hash, proof.epoch));
        let is_right = self.verified(password, hash, &counted).await?;
        let Some(person) = person.filter(|person| is_right && person.disabled_at.is_none()) else {
            return Ok(None);
        };
        self.clear_tries(&counted, Some(place)).await?;
        self.store().note_sign_in(person.id, self.now()).await?;
        let groups = self.store().groups_of(person.id).await?;
        Ok(Some(SignedIn { person: PersonActor::new(person, groups, Via::Session), epoch }))
    }

    /// Whether this is the password of somebody who is signed in, who may guess no more often than anybody.
    ///
    /// # Errors
    /// `RateLimited` when too many have failed: the password was not looked at.
    pub(crate) async fn is_password_of(
        &self,
        person: PersonId,
        password: &str,
        hash: Option<String>,
    ) -> Result<bool, Refusal> {
        let subject = subject(&["password of", &person.to_string()]);
        let counted = self.count_try(vec![(subject, OF_ACCOUNT)]).await?;
        let is_right = self.verified(password, hash, &counted).await?;
        if is_right {
            self.clear_tries(&counted, None).await?;
        }
        Ok(is_right)
    }

    /// Counts what somebody at this address tries without a password, as a failure.
    ///
    /// # Errors
    /// `RateLimited` when too many have failed: it is not looked at.
    pub(crate) async fn count_from(&self, from: Option<IpAddr>) -> Result<Counted, Refusal> {
        self.count_try(vec![(subject(&["address", &written(from)]), OF_ADDRESS)]).await
    }

    /// Forgets what strangers failed at an account whose password was set anew.
    pub(crate) async fn forget_failures(&self, person: &Person) -> Result<(), Refusal> {
        let mut tx = self.store().begin().await?;
        tx.forget_tries(subject(&["account", &person.email])).await?;
        Ok(tx.commit().await?)
    }

    /// How many passwords this process has looked at: each cost the same work, whether its account exists or not.
    pub fn passwords_verified(&self) -> u64 {
        self.verifications().load(std::sync::atomic::Ordering::Relaxed)
    }

    /// What has been counted and remembered for long enough is forgotten, a batch of each: how many.
    pub(crate) async fn forget_old_tries(&self, limit: i64) -> Result<u64, crate::store::StoreError> {
        let now = self.now();
        let tries = self.store().delete_old_tries(now, limit).await?;
        let places = self.store().delete_old_places(now.plus_seconds(-PLACE_KNOWN), limit).await?;
        let returns = self.store().delete_old_returns(now.plus_seconds(-RETURN_KNOWN), limit).await?;
        Ok(tries.max(places).max(returns))
    }

    /// Counts a try against all of them, or against none when one of them has to wait. Every try counts in the same
    /// order, so none waits for another in a circle.
    async fn count_try(&self, subjects: Vec<(Subject, Limit)>) -> Result<Counted, Refusal> {
        let now = self.now();
        let (mut wait_until, mut counted) = (None, Vec::new());
        let mut tx = self.store().begin().await?;
        for (subject, limit) in subjects {
            match tx.count_try(subject, limit, now).await? {
                Taken::Yes(owed) => counted.push((subject, limit, owed)),
                Taken::NotBefore(free_at) => wait_until = wait_until.max(Some(free_at)),
            }
        }
        let Some(free_at) = wait_until else {
            tx.commit().await?;
            return Ok(Counted { subjects: counted });
        };
        Err(Refusal::RateLimited { retry_after: seconds_until(free_at, now) })
    }

    /// Looks at the password. Hashing takes a core and 19 MiB: only so many at once, and nobody waits for ever.
    async fn verified(
        &self,
        password: &str,
        hash: Option<String>,
        counted: &Counted,
    ) -> Result<bool, Refusal> {
        let place = tokio::time::timeout(PATIENCE, self.sign_ins().acquire()).await;
        let Ok(Ok(_place)) = place else {
            self.uncount(counted).await?;
            return Err(Refusal::RateLimited { retry_after: 5 });
        };
        self.verifications().fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let password = password.to_owned();
        tokio::task::spawn_blocking(move || password::verify(&password, hash.as_deref()))
            .await
            .map_err(|_| Refusal::Unavailable)
    }

    /// It was right: it is taken back, and where the person signs in from is remembered.
    pub(crate) async fn clear_address(&self, counted: &Counted, from: Option<IpAddr>) -> Result<(), Refusal> {
        self.uncount(counted).await?;
        let mut tx = self.store().begin().await?;
        tx.note_place(place(from), self.now()).await?;
        Ok(tx.commit().await?)
    }

    /// Takes a try back: it did not fail.
    pub(crate) async fn uncount(&self, counted: &Counted) -> Result<(), Refusal> {
        let now = self.now();
        let mut tx = self.store().begin().await?;
        for (subject, limit, owed) in &counted.subjects {
            tx.uncount_try(*subject, *limit, *owed, now).await?;
        }
        Ok(tx.commit().await?)
    }

    /// The password was right: the account's own count, which comes last, is forgotten. The address's is not, or whoever
    /// has an account would sign in to it between two guesses; only this one try is taken back from it.
    async fn clear_tries(&self, counted: &Counted, place: Option<Subject>) -> Result<(), Refusal> {
        let now = self.now();
        let mut tx = self.store().begin().await?;
        if let Some(((account, ..), others)) = counted.subjects.split_last() {
            for (subject, limit, owed) in others {
                tx.uncount_try(*subject, *limit, *owed, now).await?;
            }
            tx.forget_tries(*account).await?;
        }
        if let Some(place) = place {
            tx.note_place(place, now).await?;
        }
        Ok(tx.commit().await?)
    }
}

/// At least a second, so that "again" is never "at once".
pub(crate) fn seconds_until(free_at: Time, now: Time) -> u32 {
    let micros = free_at.micros() - now.micros();
    u32::try_from((micros + 999_999).div_euclid(1_000_000)).unwrap_or(1).max(1)
}

/// Where somebody has signed in from, whoever it was.
fn place(from: Option<IpAddr>) -> Subject {
    subject(&["place", &written(from)])
}

/// What is counted, as a digest: what people type into the wrong box is kept nowhere.
fn subject(parts: &[&str]) -> Subject {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

/// An address as it is counted: of IPv6 the network, because a single machine has as many addresses as it likes there.
fn written(from: Option<IpAddr>) -> String {
    match from.map(|address| address.to_canonical()) {
        None => "nowhere".to_owned(),
        Some(IpAddr::V4(address)) => address.to_string(),
        Some(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_are_one() {
        let at = |text: &str| written(Some(text.parse().expect("an address")));
        assert_eq!(at("2001:db8:1:2::1"), at("2001:db8:1:2:ffff::9"));
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
        assert_ne!(at("192.0.2.1"), written(None));
    }

    #[test]
    fn what_is_counted_is_told_apart_part_by_part() {
        assert_ne!(subject(&["account", "ab"]), subject(&["accounta", "b"]));
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_and_never_as_none() {
        let now = Time::from_micros(10_000_000);
        for (micros, seconds) in [(10_000_000, 1), (9_000_000, 1), (10_000_001, 1), (12_000_001, 3)] {
            assert_eq!(seconds_until(Time::from_micros(micros), now), seconds);
        }
    }
}
