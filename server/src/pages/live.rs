//! `/live`: what changes for whoever is signed in, as a stream. Ids and a count; what is in a call only its page tells.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::{Change, Engine, Live};
use futures::{Stream, StreamExt, stream};
use model::{EventId, Refusal};
use serde_json::json;
use tower_sessions::session::Id;
use tower_sessions::{Session, SessionStore};

use super::session;

/// Where the stream is.
pub(super) const ROUTE: &str = "/live";

/// How often a stream with nothing to tell says that it is there: more often than proxies give up.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How often a stream looks whether its session still lasts.
const LOOK: Duration = Duration::from_secs(1);

/// What the stream is made of.
#[derive(Clone)]
pub(super) struct Sources {
    pub(super) engine: Engine,
    pub(super) sessions: Arc<dyn SessionStore>,
}

/// One stream: it ends with the process, with its person and with its session.
struct Watch {
    live: Live,
    sessions: Arc<dyn SessionStore>,
    session: Id,
}

/// The stream of whoever is signed in: messages `change` with `{"calls": […], "all": false, "waiting": n}`, each with the id of the
/// last event that it tells of. It begins behind `Last-Event-ID`, and the first message tells how many calls wait.
pub(super) async fn follow(State(sources): State<Sources>, session: Session, headers: HeaderMap) -> Response {
    match open(sources, &session, &headers).await {
        Ok(Some(watch)) => {
            let heartbeat = KeepAlive::new().interval(HEARTBEAT);
            let mut response = Sse::new(messages(watch)).keep_alive(heartbeat).into_response();
            // Some proxies gather an answer before they pass it on; this tells them not to.
            response
                .headers_mut()
                .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
            response
        }
        Ok(None) => (StatusCode::UNAUTHORIZED, "Nobody is signed in.").into_response(),
        Err(refusal) => {
            let problem = refusal.problem();
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            let mut response = (status, problem.detail).into_response();
            if let Refusal::RateLimited { retry_after } = refusal {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
            }
            response
        }
    }
}

async fn open(
    Sources { engine, sessions }: Sources,
    session: &Session,
    headers: &HeaderMap,
) -> Result<Option<Watch>, Refusal> {
    let (Some(me), Some(id)) = (session::visitor(&engine, session).await?, session.id()) else {
        return Ok(None);
    };
    // What cannot be read is not known: the stream begins now.
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let after: Option<EventId> = last.and_then(|id| id.parse().ok());
    let live = engine.live(&me, after).await?;
    Ok(Some(Watch { live, sessions, session: id }))
}

/// First a word that the stream is open, then the changes.
fn messages(watch: Watch) -> impl Stream<Item = Result<Event, Infallible>> {
    let opening = Event::default().comment("open");
    let changes = stream::unfold(watch, |mut watch| async move {
        let change = watch.next().await?;
        Some((message(&change), watch))
    });
    stream::once(async { opening }).chain(changes).map(Ok)
}

impl Watch {
    async fn next(&mut self) -> Option<Change> {
        loop {
            if !self.lasts().await {
                return None;
            }
            if let Ok(change) = tokio::time::timeout(LOOK, self.live.next()).await {
                return change.ok().flatten();
            }
        }
    }

    /// Whether the session is still there. When that cannot be told, the stream ends and whoever reads it comes back.
    async fn lasts(&self) -> bool {
        matches!(self.sessions.load(&self.session).await, Ok(Some(_)))
    }
}

fn message(change: &Change) -> Event {
    let data = json!({ "calls": change.calls, "all": change.all, "waiting": change.waiting }).to_string();
    let message = Event::default().event("change").data(data);
    match change.last {
        Some(last) => message.id(last.to_string()),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    use crate::demo::testing::{Ask, Desk};

    /// Reads on until a message has come: its id and its data.
    async fn message(stream: &mut axum::response::Response) -> (Option<String>, Value) {
        let mut text = String::new();
        loop {
            let frame = stream.body_mut().frame().await.expect("it goes on").expect("it is whole");
            text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("text"));
            let field = |name| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            if let (true, Some(data)) = (text.ends_with("\n\n"), field("data:")) {
                let data = serde_json::from_str(data).expect("JSON");
                return (field("id:").map(str::to_owned), data);
            }
        }
    }

    fn live<'a>(desk: &'a Desk, cookie: &str) -> Ask<'a> {
        desk.ask("GET", "/live").header("cookie", cookie)
    }

    #[tokio::test]
    async fn tells_ids_and_a_count_and_goes_on_where_it_was_left() {
        let desk = Desk::open().await;
        let cookie = desk.sign_in_as_ann().await;
        let mut stream = live(&desk, &cookie).open().await;
        assert_eq!(
            (stream.status().as_u16(), &stream.headers()["cache-control"]),
            (200, &"no-store".parse().expect("a value"))
        );
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
        assert_eq!(message(&mut stream).await, (None, json!({ "calls": [], "all": false, "waiting": 0 })));
        let (one, _) = desk.held("refund", &json!({ "order": "O-2041", "amount": "24.90" })).await;
        let (last, told) = message(&mut stream).await;
        assert_eq!(told, json!({ "calls": [one], "all": false, "waiting": 1 }));
        drop(stream);
        let (two, _) = desk.held("refund", &json!({ "order": "O-2041", "amount": "4.90" })).await;
        let again = live(&desk, &cookie).header("last-event-id", &last.expect("an id"));
        assert_eq!(
            message(&mut again.open().await).await.1,
            json!({ "calls": [two], "all": false, "waiting": 2 })
        );
    }

    #[tokio::test]
    async fn ends_with_its_session_and_takes_no_token() {
        let desk = Desk::open().await;
        assert_eq!(desk.ask("GET", "/live").send().await.status, 401);
        assert_eq!(desk.get("/live", desk.ann()).send().await.status, 401);
        let cookie = desk.sign_in_as_ann().await;
        let mut stream = live(&desk, &cookie).open().await;
        message(&mut stream).await;
        desk.ask("POST", "/do/sign-out").header("cookie", &cookie).form(&[]).ok(303).await;
        let rest =
            tokio::time::timeout(std::time::Duration::from_secs(20), stream.into_body().collect()).await;
        assert!(rest.expect("it ends").is_ok());
        assert_eq!(live(&desk, &cookie).send().await.status, 401);
    }

    #[tokio::test]
    async fn one_person_has_so_many_and_no_more() {
        let desk = Desk::open().await;
        let cookie = desk.sign_in_as_ann().await;
        let mut streams = Vec::new();
        for _ in 0..8 {
            streams.push(live(&desk, &cookie).open().await);
        }
        let refused = live(&desk, &cookie).send().await;
        assert_eq!((refused.status, &refused.headers["retry-after"]), (429, &"30".parse().expect("a value")));
        drop(streams);
        assert_eq!(live(&desk, &cookie).open().await.status(), 200);
    }
}
