//! What a page's script asks before it asks an authenticator: a challenge, and for which passkeys. What the authenticator
//! answers is posted as a form.

use axum::Form;
use axum::Json;
use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use engine::passkey::{Asked, Wanted};
use model::Refusal;
use serde::Deserialize;
use serde_json::json;
use tower_sessions::Session;

use super::session;

/// Where it is asked.
pub(super) const ROUTE: &str = "/passkeys/ask";

/// What a passkey is wanted for.
#[derive(Debug, Deserialize)]
pub(super) struct Question {
    r#for: String,
    #[serde(default)]
    call: String,
    #[serde(default)]
    preview_version: String,
    #[serde(default)]
    view_token: String,
}

/// Answers with what the browser is to ask of an authenticator, or `{"message"}` with why not.
pub(super) async fn ask(
    State(engine): State<Engine>,
    session: Session,
    question: Result<Form<Question>, FormRejection>,
) -> Response {
    let Ok(Form(question)) = question else { return no(&Refusal::NotFound) };
    match asked(&engine, &session, question).await {
        Ok(asked) => Json(asked).into_response(),
        Err(refusal) => no(&refusal),
    }
}

async fn asked(engine: &Engine, session: &Session, question: Question) -> Result<Asked, Refusal> {
    if question.r#for == "sign-in" {
        return engine.ask_to_sign_in();
    }
    let me = session::visitor(engine, session).await?.ok_or(Refusal::Unauthenticated)?;
    let mark = session::mark(session).ok_or(Refusal::Unauthenticated)?;
    let wanted = match question.r#for.as_str() {
        "add" => Wanted::Add,
        "prove" => Wanted::Prove,
        "confirm" => Wanted::Confirm {
            call: question.call.parse().map_err(|_| Refusal::NotFound)?,
            version: question.preview_version,
            view_token: question.view_token,
        },
        _ => return Err(Refusal::NotFound),
    };
    engine.ask_passkey(&me, mark, &wanted).await
}

fn no(refusal: &Refusal) -> Response {
    let problem = refusal.problem();
    let message = match refusal {
        Refusal::Invalid(errors) => {
            errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join(" ")
        }
        Refusal::Unauthenticated => "You are signed out. Nothing was done. Sign in and try again.".to_owned(),
        Refusal::PreviewChanged(_) => {
            "It has changed since you looked. Nothing was sent. Load the page again and read it.".to_owned()
        }
        _ => problem.detail,
    };
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    (status, Json(json!({ "message": message }))).into_response()
}
