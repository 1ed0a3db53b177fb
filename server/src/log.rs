//! The log: lines on stderr, never a body, a key or a secret.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Libraries that would write what they carry when asked for everything.
const TALKATIVE: [&str; 4] = ["hyper=info", "hyper_util=info", "rustls=info", "sqlx=warn"];

/// Says how a line is written: `json`, one object a line; anything else, text.
const FORMAT: &str = "COUNTERSIGN_LOG_FORMAT";

/// Starts the log. `RUST_LOG` says what is told; `default` when it does not.
pub(crate) fn start(default: &str) {
    let mut filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    for directive in TALKATIVE.iter().filter_map(|directive| directive.parse().ok()) {
        filter = filter.add_directive(directive);
    }
    let is_json = std::env::var(FORMAT).is_ok_and(|format| format == "json");
    let ansi = !is_json && std::io::stderr().is_terminal();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(ansi);
    let started = if is_json { log.json().flatten_event(true).try_init() } else { log.try_init() };
    if let Err(error) = started {
        eprintln!("countersign: there is no log: {error}");
    }
}
