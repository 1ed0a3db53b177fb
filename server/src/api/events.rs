//! `/v1/events`: the journal, as a list or as a stream.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{OriginalUri, State};
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use engine::{Engine, Feed, PersonActor};
use futures::{Stream, StreamExt, stream};
use http::header::{ACCEPT, HeaderName};
use http::{HeaderMap, HeaderValue};
use model::{Event, EventId, Listing, Refusal};

use super::bearer::Reader;
use super::documented::ListProblems;
use super::list_answer::list_answer;
use super::query::Query;
use crate::problem::Rejected;

/// How often a stream with nothing to tell says that it is there: more often than proxies give up.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a browser waits before it comes back.
const COME_BACK: Duration = Duration::from_secs(2);

/// The journal: a person's own calls; an operator's: all.
///
/// Ids and status only, never an input value. With `Accept: text/event-stream` it is a stream of what happens from now
/// on, or from behind `Last-Event-ID`: each message has the event's `id`, its type as `event`, and the event as JSON in
/// `data`. Each event comes once, in an order that is the same for everybody and that ids follow only roughly; whoever
/// comes back with the last id they saw misses nothing and gets nothing twice. Comments keep the connection alive.
/// Without it the answer is a list, newest first.
#[utoipa::path(
    get, path = "/events", operation_id = "listEvents", tag = "events",
    params(
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 500, description = "The most items of a page; 50 when not given. Of the list alone."),
        ("cursor" = Option<String>, Query, min_length = 1, max_length = 1000, description = "The `next_cursor` of the page before. Of the list alone."),
        ("Accept" = Option<String>, Header, description = "`text/event-stream` for the stream."),
        ("Last-Event-ID" = Option<EventId>, Header, description = "The event that was seen last; the stream goes on behind it."),
    ),
    responses(
        (status = 200, description = "The events.",
         content((Listing<Event> = "application/json"), (String = "text/event-stream")),
         headers(("Link" = Option<String>, description = "`rel=\"next\"`, when the list has another page."))),
        ListProblems,
    ),
)]
pub(crate) async fn read(
    State(engine): State<Engine>,
    Reader(person): Reader,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, Rejected> {
    let mut query = Query::of(uri.query());
    let after = last_seen(&headers)?;
    if wants_stream(&headers) {
        query.finish()?;
        return Ok(follow(&engine, person, after).await?);
    }
    let page = query.page();
    query.finish()?;
    Ok(list_answer(&uri, engine.events(&person, &page).await?))
}

/// Whether `text/event-stream` stands in `Accept`.
fn wants_stream(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = values.flat_map(|text| text.split(',')).filter_map(|range| range.split(';').next());
    types.any(|essence| essence.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// The event that was seen last. An empty header is what a browser that has seen none may send.
fn last_seen(headers: &HeaderMap) -> Result<Option<EventId>, Refusal> {
    let mut values = headers.get_all("last-event-id").iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) if value.is_empty() => Ok(None),
        (Some(value), None) => {
            value.to_str().ok().and_then(|text| text.parse().ok()).map(Some).ok_or_else(not_an_event)
        }
        (Some(_), Some(_)) => Err(not_an_event()),
    }
}

fn not_an_event() -> Refusal {
    Refusal::invalid("", "The header Last-Event-ID takes the id of one event, as the stream gave it.")
}

/// The stream as an answer.
async fn follow(engine: &Engine, person: PersonActor, after: Option<EventId>) -> Result<Response, Refusal> {
    let feed = engine.feed(person, after).await?;
    let heartbeat = KeepAlive::new().interval(HEARTBEAT);
    let mut response = Sse::new(messages(feed)).keep_alive(heartbeat).into_response();
    // Some proxies gather an answer before they pass it on; this tells them not to.
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// First a word that the stream is open, then the events. It ends when the feed does, or when the database cannot be
/// read: whoever reads it comes back.
fn messages(feed: Feed) -> impl Stream<Item = Result<sse::Event, Infallible>> {
    let opening = sse::Event::default().comment("open").retry(COME_BACK);
    let batches = stream::unfold(feed, |mut feed| async move {
        let events = feed.next().await.ok().flatten()?;
        Some((events, feed))
    });
    let events = batches.flat_map(|events| stream::iter(events.into_iter().map(|event| message(&event))));
    stream::once(async { opening }).chain(events).map(Ok)
}

fn message(event: &Event) -> sse::Event {
    let data = serde_json::to_string(event).unwrap_or_default();
    sse::Event::default().id(event.id.to_string()).event(event.r#type.as_str()).data(data)
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    use crate::demo::testing::Desk;

    #[tokio::test]
    async fn the_journal_tells_what_happened_and_no_value() {
        let desk = Desk::open().await;
        desk.held("refund", &json!({ "order": "O-2041", "amount": "24.90" })).await;
        desk.call("move_ticket", desk.quick(), &json!({ "ticket": "T-999", "state": "open" }))
            .refused(422, "invalid")
            .await;
        let types = async |token: &str| {
            let told = desk.get("/v1/events", token).ok(200).await;
            assert!(!told.body.to_string().contains("O-2041"));
            let items = told.body["items"].as_array().expect("items");
            items.iter().filter_map(|item| item["type"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(types(desk.ann()).await, ["action.refused", "call.held"]);
        assert_eq!(types(desk.olga()).await, ["action.refused", "call.held"]);
        assert!(types(desk.max()).await.is_empty());
        desk.get("/v1/events", desk.careful()).refused(403, "denied").await;
    }

    /// The messages of a stream: field by field, comments left out.
    fn messages(text: &str) -> Vec<(String, String, Value)> {
        let field = |message: &str, name: &str| {
            let mut lines = message.lines();
            lines.find_map(|line| line.strip_prefix(name).map(|rest| rest.trim_start().to_owned()))
        };
        let message = |message: &str| {
            let data = serde_json::from_str(&field(message, "data:")?).expect("JSON");
            Some((field(message, "id:")?, field(message, "event:")?, data))
        };
        text.split("\n\n").filter_map(message).collect()
    }

    #[tokio::test]
    async fn the_stream_goes_on_where_it_was_left_and_ends_with_the_process() {
        let desk = Desk::open().await;
        for ticket in ["T-101", "T-102"] {
            let call =
                desk.call("move_ticket", desk.quick(), &json!({ "ticket": ticket, "state": "closed" }));
            call.ok(200).await;
        }
        let list = desk.get("/v1/events", desk.ann()).ok(200).await;
        let (first, second) = (&list.body["items"][1], &list.body["items"][0]);
        let stream = |last: &str| {
            let ask = desk.get("/v1/events", desk.ann()).header("accept", "text/event-stream");
            ask.header("last-event-id", last)
        };
        stream("nonsense").refused(422, "invalid").await;
        let query = desk.get("/v1/events?limit=1", desk.ann()).header("accept", "text/event-stream");
        query.refused(422, "invalid").await;
        let mut told = stream(first["id"].as_str().expect("an id")).open().await;
        assert_eq!(told.status(), 200);
        assert_eq!(told.headers()["content-type"], "text/event-stream");
        assert_eq!(told.headers()["cache-control"], "no-store");
        let mut text = String::new();
        while messages(&text).is_empty() {
            let frame = told.body_mut().frame().await.expect("it goes on").expect("it is whole");
            text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("text"));
        }
        desk.engine.stop_waiting();
        let rest = told.into_body().collect().await.expect("it ends").to_bytes();
        text.push_str(std::str::from_utf8(&rest).expect("text"));
        let expected = ("action.completed".to_owned(), second.clone());
        let told = messages(&text).into_iter().map(|(id, name, data)| {
            assert_eq!(id, data["id"].as_str().expect("an id"));
            (name, data)
        });
        assert_eq!(told.collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn a_stream_is_asked_for_by_its_type() {
        use super::{ACCEPT, HeaderMap, HeaderValue, wants_stream};
        let asked =
            |accept| wants_stream(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]));
        assert!(asked("text/event-stream") && asked("application/json, Text/Event-Stream;q=0.9"));
        assert!(!asked("*/*") && !asked("application/json") && !wants_stream(&HeaderMap::new()));
    }
}
