//! `POST /mcp`: the Model Context Protocol over streamable HTTP, for every client without a session.
//!
//! `rmcp` carries the protocol. Around it stands what it leaves open: the desk's keys, strict JSON, batches of
//! 2025-03-26, and the status of what is no message. Behind it stands [`desk::Desk`], which calls the engine.

mod answer;
mod batch;
mod call_status;
mod completion;
mod desk;
mod elicitation;
mod means;
mod message;
mod prompt;
mod question;
mod resource;
mod task;
#[cfg(test)]
mod tests;
mod tool;
mod tool_call;
mod transport;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use engine::{Actor, Engine};
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use model::{Refusal, Surface};

use crate::api::call_headers::CallHeaders;
use crate::api::{bearer, body, unstored};
use crate::problem::{self, Rejected};
use desk::Desk;
use message::Sent;
use transport::Transport;

/// The one endpoint. A missing or unknown key is the same 401 as everywhere.
pub(crate) fn router(engine: &Engine) -> Router {
    Router::new()
        .route("/mcp", post(receive))
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(from_fn_with_state(engine.clone(), bearer::authenticate))
        .layer(map_response(unstored))
        .with_state(engine.clone())
}

/// One POST: a message, or a batch of them.
async fn receive(State(engine): State<Engine>, request: Request) -> Result<Response, Rejected> {
    if !engine.catalogue().surfaces.is_on(Surface::Mcp) {
        return Err(Refusal::NotFound.into());
    }
    let headers = forwarded(request.headers());
    let transport = Transport::new(desk(engine, &request)?, headers);
    if let Some(refused) = transport.refused_origin().await {
        return Ok(refused);
    }
    let bytes = body::json(request).await?;
    Ok(match message::read(&bytes, transport.headers()) {
        Ok(Sent::One(message)) => transport.carry(&message).await,
        Ok(Sent::Several(messages)) => batch::carry(&transport, messages).await,
        Err(fault) => fault.into_response(),
    })
}

/// The desk as this caller sees it.
fn desk(engine: Engine, request: &Request) -> Result<Desk, Refusal> {
    let actor = request.extensions().get::<Actor>().cloned().ok_or(Refusal::Unauthenticated)?;
    // An idempotency key is an argument here; the header of that name belongs to the transport.
    let CallHeaders { session, tenant, reason, .. } = CallHeaders::read(request.headers())?;
    Ok(Desk { engine, actor, session, tenant, reason })
}

/// The headers as the protocol reads them. The body is written anew, so its length is not the sender's.
fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    headers.remove(CONTENT_LENGTH);
    headers
}
