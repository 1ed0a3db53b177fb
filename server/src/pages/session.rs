//! Who is signed in: a session in the store, its id in a cookie.

use axum::http::Uri;
use engine::browser_session::LONGEST;
use engine::{Engine, PersonActor};
use model::{PersonId, Refusal};
use serde_json::Value;
use tower_sessions::cookie::SameSite;
use tower_sessions::cookie::time::Duration;
use tower_sessions::{Expiry, Session, SessionManagerLayer, SessionStore};

use crate::session_store::{BEGUN, BROWSER, EPOCH, PERSON, hash};

/// How long a browser keeps the cookie: as long as a session can last. The desk ends it before when it is not used.
const LASTS: Duration = Duration::seconds(LONGEST);

/// The layer that finds the session. A session is written at sign-in only, so a passer-by leaves no row.
pub(super) fn layer<S: SessionStore + Clone>(public_url: &str, sessions: S) -> SessionManagerLayer<S> {
    let uri: Uri = public_url.parse().unwrap_or_default();
    let is_https = uri.scheme_str() == Some("https");
    SessionManagerLayer::new(sessions)
        .with_name(cookie_name(is_https, uri.port_u16()))
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(is_https)
        .with_path("/")
        .with_expiry(Expiry::OnInactivity(LASTS))
}

/// `__Host-` keeps other hosts of the same site from setting it (RFC 6265bis, section 4.1.3.2). It takes https; without
/// it the port tells two desks on one machine apart, which cookies do not.
fn cookie_name(is_https: bool, port: Option<u16>) -> String {
    match (is_https, port) {
        (true, _) => "__Host-countersign".to_owned(),
        (false, Some(port)) => format!("countersign-{port}"),
        (false, None) => "countersign".to_owned(),
    }
}

/// Who is signed in; `None` also for somebody whose account is gone or disabled.
pub(super) async fn visitor(engine: &Engine, session: &Session) -> Result<Option<PersonActor>, Refusal> {
    let person = session.get::<PersonId>(PERSON).await.map_err(unavailable)?;
    match person {
        Some(person) => engine.visitor(person).await,
        None => Ok(None),
    }
}

/// Begins a fresh session under a fresh id, so that an id known before signing in opens nothing.
pub(super) async fn begin(
    session: &Session,
    person: PersonId,
    epoch: i64,
    browser: &str,
) -> Result<(), Refusal> {
    session.clear().await;
    session.cycle_id().await.map_err(unavailable)?;
    let holds: [(&str, Value); 3] =
        [(PERSON, person.to_string().into()), (EPOCH, epoch.into()), (BROWSER, browser.into())];
    for (name, value) in holds {
        session.insert_value(name, value).await.map_err(unavailable)?;
    }
    Ok(())
}

/// Gives the session a fresh id, because its person has proved anew who they are: an id that was known before opens nothing
/// of what the proof does. It ends when it would have.
pub(super) async fn renew(engine: &Engine, session: &Session) -> Result<(), Refusal> {
    let goes_on = match mark(session) {
        Some(mark) => engine.session_replaced(mark).await?,
        None => None,
    };
    let (begun, epoch) = goes_on.ok_or(Refusal::Unauthenticated)?;
    session.insert_value(BEGUN, begun.micros().into()).await.map_err(unavailable)?;
    // A new password has moved it on for this session, and ended all others.
    session.insert_value(EPOCH, epoch.into()).await.map_err(unavailable)?;
    session.cycle_id().await.map_err(unavailable)
}

/// What the session that asks is stored under.
pub(super) fn mark(session: &Session) -> Option<[u8; 32]> {
    session.id().map(hash)
}

/// Ends the session, here and in the store.
pub(super) async fn end(session: &Session) -> Result<(), Refusal> {
    session.flush().await.map_err(unavailable)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape `map_err` takes")]
fn unavailable(error: tower_sessions::session::Error) -> Refusal {
    tracing::error!(%error, "the session store failed");
    Refusal::Unavailable
}
