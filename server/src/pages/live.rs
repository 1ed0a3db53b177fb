//! `/live`: what changes for whoever is signed in, as a stream. Ids and a count; what is in a call only its page tells.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::{Change, Engine, Live};
use futures::{Stream, StreamExt, stream};
use model::{EventId, Refusal};
use serde_json::json;
use tokio::time::Instant;
use tower_sessions::Session;

use super::session;

/// Where the stream is.
pub(super) const ROUTE: &str = "/live";

/// How often a stream with nothing to tell says that it is there: more often than proxies give up.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How often a stream looks whether its session still lasts.
const LOOK: Duration = Duration::from_secs(3);

/// One stream: it ends with the process, with its person and with its session.
struct Watch {
    live: Live,
    engine: Engine,
    /// What the session is stored under.
    session: [u8; 32],
    looks: Looks,
}

/// When the session is looked at next.
struct Looks {
    every: Duration,
    due: Instant,
}

/// The stream of whoever is signed in: messages `change` with `{"calls": […], "all": false, "journal": false, "waiting": n}`, each with the id of the
/// last event that it tells of. It begins behind `Last-Event-ID`, and the first message tells how many calls wait.
pub(super) async fn follow(State(engine): State<Engine>, session: Session, headers: HeaderMap) -> Response {
    match open(engine, &session, &headers).await {
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

async fn open(engine: Engine, session: &Session, headers: &HeaderMap) -> Result<Option<Watch>, Refusal> {
    let Some(mark) = session::mark(session) else { return Ok(None) };
    // A stream opens and opens again by itself, so it is no use of the session.
    let Some(person) = engine.session_person(mark).await? else { return Ok(None) };
    let Some(me) = engine.visitor(person).await? else { return Ok(None) };
    // What cannot be read is not known: the stream begins now.
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let after: Option<EventId> = last.and_then(|id| id.parse().ok());
    let live = engine.live(&me, after).await?;
    let looks = Looks { every: LOOK, due: Instant::now() + LOOK };
    Ok(Some(Watch { live, engine, session: mark, looks }))
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
        let Self { live, engine, session, looks } = self;
        // When it cannot be told whether the session is there, the stream ends and whoever reads it comes back.
        let lasts = || async { matches!(engine.session_person(*session).await, Ok(Some(_))) };
        looks.along(live.next(), lasts).await?.ok().flatten()
    }
}

impl Looks {
    /// What this comes to, however long it takes; `None`: it lasts no more.
    async fn along<T, L: Future<Output = bool>>(
        &mut self,
        wanted: impl Future<Output = T>,
        lasts: impl Fn() -> L,
    ) -> Option<T> {
        // Whole looks, one after the other; also where something comes before each of them could end.
        if self.due <= Instant::now() && !self.look(&lasts).await {
            return None;
        }
        let over = async { while self.look(&lasts).await {} };
        tokio::select! {
            come = wanted => Some(come),
            () = over => None,
        }
    }

    /// Whether it lasts, as soon as that is due.
    async fn look<L: Future<Output = bool>>(&mut self, lasts: impl Fn() -> L) -> bool {
        tokio::time::sleep_until(self.due).await;
        let does = lasts().await;
        self.due = Instant::now() + self.every;
        does
    }
}

fn message(change: &Change) -> Event {
    let Change { calls, all, journal, waiting, .. } = change;
    let data = json!({ "calls": calls, "all": all, "journal": journal, "waiting": waiting }).to_string();
    let message = Event::default().event("change").data(data);
    match change.last {
        Some(last) => message.id(last.to_string()),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    use super::*;
    use crate::demo::testing::{Ask, Desk};

    /// Reads on until a message has come: its id and its data.
    async fn told(stream: &mut axum::response::Response) -> (Option<String>, Value) {
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
        assert_eq!(
            told(&mut stream).await,
            (None, json!({ "calls": [], "all": false, "journal": false, "waiting": 0 }))
        );
        let (one, _) = desk.held("refund", &json!({ "order": "O-2041", "amount": "24.90" })).await;
        let (last, news) = told(&mut stream).await;
        assert_eq!(news, json!({ "calls": [one], "all": false, "journal": false, "waiting": 1 }));
        drop(stream);
        let (two, _) = desk.held("refund", &json!({ "order": "O-2041", "amount": "4.90" })).await;
        let again = live(&desk, &cookie).header("last-event-id", &last.expect("an id"));
        assert_eq!(
            told(&mut again.open().await).await.1,
            json!({ "calls": [two], "all": false, "journal": false, "waiting": 2 })
        );
    }

    #[tokio::test]
    async fn ends_with_its_session_and_takes_no_token() {
        let desk = Desk::open().await;
        assert_eq!(desk.ask("GET", "/live").send().await.status, 401);
        assert_eq!(desk.get("/live", desk.ann()).send().await.status, 401);
        let cookie = desk.sign_in_as_ann().await;
        let mut stream = live(&desk, &cookie).open().await;
        told(&mut stream).await;
        desk.ask("POST", "/do/sign-out").header("cookie", &cookie).form(&[]).ok(303).await;
        let rest = tokio::time::timeout(Duration::from_secs(20), stream.into_body().collect()).await;
        assert!(rest.expect("it ends").is_ok());
        assert_eq!(live(&desk, &cookie).send().await.status, 401);
    }

    /// Neither opening a stream nor keeping it open is: a tab that is left open does not keep its session going.
    #[tokio::test]
    async fn is_no_use_of_the_session() {
        let desk = Desk::open().await;
        let cookie = desk.sign_in_as_ann().await;
        let people = desk.engine.all_people().await.expect("people");
        let ann = people.iter().find(|person| person.email == "ann@demo.test").expect("Ann");
        let me = desk.engine.visitor(ann.id).await.expect("storage").expect("an account");
        let seen = async || desk.engine.own_sessions(&me, None).await.expect("sessions")[0].seen_at;
        desk.execute("UPDATE sessions SET seen_at = seen_at - 3600000000").await;
        let before = seen().await;
        let mut stream = live(&desk, &cookie).open().await;
        told(&mut stream).await;
        // A look at the session or two.
        tokio::time::sleep(LOOK + LOOK / 2).await;
        desk.held("refund", &json!({ "order": "O-2041", "amount": "24.90" })).await;
        told(&mut stream).await;
        assert_eq!(seen().await, before);
        desk.ask("GET", "/inbox").header("cookie", &cookie).ok(200).await;
        assert_ne!(seen().await, before, "a page is");
    }

    fn looks() -> Looks {
        Looks { every: Duration::from_millis(1), due: Instant::now() }
    }

    /// What is begun is waited for, however often the session is looked at meanwhile.
    #[tokio::test]
    async fn looks_at_the_session_begin_nothing_anew() {
        let (begun, seen, enough) = (Cell::new(0), Cell::new(0), tokio::sync::Notify::new());
        let wanted = async {
            begun.set(begun.get() + 1);
            enough.notified().await;
            "news"
        };
        let lasts = || async {
            seen.set(seen.get() + 1);
            if seen.get() == 5 {
                enough.notify_one();
            }
            true
        };
        assert_eq!(looks().along(wanted, lasts).await, Some("news"));
        assert_eq!(begun.get(), 1);
    }

    #[tokio::test]
    async fn what_is_always_ready_does_not_outrun_the_looks() {
        let (mut looks, turns) = (looks(), Cell::new(0));
        let lasts = || async {
            tokio::task::yield_now().await;
            turns.get() < 3
        };
        while looks.along(async { turns.set(turns.get() + 1) }, lasts).await.is_some() {}
        assert!(turns.get() >= 3);
        assert_eq!(looks.along(std::future::pending::<()>(), async || false).await, None);
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
