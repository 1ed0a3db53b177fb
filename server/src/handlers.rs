//! What this binary brings along for its catalogue beside HTTP: handlers and actions written in Rust.

use engine::Handlers;

/// None, as it is shipped. A build with handlers of its own names them here, so that `check`, `serve` and a reload all
/// know them (see `server/engine/examples/restart_service.rs`).
pub(crate) fn brought_along() -> Handlers {
    Handlers::new()
}

#[cfg(test)]
mod tests;
