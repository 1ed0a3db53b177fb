//! What is kept of a call, sealed, from the claim to the end.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use model::{Approval, CallId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::catalogue::Caller;
use crate::outgoing::Outgoing;
use crate::seal::{DoesNotOpen, Purpose, Sealer};

/// The caller's arguments, and the request that was rendered from them and shown.
#[derive(Debug, Clone)]
pub(crate) struct StoredRequest {
    /// The caller's arguments, without control fields.
    pub(crate) arguments: Map<String, Value>,
    /// The input as the action gets it: fixed values, conversions and defaults applied.
    pub(crate) input: Value,
    /// The idempotency key to forward.
    pub(crate) key: Option<String>,
    /// The name of the credential it was shown with.
    pub(crate) credential: Option<String>,
    /// What of that credential was confirmed (`Credential::binding`).
    pub(crate) binding: Option<String>,
    /// The agent's own reason.
    pub(crate) reason: Option<String>,
    /// The facts about the caller at the time of the call; `None`: it was stored before they were.
    pub(crate) caller: Option<Caller>,
    /// What a public caller named itself with: the scope of its key.
    pub(crate) client: Option<String>,
    /// What allowed a call that was never held.
    pub(crate) approval: Option<Approval>,
    /// What is sent.
    pub(crate) outgoing: Outgoing,
}

#[derive(Serialize, Deserialize)]
struct Form {
    arguments: Map<String, Value>,
    input: Value,
    key: Option<String>,
    credential: Option<String>,
    binding: Option<String>,
    reason: Option<String>,
    #[serde(default)]
    caller: Option<Caller>,
    client: Option<String>,
    approval: Option<Approval>,
    method: String,
    url: String,
    values_encoded: bool,
    headers: Vec<(String, String)>,
    body: Option<String>,
}

impl StoredRequest {
    /// Sealed for the call's row.
    pub(crate) fn seal(&self, sealer: &Sealer, call: CallId) -> Vec<u8> {
        let form = Form {
            arguments: self.arguments.clone(),
            input: self.input.clone(),
            key: self.key.clone(),
            credential: self.credential.clone(),
            binding: self.binding.clone(),
            reason: self.reason.clone(),
            caller: self.caller.clone(),
            client: self.client.clone(),
            approval: self.approval.clone(),
            method: self.outgoing.method.to_string(),
            url: self.outgoing.url.to_string(),
            values_encoded: self.outgoing.values_encoded,
            headers: self
                .outgoing
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), STANDARD.encode(value.as_bytes())))
                .collect(),
            body: self.outgoing.body.as_ref().map(|body| STANDARD.encode(body)),
        };
        let plain =
            serde_json::to_vec(&form).unwrap_or_else(|_| unreachable!("plain data always serializes"));
        sealer.seal(Purpose::Input, &call.to_string(), &plain)
    }

    /// Opened from the call's row.
    ///
    /// # Errors
    /// When the sealing key is missing or the blob is not what `seal` made for this call.
    pub(crate) fn open(sealer: &Sealer, call: CallId, blob: &[u8]) -> Result<Self, DoesNotOpen> {
        let plain = sealer.open(Purpose::Input, &call.to_string(), blob)?;
        let form: Form = serde_json::from_slice(&plain).map_err(|_| DoesNotOpen)?;
        let bytes = |text: &str| STANDARD.decode(text).map_err(|_| DoesNotOpen);
        let headers = form
            .headers
            .iter()
            .map(|(name, value)| {
                let name = HeaderName::try_from(name).map_err(|_| DoesNotOpen)?;
                let value = HeaderValue::from_bytes(&bytes(value)?).map_err(|_| DoesNotOpen)?;
                Ok((name, value))
            })
            .collect::<Result<_, DoesNotOpen>>()?;
        Ok(Self {
            arguments: form.arguments,
            input: form.input,
            key: form.key,
            credential: form.credential,
            binding: form.binding,
            reason: form.reason,
            caller: form.caller,
            client: form.client,
            approval: form.approval,
            outgoing: Outgoing {
                method: Method::try_from(form.method.as_str()).map_err(|_| DoesNotOpen)?,
                url: Url::parse(&form.url).map_err(|_| DoesNotOpen)?,
                values_encoded: form.values_encoded,
                headers,
                body: form.body.as_deref().map(bytes).transpose()?.map(Bytes::from),
            },
        })
    }
}
