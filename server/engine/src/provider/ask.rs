//! Requests to the provider, through the one door out of the house: each once, with little time and little to read.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, Method, header};
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use url::Url;

use super::SECRET_NAME;
use crate::ambient::Ambient;
use crate::catalogue::ProviderSettings;
use crate::credential::{Credential, HostRule, SecretSource};
use crate::egress::{BodyRead, Egress, Limits, NeverLeft, Sent, Unknown};
use crate::engine::Engine;
use crate::outgoing::Outgoing;
use crate::secret::Secret;

/// More than any provider's documents and tokens need.
const LIMITS: Limits = Limits {
    request_body: 64 * 1024,
    response_body: 512 * 1024,
    connect: Duration::from_secs(5),
    answer: Duration::from_secs(10),
};

/// Names a request that carries nothing to prove.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Why there is no answer of the provider.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    #[error("its address cannot be used")]
    Address,
    #[error("{0}")]
    Blocked(#[from] crate::egress::Blocked),
    #[error("{0}")]
    NeverLeft(#[from] NeverLeft),
    #[error("{0}")]
    Unknown(Unknown),
    #[error("what it answered is too long, or broke off")]
    Body,
}

/// Asks the provider.
pub(super) struct Asking<'e> {
    pub(super) egress: &'e Egress,
    pub(super) ambient: &'e Ambient,
    pub(super) settings: &'e ProviderSettings,
}

impl Engine {
    /// What asks the provider for this desk.
    pub(super) fn asking<'e>(&'e self, settings: &'e ProviderSettings) -> Asking<'e> {
        Asking { egress: self.egress(), ambient: self.ambient(), settings }
    }
}

impl<'c> AsyncHttpClient<'c> for Asking<'_> {
    type Error = NoAnswer;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, NoAnswer>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.ask(request))
    }
}

impl Asking<'_> {
    async fn ask(&self, request: HttpRequest) -> Result<HttpResponse, NoAnswer> {
        let (parts, body) = request.into_parts();
        let url = Url::parse(&parts.uri.to_string()).map_err(|_| NoAnswer::Address)?;
        let (proof, secret) = self.proof(parts.headers.get(header::AUTHORIZATION))?;
        let passage = passage(Some(&url), proof, self.settings);
        let outgoing = Outgoing {
            method: parts.method.clone(),
            url,
            values_encoded: true,
            headers: parts.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            body: (parts.method != Method::GET).then(|| Bytes::from(body)),
        };
        let egress = self.egress.within(LIMITS);
        let checked = egress.check(Some(&passage), outgoing)?;
        match egress.send(checked, Some(&secret), None).await {
            Sent::Answered(answer) => {
                let BodyRead::Whole(body) = answer.body else { return Err(NoAnswer::Body) };
                let mut response = HttpResponse::new(body.to_vec());
                *response.status_mut() =
                    http::StatusCode::from_u16(answer.status).map_err(|_| NoAnswer::Body)?;
                *response.headers_mut() = answer.headers;
                Ok(response)
            }
            Sent::NeverLeft(why) => Err(why.into()),
            Sent::Unknown(why) => Err(NoAnswer::Unknown(why)),
        }
    }

    /// What egress puts in last: the request's own proof, or where it has none a name of its own.
    fn proof(&self, proof: Option<&http::HeaderValue>) -> Result<(HeaderName, Secret), NoAnswer> {
        let Some(proof) = proof else {
            let name = data_encoding::HEXLOWER.encode(&self.ambient.bytes::<16>());
            return Ok((REQUEST_ID, Secret::new(name)));
        };
        let text = proof.to_str().map_err(|_| NoAnswer::Address)?;
        Ok((header::AUTHORIZATION, Secret::new(text.to_owned())))
    }
}

/// What lets a request out to the provider's own address, and to none without.
pub(super) fn passage(to: Option<&Url>, header: HeaderName, settings: &ProviderSettings) -> Credential {
    let host = |url: &Url| HostRule { host: url.host_str().unwrap_or_default().to_owned(), port: url.port() };
    Credential {
        name: SECRET_NAME.to_owned(),
        hosts: to.map(host).into_iter().collect(),
        base_url: None,
        methods: vec![Method::GET, Method::POST],
        path_prefixes: Vec::new(),
        allow: Vec::new(),
        header,
        value: "{secret}".to_owned(),
        secret: SecretSource::Store,
        requires_approval: false,
        trusted: false,
        allow_http: settings.allow_http,
        allow_private: settings.allow_private,
        in_doubt_on: Vec::new(),
    }
}
