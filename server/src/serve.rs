//! The running server: one listener, every router, the jobs, and an end that finishes what is being sent.

#[cfg(test)]
mod matrix;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use engine::Engine;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tower_http::catch_panic::CatchPanicLayer;

use crate::api::metrics::{self, Http};
use crate::failure::Failure;
use crate::session_store::Sessions;
use crate::{accept, api, mcp, pages, problem, request_id};

/// How long the end may take: a send may connect for 10 s and wait 60 s for its answer.
const END_TIME: Duration = Duration::from_secs(75);

/// What connections get on top of that.
const SPARE_TIME: Duration = Duration::from_secs(10);

const UNDONE: &str = "Nothing is being served.";

/// Takes an address.
///
/// # Errors
/// When it is taken or not this machine's.
pub(crate) async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let happened = format!("{address} cannot be listened on: {error}.");
        Failure::new(
            happened,
            UNDONE,
            "End what is there, or choose another address (`listen` in the catalogue).",
        )
    })
}

/// The address that was taken.
///
/// # Errors
/// When the system does not tell.
pub(crate) fn address(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    let failed =
        |error| Failure::new(format!("A listener has no address: {error}."), UNDONE, "Start it again.");
    listener.local_addr().map_err(failed)
}

fn failed(error: &std::io::Error) -> Failure {
    Failure::new(format!("Serving failed: {error}."), UNDONE, "Start it again.")
}

/// Serves until it is told to stop, then lets what is being sent come to its end.
///
/// # Errors
/// When the listener fails.
pub(crate) async fn serve(engine: Engine, listener: TcpListener, mut stop: Stop) -> Result<(), Failure> {
    let jobs = engine.start_jobs();
    let (told, tell) = tokio::sync::oneshot::channel::<()>();
    let told_to_stop = async { drop(tell.await) };
    let serving = tokio::spawn(accept::serve(listener, app(&engine), told_to_stop, accept::HEAD_TIME));
    stop.told().await;
    tracing::info!("stopping: what is being sent is finished, nothing new is taken");
    engine.stop_waiting();
    drop(told);
    let end = async {
        let served = serving.await;
        jobs.stop().await;
        (served, engine.drain(END_TIME).await)
    };
    tokio::select! {
        (served, finished) = end => {
            if !finished {
                tracing::warn!("stopped before everything sent had been answered");
            }
            served.map_err(|error| failed(&error.into()))
        }
        () = tokio::time::sleep(END_TIME + SPARE_TIME) => {
            tracing::warn!("stopped before every connection had ended");
            Ok(())
        }
        () = stop.told() => {
            tracing::warn!("told twice: stopped at once");
            Ok(())
        }
    }
}

/// Every route of the server, and what goes around all of them.
pub(crate) fn app(engine: &Engine) -> Router {
    let http = Arc::new(Http::new());
    Router::new()
        .merge(api::router(engine))
        .route(metrics::ROUTE, get(metrics::show).with_state((engine.clone(), http.clone())))
        .merge(mcp::router(engine))
        .merge(pages::router(engine.clone(), Sessions::new(engine.clone())))
        .layer(from_fn(problem::instead_of_pages))
        .layer(from_fn_with_state(http, metrics::observe))
        .layer(CatchPanicLayer::custom(|_| problem::panicked()))
        .layer(from_fn(request_id::carry))
}

/// The signals that end the server. They are heard from here on, so this comes before anybody is told that it listens.
pub(crate) struct Stop {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Stop {
    /// # Errors
    /// When the signals cannot be heard.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let hear = |kind| signal(kind).map_err(|error| failed(&error));
        Ok(Self { terminate: hear(SignalKind::terminate())?, interrupt: hear(SignalKind::interrupt())? })
    }

    async fn told(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
