//! A service that answers at once.

use std::net::SocketAddr;

use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) async fn upstream() -> SocketAddr {
    let quota = get(|| async { Json(json!({ "quota": 41, "unit": "mails" })) });
    let booking = post(|Json(_): Json<Value>| async { Json(json!({ "id": "booking-1", "booked": true })) });
    serve(Router::new().route("/quota", quota).route("/bookings", booking)).await
}

/// Serves in the background, until the benchmark ends.
pub(super) async fn serve(app: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("no delay"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}
