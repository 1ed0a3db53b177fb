//! Signing in through a provider that speaks OpenID Connect: the authorization code flow with PKCE (RFC 7636, S256).
//!
//! Nothing is kept of a sign-in that has begun. What it has to come back with is sealed in a cookie of the one browser
//! that began it, and is good for ten minutes; that it came back is written down first, so that none comes back twice.
//! Whom the provider's word signs in stands in [`person`]: a link of issuer and subject, made once by a verified address.

mod ask;
mod claims;
mod discovery;
mod pass;
mod person;
mod proof;

use std::net::IpAddr;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::Refusal;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreResponseType, CoreRevocableToken,
    CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AuthType, AuthenticationFlow, Client, ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, IdToken, IdTokenFields, Nonce, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, Scope, StandardErrorResponse, StandardTokenResponse,
};
use sha2::{Digest, Sha256};

use self::claims::Extra;
pub(crate) use self::discovery::Discovered;
use self::discovery::Metadata;
pub use self::discovery::look_at;
use self::pass::Pass;
use crate::catalogue::{ProviderSettings, SignInSettings};
use crate::credential::Credential;
use crate::engine::Engine;
use crate::sign_in::SignedIn;
use crate::store::Store;

/// Where the provider sends people back to.
pub const RETURN: &str = "/sign-in/oidc/callback";

/// What the desk's secret at the provider is called in the sealed store. No credential of a catalogue can have this name.
pub const SECRET_NAME: &str = "sign_in.oidc";

type DeskToken = IdToken<Extra, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm>;

type Tokens = StandardTokenResponse<
    IdTokenFields<
        Extra,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;

type DeskClient = Client<
    Extra,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    Tokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// A sign-in that has begun.
#[derive(Debug, Clone)]
pub struct Begun {
    /// Where the browser goes on: the provider.
    pub to: String,
    /// What the provider has to bring back.
    pub state: String,
    /// What the browser has to bring back beside it, and nobody else may have.
    pub pass: String,
}

/// A sign-in that comes back from the provider. Of a parameter that came twice, none came.
#[derive(Clone, Default)]
pub struct Return {
    /// What it was begun with.
    pub state: Option<String>,
    /// What the browser kept.
    pub pass: Option<String>,
    /// What the provider tells who it is for.
    pub code: Option<String>,
    /// What the provider says instead.
    pub error: Option<String>,
    /// The provider's name for itself (RFC 9207).
    pub issuer: Option<String>,
}

/// How a sign-in through the provider ended.
#[derive(Debug)]
pub struct Finished {
    /// Where its person wanted to go.
    pub next: String,
    /// Who it is.
    pub outcome: Result<SignedIn, NotSignedIn>,
}

/// Why somebody is not signed in.
#[derive(Debug, Clone, PartialEq)]
pub enum NotSignedIn {
    /// The catalogue has no provider.
    NoProvider,
    /// Too many have failed: not before so many seconds.
    Later(u32),
    /// The provider did not answer, or not as one does.
    Unreachable,
    /// The provider does not take this desk for one it knows.
    NotAClient,
    /// The provider said no, or its person did.
    Denied,
    /// It was begun in another browser, came back before, or took too long.
    Stale,
    /// What the provider says has run out, or is of the future.
    Clock,
    /// What the provider says could not be proven.
    Unproven,
    /// There is no account that can be used.
    Nobody,
    /// The desk itself cannot.
    Desk(Refusal),
}

impl<E: Into<Refusal>> From<E> for NotSignedIn {
    fn from(refusal: E) -> Self {
        match refusal.into() {
            Refusal::RateLimited { retry_after } => Self::Later(retry_after),
            refusal => Self::Desk(refusal),
        }
    }
}

impl NotSignedIn {
    /// Whether it may have been somebody who tries out what they do not know.
    const fn is_a_guess(&self) -> bool {
        matches!(self, Self::Stale | Self::Unproven | Self::Nobody)
    }
}

impl Engine {
    /// Begins a sign-in: where its browser goes, and what it keeps meanwhile. `next` is where its person wants to go.
    ///
    /// # Errors
    /// `NoProvider` and `Unreachable`.
    pub async fn begin_at_provider(&self, next: &str) -> Result<Begun, NotSignedIn> {
        let settings = self.provider()?;
        let metadata = self.discovered(&settings).await?;
        let fresh = || URL_SAFE_NO_PAD.encode(self.ambient().bytes::<32>());
        let (state, nonce) = (fresh(), fresh());
        let verifier = PkceCodeVerifier::new(fresh());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        let pass = Pass {
            issuer: settings.issuer.clone(),
            nonce: nonce.clone(),
            verifier: verifier.secret().clone(),
            next: next.to_owned(),
            begun_at: self.now(),
        };
        let client = self.client(&settings, &metadata, None)?;
        let (csrf, nonce) = (CsrfToken::new(state.clone()), Nonce::new(nonce));
        let flow = AuthenticationFlow::<CoreResponseType>::AuthorizationCode;
        let (to, ..) = client
            .authorize_url(flow, move || csrf, move || nonce)
            .add_scopes(settings.scopes.iter().cloned().map(Scope::new))
            .set_pkce_challenge(challenge)
            .url();
        Ok(Begun { to: to.into(), pass: pass.sealed(self.sealer(), &state), state })
    }

    /// Finishes a sign-in that comes back. `from` is where it comes from.
    pub async fn finish_at_provider(&self, came: Return, from: Option<IpAddr>) -> Finished {
        let pass = self.pass_of(&came);
        let next = pass.as_ref().map_or_else(|| "/inbox".to_owned(), |pass| pass.next.clone());
        let outcome = self.finish(came, pass, from).await;
        if let Err(why) = &outcome {
            tracing::warn!(?why, "a sign-in through the provider failed");
        }
        Finished { next, outcome }
    }

    /// What came counts as a failure before it is looked at, and is taken back when it was right or nobody's guess.
    async fn finish(
        &self,
        came: Return,
        pass: Option<Pass>,
        from: Option<IpAddr>,
    ) -> Result<SignedIn, NotSignedIn> {
        let settings = self.provider()?;
        let counted = self.count_from(from).await?;
        let outcome = self.looked_at(&settings, came, pass).await;
        if !outcome.as_ref().is_err_and(NotSignedIn::is_a_guess) {
            self.uncount(&counted).await?;
        }
        outcome
    }

    async fn looked_at(
        &self,
        settings: &ProviderSettings,
        came: Return,
        pass: Option<Pass>,
    ) -> Result<SignedIn, NotSignedIn> {
        let pass = pass.filter(|pass| pass.issuer == settings.issuer).ok_or(NotSignedIn::Stale)?;
        let state = Sha256::digest(came.state.as_deref().unwrap_or_default()).into();
        if !self.store().spend_return(state, self.now()).await? {
            return Err(NotSignedIn::Stale);
        }
        let metadata = self.discovered(settings).await?;
        check_sender(settings, &metadata, came.issuer.as_deref())?;
        if let Some(error) = came.error {
            return Err(told(&error));
        }
        let code = came.code.ok_or(NotSignedIn::Unproven)?;
        let proven = self.proven(settings, &metadata, code, pass).await?;
        self.admitted(settings, proven).await
    }

    fn provider(&self) -> Result<ProviderSettings, NotSignedIn> {
        self.catalogue().sign_in.oidc.clone().ok_or(NotSignedIn::NoProvider)
    }

    /// The desk as the provider's client. The secret goes along where the provider wants it.
    fn client(
        &self,
        settings: &ProviderSettings,
        metadata: &Metadata,
        secret: Option<ClientSecret>,
    ) -> Result<DeskClient, NotSignedIn> {
        let back = RedirectUrl::new(self.url(RETURN)).map_err(|_| NotSignedIn::NotAClient)?;
        let has_secret = secret.is_some();
        let client = Client::from_provider_metadata(
            metadata.clone(),
            ClientId::new(settings.client_id.clone()),
            secret,
        );
        let auth = if has_secret && discovery::takes_basic(metadata) {
            AuthType::BasicAuth
        } else {
            AuthType::RequestBody
        };
        Ok(client.set_redirect_uri(back).set_auth_type(auth))
    }
}

/// The longest name of a person at a provider, in bytes (OpenID Connect Core 1.0, section 2).
const LONGEST_SUBJECT: usize = 255;

/// Whether a text can be somebody's name at a provider.
pub(crate) fn is_subject(text: &str) -> bool {
    (1..=LONGEST_SUBJECT).contains(&text.len()) && !text.contains('\0')
}

/// An answer names its sender where the provider does so: one of another provider is none of ours (RFC 9207).
fn check_sender(
    settings: &ProviderSettings,
    metadata: &Metadata,
    sender: Option<&str>,
) -> Result<(), NotSignedIn> {
    let fits = match sender {
        Some(sender) => sender == settings.issuer,
        None => !metadata.additional_metadata().names_itself(),
    };
    if fits {
        return Ok(());
    }
    tracing::warn!("what came back from a sign-in does not name the provider it was begun at");
    Err(NotSignedIn::Unproven)
}

/// What an error of the provider means (RFC 6749, section 4.1.2.1). Its own words are not repeated: anybody can write them
/// into an address.
fn told(error: &str) -> NotSignedIn {
    match error {
        "access_denied"
        | "login_required"
        | "consent_required"
        | "interaction_required"
        | "account_selection_required" => NotSignedIn::Denied,
        "server_error" | "temporarily_unavailable" => NotSignedIn::Unreachable,
        _ => NotSignedIn::NotAClient,
    }
}

impl ProviderSettings {
    /// The desk's secret there, as a credential that leads nowhere; `None`: it has none.
    pub fn credential(&self) -> Option<Credential> {
        let secret = self.client_secret.clone()?;
        Some(Credential { secret, ..ask::passage(None, http::header::AUTHORIZATION, self) })
    }
}

/// What whoever runs the desk should know when nobody could change anything there any more; `None`: somebody can.
fn locked_out(settings: &SignInSettings, linked_admins: i64) -> Option<String> {
    let is_locked = !settings.passwords && settings.oidc.is_some() && linked_admins == 0;
    is_locked.then(|| {
        "passwords are switched off, and no admin has signed in through the provider yet. Let one sign in whose address \
         the desk knows and the provider has verified; until then `passwords = true` in the catalogue is the only way back."
            .to_owned()
    })
}

/// The same, of a database that is neither made nor migrated for that. One that has no such table yet has no links.
pub async fn locked_out_of(settings: &SignInSettings, database_url: &str, base: &Path) -> Option<String> {
    let issuer = &settings.oidc.as_ref()?.issuer;
    let store = Store::open_existing(database_url, base).await.ok().flatten();
    let mut linked = 0;
    if let Some(store) = store {
        linked = store.linked_admins(issuer).await.unwrap_or(0);
        store.close().await;
    }
    locked_out(settings, linked)
}

impl Engine {
    /// What whoever runs the desk should know when no admin could sign in; `None`: one can.
    pub async fn locked_out(&self) -> Result<Option<String>, Refusal> {
        let settings = self.catalogue().sign_in.clone();
        let Some(oidc) = &settings.oidc else { return Ok(None) };
        let linked = self.store().linked_admins(&oidc.issuer).await?;
        Ok(locked_out(&settings, linked))
    }
}
