//! Web push: browsers, the key that push services know this desk by (VAPID, RFC 8292), and messages that only the
//! browser can read (RFC 8291).

mod encoding;
mod vapid;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderName, HeaderValue, header};
use model::{BrowserId, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::webhook::{Post, credential};
use super::words::Words;
use super::{Kind, NotDelivered};
use crate::actor::PersonActor;
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::seal::Purpose;
use crate::store::{BrowserRow, NoticeRow};

/// How many browsers one person has at most.
const MOST_BROWSERS: usize = 20;

/// The longest endpoint that is kept, in bytes.
const LONGEST_ENDPOINT: usize = 2_048;

/// For how many seconds a push service keeps a notice for a browser that is off.
const KEPT: u32 = 43_200;

/// A browser that wants to be told, as its script tells it.
#[derive(Debug, Clone)]
pub struct NewBrowser {
    /// The address of its push service.
    pub endpoint: String,
    /// Its public key: base64url of 65 bytes.
    pub p256dh: String,
    /// Its authentication secret: base64url of 16 bytes.
    pub auth: String,
    /// What its person sees, such as “Firefox on Linux”.
    pub label: String,
}

/// What is sealed of a browser.
#[derive(Serialize, Deserialize)]
struct Subscription {
    endpoint: String,
    p256dh: String,
    auth: String,
}

impl Engine {
    /// Tells this person in this browser from now on. A browser that is known already is known by its newest keys.
    ///
    /// # Errors
    /// `Invalid` when the endpoint is none that may be sent to, the keys are none, or there are too many browsers;
    /// `Denied` without a live session.
    pub async fn add_browser(&self, person: &PersonActor, new: NewBrowser) -> Result<BrowserId, Refusal> {
        person.in_person()?;
        self.check_browser(&new)?;
        self.push_key().await?;
        let endpoint_hash: [u8; 32] = Sha256::digest(&new.endpoint).into();
        let others = self.store().browsers_of(person.id()).await?;
        if others.iter().filter(|other| other.endpoint_hash != endpoint_hash).count() >= MOST_BROWSERS {
            return Err(Refusal::invalid("/endpoint", "Twenty browsers are told already. Remove one first."));
        }
        let id = BrowserId::from_uuid(self.ambient().uuid());
        let label: String = new.label.trim().chars().filter(|c| !c.is_control()).take(80).collect();
        let subscription = Subscription { endpoint: new.endpoint, p256dh: new.p256dh, auth: new.auth };
        let plain = serde_json::to_vec(&subscription).unwrap_or_default();
        let browser = BrowserRow {
            id,
            person: person.id(),
            endpoint_hash,
            label: if label.is_empty() { "A browser".to_owned() } else { label },
            data: self.sealer().seal(Purpose::Browser, &id.to_string(), &plain),
            created_at: self.now(),
        };
        let mut tx = self.store().begin().await?;
        tx.insert_browser(&browser).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// Tells a person in this browser no more. `false`: it is none of theirs.
    ///
    /// # Errors
    /// `Denied` without a live session.
    pub async fn remove_browser(&self, person: &PersonActor, id: BrowserId) -> Result<bool, Refusal> {
        person.in_person()?;
        Ok(self.store().delete_browser(person.id(), id).await?)
    }

    fn check_browser(&self, new: &NewBrowser) -> Result<(), Refusal> {
        let refuse =
            |why: String| Refusal::invalid("/endpoint", format!("This push service cannot be used. {why}"));
        if new.endpoint.len() > LONGEST_ENDPOINT {
            return Err(refuse("Its address is too long.".to_owned()));
        }
        let url = crate::egress::parse_url(&new.endpoint).map_err(|blocked| refuse(blocked.to_string()))?;
        let settings = self.catalogue().notices.clone();
        let credential = credential(&url, header::AUTHORIZATION, settings.allow_http, settings.allow_private);
        let outgoing = Outgoing {
            method: http::Method::POST,
            url,
            values_encoded: false,
            headers: Vec::new(),
            body: None,
        };
        self.egress().check(Some(&credential), outgoing).map_err(|blocked| refuse(blocked.to_string()))?;
        let fits =
            decoded::<65>(&new.p256dh).is_some_and(|key| key[0] == 4) && decoded::<16>(&new.auth).is_some();
        if fits { Ok(()) } else { Err(Refusal::invalid("/keys", "The keys of this browser cannot be read.")) }
    }

    pub(super) async fn send_push(&self, notice: &NoticeRow, words: &Words) -> Result<(), NotDelivered> {
        let gone = || NotDelivered::Never("The browser is told no more.".to_owned());
        let id: BrowserId = notice.target.parse().map_err(|_| gone())?;
        let browser = self.store().browser(id).await.map_err(|error| unseen(&error))?;
        // A browser that somebody else uses by now is theirs.
        let browser = browser.filter(|one| one.person.to_string() == notice.addressee).ok_or_else(gone)?;
        let post = self.pushed(&browser, notice.kind, words).await?;
        match self.post(post).await? {
            200..=299 => Ok(()),
            status @ (404 | 410) => {
                self.store().delete_browser(browser.person, id).await.map_err(|error| unseen(&error))?;
                Err(NotDelivered::Never(format!("The browser has ended it ({status}), and was removed.")))
            }
            status => Err(NotDelivered::Later(format!("The push service answered {status}."))),
        }
    }

    /// The message to a browser's push service.
    async fn pushed(&self, browser: &BrowserRow, kind: Kind, words: &Words) -> Result<Post, NotDelivered> {
        let unreadable = || {
            NotDelivered::Never("The keys of this browser cannot be read. Turn it on there again.".to_owned())
        };
        let opened = self.sealer().open(Purpose::Browser, &browser.id.to_string(), &browser.data);
        let subscription: Subscription =
            opened.ok().and_then(|plain| serde_json::from_slice(&plain).ok()).ok_or_else(unreadable)?;
        let url = Url::parse(&subscription.endpoint).map_err(|_| unreadable())?;
        let p256dh = decoded::<65>(&subscription.p256dh).ok_or_else(unreadable)?;
        let auth = decoded::<16>(&subscription.auth).ok_or_else(unreadable)?;
        let message =
            json!({ "title": words.title, "body": words.since, "path": words.path, "tag": kind.as_str() });
        let body =
            encoding::encrypt(message.to_string().as_bytes(), &p256dh, &auth, self.ambient().bytes::<16>())
                .ok_or_else(unreadable)?;
        let key = self
            .push_key()
            .await
            .map_err(|_| NotDelivered::Later("The desk's push key cannot be read.".to_owned()))?;
        let proof = key
            .authorization(&url, self.now(), self.contact().as_deref())
            .ok_or_else(|| NotDelivered::Later("The desk's push key cannot be used.".to_owned()))?;
        let headers = vec![
            (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
            (header::CONTENT_ENCODING, HeaderValue::from_static("aes128gcm")),
            (HeaderName::from_static("ttl"), HeaderValue::from(KEPT)),
            (HeaderName::from_static("topic"), HeaderValue::from_static(kind.as_str())),
        ];
        let settings = self.catalogue().notices.clone();
        Ok(Post {
            url,
            headers,
            body,
            proof: (header::AUTHORIZATION, proof),
            allow_http: settings.allow_http,
            allow_private: settings.allow_private,
        })
    }

    /// Whom a push service can turn to (RFC 8292, section 2.1).
    fn contact(&self) -> Option<String> {
        let catalogue = self.catalogue();
        let url = &catalogue.server.public_url;
        match &catalogue.mail {
            Some(mail) => Some(format!("mailto:{}", mail.from)),
            None => (url.scheme() == "https").then(|| url.as_str().to_owned()),
        }
    }
}

fn unseen(error: &crate::store::StoreError) -> NotDelivered {
    tracing::error!(%error, "a browser could not be looked up");
    NotDelivered::Later("The database did not answer.".to_owned())
}

fn decoded<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?.try_into().ok()
}
