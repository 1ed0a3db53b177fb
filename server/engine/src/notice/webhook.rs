//! Webhooks of the catalogue: Standard Webhooks, and Slack. Sent through the desk's one way out, once a try.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, header};
use ring::hmac;
use serde_json::json;
use url::Url;

use super::words::Words;
use super::{Kind, NotDelivered, WEBHOOK};
use crate::catalogue::{Webhook, WebhookKind, WebhookUrl};
use crate::credential::{Credential, HostRule, SecretSource};
use crate::egress::{NeverLeft, Sent};
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::secret::Secret;
use crate::store::NoticeRow;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// A request whose one telling header egress puts in, where nothing prints it.
pub(super) struct Post {
    pub(super) url: Url,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Vec<u8>,
    /// The header that tells who is asking, and its value.
    pub(super) proof: (HeaderName, String),
    pub(super) allow_http: bool,
    pub(super) allow_private: bool,
}

impl Engine {
    pub(super) async fn send_webhook(&self, notice: &NoticeRow, words: &Words) -> Result<(), NotDelivered> {
        let name = notice.addressee.strip_prefix(WEBHOOK).unwrap_or_default();
        let Some(webhook) = self.catalogue().webhook(name).cloned() else {
            return Err(NotDelivered::Never("The catalogue has no such webhook any more.".to_owned()));
        };
        let url = address(&webhook)?;
        let (id, seconds) = (notice.id.to_string(), self.now().micros() / 1_000_000);
        let desk = self.public_url();
        let mut headers = vec![(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let (body, proof) = match &webhook.kind {
            WebhookKind::Standard { secret } => {
                let body = standard_body(notice.kind, words, &desk, self.now());
                let signature = signature(&key(secret)?, &id, seconds, &body);
                headers.push((ID, HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("?"))));
                headers.push((TIMESTAMP, HeaderValue::from(seconds)));
                (body, (SIGNATURE, signature))
            }
            WebhookKind::Slack => {
                let body = json!({ "text": words.line(&desk), "unfurl_links": false });
                (body.to_string().into_bytes(), (ID, id))
            }
        };
        let Webhook { allow_http, allow_private, .. } = *webhook;
        match self.post(Post { url, headers, body, proof, allow_http, allow_private }).await? {
            200..=299 => Ok(()),
            410 => Err(NotDelivered::Never("The webhook is gone (410).".to_owned())),
            status => Err(NotDelivered::Later(format!("The webhook answered {status}."))),
        }
    }

    /// Sends a notice once, and gives the status of its answer. No redirect is followed.
    pub(super) async fn post(&self, post: Post) -> Result<u16, NotDelivered> {
        let (header, proof) = post.proof;
        let credential = credential(&post.url, header, post.allow_http, post.allow_private);
        let outgoing = Outgoing {
            method: Method::POST,
            url: post.url,
            values_encoded: false,
            headers: post.headers,
            body: Some(Bytes::from(post.body)),
        };
        let checked = self
            .egress()
            .check(Some(&credential), outgoing)
            .map_err(|blocked| NotDelivered::Never(blocked.to_string()))?;
        match self.egress().send(checked, Some(&Secret::new(proof)), None).await {
            Sent::Answered(answer) => Ok(answer.status),
            Sent::NeverLeft(NeverLeft::Blocked(blocked)) => Err(NotDelivered::Never(blocked.to_string())),
            Sent::NeverLeft(why) => Err(NotDelivered::Later(why.to_string())),
            Sent::Unknown(why) => Err(NotDelivered::Later(why.to_string())),
        }
    }
}

/// What lets a notice out to this one host.
pub(super) fn credential(url: &Url, header: HeaderName, allow_http: bool, allow_private: bool) -> Credential {
    let host = HostRule { host: url.host_str().unwrap_or_default().to_owned(), port: url.port() };
    Credential {
        name: "notice".to_owned(),
        hosts: vec![host],
        base_url: None,
        methods: vec![Method::POST],
        path_prefixes: Vec::new(),
        allow: Vec::new(),
        header,
        value: "{secret}".to_owned(),
        secret: SecretSource::Store,
        requires_approval: false,
        trusted: false,
        allow_http,
        allow_private,
        in_doubt_on: Vec::new(),
    }
}

fn address(webhook: &Webhook) -> Result<Url, NotDelivered> {
    match &webhook.url {
        WebhookUrl::Written(url) => Ok(url.clone()),
        WebhookUrl::Env(variable) => {
            let text = of_environment(variable)?;
            let wrong =
                |_| NotDelivered::Later(format!("What {variable} holds is no address that can be sent to."));
            crate::egress::parse_url(&text).map_err(wrong)
        }
    }
}

/// The key of `whsec_` and base64.
fn key(variable: &str) -> Result<Vec<u8>, NotDelivered> {
    let text = of_environment(variable)?;
    let bytes = STANDARD.decode(text.trim().strip_prefix("whsec_").unwrap_or_default()).unwrap_or_default();
    if (24..=64).contains(&bytes.len()) {
        return Ok(bytes);
    }
    Err(NotDelivered::Later(format!(
        "What {variable} holds is no secret: it is whsec_ and base64 of 24 to 64 bytes."
    )))
}

fn of_environment(variable: &str) -> Result<String, NotDelivered> {
    std::env::var(variable)
        .map_err(|_| NotDelivered::Later(format!("The environment variable {variable} is not set.")))
}

fn standard_body(kind: Kind, words: &Words, desk: &str, now: model::Time) -> Vec<u8> {
    let kind = if kind == Kind::Overridden { "calls.overridden" } else { "calls.waiting" };
    let data =
        json!({ "count": words.count, "oldest_at": words.oldest, "url": format!("{desk}{}", words.path) });
    json!({ "type": kind, "timestamp": now, "data": data }).to_string().into_bytes()
}

/// `v1,` and base64 of the HMAC over id, timestamp and body.
fn signature(key: &[u8], id: &str, seconds: i64, body: &[u8]) -> String {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    context.update(format!("{id}.{seconds}.").as_bytes());
    context.update(body);
    format!("v1,{}", STANDARD.encode(context.sign()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks' own libraries.
    #[test]
    fn the_signature_is_the_standard_one() {
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("base64");
        let body = br#"{"test": 2432232314}"#;
        let signed = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
