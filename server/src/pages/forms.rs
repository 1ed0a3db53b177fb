//! Forms as requests: urlencoded in, a redirect or the page itself out.

use std::convert::Infallible;
use std::time::Duration;

use app::form::{self, Fields, Next, Submitted};
use app::page::render;
use app::visit::Visit;
use axum::Form;
use axum::extract::{FromRequest, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use engine::Engine;
use model::Refusal;
use tower_sessions::Session;

use super::{session, show};
use crate::api::body::BODY_TIME;
use crate::peer;

/// The largest form that is taken in, in bytes: an input of the largest size, percent-encoded.
pub(super) const LARGEST: usize = 4 * 1024 * 1024;

/// What was filled in, or the status of what is wrong with it. Whoever sends it byte by byte is not waited for: anybody
/// may post to the sign-in.
pub(super) struct Filled(Result<Fields, StatusCode>);

impl<S: Send + Sync> FromRequest<S> for Filled {
    type Rejection = Infallible;

    async fn from_request(request: Request, state: &S) -> Result<Self, Infallible> {
        Ok(Self(filled(request, state, BODY_TIME).await))
    }
}

async fn filled<S: Send + Sync>(
    request: Request,
    state: &S,
    patience: Duration,
) -> Result<Fields, StatusCode> {
    match tokio::time::timeout(patience, Form::<Fields>::from_request(request, state)).await {
        Ok(Ok(Form(fields))) => Ok(fields),
        Ok(Err(rejection)) => Err(rejection.status()),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

/// Takes a form in.
pub(super) async fn take(
    State(engine): State<Engine>,
    session: Session,
    asked: Parts,
    Filled(fields): Filled,
) -> Response {
    let fields = match fields {
        Ok(fields) => fields,
        Err(StatusCode::PAYLOAD_TOO_LARGE) => return show::too_large(LARGEST),
        Err(StatusCode::UNSUPPORTED_MEDIA_TYPE) => return show::no_form(),
        // A form that cannot be read is one without fields: its page says that it did not arrive whole.
        Err(_) => Fields::new(),
    };
    // In a task of its own: a second press, or a phone that loses its network, ends the request and not what it began.
    let answered = tokio::spawn(async move { answer(engine, &session, &asked, fields).await });
    let answered = answered.await.unwrap_or_else(|error| {
        tracing::error!(%error, "a form ended in a fault of the desk");
        Err(Refusal::Unavailable)
    });
    answered.unwrap_or_else(|refusal| show::refused(&refusal))
}

async fn answer(
    engine: Engine,
    session: &Session,
    asked: &Parts,
    fields: Fields,
) -> Result<Response, Refusal> {
    let from = peer::address(&asked.extensions, &asked.headers, &engine.catalogue().server.trusted_proxies);
    let path = asked.uri.path();
    let visit = show::visit(engine.clone(), session, path.to_owned(), from).await?;
    match form::post(path, visit.clone(), fields).await.ok_or(Refusal::NotFound)? {
        Submitted::Next(next) => follow(&engine, session, next, &browser(&asked.headers)).await,
        Submitted::Again { address, posted } => Ok(again(visit, address, *posted).await),
    }
}

/// What the browser calls itself.
pub(super) fn browser(headers: &HeaderMap) -> String {
    headers
        .get(header::USER_AGENT)
        .map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned())
        .unwrap_or_default()
}

async fn follow(engine: &Engine, session: &Session, next: Next, browser: &str) -> Result<Response, Refusal> {
    Ok(match next {
        Next::Go(to) => show::redirect(&to),
        Next::SignedIn { person, epoch, to } => {
            session::begin(session, person, epoch, browser).await?;
            show::redirect(&to)
        }
        Next::Renewed(to) => {
            session::renew(engine, session).await?;
            show::redirect(&to)
        }
        Next::SignedOut => {
            session::end(session).await?;
            show::redirect("/sign-in")
        }
        // The crate `app` answers these with the page itself.
        Next::Show(_) | Next::Made(_) | Next::Fill(_) | Next::Once(_) | Next::Told(_) => {
            show::redirect("/inbox")
        }
    })
}

async fn again(visit: Visit, address: String, posted: form::Posted) -> Response {
    let retry_after = posted.fault.as_ref().and_then(|fault| fault.retry_after);
    let mut response = show::answer(render(visit.again(address, posted)).await);
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures::{StreamExt, stream};

    use super::*;

    #[tokio::test]
    async fn a_form_that_comes_byte_by_byte_is_not_waited_for() {
        let first = stream::iter([Ok::<_, Infallible>("email=ann")]);
        let body = Body::from_stream(first.chain(stream::pending()));
        let request = Request::post("/sign-in").header("content-type", "application/x-www-form-urlencoded");
        let fields = filled(request.body(body).expect("a request"), &(), Duration::from_millis(1)).await;
        assert_eq!(fields.expect_err("not whole"), StatusCode::REQUEST_TIMEOUT);
    }
}
