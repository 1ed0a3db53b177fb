//! `/metrics`: what an on-call person looks at, as text that Prometheus reads.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::Engine;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, Method};
use model::Refusal;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::problem::Rejected;

/// Where the numbers are.
pub(crate) const ROUTE: &str = "/metrics";

/// The same text is both: what the older format does not know stands in its comments.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The route of whatever no route of the API is: pages, forms, what is not there.
const PAGES: &str = "pages";

/// Answers by route. Labels come from the router and from HTTP's own lists: no caller can make one.
pub(crate) struct Http {
    registry: Registry,
    answers: Family<Answered, Histogram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    route: String,
    method: &'static str,
    status: u16,
}

impl Http {
    /// Nothing was answered yet.
    pub(crate) fn new() -> Self {
        // 0.5 ms to 130 s: an answer may wait for a person.
        let answers = Family::<Answered, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.0005, 4.0, 10))
        });
        let mut registry = Registry::with_prefix("countersign");
        registry.register(
            "build",
            "The version that runs",
            Info::new([("version", env!("CARGO_PKG_VERSION"))]),
        );
        registry.register_with_unit(
            "http_answer",
            "Time until the head of an answer, waits for a person included",
            Unit::Seconds,
            answers.clone(),
        );
        Self { registry, answers }
    }
}

/// Numbers for Prometheus: counts and times of this process, and how much is open in the database. They name no person,
/// agent, action or credential. Anybody who reaches the desk may read them; what stands in front of it can keep them in.
#[utoipa::path(
    get, path = ROUTE, operation_id = "getMetrics", tag = "operation",
    responses((
        status = 200, description = "Prometheus text; `OpenMetrics` for whoever accepts it.",
        content_type = "text/plain", body = String,
    )),
    security(()),
)]
pub(crate) async fn show(State((engine, http)): State<(Engine, Arc<Http>)>, headers: HeaderMap) -> Response {
    let mut text = String::new();
    let written = encode_registry(&mut text, &http.registry)
        .and(engine.write_metrics(&mut text).await)
        .and_then(|()| encode_eof(&mut text));
    if let Err(error) = written {
        tracing::error!(%error, "the numbers could not be written");
        return Rejected::from(Refusal::Unavailable).into_response();
    }
    let accepts = |accept: &str| accept.contains("application/openmetrics-text");
    let is_open = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(accepts);
    let kind = if is_open { OPEN_METRICS } else { TEXT };
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-store")], text).into_response()
}

/// Tells how long an answer took.
pub(crate) async fn observe(State(http): State<Arc<Http>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or(PAGES, MatchedPath::as_str).to_owned();
    let method = known(request.method());
    let response = next.run(request).await;
    let answered = Answered { route, method, status: response.status().as_u16() };
    http.answers.get_or_create(&answered).observe(begun.elapsed().as_secs_f64());
    response
}

/// The method, when HTTP knows it: a caller may make up any number of others.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY", "TRACE"];
    KNOWN.into_iter().find(|one| *one == method.as_str()).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::demo::testing::Desk;

    async fn numbers(desk: &Desk) -> String {
        let told = desk.ask("GET", "/metrics").ok(200).await;
        String::from_utf8(told.bytes).expect("text")
    }

    fn number(text: &str, line: &str) -> Option<f64> {
        text.lines().find_map(|one| one.strip_prefix(line)?.strip_prefix(' ')?.parse().ok())
    }

    #[tokio::test]
    async fn what_was_done_is_counted_and_what_is_open_is_told() {
        let desk = Desk::open().await;
        let refund = json!({ "order": "O-2041", "amount": "24.90" });
        let (id, version) = desk.held("refund", &refund).await;
        let text = numbers(&desk).await;
        for (line, expected) in [
            (r#"countersign_held_calls{younger_than="1m"}"#, 1.0),
            (r#"countersign_held_calls{younger_than="10m"}"#, 0.0),
            (r#"countersign_open_calls{state="in_doubt"}"#, 0.0),
            (r#"countersign_events_total{type="call.held",surface="api"}"#, 1.0),
            (r#"countersign_step_seconds_count{step="gate"}"#, 1.0),
            ("countersign_database_up", 1.0),
        ] {
            assert_eq!(number(&text, line), Some(expected), "{line} in {text}");
        }
        assert!(!text.contains("call.decided"), "{text}");
        assert!(text.ends_with("# EOF\n"));

        let decision = json!({ "decision": "decline", "preview_version": version });
        desk.ask("POST", &format!("/v1/calls/{id}/decision")).token(desk.ann()).json(&decision).ok(200).await;
        let text = numbers(&desk).await;
        for line in [
            r#"countersign_events_total{type="call.decided",surface="api"}"#,
            r#"countersign_events_total{type="action.declined",surface="api"}"#,
            r#"countersign_decision_seconds_count{decision="decline"}"#,
            r#"countersign_http_answer_seconds_count{route="/v1/calls/{id}/decision",method="POST",status="200"}"#,
            r#"countersign_http_answer_seconds_count{route="/metrics",method="GET",status="200"}"#,
        ] {
            assert_eq!(number(&text, line), Some(1.0), "{line} in {text}");
        }
    }

    #[tokio::test]
    async fn the_format_is_the_one_that_is_asked_for() {
        let desk = Desk::open().await;
        let told = desk.ask("GET", "/metrics").ok(200).await;
        assert_eq!(told.headers["content-type"], super::TEXT);
        let told = desk.ask("GET", "/metrics").header("accept", super::OPEN_METRICS).ok(200).await;
        assert_eq!(told.headers["content-type"], super::OPEN_METRICS);
    }

    #[tokio::test]
    async fn no_caller_makes_a_label() {
        let desk = Desk::open().await;
        for (method, path) in [("STING", "/v1/actions/a"), ("GET", "/sting"), ("POST", "/via/sting/a")] {
            desk.ask(method, path).send().await;
        }
        let text = numbers(&desk).await;
        assert!(!text.to_lowercase().contains("sting"), "{text}");
        for route in ["/v1/actions/{name}", crate::api::via::ROUTE, "pages"] {
            assert!(text.contains(&format!("route=\"{route}\"")), "{route} in {text}");
        }
    }

    #[tokio::test]
    async fn a_database_that_is_away_is_told_and_the_rest_goes_on() {
        let desk = Desk::open().await;
        desk.engine.close().await;
        let text = numbers(&desk).await;
        assert_eq!(number(&text, "countersign_database_up"), Some(0.0), "{text}");
        assert!(text.contains("countersign_build_info"), "{text}");
        assert!(!text.contains("held_calls"), "{text}");
    }

    /// What the dashboard and the alerts ask for is there.
    #[tokio::test]
    async fn the_documents_name_numbers_that_exist() {
        const DASHBOARD: &str = include_str!("../../../docs/deploy/grafana-dashboard.json");
        const GUIDE: &str = include_str!("../../../docs/OPERATING.md");
        let desk = Desk::open().await;
        desk.held("refund", &json!({ "order": "O-2041", "amount": "24.90" })).await;
        let text = numbers(&desk).await;
        let kinds = ["_total", "_bucket", "_count", "_sum"];
        let told: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "))
            .filter_map(|line| line.split(' ').next())
            .chain(["countersign_database_connections", "countersign_build_info"])
            .collect();
        serde_json::from_str::<serde_json::Value>(DASHBOARD).expect("JSON");
        let is_of_name = |byte: char| byte.is_ascii_alphanumeric() || byte == '_';
        let mut asked = 0;
        let places =
            [DASHBOARD, GUIDE].map(|text| text.match_indices("countersign_").map(move |(at, _)| &text[at..]));
        for place in places.into_iter().flatten() {
            let name: String = place.chars().take_while(|c| is_of_name(*c)).collect();
            let family = kinds.iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or(&name);
            assert!(told.contains(&family), "{name} is no number of the desk: {told:?}");
            asked += 1;
        }
        assert!(asked > 15, "{asked}");
    }
}
