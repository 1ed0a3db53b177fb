//! Whether the provider's word is the provider's, is about this sign-in, and counts now (OpenID Connect Core 1.0, section
//! 3.1.3.7).

use std::sync::Arc;

use chrono::{DateTime, Utc};
use model::Time;
use openidconnect::core::{CoreErrorResponseType, CoreGenderClaim, CoreJwsSigningAlgorithm};
use openidconnect::{
    AccessTokenHash, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, IdTokenClaims,
    IdTokenVerifier, Nonce, OAuth2TokenResponse, PkceCodeVerifier, RequestTokenError,
    SignatureVerificationError, StandardErrorResponse, SubjectIdentifier, TokenResponse, UserInfoClaims,
    UserInfoError,
};

use super::ask::NoAnswer;
use super::claims::{Claims, Extra};
use super::discovery::Metadata;
use super::pass::Pass;
use super::{DeskClient, DeskToken, NotSignedIn, Tokens, is_subject};
use crate::catalogue::ProviderSettings;
use crate::engine::Engine;
use crate::store::Subject;

/// How far the provider's clock and the desk's may be apart, in seconds.
const SKEW: i64 = 60;

/// Signatures that only the provider can make. A shared secret is known to both, and none proves nothing.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// Somebody whom the provider vouches for.
#[derive(Debug)]
pub(super) struct Proven {
    /// Who it is there.
    pub(super) subject: String,
    /// What else it says.
    pub(super) claims: Claims,
}

impl Engine {
    /// Exchanges the code for the provider's word, and proves it.
    pub(super) async fn proven(
        &self,
        settings: &ProviderSettings,
        metadata: &Arc<Metadata>,
        code: String,
        pass: Pass,
    ) -> Result<Proven, NotSignedIn> {
        let credential = settings.credential();
        let secret = self.secret_of(credential.as_ref()).await.map_err(|_| NotSignedIn::NotAClient)?;
        let secret = secret.map(|secret| ClientSecret::new(secret.expose().to_owned()));
        let client = self.client(settings, metadata, secret)?;
        let asking = self.asking(settings);
        let request =
            client.exchange_code(AuthorizationCode::new(code)).map_err(|_| NotSignedIn::Unreachable)?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(pass.verifier));
        let tokens = request.request_async(&asking).await.map_err(|error| not_exchanged(&error))?;
        let token = tokens.id_token().ok_or_else(|| doubt("there is no ID token"))?;
        let nonce = Nonce::new(pass.nonce);
        let claims = match self.claims(settings, metadata, token, &nonce) {
            // It may sign with a key that it did not have when it was asked.
            Err(Doubt::NoSuchKey) => {
                let metadata = self.discovered_again(settings).await?;
                let claims = self.claims(settings, &metadata, token, &nonce).map_err(NotSignedIn::from)?;
                self.check_access_token(settings, &metadata, &tokens, claims)?;
                claims
            }
            claims => {
                let claims = claims?;
                self.check_access_token(settings, metadata, &tokens, claims)?;
                claims
            }
        };
        self.told_of(settings, &client, &tokens, claims).await
    }

    /// The claims of a token that is the provider's, for this desk, of this sign-in, and of now.
    fn claims<'t>(
        &self,
        settings: &ProviderSettings,
        metadata: &Metadata,
        token: &'t DeskToken,
        nonce: &Nonce,
    ) -> Result<&'t IdTokenClaims<Extra, CoreGenderClaim>, Doubt> {
        let claims = token.claims(&self.verifier(settings, metadata), nonce)?;
        if claims.authorized_party().is_some_and(|party| party.as_str() != settings.client_id) {
            return Err(Doubt::Of("the token was made for another client"));
        }
        if !is_subject(claims.subject().as_str()) {
            return Err(Doubt::Of("the token's subject cannot be used"));
        }
        Ok(claims)
    }

    fn verifier(
        &self,
        settings: &ProviderSettings,
        metadata: &Metadata,
    ) -> IdTokenVerifier<'static, openidconnect::core::CoreJsonWebKey> {
        let (earliest, latest) = (at(self.now().plus_seconds(-SKEW)), at(self.now().plus_seconds(SKEW)));
        let issued =
            move |at: DateTime<Utc>| if at <= latest { Ok(()) } else { Err("of the future".to_owned()) };
        IdTokenVerifier::new_public_client(
            ClientId::new(settings.client_id.clone()),
            metadata.issuer().clone(),
            metadata.jwks().clone(),
        )
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || earliest)
        .set_issue_time_verifier_fn(issued)
    }

    /// Where the token names an access token, it is the one that came with it.
    fn check_access_token(
        &self,
        settings: &ProviderSettings,
        metadata: &Metadata,
        tokens: &Tokens,
        claims: &IdTokenClaims<Extra, CoreGenderClaim>,
    ) -> Result<(), NotSignedIn> {
        let Some(named) = claims.access_token_hash() else { return Ok(()) };
        let token = tokens.id_token().ok_or_else(|| doubt("there is no ID token"))?;
        let verifier = self.verifier(settings, metadata);
        let (algorithm, key) = (token.signing_alg(), token.signing_key(&verifier));
        let (Ok(algorithm), Ok(key)) = (algorithm, key) else { return Err(doubt("its key is not known")) };
        match AccessTokenHash::from_token(tokens.access_token(), algorithm, key) {
            Ok(came) if came == *named => Ok(()),
            _ => Err(doubt("the access token is another one")),
        }
    }

    /// What the provider says of this person: in its token, and elsewhere where the token does not say what is needed.
    async fn told_of(
        &self,
        settings: &ProviderSettings,
        client: &DeskClient,
        tokens: &Tokens,
        claims: &IdTokenClaims<Extra, CoreGenderClaim>,
    ) -> Result<Proven, NotSignedIn> {
        let subject = claims.subject().as_str().to_owned();
        let mut told = Claims::of_token(claims, &settings.groups_claim);
        let of = Subject { issuer: &settings.issuer, subject: &subject };
        let is_linked = self.store().person_by_identity(of).await?.is_some();
        let lacks_email = !is_linked && told.email.is_none();
        let lacks_groups = !settings.groups.is_empty() && told.groups.is_none();
        if (lacks_email || lacks_groups) && client.user_info_url().is_some() {
            let info = self.user_info(settings, client, tokens, claims.subject()).await?;
            told = told.and(&info, &settings.groups_claim);
        }
        Ok(Proven { subject, claims: told })
    }

    async fn user_info(
        &self,
        settings: &ProviderSettings,
        client: &DeskClient,
        tokens: &Tokens,
        subject: &SubjectIdentifier,
    ) -> Result<UserInfoClaims<Extra, CoreGenderClaim>, NotSignedIn> {
        let asking = self.asking(settings);
        let request = client
            .user_info(tokens.access_token().clone(), Some(subject.clone()))
            .map_err(|_| NotSignedIn::Unreachable)?;
        request.request_async(&asking).await.map_err(|error| {
            if matches!(error, UserInfoError::ClaimsVerification(_)) {
                return doubt("the user's claims are another's");
            }
            tracing::error!("the provider did not tell the user's claims");
            NotSignedIn::Unreachable
        })
    }
}

/// Why a token is not taken.
enum Doubt {
    /// It is signed with a key that the provider did not name.
    NoSuchKey,
    /// It counts no more, or not yet.
    Clock,
    /// Anything else, in words for the log.
    Of(&'static str),
}

impl From<Doubt> for NotSignedIn {
    fn from(why: Doubt) -> Self {
        match why {
            Doubt::NoSuchKey => doubt("it is signed with a key that the provider does not name"),
            Doubt::Clock => {
                tracing::error!("the provider's token has run out, or is of the future");
                Self::Clock
            }
            Doubt::Of(why) => doubt(why),
        }
    }
}

impl From<ClaimsVerificationError> for Doubt {
    fn from(error: ClaimsVerificationError) -> Self {
        match error {
            ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey) => {
                Self::NoSuchKey
            }
            ClaimsVerificationError::Expired(_) => Self::Clock,
            ClaimsVerificationError::InvalidAudience(_) => Self::Of("the token is not for this desk alone"),
            ClaimsVerificationError::InvalidIssuer(_) => Self::Of("the token is another issuer's"),
            ClaimsVerificationError::InvalidNonce(_) => Self::Of("the token is of another sign-in"),
            ClaimsVerificationError::SignatureVerification(_) => {
                Self::Of("the token's signature does not count")
            }
            _ => Self::Of("the token cannot be used"),
        }
    }
}

/// Told to whoever reads the log, and to nobody else.
fn doubt(why: &'static str) -> NotSignedIn {
    tracing::warn!(why, "the provider's word is not taken");
    NotSignedIn::Unproven
}

/// Why the code was not exchanged. A body that cannot be read is never repeated: there may be tokens in it.
fn not_exchanged(
    error: &RequestTokenError<NoAnswer, StandardErrorResponse<CoreErrorResponseType>>,
) -> NotSignedIn {
    let RequestTokenError::ServerResponse(response) = error else {
        let why = match error {
            RequestTokenError::Request(why) => why.to_string(),
            _ => "its answer cannot be read".to_owned(),
        };
        tracing::error!(why, "the provider did not exchange a code");
        return NotSignedIn::Unreachable;
    };
    match response.error() {
        CoreErrorResponseType::InvalidGrant => NotSignedIn::Stale,
        CoreErrorResponseType::Extension(_) => {
            tracing::error!("the provider did not exchange a code, for a reason of its own");
            NotSignedIn::NotAClient
        }
        known => {
            tracing::error!(error = known.as_ref(), "the provider does not take this desk for its client");
            NotSignedIn::NotAClient
        }
    }
}

fn at(time: Time) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(time.micros()).unwrap_or_default()
}
