//! The yardstick: a proxy of the same stack that does nothing but pass on, over a connection of its own.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::upstream::serve;

pub(crate) async fn plain_proxy(upstream: SocketAddr) -> SocketAddr {
    serve(Router::new().fallback(move |request: Request| pass_on(upstream, request))).await
}

async fn pass_on(upstream: SocketAddr, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    let stream = TcpStream::connect(upstream).await.expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a handshake");
    tokio::spawn(connection);
    let response = sender.send_request(Request::from_parts(parts, Full::new(body))).await.expect("an answer");
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, Body::from(body.collect().await.expect("a body").to_bytes()))
}
