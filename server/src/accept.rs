//! Takes connections and speaks HTTP/1.1 over them, each within bounds.

use std::io::ErrorKind;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use http::HeaderValue;
use http::header::{CONNECTION, TRANSFER_ENCODING};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tower::util::MapRequest;

use crate::peer::Peer;

/// How long the head of a request may take, and how long a connection may be idle before the next one. A client that
/// sends a head byte by byte would keep its connection for ever.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long to wait when the system has no connection to give, such as when every file descriptor is in use.
const PAUSE: Duration = Duration::from_millis(500);

/// Serves until `told` ends, then takes nothing new and waits until what is being answered has been answered.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    told: impl Future<Output = ()> + Send,
    head_time: Duration,
) {
    let connections = GracefulShutdown::new();
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head_time);
    let app = app.layer(from_fn(close_after_chunks));
    let mut told = std::pin::pin!(told);
    loop {
        let (stream, peer) = tokio::select! {
            () = &mut told => break,
            taken = taken(&listener) => taken,
        };
        let from = MapRequest::new(app.clone(), move |mut request: http::Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request
        });
        let service = TowerToHyperService::new(from);
        let connection = connections.watch(builder.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// A body in chunks is the last thing on its connection. A request that says how long it is twice, in chunks and in
/// `Content-Length`, is read by its chunks here; what somebody in front of the desk took for a part of its body must not
/// become a request of its own (RFC 9112, section 6.1).
async fn close_after_chunks(request: Request, next: Next) -> Response {
    let in_chunks = request.headers().contains_key(TRANSFER_ENCODING);
    let mut response = next.run(request).await;
    if in_chunks {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The next connection, ready for small writes, and who is at its other end.
async fn taken(listener: &TcpListener) -> (TcpStream, Peer) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                // Without this, pages wait 44 ms for a delayed acknowledgement.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "a connection keeps its delay");
                }
                return (stream, Peer(address.ip()));
            }
            // The client was gone before it was taken.
            Err(error)
                if [
                    ErrorKind::ConnectionAborted,
                    ErrorKind::ConnectionReset,
                    ErrorKind::ConnectionRefused,
                ]
                .contains(&error.kind()) => {}
            Err(error) => {
                tracing::error!(%error, "no connection could be taken; tried again soon");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn served(head_time: Duration) -> (TcpStream, tokio::sync::oneshot::Sender<()>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (tell, told) = tokio::sync::oneshot::channel::<()>();
        let app = Router::new().route("/", get(|| async { "here" }));
        tokio::spawn(serve(listener, app, async { drop(told.await) }, head_time));
        (TcpStream::connect(address).await.expect("a connection"), tell)
    }

    async fn rest(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("read");
        text
    }

    #[tokio::test]
    async fn a_head_that_never_ends_is_given_up() {
        let (mut stream, _tell) = served(Duration::from_millis(200)).await;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ").await.expect("written");
        let heard = tokio::time::timeout(Duration::from_secs(20), rest(&mut stream)).await;
        assert!(!heard.expect("the connection is closed").contains("here"));
    }

    #[tokio::test]
    async fn what_comes_in_time_is_answered_and_the_end_waits_for_nobody_idle() {
        let (mut stream, tell) = served(HEAD_TIME).await;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("written");
        let mut status = [0; 15];
        stream.read_exact(&mut status).await.expect("read");
        assert_eq!(&status, b"HTTP/1.1 200 OK");
        tell.send(()).expect("told");
        let heard = tokio::time::timeout(Duration::from_secs(20), rest(&mut stream)).await;
        assert!(heard.expect("the connection is closed").ends_with("here"));
    }
}
