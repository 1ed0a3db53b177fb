//! The demo's upstream: a small shop with mail, payments, tickets and customers, as a real HTTP server with state.
//!
//! It checks a bearer secret for each service, honours `Idempotency-Key`, and counts every write that reaches it, so
//! that anybody can see what the desk sent and how often.

mod mail;
mod page;
mod payments;
mod tickets;
mod world;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use axum::serve::ListenerExt;
use axum::{Json, http};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use engine::ambient::Ambient;
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use world::World;

/// What the desk has to show, one secret for each service.
#[derive(Debug, Clone)]
pub(super) struct Secrets {
    mail: String,
    payments: String,
    shop: String,
}

impl Secrets {
    /// Fresh ones.
    pub(super) fn fresh(ambient: &Ambient) -> Self {
        let secret = || BASE64_URL_SAFE_NO_PAD.encode(ambient.bytes::<24>());
        Self { mail: secret(), payments: secret(), shop: secret() }
    }

    /// Each beside the name of its credential.
    pub(super) fn by_credential(&self) -> [(&'static str, &str); 3] {
        [("mail", &self.mail), ("payments", &self.payments), ("shop", &self.shop)]
    }

    /// The secret that a path takes; `None`: anybody may look.
    fn for_path(&self, path: &str) -> Option<&str> {
        match path.split('/').nth(1) {
            Some("mail") => Some(&self.mail),
            Some("pay") => Some(&self.payments),
            Some("tickets" | "customers") => Some(&self.shop),
            _ => None,
        }
    }
}

/// An answer of the upstream.
#[derive(Debug, Clone)]
struct Reply {
    status: StatusCode,
    body: Value,
}

impl Reply {
    fn new(status: u16, body: Value) -> Self {
        Self { status: StatusCode::from_u16(status).unwrap_or(StatusCode::OK), body }
    }

    fn fault(status: u16, error: &str) -> Self {
        Self::new(status, json!({ "error": error }))
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}

/// The upstream.
#[derive(Clone)]
pub(super) struct Upstream {
    secrets: Arc<Secrets>,
    world: Arc<Mutex<World>>,
    ambient: Ambient,
}

impl Upstream {
    /// With a fresh world.
    pub(super) fn new(secrets: &Secrets, ambient: Ambient) -> Self {
        Self { secrets: Arc::new(secrets.clone()), world: Arc::new(Mutex::new(World::fresh())), ambient }
    }

    /// Serves until it is dropped.
    pub(super) async fn serve(self, listener: TcpListener) {
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        if let Err(error) = axum::serve(listener, self.router()).await {
            tracing::error!(%error, "the demo's upstream ended");
        }
    }

    pub(super) fn router(self) -> Router {
        Router::new()
            .route("/", get(page::show))
            .route("/style.css", get(page::style))
            .route("/state", get(state))
            .route("/mail/messages", post(send))
            .route("/mail/recipients/{address}", get(recipient))
            .route("/pay/orders/{id}", get(order))
            .route("/pay/refunds", post(refund))
            .route("/tickets", get(ticket_list))
            .route("/tickets/{id}", get(ticket))
            .route("/tickets/{id}/state", put(move_ticket))
            .route("/customers/{id}", get(customer))
            .route("/customers/{id}", delete(wipe))
            .fallback(async || Reply::fault(404, "nothing here"))
            .layer(from_fn_with_state(self.clone(), check_secret))
            .with_state(self)
    }

    fn world(&self) -> MutexGuard<'_, World> {
        // A world that a panic left behind is still the best there is to show.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One write: counted when it arrives; the same key is answered with the first answer and does nothing more.
    fn write(&self, headers: &HeaderMap, act: impl FnOnce(&mut World, &str) -> Reply) -> Response {
        let mut world = self.world();
        world.writes_received += 1;
        let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok()).map(str::to_owned);
        if let Some(reply) = key.as_ref().and_then(|key| world.answered.get(key).cloned()) {
            return ([("idempotent-replayed", "true")], reply).into_response();
        }
        let now = self.ambient.now().to_string();
        let reply = act(&mut world, &now);
        if reply.status.is_success() {
            world.writes_done += 1;
        }
        if let Some(key) = key {
            world.answered.insert(key, reply.clone());
        }
        reply.into_response()
    }
}

/// Lets a request to a service through only with its secret.
async fn check_secret(State(upstream): State<Upstream>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    match upstream.secrets.for_path(request.uri().path()) {
        Some(secret) if shown.and_then(|value| value.strip_prefix("Bearer ")) != Some(secret) => {
            Reply::fault(401, "this takes the service's secret").into_response()
        }
        _ => next.run(request).await,
    }
}

/// Everything there is, and how often it was written to.
async fn state(State(upstream): State<Upstream>) -> Json<Value> {
    Json(upstream.world().told())
}

async fn send(State(upstream): State<Upstream>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    upstream.write(&headers, |world, now| mail::send(world, &body, now))
}

async fn recipient(State(upstream): State<Upstream>, Path(address): Path<String>) -> Reply {
    mail::recipient(&upstream.world(), &address)
}

async fn order(
    State(upstream): State<Upstream>,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Reply {
    payments::order(&upstream.world(), &id, query.get("refund").map(String::as_str))
}

async fn refund(State(upstream): State<Upstream>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    upstream.write(&headers, |world, now| payments::refund(world, &body, now))
}

async fn ticket_list(
    State(upstream): State<Upstream>,
    Query(query): Query<HashMap<String, String>>,
) -> Reply {
    tickets::list(&upstream.world(), query.get("state").map(String::as_str))
}

async fn ticket(State(upstream): State<Upstream>, Path(id): Path<String>) -> Reply {
    tickets::ticket(&upstream.world(), &id)
}

async fn move_ticket(
    State(upstream): State<Upstream>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    upstream.write(&headers, |world, _| tickets::move_to(world, &id, &body))
}

async fn customer(State(upstream): State<Upstream>, Path(id): Path<String>) -> Reply {
    tickets::customer(&upstream.world(), &id)
}

async fn wipe(State(upstream): State<Upstream>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    upstream.write(&headers, |world, _| tickets::wipe(world, &id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    struct Shop {
        router: Router,
        secrets: Secrets,
    }

    impl Shop {
        fn open() -> Self {
            let ambient = Ambient::system();
            let secrets = Secrets::fresh(&ambient);
            Self { router: Upstream::new(&secrets, ambient).router(), secrets }
        }

        async fn ask(&self, method: &str, path: &str, secret: &str, key: &str, body: Value) -> (u16, Value) {
            let request = Request::builder()
                .method(method)
                .uri(path)
                .header(AUTHORIZATION, format!("Bearer {secret}"))
                .header("content-type", "application/json")
                .header("idempotency-key", key)
                .body(Body::from(body.to_string()))
                .expect("a request");
            let response = self.router.clone().oneshot(request).await.expect("an answer");
            let status = response.status().as_u16();
            let bytes = response.into_body().collect().await.expect("a body").to_bytes();
            (status, serde_json::from_slice(&bytes).unwrap_or_default())
        }

        async fn state(&self) -> Value {
            self.ask("GET", "/state", "", "-", json!({})).await.1
        }
    }

    #[tokio::test]
    async fn a_mail_is_sent_once_however_often_its_key_comes() {
        let shop = Shop::open();
        let mail = json!({ "to": "bo@customers.test", "subject": "s", "body": "b" });
        for _ in 0..3 {
            assert_eq!(
                shop.ask("POST", "/mail/messages", &shop.secrets.mail, "k", mail.clone()).await.0,
                201
            );
        }
        let state = shop.state().await;
        assert_eq!((&state["writes_received"], &state["writes_done"]), (&json!(3), &json!(1)));
        assert_eq!(state["messages"].as_array().map(Vec::len), Some(1));
    }

    #[tokio::test]
    async fn a_service_takes_its_own_secret_only() {
        let shop = Shop::open();
        let mail = json!({ "to": "bo@customers.test", "subject": "s", "body": "b" });
        assert_eq!(shop.ask("POST", "/mail/messages", &shop.secrets.shop, "k", mail).await.0, 401);
        assert_eq!(shop.state().await["writes_received"], 0);
    }

    #[tokio::test]
    async fn no_more_is_refunded_than_was_paid() {
        let shop = Shop::open();
        let ask = async |amount: &str, key: &str| {
            let body = json!({ "order": "O-2041", "amount": amount });
            shop.ask("POST", "/pay/refunds", &shop.secrets.payments, key, body).await.0
        };
        assert_eq!(ask("24.90", "a").await, 201);
        assert_eq!(ask("999999.00", "b").await, 409);
        assert_eq!(ask("nothing", "c").await, 422);
        let order =
            shop.ask("GET", "/pay/orders/O-2041?refund=1.00", &shop.secrets.payments, "-", json!({})).await.1;
        assert_eq!((&order["refunded"], &order["refunded_after"]), (&json!("24.90"), &json!("25.90")));
    }

    #[tokio::test]
    async fn tickets_move_and_customers_go() {
        let shop = Shop::open();
        let secret = &shop.secrets.shop;
        let to = json!({ "state": "closed" });
        assert_eq!(shop.ask("PUT", "/tickets/T-101/state", secret, "a", to).await.0, 200);
        assert_eq!(shop.ask("GET", "/tickets/T-101", secret, "-", json!({})).await.1["state"], "closed");
        assert_eq!(shop.ask("DELETE", "/customers/C-03", secret, "b", json!({})).await.0, 200);
        assert_eq!(shop.ask("GET", "/customers/C-03", secret, "-", json!({})).await.0, 404);
        assert_eq!(
            shop.ask("PUT", "/tickets/T-999/state", secret, "c", json!({ "state": "open" })).await.0,
            404
        );
    }
}
