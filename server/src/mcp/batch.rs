//! A batch of 2025-03-26: every message goes the way of a single one, and the answers come back together.

use axum::Json;
use axum::response::{IntoResponse, Response};
use futures::future::join_all;
use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::message::{self, Fault};
use super::transport::Transport;

/// The answers to all messages that want one; 202 where none does.
pub(super) async fn carry(transport: &Transport, messages: Vec<Value>) -> Response {
    // The revision itself forbids it: what follows would depend on what was not yet agreed.
    if messages.iter().any(|message| message["method"] == "initialize") {
        return Fault::invalid("A batch may not hold initialize. Nothing was done.").into_response();
    }
    let answers = join_all(messages.iter().map(|message| answer(transport, message))).await;
    let answers: Vec<Value> = answers.into_iter().flatten().collect();
    if answers.is_empty() { StatusCode::ACCEPTED.into_response() } else { Json(answers).into_response() }
}

/// The answer to one message of the batch; `None`: it wants none.
async fn answer(transport: &Transport, message: &Value) -> Option<Value> {
    if let Err(fault) = message::check(message) {
        return Some(fault.to_json());
    }
    let response = transport.carry(message).await;
    if response.status() == StatusCode::ACCEPTED {
        return None;
    }
    let body = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    let told = body.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    // A refusal of the transport is text; within a batch it needs the form of an answer.
    Some(told.unwrap_or_else(|| {
        let error = json!({ "code": -32_600, "message": "This message was refused. Nothing was done." });
        json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })
    }))
}
