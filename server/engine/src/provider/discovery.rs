//! What the provider says of itself: its addresses and its keys. Asked for when somebody signs in, and kept for a while.

use std::sync::Arc;

use model::Time;
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode, CoreResponseType,
    CoreSubjectIdentifierType,
};
use openidconnect::{AdditionalProviderMetadata, DiscoveryError, IssuerUrl, ProviderMetadata};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use super::NotSignedIn;
use super::ask::{Asking, NoAnswer};
use crate::ambient::Ambient;
use crate::catalogue::ProviderSettings;
use crate::egress::Egress;
use crate::engine::Engine;

/// For how many seconds what it said counts.
const KEPT: i64 = 600;

/// After a failure it is left alone for so many seconds, whoever wants to sign in.
const LEFT_ALONE: i64 = 5;

pub(super) type Metadata = ProviderMetadata<
    More,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// What the library does not know of a provider.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct More {
    /// Its answers name it (RFC 9207).
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl AdditionalProviderMetadata for More {}

impl More {
    pub(super) const fn names_itself(&self) -> bool {
        self.authorization_response_iss_parameter_supported
    }
}

/// What is known of the provider.
#[derive(Default)]
pub(crate) struct Discovered(Mutex<Option<Known>>);

struct Known {
    /// By which it was asked.
    settings: ProviderSettings,
    at: Time,
    /// `None`: it did not answer.
    metadata: Option<Arc<Metadata>>,
}

impl Engine {
    /// What the provider says of itself.
    pub(super) async fn discovered(&self, settings: &ProviderSettings) -> Result<Arc<Metadata>, NotSignedIn> {
        self.known(settings, KEPT).await
    }

    /// The same, asked for again: it has keys that were not there. No more often than after every failure.
    pub(super) async fn discovered_again(
        &self,
        settings: &ProviderSettings,
    ) -> Result<Arc<Metadata>, NotSignedIn> {
        self.known(settings, LEFT_ALONE).await
    }

    async fn known(&self, settings: &ProviderSettings, kept: i64) -> Result<Arc<Metadata>, NotSignedIn> {
        let mut known = self.provider_known().0.lock().await;
        let now = self.now();
        let still = known.as_ref().filter(|known| {
            let kept = if known.metadata.is_some() { kept } else { LEFT_ALONE };
            known.settings == *settings && (0..kept).contains(&now.seconds_since(known.at))
        });
        if let Some(still) = still {
            return still.metadata.clone().ok_or(NotSignedIn::Unreachable);
        }
        let metadata = match discover(self.asking(settings)).await {
            Ok(metadata) => Some(Arc::new(metadata)),
            Err(why) => {
                tracing::error!(why, "the sign-in provider cannot be used");
                None
            }
        };
        *known = Some(Known { settings: settings.clone(), at: now, metadata: metadata.clone() });
        metadata.ok_or(NotSignedIn::Unreachable)
    }
}

/// Asks the provider what it is and which keys it has. Why not, in words for whoever runs the desk.
async fn discover(asking: Asking<'_>) -> Result<Metadata, String> {
    let issuer =
        IssuerUrl::new(asking.settings.issuer.clone()).map_err(|_| "its issuer is no address".to_owned())?;
    let metadata = Metadata::discover_async(issuer, &asking).await.map_err(|error| why(&error))?;
    if metadata.jwks().keys().is_empty() {
        return Err("it names no key that its word could be checked by".to_owned());
    }
    Ok(metadata)
}

/// Asks the provider now, and tells what came of it in a sentence.
///
/// # Errors
/// Why it cannot be used, in a sentence too.
pub async fn look_at(
    settings: &ProviderSettings,
    egress: &Egress,
    ambient: &Ambient,
) -> Result<String, String> {
    let issuer = &settings.issuer;
    match discover(Asking { egress, ambient, settings }).await {
        Ok(metadata) => {
            let keys = metadata.jwks().keys().len();
            Ok(format!("{issuer} answers; keys to check its word by: {keys}."))
        }
        Err(why) => Err(format!("{issuer} cannot be used: {why}.")),
    }
}

/// Nothing of what it answered: that may be anything.
fn why(error: &DiscoveryError<NoAnswer>) -> String {
    match error {
        DiscoveryError::Request(why) => why.to_string(),
        DiscoveryError::Response(status, ..) => format!("its document or its keys are not there ({status})"),
        DiscoveryError::Parse(error) => format!("its document cannot be read at “{}”", error.path()),
        DiscoveryError::Validation(_) => {
            "it names itself otherwise than `issuer` in the catalogue does, to the letter".to_owned()
        }
        _ => "its address cannot be used".to_owned(),
    }
}

/// Whether the desk's secret goes into a header, as it does where nothing else is said (RFC 8414, section 2).
pub(super) fn takes_basic(metadata: &Metadata) -> bool {
    let methods = metadata.token_endpoint_auth_methods_supported();
    methods.is_none_or(|methods| {
        methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
            || !methods.contains(&CoreClientAuthMethod::ClientSecretPost)
    })
}
