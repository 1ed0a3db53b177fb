//! The pages' side of HTTP: sessions, forms, assets, headers. What a page says is made in the crate `app`.

mod assets;
mod export;
mod forms;
mod headers;
mod live;
mod origin;
mod passkeys;
mod provider;
mod session;
mod show;
#[cfg(test)]
mod tests;

use app::form;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use engine::Engine;
use tower_http::compression::CompressionLayer;
use tower_sessions::SessionStore;

use self::origin::Origins;

/// Everything a browser asks for. The fallback is a page too, so merge this last; the API nests its own fallback.
pub(crate) fn router(engine: Engine, sessions: impl SessionStore + Clone) -> Router {
    let public_url = engine.public_url();
    let forms = form::ALL.iter().fold(Router::new(), |router, path| router.route(path, post(forms::take)));
    forms
        .layer(DefaultBodyLimit::max(forms::LARGEST))
        .route(
            provider::ROUTE,
            get(provider::begin).head(show::no_such_method).fallback(show::no_such_method),
        )
        .route(
            provider::RETURN_ROUTE,
            get(provider::finish).head(show::no_such_method).fallback(show::no_such_method),
        )
        .route("/done/export.csv", get(export::csv).fallback(show::no_such_method))
        .route("/done/export.jsonl", get(export::jsonl).fallback(show::no_such_method))
        .route(passkeys::ROUTE, post(passkeys::ask).fallback(show::no_such_method))
        .fallback(get(show::page).fallback(show::no_such_method))
        .route(live::ROUTE, get(live::follow))
        .with_state(engine)
        .layer(session::layer(&public_url, sessions))
        .layer(middleware::from_fn_with_state(Origins::of(&public_url), origin::check))
        .layer(middleware::from_fn(headers::no_store))
        .route(assets::ROUTE, get(assets::serve))
        .route(assets::WORKER_ROUTE, get(assets::worker))
        .route(assets::MANIFEST_ROUTE, get(assets::manifest))
        .layer(middleware::from_fn(headers::security))
        .layer(CompressionLayer::new())
}
