//! Signing in through a provider: the way there, and the way back. Both are followed by a browser, with GET.

use app::form::{after_sign_in, not_signed_in, sign_in_page};
use app::page::render;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use engine::Engine;
use engine::provider::{Begun, Finished, NotSignedIn, RETURN, Return};
use model::Refusal;
use tower_sessions::Session;
use url::form_urlencoded;

use super::forms::browser;
use super::{session, show};
use crate::peer;

/// Where a sign-in through the provider begins.
pub(super) const ROUTE: &str = app::form::PROVIDER;

/// Where it comes back.
pub(super) const RETURN_ROUTE: &str = RETURN;

/// How long a browser keeps what it has to bring back, in seconds: as long as a sign-in may take.
const KEPT: u32 = 600;

/// Goes to the provider. Nothing is kept of it here.
pub(super) async fn begin(State(engine): State<Engine>, session: Session, asked: Parts) -> Response {
    let next = after_sign_in(one(&asked, "next").as_deref());
    match engine.begin_at_provider(&next).await {
        Ok(begun) => go(&engine, &begun),
        Err(why) => told(engine, &session, &why, &next).await,
    }
}

/// Comes back from the provider. In a task of its own: whoever hangs up now would find their sign-in used up.
pub(super) async fn finish(State(engine): State<Engine>, session: Session, asked: Parts) -> Response {
    let finished = tokio::spawn(async move { finished(engine, &session, &asked).await }).await;
    finished.unwrap_or_else(|error| {
        tracing::error!(%error, "a sign-in ended in a fault of the desk");
        show::refused(&Refusal::Unavailable)
    })
}

async fn finished(engine: Engine, session: &Session, asked: &Parts) -> Response {
    let from = peer::address(&asked.extensions, &asked.headers, &engine.catalogue().server.trusted_proxies);
    let state = one(asked, "state");
    let kept = state.as_deref().map(|state| cookie_name(&engine, state));
    let came = Return {
        pass: kept.as_deref().and_then(|name| cookie(&asked.headers, name)),
        state,
        code: one(asked, "code"),
        error: one(asked, "error"),
        issuer: one(asked, "iss"),
    };
    let Finished { next, outcome } = engine.finish_at_provider(came, from).await;
    let mut response = match outcome {
        Ok(signed_in) => {
            let browser = browser(&asked.headers);
            match session::begin(session, signed_in.person.id(), signed_in.epoch, &browser).await {
                Ok(()) => show::redirect(&next),
                Err(refusal) => show::refused(&refusal),
            }
        }
        Err(why) => told(engine.clone(), session, &why, &next).await,
    };
    if let Some(name) = kept {
        set_cookie(&mut response, &engine, &name, "", 0);
    }
    response
}

/// The page to sign in on, with why it did not work.
async fn told(engine: Engine, session: &Session, why: &NotSignedIn, next: &str) -> Response {
    let posted = not_signed_in(why, next);
    let retry_after = posted.fault.as_ref().and_then(|fault| fault.retry_after);
    let address = sign_in_page(next);
    let mut response = match show::visit(engine, session, address.clone(), None).await {
        Ok(visit) => show::answer(render(visit.again(address, posted)).await),
        Err(refusal) => show::refused(&refusal),
    };
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn go(engine: &Engine, begun: &Begun) -> Response {
    let mut response = show::redirect(&begun.to);
    set_cookie(&mut response, engine, &cookie_name(engine, &begun.state), &begun.pass, KEPT);
    response
}

/// A parameter of the address that came once.
fn one(asked: &Parts, wanted: &str) -> Option<String> {
    let query = asked.uri.query().unwrap_or_default();
    let mut all = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == wanted);
    let first = all.next().map(|(_, value)| value.into_owned());
    first.filter(|_| all.next().is_none())
}

/// A cookie for each sign-in, so that two tabs do not take it from each other. Named after what everybody sees in the
/// address anyway.
fn cookie_name(engine: &Engine, state: &str) -> String {
    let tag: String = state.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    let prefix = if is_https(engine) { "__Host-" } else { "" };
    format!("{prefix}countersign-sign-in-{tag}")
}

fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut found = pairs.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    found.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
}

/// `Lax`: the provider sends the browser back from another site, with GET.
fn set_cookie(response: &mut Response, engine: &Engine, name: &str, value: &str, seconds: u32) {
    let secure = if is_https(engine) { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Lax{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

fn is_https(engine: &Engine) -> bool {
    engine.catalogue().server.public_url.scheme() == "https"
}
