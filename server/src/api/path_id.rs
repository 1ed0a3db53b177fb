//! An id in a path. One that cannot be read is as unknown as one that was never given out.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use model::Refusal;

use crate::problem::Rejected;

/// The one parameter of the path, read as `T`.
pub(crate) struct PathId<T>(pub(crate) T);

impl<S: Send + Sync, T: FromStr> FromRequestParts<S> for PathId<T> {
    type Rejection = Rejected;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Rejected> {
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| Refusal::NotFound)?;
        let text = params.iter().next().map(|(_, text)| text);
        text.and_then(|text| text.parse().ok()).map(Self).ok_or(Rejected(Refusal::NotFound))
    }
}
